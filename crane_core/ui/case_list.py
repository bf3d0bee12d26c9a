"""The cases as a picture, a row of marks each, and beside it as a list: finished HTML from the pair table."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from crane_core.pipeline.cases.pairs import PATTERN_MEANING, Pattern
from crane_core.pipeline.cases.picture import Picture, PictureColumn
from crane_core.pipeline.rows import as_rows
from crane_core.storage.search import FoundLine
from crane_core.ui import keys
from crane_core.ui.board_html import sorting_head
from crane_core.ui.found_html import marked_line
from crane_core.ui.glossary import explained
from crane_core.ui.words import (
    NOTHING,
    VERSION_WORDS,
    count,
    exception_name,
    setting_short,
)

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
    "pattern": "Signs",
}
NUMBERS = {
    "n_found": "how many of the detectors and inputs predict the crash",
    "n_alarms": "how many of them predict a crash of the fixed version",
}
SORTABLE = tuple(column for column in COLUMNS if column != "pattern")
SHORT = {Pattern.WRONG_REASON: "wrong reason", Pattern.MISSED: "missed"}
SIGNS = {
    Pattern.FLIP: "~",
    Pattern.WRONG_REASON: "◐",
    Pattern.HELPED: "▲",
    Pattern.HURT: "▼",
    Pattern.MISSED: "○",
}
"""A character for each pattern that has a place in the rows.

False alarms have a column; RT helped and RT hurt say the same as changed, and more. Models disagree on nearly every
case, which tells none from another.
"""
ONE_PLACE = (
    (Pattern.FLIP,),
    # Where all miss the crash there is no reason to be wrong.
    (Pattern.WRONG_REASON, Pattern.MISSED),
    (Pattern.HELPED,),
    (Pattern.HURT,),
)
"""Signs that share a place in a row."""
PLACES = {
    "root_cause": "root cause",
    "crash_type": "crash type",
    "stage": "pipeline stage",
    "case_id": "id",
    "target": "target cell",
    "executed": "executed cell",
}
"""Where a searched text was found, in words; a place that is not here is called what it is."""
_HUMP = re.compile("(?<=[a-z])(?=[A-Z])")
LEGEND = (
    ("r3", "right"),
    ("p3", "right call, wrong reason (human label)"),
    ("w3", "crash missed, or false alarm"),
    ("w1", "fainter: the repeated answers agree less"),
    ("u1", "no majority or no answer"),
    ("", "not asked"),
)
"""Class of a mark and what it means."""


def available_words(table: pd.DataFrame) -> str:
    """Which texts are missing, in a sentence; nothing where none is."""
    n_code, n_state = (
        int(table["has_code"].sum()),
        int(table["has_state"].sum()),
    )
    if n_code == n_state == len(table):
        return ""
    return f" Available data: labels; code of {count(n_code)} and runtime state of {count(n_state)} of them."


def board_html(
    table: pd.DataFrame,
    picture: Picture,
    series: list[str],
    *,
    benchmark: str,
    sort: str | None,
    find: str = "",
    found: Mapping[str, FoundLine] | None = None,
    is_of_all: bool = True,
    tags: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """table: the filtered pair table in its order, at least one case; sort: as in the address, None for the default.

    series: the experiments behind the patterns; where they are several, each pattern has their places in this list.
    find: what is searched for, if anything is; found: per case the line that holds it. is_of_all: the answers of all
    detectors are counted. tags: per case the tags that it has.
    """
    rows = as_rows(table.head(MOST_ROWS))
    drawn = _picture_html(rows, picture, benchmark, by_library=sort is None)
    hits = {
        case_id: _hit_html(line, find, case_id)
        for case_id, line in (found or {}).items()
    }
    legend = _signs_legend(rows, is_of_all=is_of_all)
    rows = [
        row | {"tags": (tags or {}).get(row["case_id"], ())} for row in rows
    ]
    return drawn + _list_html(rows, series, benchmark, sort, hits, legend)


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
    # Marks without a majority are rare: they are explained only where the picture has them.
    kinds = {"r", "p", "w"}
    for row in rows:
        kinds |= {mark[:1] for mark in picture.marks.get(row["case_id"], [""])}
    legend = "".join(
        f'<span><i class="{css}"></i> {words}</span>'
        for css, words in LEGEND
        if css[:1] in kinds
    )
    left_out = (
        f"<span>{picture.n_left_out} more detectors and inputs are not drawn</span>"
        if picture.n_left_out
        else ""
    )
    return (
        f'<details class="cw-picture"><summary>Picture of these cases</summary>'
        f'<div class="cw-legend cw-dim">{legend}{left_out}</div>'
        f"{_picture_head(picture.columns)}{body}</details>"
    )


def _ends(columns: Sequence[PictureColumn]) -> list[str]:
    """The class of a column that is the last of its detector, or of all models, for each of both versions."""
    after = [*columns[1:], None]
    once = []
    for one, other in zip(columns, after, strict=True):
        if other is not None and one.is_model and not other.is_model:
            once.append("cw-last")
        else:
            is_end = other is None or one[:2] != other[:2]
            once.append("cw-end" if is_end else "")
    return once * 2


def _picture_head(columns: Sequence[PictureColumn]) -> str:
    ends = _ends(columns)
    names, n = "", 0
    for column, end in zip(columns, ends, strict=False):
        n += 1
        if end:
            names += f'<span class="cw-turned {end}" style="--n:{n}">{escape(column.title)}</span>'
            n = 0
    # The ends are those of both versions, twice as many as columns.
    signs = "".join(
        f'<i class="{end}">{escape(setting_short(column.setting).replace("RT", ""))}</i>'
        for column, end in zip(columns, ends, strict=False)
    )
    sides = "".join(
        f'<div><b>{words}</b><div class="cw-turned-row">{names}</div><div class="cw-signs">{signs}</div></div>'
        for words in VERSION_WORDS.values()
    )
    inputs = (
        f'<span class="cw-dim">{explained("−RT")}, {explained("+RT")}</span>'
    )
    return f'<div class="cw-picture-head">{inputs}{sides}</div>'


def _group_html(
    name: str,
    rows: Sequence[dict[str, Any]],
    picture: Picture,
    ends: list[str],
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
    row: dict[str, Any], picture: Picture, ends: list[str], benchmark: str
) -> str:
    marks = picture.marks.get(row["case_id"], [""] * len(ends))
    cells = [
        f'<i class="{" ".join(filter(None, (mark, end)))}"></i>'
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
    hits: Mapping[str, str],
    legend: str,
) -> str:
    heads = "".join(
        _head_html(column, words, sort) for column, words in COLUMNS.items()
    )
    of_library = Counter(row["library"] or NOTHING for row in rows)
    lines = []
    for row in rows:
        # Without a sort, rows are by library; the first of each is headed by its name.
        if sort is None and (n := of_library.pop(row["library"] or NOTHING, 0)):
            lines.append(_library_html(row["library"] or NOTHING, n))
        lines.append(_row_html(row, series, benchmark))
        lines.append(hits.get(row["case_id"], ""))
    body = "".join(lines)
    jumps = _jumps_html(rows) if sort is None else ""
    return (
        f'<section class="cw-list">{legend}{jumps}<table class="cw-cases"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></section>"
    )


def _jumps_html(rows: Sequence[dict[str, Any]]) -> str:
    """The way to each library, where the list is screens long; nothing of one library."""
    of_library = Counter(row["library"] or NOTHING for row in rows)
    if len(of_library) < 2:
        return ""
    jumps = "".join(
        f'<button type="button" data-jump="{place}">{escape(name)} <span class="cw-dim">{count(n)}</span></button>'
        for place, (name, n) in enumerate(of_library.items())
    )
    return f'<div class="cw-jumps" role="group" aria-label="Libraries">{jumps}</div>'


def _library_html(name: str, n: int) -> str:
    """The heading of the rows of a library."""
    return (
        f'<tr class="cw-of-library"><th colspan="{len(COLUMNS)}" scope="rowgroup">{escape(name)} '
        f'<span class="cw-dim">{count(n)}</span></th></tr>'
    )


def pattern_title(pattern: str, *, is_of_all: bool) -> str:
    """The pattern's name; of chosen detectors no crash is missed "by all"."""
    is_narrowed = pattern == Pattern.MISSED and not is_of_all
    return SHORT[Pattern.MISSED] if is_narrowed else str(pattern)


def _signs_legend(rows: Sequence[dict[str, Any]], *, is_of_all: bool) -> str:
    """The signs that these rows have, each a button that keeps the cases that have it."""
    shown = {pattern for row in rows for pattern, _ in row["patterns_in"]}
    entries = "".join(
        f'<button type="button" data-pattern="{escape(pattern)}" title="{escape(_meaning(pattern))}">'
        f"{_sign(pattern)} {escape(pattern_title(pattern, is_of_all=is_of_all))}</button>"
        for pattern in SIGNS
        if pattern in shown
    )
    legend = f'<div class="cw-legend cw-dim">{entries}</div>'
    return (
        f'<details class="cw-key"><summary>What the signs mean</summary>{legend}</details>'
        if entries
        else ""
    )


def _meaning(pattern: Pattern) -> str:
    return f"{PATTERN_MEANING[pattern]}. Click: show these cases alone."


def _sign(pattern: Pattern) -> str:
    return f'<i class="cw-sign cw-sign-{pattern.name.lower()}" aria-hidden="true">{SIGNS[pattern]}</i>'


def _signs_html(row: dict[str, Any], series: list[str]) -> str:
    """A place for each sign, so that equal ones stand below each other; the words are for screen readers and hover."""
    within = dict(row["patterns_in"])
    if not within.keys() & SIGNS.keys():
        return NOTHING
    places = []
    for sharing in ONE_PLACE:
        signs = ""
        for pattern in sharing:
            if pattern in within:
                words = pattern_words(pattern, within[pattern], series)
                title = escape(f"{words}: {PATTERN_MEANING[pattern]}")
                signs += f'<i title="{title}">{_sign(pattern)}<b class="cw-unseen">{escape(words)}, </b></i>'
        places.append(f"<span>{signs}</span>")
    return f'<span class="cw-signs-of">{"".join(places)}</span>'


def _hit_html(found: FoundLine, find: str, case_id: str) -> str:
    """The row below a case: where the text was found, and the line with it marked."""
    place = PLACES.get(found.place, found.place)
    version = f", {VERSION_WORDS[found.version]}" if found.version else ""
    return (
        f'<tr class="cw-hit" data-case="{escape(case_id)}"><td colspan="{len(COLUMNS)}">'
        f'<span class="cw-dim">{escape(place + version)}</span> <code>{marked_line(found.line, find)}</code></td></tr>'
    )


def _head_html(column: str, words: str, sort: str | None) -> str:
    if column not in SORTABLE:
        return f'<th class="cw-of-{column}" scope="col">{words}</th>'
    return sorting_head(
        column,
        words,
        sort,
        about=NUMBERS.get(column, ""),
        is_high_first=column in NUMBERS,
    )


def _row_html(row: dict[str, Any], series: list[str], benchmark: str) -> str:
    words = row | {"exception": exception_name(row["exception"])}
    shown = {
        column: escape(words[column] or NOTHING)
        for column in COLUMNS
        if column not in NUMBERS and column != "pattern"
    }
    shown["stage"] = shown["stage"].replace("/", "/<wbr>")
    # A narrow screen breaks a long name between its parts.
    shown["exception"] = _HUMP.sub("<wbr>", shown["exception"])
    shown |= {column: _bar_html(row, column) for column in NUMBERS}
    shown["pattern"] = _signs_html(row, series)
    cells = "".join(
        f'<td class="cw-of-{column}">{shown[column]}</td>'
        for column in list(COLUMNS)[1:]
    )
    tags = "".join(
        f'<span class="cw-tag">{escape(tag)}</span>' for tag in row["tags"]
    )
    first = f'<th scope="row"><a {_link(row, benchmark)}>{escape(row["case_id"])}</a>{tags}</th>'
    return f'<tr data-case="{escape(row["case_id"])}">{first}{cells}</tr>'


def _bar_html(row: dict[str, Any], column: str) -> str:
    if not row["n_asked"]:
        return NOTHING
    share = min(1.0, row[column] / row["n_asked"])
    return f'<span class="cw-bar" style="--share:{share:.3f}"></span>{row[column]:.0f}/{row["n_asked"]:.0f}'


def pattern_words(
    pattern: Pattern, within: Sequence[str], series: Sequence[str]
) -> str:
    """A pattern of a case; where several experiments answered, with the numbers of those that show it."""
    said = SHORT.get(pattern, str(pattern))
    # Of one experiment alone, numbers would be noise.
    if len(series) < 2:
        return said
    return (
        f"{said} ({', '.join(str(series.index(name) + 1) for name in within)})"
    )
