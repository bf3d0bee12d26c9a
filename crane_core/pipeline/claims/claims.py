"""The claims of the paper's text beside the data: every number and verbal claim as a fact, with its verdict.

Knows the facts file (data/published/claims.csv) and how a row meets its quantity. The rules of the verdicts are in
`claims.verdicts`, the quantities in `claims.quantities`.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from crane_core.pipeline.campaigns.label_frame import label_frame
from crane_core.pipeline.claims import changes, quantities
from crane_core.pipeline.claims.verdicts import (
    COUNT,
    ClaimEstimate,
    ClaimKind,
    ClaimVerdict,
    Judged,
    judge,
    range_ends,
)
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.results import exported_statistic
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.pipeline.study.table_cells import printed_decimals
from crane_core.storage.store import Store

FILE = "claims.csv"
WITHOUT_NUMBER = 1
"""Decimals of a value in words where the claim states no number."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as a fact. `stated` is empty if it has no number; `unit` is that of stated and exact values."""

    id: str
    place: str
    kind: ClaimKind
    claim: str
    stated: str
    unit: str
    quantity: str
    of: str


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """`estimates` are empty, `decisive` is None if nothing that is loaded determines it; `why` says what would.

    basis: what the estimates were computed from.
    """

    claim: Claim
    verdict: ClaimVerdict
    why: str
    basis: str
    estimates: tuple[ClaimEstimate, ...] = ()
    decisive: ClaimEstimate | None = None


def published_claims(path: Path | None = None) -> list[Claim]:
    """The facts file, in the order of the paper. Raises ValueError or TypeError where a row is not right."""
    path = path or embedded()["published"] / FILE
    with path.open(encoding="utf-8", newline="") as file:
        return [_claim(**row) for row in csv.DictReader(file, strict=True)]


def _claim(*, kind: str, **facts: str) -> Claim:
    return Claim(kind=ClaimKind(kind), **facts)


def loaded_in(store: Store, folder: DataFolder) -> quantities.Loaded:
    """What claims are compared with."""
    return loaded_from(
        store,
        verdict_frame(store),
        printed_numbers(store),
        label_frame(store, folder),
    )


def loaded_from(
    store: Store,
    verdicts: pd.DataFrame,
    numbers: pd.DataFrame,
    labels: pd.DataFrame,
) -> quantities.Loaded:
    """The same from frames that are available."""
    return quantities.Loaded(
        verdicts,
        changes.Conditions(verdicts, numbers),
        labels,
        store,
    )


def checked_claims(
    loaded: quantities.Loaded, claims: list[Claim]
) -> list[CheckedClaim]:
    """Each claim with its verdict, in order."""
    return [_checked(loaded, claim) for claim in claims]


def _checked(loaded: quantities.Loaded, claim: Claim) -> CheckedClaim:
    try:
        estimates, basis = quantities.measure(loaded, claim.quantity, claim.of)
    except quantities.NotTestableError as error:
        return CheckedClaim(
            claim,
            ClaimVerdict.NOT_TESTABLE,
            str(error),
            "",
        )
    judged: Judged = judge(
        claim.kind,
        claim.stated,
        claim.unit,
        estimates,
    )
    return CheckedClaim(
        claim,
        judged.verdict,
        judged.why,
        basis,
        tuple(estimates),
        judged.decisive,
    )


def exact_words(checked: CheckedClaim) -> str:
    """The exact value, or the least and the greatest of several, with one digit more than stated."""
    # The ends show how far several estimates lie apart.
    values = sorted({estimate.value for estimate in checked.estimates})
    ends = values if len(values) < 2 else [values[0], values[-1]]
    return " to ".join(_number(float(value), checked.claim) for value in ends)


def interval_words(checked: CheckedClaim) -> str:
    """The 95% interval of the estimate that decided, with its name where there are several."""
    decisive = checked.decisive
    if decisive is None or decisive.low is None or decisive.high is None:
        return ""
    low, high = (
        _number(end, checked.claim) for end in (decisive.low, decisive.high)
    )
    words = f"{low} to {high}"
    return f"{words} ({decisive.name})" if len(checked.estimates) > 1 else words


def _number(value: float, claim: Claim) -> str:
    if claim.unit == COUNT:
        return f"{value:.0f}"
    decimals = WITHOUT_NUMBER
    if claim.stated:
        is_range = claim.kind is ClaimKind.RANGE
        texts = range_ends(claim.stated) if is_range else (claim.stated,)
        decimals = max(map(printed_decimals, texts))
    return f"{value:.{decimals + 1}f}"


ABLATIONS = {"4a": "categories", "4b": "documentation", "5": "tokens"}
"""Tables that the page Ablations shows, by its sections."""
CLAIM_METHOD = "95% interval of the quantity, by case where it is one of instances, unadjusted"


def exported_tables(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """One per cell; statistic is its column, group its row, in the unit that the table prints."""
    for table in study_tables(material.verdicts, material.numbers).values():
        is_ablation = table.id in ABLATIONS
        for cell in table.cells:
            of = exported_statistic.ExportedStatistic(
                "Ablations" if is_ablation else "Results",
                ABLATIONS.get(table.id, "tables"),
                cell.column,
                by=f"table {table.id}",
                group=cell.row,
                stated=cell.printed,
                note=str(cell.status),
                n=cell.n,
            )
            ours = None if cell.ours is None else float(cell.ours)
            yield of.measured(ours, unit=cell.unit)


def exported_claims(
    material: Material,
) -> Iterator[exported_statistic.ExportedStatistic]:
    """Of every claim its estimates; one row without a value where nothing that is loaded determines one."""
    loaded = loaded_from(
        material.store, material.verdicts, material.numbers, material.labels
    )
    for checked in checked_claims(loaded, published_claims()):
        claim = checked.claim
        of = exported_statistic.ExportedStatistic(
            "Results",
            "claims",
            claim.claim,
            by="claim",
            group=claim.id,
            stated=claim.stated or None,
            note=": ".join(filter(None, [str(checked.verdict), checked.why])),
        )
        if not checked.estimates:
            yield of._replace(unit=claim.unit)
        for one in checked.estimates:
            named = of._replace(
                group=", ".join(filter(None, [claim.id, one.name]))
            )
            yield named.measured(
                float(one.value),
                one.low,
                one.high,
                unit=claim.unit,
                method=CLAIM_METHOD,
            )
