"""The cases as a picture, a row of marks each, and beside it as a list: finished HTML from the pair table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from crane_core.pipeline.cases.pairs import PATTERN_MEANING, Pattern
from crane_core.pipeline.cases.picture import Picture, PictureColumn
from crane_core.pipeline.rows import as_rows
from crane_core.ui import keys
from crane_core.ui.glossary import explained
from crane_core.ui.words import NOTHING, count, exception_name, setting_short

MOST_ROWS = 400
"""Cases that are drawn; the filters narrow what is beyond."""
COLUMNS = {
    "case_id": "Case",
    "exception": "Exception",
    "root_cause": "Root cause",
    "crash_type": "Crash type",
    "stage": "Pipeline stage",
    "n_found": "Predicted by",
    "n_alarms": "False alarms",
    "pattern": "Pattern",
}
NUMBERS = {
    "n_found": "how many of the detectors and inputs predict the crash",
    "n_alarms": "how many of them predict a crash of the fixed version",
}
SORTABLE = tuple(column for column in COLUMNS if column != "pattern")
DESCENDING = "-"
"""Before a column in the address: the largest first."""
SHORT = {Pattern.WRONG_REASON: "wrong reason", Pattern.MISSED: "missed"}
TOLD = tuple(pattern for pattern in Pattern if pattern is not Pattern.CHANGED)
"""Patterns that the list shows; RT helped and RT hurt say the same as changed, and more."""
PATTERN_HELP = "\n".join(
    f"{SHORT.get(p, p)}: {PATTERN_MEANING[p]}" for p in TOLD
)
LEGEND = (
    ("r3", "right"),
    ("p3", "right call, wrong reason (human label)"),
    ("w3", "crash missed, or false alarm"),
    ("w1", "paler: fewer of the five runs agree"),
)


def available_words(table: pd.DataFrame) -> str:
    """Available data, in a sentence."""
    n_code, n_state = (
        int(table["has_code"].sum()),
        int(table["has_state"].sum()),
    )
    if table.empty:
        return ""
    if n_code == n_state == len(table):
        return "Available data: labels, code and runtime state."
    return f"Available data: labels; code of {count(n_code)} and runtime state of {count(n_state)} of them."


def board_html(
    table: pd.DataFrame,
    picture: Picture,
    series: list[str],
    *,
    benchmark: str,
    sort: str | None,
) -> str:
    """table: the filtered pair table in its order, at least one case; sort: as in the address, None for the default.

    series: the experiments behind the patterns; where they are several, each pattern has their places in this list.
    """
    rows = as_rows(table.head(MOST_ROWS))
    drawn = _picture_html(rows, picture, benchmark, by_library=sort is None)
    return drawn + _list_html(rows, series, benchmark, sort)


def _picture_html(
    rows: Sequence[dict[str, Any]],
    picture: Picture,
    benchmark: str,
    *,
    by_library: bool,
) -> str:
    if not picture.columns:
        return ""
    ends = _ends(picture.columns)
    groups = (
        groupby(rows, key=lambda row: row["library"] or NOTHING)
        if by_library
        else [("", iter(rows))]
    )
    body = "".join(
        _group_html(str(name), list(of), picture, ends, benchmark)
        for name, of in groups
    )
    legend = "".join(
        f'<span><i class="{css}"></i> {words}</span>' for css, words in LEGEND
    )
    left_out = (
        f"<span>{picture.n_left_out} more detectors and inputs are not drawn</span>"
        if picture.n_left_out
        else ""
    )
    return (
        f'<section class="cw-picture"><div class="cw-legend cw-dim">{legend}{left_out}</div>'
        f"{_picture_head(picture.columns)}{body}</section>"
    )


def _ends(columns: Sequence[PictureColumn]) -> list[bool]:
    """Whether a column is the last of its detector, for each of both versions."""
    after = [*columns[1:], None]
    once = [
        other is None or one[:2] != other[:2]
        for one, other in zip(columns, after, strict=True)
    ]
    return once * 2


def _picture_head(columns: Sequence[PictureColumn]) -> str:
    groups = [
        (title, len(list(of)))
        for (title, _), of in groupby(columns, key=lambda column: column[:2])
    ]
    names = "".join(
        f'<span class="cw-turned" style="--n:{n}">{escape(title)}</span>'
        for title, n in groups
    )
    # The ends are those of both versions, twice as many as columns.
    signs = "".join(
        f"<i{' class=cw-end' if end else ''}>{escape(setting_short(column.setting).replace('RT', ''))}</i>"
        for column, end in zip(columns, _ends(columns), strict=False)
    )
    sides = "".join(
        f'<div><b>{words}</b><div class="cw-turned-row">{names}</div><div class="cw-signs">{signs}</div></div>'
        for words in ("crashing", "fixed")
    )
    inputs = (
        f'<span class="cw-dim">{explained("−RT")}, {explained("+RT")}</span>'
    )
    return f'<div class="cw-picture-head">{inputs}{sides}</div>'


def _group_html(
    name: str,
    rows: Sequence[dict[str, Any]],
    picture: Picture,
    ends: list[bool],
    benchmark: str,
) -> str:
    lines = "".join(_line_html(row, picture, ends, benchmark) for row in rows)
    head = (
        f'<b>{escape(name)} <span class="cw-dim">{len(rows)}</span></b>'
        if name
        else "<b></b>"
    )
    return f'<div class="cw-library">{head}<div>{lines}</div></div>'


def _line_html(
    row: dict[str, Any], picture: Picture, ends: list[bool], benchmark: str
) -> str:
    marks = picture.marks.get(row["case_id"], [""] * len(ends))
    cells = [
        f'<i class="{mark}{" cw-end" if end else ""}"></i>'
        for mark, end in zip(marks, ends, strict=True)
    ]
    n = len(picture.columns)
    sides = (
        f"<span>{''.join(cells[:n])}</span><span>{''.join(cells[n:])}</span>"
    )
    # The list beside it has the same links: by keyboard or screen reader each case is met once.
    return f'<a {_link(row, benchmark)} tabindex="-1" aria-hidden="true">{sides}</a>'


def _link(row: dict[str, Any], benchmark: str) -> str:
    """The attributes that open a pair: by a click here, and as its own address."""
    address = urlencode({keys.BENCHMARK: benchmark, keys.CASE: row["case_id"]})
    return f'href="?{escape(address)}" data-case="{escape(row["case_id"])}"'


def _list_html(
    rows: Sequence[dict[str, Any]],
    series: list[str],
    benchmark: str,
    sort: str | None,
) -> str:
    heads = "".join(
        _head_html(column, words, sort) for column, words in COLUMNS.items()
    )
    body = "".join(_row_html(row, series, benchmark) for row in rows)
    return f'<table class="cw-cases"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _head_html(column: str, words: str, sort: str | None) -> str:
    css = f'class="cw-of-{column}"'
    if column not in SORTABLE:
        return (
            f'<th {css} scope="col" title="{escape(PATTERN_HELP)}">{words}</th>'
        )
    first = DESCENDING + column if column in NUMBERS else column
    turned = column if first.startswith(DESCENDING) else DESCENDING + column
    asked = turned if sort == first else first
    arrow = {column: " ↑", DESCENDING + column: " ↓"}.get(sort or "", "")
    order = {" ↑": "ascending", " ↓": "descending"}.get(arrow, "none")
    title = f' title="{escape(NUMBERS[column])}"' if column in NUMBERS else ""
    button = f'<button type="button" data-sort="{asked}"{title}>{words}{arrow}</button>'
    return f'<th {css} scope="col" aria-sort="{order}">{button}</th>'


def _row_html(row: dict[str, Any], series: list[str], benchmark: str) -> str:
    words = row | {
        "exception": exception_name(row["exception"]),
        "pattern": pattern_words(row["patterns_in"], series),
    }
    shown = {
        column: escape(words[column] or NOTHING)
        for column in COLUMNS
        if column not in NUMBERS
    }
    shown["stage"] = shown["stage"].replace("/", "/<wbr>")
    shown |= {column: _bar_html(row, column) for column in NUMBERS}
    cells = "".join(
        f'<td class="cw-of-{column}">{shown[column]}</td>'
        for column in list(COLUMNS)[1:]
    )
    first = f'<th scope="row"><a {_link(row, benchmark)}>{escape(row["case_id"])}</a></th>'
    title = f' title="{escape(words["pattern"])}"' if words["pattern"] else ""
    return (
        f'<tr data-case="{escape(row["case_id"])}"{title}>{first}{cells}</tr>'
    )


def _bar_html(row: dict[str, Any], column: str) -> str:
    if not row["n_asked"]:
        return NOTHING
    share = min(1.0, row[column] / row["n_asked"])
    return f'<span class="cw-bar" style="--share:{share:.3f}"></span>{row[column]:.0f} of {row["n_asked"]:.0f}'


def pattern_words(
    patterns: Iterable[tuple[Pattern, tuple[str, ...]]], series: list[str]
) -> str:
    """The patterns of a case; where several experiments answered, each with the numbers of those that show it."""
    places = {name: str(place) for place, name in enumerate(series, start=1)}

    def where(names: tuple[str, ...]) -> str:
        return (
            f" ({', '.join(places[name] for name in names)})"
            if len(series) > 1
            else ""
        )

    # Of one experiment alone, numbers would be noise.
    return ", ".join(
        SHORT.get(pattern, str(pattern)) + where(names)
        for pattern, names in patterns
        if pattern in TOLD
    )
