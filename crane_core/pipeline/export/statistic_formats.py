"""Exported statistics as text: CSV and JSON unrounded, LaTeX to be read. Knows how they are written, computes none."""

import json
from collections.abc import Iterable, Mapping

from crane_core.pipeline.frame_formats import (
    LONGTABLE_NEEDS,
    broken_into_lines,
    escaped,
)
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.pipeline.sheet_text import csv_text
from crane_core.rounding import digits

COLUMNS = ExportedStatistic._fields
DECIMALS = {
    "count": 0,
    "instances": 0,
    "tokens": 0,
    "share": 3,
    "difference of shares": 3,
    "percent": 1,
}
USUAL_DECIMALS = 2
P_DECIMALS = 3
COLUMNS_MM = {
    "statistic": 22,
    "experiment": 16,
    "detector": 18,
    "input": 13,
    "group": 28,
    "policy": 20,
    "value": 12,
    "interval": 16,
    "n": 8,
    "p": 9,
}
"""Column of LaTeX to its width: as wide as a page of 178 mm, with 2 pt on either side of each."""


def statistics_csv(found: Mapping[str, Iterable[ExportedStatistic]]) -> str:
    """One row per statistic, the first column its kind; what is missing is empty."""
    return csv_text(
        [
            ("kind", *COLUMNS),
            *((kind, *row) for kind, rows in found.items() for row in rows),
        ]
    )


def statistics_json(found: Mapping[str, Iterable[ExportedStatistic]]) -> str:
    """`{"statistics": [{"kind", ...}]}`, the members of ExportedStatistic; what is missing is null."""
    rows = [
        {"kind": kind} | row._asdict()
        for kind, rows in found.items()
        for row in rows
    ]
    lines = ",\n".join(
        json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows
    )
    return f'{{"statistics": [\n{lines}\n]}}\n'


def statistics_latex(kind: str, rows: Iterable[ExportedStatistic]) -> str:
    """One longtable of a kind, numbers rounded; its first line names the packages that it needs."""
    title = escaped(kind.replace("_", " ").capitalize())
    head = " & ".join(escaped(name) for name in COLUMNS_MM) + r" \\"
    widths = "".join(broken_into_lines(width) for width in COLUMNS_MM.values())
    body = [
        " & ".join(escaped(text) for text in _latex_fields(row)) + r" \\"
        for row in rows
    ]
    lines = [
        LONGTABLE_NEEDS,
        r"{\footnotesize\setlength{\tabcolsep}{2pt}",
        rf"\begin{{longtable}}{{{widths}}}",
        rf"\caption{{{title}}} \label{{tab:{kind}}} \\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        *body,
        r"\bottomrule",
        r"\end{longtable}}",
    ]
    return "\n".join(lines) + "\n"


def _latex_fields(row: ExportedStatistic) -> tuple[str, ...]:
    policy = ", ".join(filter(None, [row.runs, row.credit, row.judged_by]))
    who = [
        text or ""
        for text in (
            row.statistic,
            row.experiment,
            row.detector,
            row.input,
            row.group,
        )
    ]
    ends = (
        ""
        if row.low is None
        else f"{number(row.low, row.unit)} to {number(row.high, row.unit)}"
    )
    shown = number(row.value, row.unit) or row.stated or ""
    p = row.p if row.p_adjusted is None else row.p_adjusted
    return (
        *who,
        policy,
        shown,
        ends,
        "" if row.n is None else str(row.n),
        p_text(p),
    )


def number(value: float | None, unit: str | None) -> str:
    """A value rounded half up as its unit is read; nothing if there is none."""
    return (
        ""
        if value is None
        else digits(value, DECIMALS.get(unit or "", USUAL_DECIMALS))
    )


def p_text(p: float | None) -> str:
    """A p-value to three decimals; below 0.001 it says so."""
    if p is None:
        return ""
    return f"{p:.{P_DECIMALS}f}" if p >= 10**-P_DECIMALS else "< 0.001"
