"""The detector's row of table 2(b), detection alone, beside the published rows of the same setting and instances.

Knows which release holds which setting. The rates, their n and intervals are those of every page (`measures`).

Beside them stand the printed values of a setting whose answers are not loaded: cells of tables 4(a) and 4(b), as text.
These have no interval, and are over all notebooks of the study, whatever a job covers.

At the end: all rows as a text table and as JSON.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from crane_core.domain import JsonObject, Setting
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.results.measures import Credit, VoteRule, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study import printed_counts, table_scores
from crane_core.rounding import digits
from crane_core.stats.rates import RATES
from crane_core.storage.store import Store

_WHO = ["detector_title", "setting", "experiment"]
_BESIDE = {Setting.RUNTIME_PLUS: Setting.RUNTIME}
"""A setting without published rows is compared with the nearest one."""


class Rate(NamedTuple):
    """A share in 0..1 with its 95% interval, over `n` instances of `n_cases` cases; nan if nothing defines it."""

    value: float
    low: float
    high: float
    n: int
    n_cases: int


class ScoreRow(NamedTuple):
    """One detector in one setting. `n` instances had a question, `left_out` of them have no vote."""

    title: str
    setting: str
    experiment: str
    is_published: bool
    n: int
    left_out: int
    rates: dict[str, Rate]


def scores(store: Store, job: str) -> list[ScoreRow]:
    """The job's row first, then those published of the same instances; no row where the job has no answer.

    On a benchmark without published results, it is the only row.
    """
    frame = verdict_frame(store)
    mine = frame[frame["experiment"] == job]
    if mine.empty:
        return []
    return [
        *_rows(mine, is_published=False),
        *_rows(_published(frame, mine), is_published=True),
    ]


def _published(frame: pd.DataFrame, mine: pd.DataFrame) -> pd.DataFrame:
    """The verdicts of the study, or of its later release where the study has none of the setting."""
    setting = Setting(mine["setting"].iloc[0])
    there = frame[
        (frame["benchmark"] == table_scores.BENCHMARK)
        & (frame["setting"] == _BESIDE.get(setting, setting))
    ]
    there = there[
        (mine["benchmark"].iloc[0] == table_scores.BENCHMARK)
        & there["instance_id"].isin(mine["instance_id"])
    ]
    releases = (
        [table_scores.STUDY]
        if there["experiment"].eq(table_scores.STUDY).any()
        else table_scores.later_releases(there)[:1]
    )
    chosen: pd.DataFrame = there[there["experiment"].isin(releases)]
    return chosen


def _rows(frame: pd.DataFrame, *, is_published: bool) -> list[ScoreRow]:
    if frame.empty:
        return []
    tables = {
        name: as_rows(
            rate_table(
                frame,
                by=_WHO,
                rate=name,
                rule=VoteRule.MAJORITY,
                credit=Credit.DETECTION,
            )
        )
        for name in RATES
    }
    n_instances = frame.groupby(_WHO, sort=False).size().tolist()
    rows = []
    for place, n in enumerate(n_instances):
        found = tables["Accuracy"][place]
        title, setting, experiment = (str(found[name]) for name in _WHO)
        rates = {name: _rate(table[place]) for name, table in tables.items()}
        rows.append(
            ScoreRow(
                title=title,
                setting=setting,
                experiment=experiment,
                is_published=is_published,
                n=int(n),
                left_out=int(found["left_out"]),
                rates=rates,
            )
        )
    return rows


def _rate(row: dict[str, Any]) -> Rate:
    value, low, high = (
        math.nan if row[name] is None else float(row[name])
        for name in ("value", "low", "high")
    )
    return Rate(value, low, high, int(row["n"]), int(row["n_cases"]))


TABLES = ("4a", "4b")


class PrintedRow(NamedTuple):
    """A row of a printed table in one setting; `cells` has the printed text of the rates that the table has."""

    title: str
    setting: str
    table: str
    cells: dict[str, str]


def printed_beside(
    store: Store, benchmark: str, rows: Sequence[ScoreRow]
) -> list[PrintedRow]:
    """Of the setting of the first of `rows`, what is printed of detectors that have no published row among them."""
    if benchmark != table_scores.BENCHMARK or not rows:
        return []
    measured = {row.title for row in rows if row.is_published}
    found = printed_rows(printed_numbers(store), Setting(rows[0].setting))
    return [row for row in found if row.title not in measured]


def printed_rows(numbers: pd.DataFrame, setting: Setting) -> list[PrintedRow]:
    """One row per detector of the first table that prints the setting; numbers: the fields of PublishedNumber."""
    columns = {
        f"{rate} {printed_counts.COLUMN_SIGNS.get(setting)}": rate
        for rate in RATES
    }
    known = numbers[
        (numbers["publication"] == printed_counts.PAPER)
        & numbers["column"].isin(columns)
    ]
    table = next(
        (name for name in TABLES if name in set(known["table_id"])), None
    )
    return [
        PrintedRow(
            str(title),
            str(setting),
            str(table),
            dict(zip(of["column"].map(columns), of["printed"], strict=True)),
        )
        for title, of in known[known["table_id"] == table].groupby(
            "row", sort=False
        )
    ]


_HEADER = ("", "setting", "n", *RATES)


def table_words(
    rows: Sequence[ScoreRow], printed: Sequence[PrintedRow] = ()
) -> str:
    """Detection alone, in percent with 95% intervals; the job's own row first, what is only printed last."""
    beside_others = bool(printed) or any(row.is_published for row in rows)
    lines = [_HEADER]
    for row in rows:
        is_own = beside_others and not row.is_published
        lines.append(_cells(row, "*" if is_own else ""))
    lines += [_printed_cells(row) for row in printed]
    table = _aligned(lines)
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


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    form = "  ".join(f"{{:<{width}}}" for width in widths)
    return [form.format(*line).rstrip() for line in lines]


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


def rows_json(rows: Sequence[ScoreRow]) -> list[JsonObject]:
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
