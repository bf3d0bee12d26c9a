"""The rows of `detection.score`, and those that are only printed, as a text table and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from crane_core.pipeline.detection.printed_rows import PrintedRow
from crane_core.pipeline.detection.score import Rate, ScoreRow
from crane_core.rounding import digits
from crane_core.stats.rates import RATES

_HEADER = ("", "setting", "n", *RATES)


def table_words(rows: Sequence[ScoreRow], printed: Sequence[PrintedRow] = ()) -> str:
    """Detection alone, in percent with 95% intervals; the job's own row first, what is only printed last."""
    beside_others = bool(printed) or any(row.is_published for row in rows)
    lines = [
        _HEADER,
        *(
            _cells(row, "*" if beside_others and not row.is_published else "")
            for row in rows
        ),
        *(_printed_cells(row) for row in printed),
    ]
    widths = [
        max(len(line[column]) for line in lines) for column in range(len(_HEADER))
    ]
    table = [
        "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]
    published = sorted({row.experiment for row in rows if row.is_published})
    beside = (
        f"; published rows: {', '.join(published)}, the same instances"
        if published
        else ""
    )
    left_out = [
        f"{row.title}: {row.left_out} of {row.n} instances without a vote"
        for row in rows
        if row.left_out
    ]
    head = f"Crash detection alone (table 2b), percent with 95% interval clustered by case{beside}"
    own = ["*: this run, not published"] if beside_others else []
    return "\n".join([head, *table, *own, *_printed_note(printed), *left_out])


def _printed_note(printed: Sequence[PrintedRow]) -> list[str]:
    if not printed:
        return []
    return [
        f"p: printed in the paper's table {printed[0].table}, over all its notebooks; its answers are not loaded"
    ]


def _printed_cells(row: PrintedRow) -> tuple[str, ...]:
    return (
        f"{row.title} p",
        row.setting,
        "",
        *(row.cells.get(name, "").removesuffix("%") for name in RATES),
    )


def _cells(row: ScoreRow, mark: str) -> tuple[str, ...]:
    return (
        f"{row.title} {mark}".rstrip(),
        row.setting,
        str(row.n - row.left_out),
        *(_percent(row.rates[name]) for name in RATES),
    )


def _percent(rate: Rate) -> str:
    if math.isnan(rate.value):
        return "undefined"
    value, low, high = (
        digits(100 * share, 1) for share in (rate.value, rate.low, rate.high)
    )
    return f"{value} [{low}, {high}]"


def rows_json(rows: Sequence[ScoreRow]) -> list[dict[str, Any]]:
    """Shares of 1; a rate that nothing defines is null."""
    return [
        row._asdict()
        | {"rates": {name: _plain(rate) for name, rate in row.rates.items()}}
        for row in rows
    ]


def _plain(rate: Rate) -> dict[str, float | int | None]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in rate._asdict().items()
    }
