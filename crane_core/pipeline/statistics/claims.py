"""The paper's claims: every estimate behind one, the stated number, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from crane_core.pipeline.claims.claims import (
    CheckedClaim,
    checked_claims,
    loaded_from,
    published_claims,
)
from crane_core.pipeline.export.exported_statistic import ExportedStatistic, Material

PAGE, SECTION = "Results", "claims"
METHOD = (
    "95% interval of the quantity, by case where it is one of instances, unadjusted"
)


def collect(material: Material) -> Iterator[ExportedStatistic]:
    """Of every claim its estimates; one row without a value where nothing that is loaded determines one."""
    loaded = loaded_from(
        material.store, material.verdicts, material.numbers, material.labels
    )
    for checked in checked_claims(loaded, published_claims()):
        yield from _of_claim(checked)


def _of_claim(checked: CheckedClaim) -> Iterator[ExportedStatistic]:
    claim = checked.claim
    verdict = ": ".join(filter(None, [str(checked.verdict), checked.why]))
    of = ExportedStatistic(
        PAGE,
        SECTION,
        claim.claim,
        by="claim",
        group=claim.id,
        stated=claim.stated or None,
        note=verdict,
    )
    if not checked.estimates:
        yield of._replace(unit=claim.unit)
    for one in checked.estimates:
        named = of._replace(group=", ".join(filter(None, [claim.id, one.name])))
        yield named.measured(
            float(one.value), one.low, one.high, unit=claim.unit, method=METHOD
        )
