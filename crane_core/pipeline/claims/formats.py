"""Checked claims as text: Markdown, CSV, JSON, LaTeX. Knows how they are written; refuses to judge one."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from crane_core.pipeline.claims.claims import (
    CheckedClaim,
    exact_words,
    interval_words,
)
from crane_core.pipeline.claims.verdicts import MARGIN_PP, ClaimVerdict
from crane_core.pipeline.frame_formats import (
    LONGTABLE_NEEDS,
    broken_into_lines,
    frame_markdown,
)
from crane_core.pipeline.sheet_text import csv_text
from crane_core.pipeline.study.table_formats import Format, json_text

HEADER = (
    "id",
    "place",
    "claim",
    "stated",
    "unit",
    "exact",
    "interval",
    "verdict",
    "from",
    "why",
    "adjustment",
)
TITLE = "Claims of the paper's text, compared with the data"
COLUMNS_MM = (16, 52, 14, 20, 30, 20)
UNADJUSTED = "none"
"""The column `adjustment` of an interval: each counts alone, whatever the number of claims and estimates."""
UNADJUSTED_WORDS = "Intervals are unadjusted: each stands for itself, whatever the number of claims."
ABOUT = (
    "Contradicted: a stated number is off, or a whole 95% interval lies where the claim says that it does not. "
    "Within noise: the interval leaves open whether the claim is true. Rounds differently: off by at most one in the "
    f"last place that the paper states. “Does not rise” and “similar” hold only within {MARGIN_PP} percentage points. "
    f"{UNADJUSTED_WORDS} A largest value has no ordinary "
    "interval, because it is chosen for being the largest. Not testable here: the reason says what to load."
)
"""How to read the verdicts, for every face that shows them."""


def render_claims(checked: Sequence[CheckedClaim], fmt: Format) -> str:
    """All claims as one text in one format, ending in a line feed."""
    return _WRITERS[fmt](checked)


def verdict_counts(checked: Sequence[CheckedClaim]) -> dict[ClaimVerdict, int]:
    """How many claims have which verdict, in the order of the verdicts."""
    counts = Counter(one.verdict for one in checked)
    return {verdict: counts[verdict] for verdict in ClaimVerdict}


def claim_frame(checked: Sequence[CheckedClaim]) -> pd.DataFrame:
    """One row per claim, every member as text, columns as in HEADER."""
    return pd.DataFrame([_fields(one) for one in checked], columns=list(HEADER))


def _fields(one: CheckedClaim) -> tuple[str, ...]:
    claim = one.claim
    numbers = (claim.stated, claim.unit, exact_words(one), interval_words(one))
    adjustment = UNADJUSTED if interval_words(one) else ""
    return (
        claim.id,
        claim.place,
        claim.claim,
        *numbers,
        str(one.verdict),
        one.basis,
        one.why,
        adjustment,
    )


def _markdown(checked: Sequence[CheckedClaim]) -> str:
    table = frame_markdown(claim_frame(checked))
    return "\n".join([f"## {TITLE}", "", table, ABOUT, ""])


def _csv(checked: Sequence[CheckedClaim]) -> str:
    return csv_text([HEADER, *(_fields(one) for one in checked)])


def _json(checked: Sequence[CheckedClaim]) -> str:
    """Numbers unrounded; `interval` is of the estimate that decided."""
    claims = [_record(one) for one in checked]
    return json_text(
        {"about": ABOUT, "adjustment": UNADJUSTED, "claims": claims}
    )


def _record(one: CheckedClaim) -> dict[str, Any]:
    claim, decisive = one.claim, one.decisive
    interval = None
    if decisive is not None and decisive.has_interval:
        interval = [decisive.low, decisive.high]
    estimates = [
        {
            "name": estimate.name,
            "value": float(estimate.value),
            "low": estimate.low,
            "high": estimate.high,
        }
        for estimate in one.estimates
    ]
    return {
        "id": claim.id,
        "place": claim.place,
        "kind": str(claim.kind),
        "claim": claim.claim,
        "stated": claim.stated or None,
        "unit": claim.unit,
        "exact": None if decisive is None else float(decisive.value),
        "interval": interval,
        "verdict": str(one.verdict),
        "from": one.basis or None,
        "why": one.why or None,
        "estimates": estimates,
    }


def _latex(checked: Sequence[CheckedClaim]) -> str:
    """As wide as a page of 178 mm: claims are sentences, which are broken into lines."""
    columns = ["place", "claim", "stated", "exact", "interval", "verdict"]
    table = claim_frame(checked)[columns].to_latex(
        index=False,
        escape=True,
        longtable=True,
        column_format="".join(map(broken_into_lines, COLUMNS_MM)),
        caption=f"{TITLE}. {UNADJUSTED_WORDS}",
    )
    return f"{LONGTABLE_NEEDS}\n{{\\footnotesize\n{table}}}\n"


_WRITERS: dict[Format, Callable[[Sequence[CheckedClaim]], str]] = {
    Format.MD: _markdown,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.LATEX: _latex,
}
