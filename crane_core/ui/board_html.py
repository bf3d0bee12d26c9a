"""A leaderboard as a table in HTML, for the app and the static site: dots with intervals, and brackets beside ranks."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

from crane_core.charts.theme import detector_colours
from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.export import leaderboard_formats
from crane_core.pipeline.results.leaderboard import Board, rank_words
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.ui.words import (
    NOTHING,
    count,
    experiment_words,
    interval,
    listed,
    percent,
    setting_short,
    setting_words,
)

KIND_OF_ROW = {
    DetectorKind.LLM: "model",
    DetectorKind.ANALYZER: "static analyzer",
    DetectorKind.RULES: "rules",
}
FOLD = (
    '<label class="cw-all"><input type="checkbox"> All figures of a row</label>'
)
"""On a phone a row has accuracy and F1 until this is ticked; see style.css."""
DESCENDING = "-"
"""Before a column in the address: the largest first."""
LABELS = "labels"
"""The column of how many detected crashes have a label."""
Row = dict[str, Any]


class BoardColumn(NamedTuple):
    """A column: its heading, what the heading explains, the cell of a row, and what rows are sorted by."""

    name: str
    head: str
    about: str
    cell: Callable[[Row], str]
    by: str
    is_high_first: bool = True


def _share(name: str) -> Callable[[Row], str]:
    return lambda row: percent(row[name])


def _number(name: str, decimals: int) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        value = row[name]
        if value is None:
            return NOTHING
        return f"{digits(value, decimals)}" if decimals else count(round(value))

    return cell


def _changed(row: Row) -> str:
    if row["n_flips"] is None:
        return NOTHING
    return f"{count(int(row['n_flips']))} of {count(row['n_asked'])}"


def _labels(row: Row) -> str:
    if not row["n_to_label"]:
        return NOTHING
    return f"{count(row['n_labelled'])} of {count(row['n_to_label'])}"


COLUMNS = (
    BoardColumn(
        "precision",
        "Precision",
        "of the predicted crashes, how many are real",
        _share("precision"),
        "precision",
    ),
    BoardColumn(
        "recall",
        "Recall",
        "of the real crashes, how many are found",
        _share("recall"),
        "recall",
    ),
    BoardColumn(
        "f1", "F1", "harmonic mean of precision and recall", _share("f1"), "f1"
    ),
    BoardColumn(
        "changed",
        "Unstable",
        "instances whose repeated answers differ",
        _changed,
        "n_flips",
        is_high_first=False,
    ),
    BoardColumn(
        "tokens",
        "Tokens per answer",
        "mean; of imported models the input alone",
        _number("tokens", 0),
        "tokens",
        is_high_first=False,
    ),
    BoardColumn(
        "usd",
        "USD per 1,000 answers",
        "of imported models the input alone, at list price",
        _number("usd", 2),
        "usd",
        is_high_first=False,
    ),
    BoardColumn(
        "seconds",
        "Seconds",
        "median per answer; known of own runs",
        _number("seconds", 1),
        "seconds",
        is_high_first=False,
    ),
    BoardColumn(
        LABELS,
        "Labelled",
        "detected crashes whose diagnosis has a label of the annotator",
        _labels,
        "n_labelled",
    ),
)
SORTED_BY = {
    "name": ("detector_title", False),
    "accuracy": ("value", True),
} | {one.name: (one.by, one.is_high_first) for one in COLUMNS}


def row_name(row: Row) -> str:
    """A detector with its input: "GPT-5 +RT"."""
    return f"{row['detector_title']} {setting_short(row['setting'])}"


def lead_words(board: Board) -> str:
    """Who is first and whom no test separates from it, in a sentence."""
    rows = as_rows(board.ranked)
    if not rows:
        return "No detector can be ranked under this reading"
    first = rows[0]
    if len(rows) == 1:
        return (
            f"{row_name(first)} alone can be ranked: {percent(first['value'])}"
        )
    # Two rows share a rank where their own test finds no difference.
    near = [
        row_name(rows[one.second])
        for one in board.tests
        if one.first == 0 and str(one.outcome) not in ("gain", "loss")
    ]
    if not near:
        return f"{row_name(first)} is better than every other row ({percent(first['value'])})"
    most = 3
    others = (
        listed(near, "or")
        if len(near) <= most
        else f"the next {count(len(near))}"
    )
    return (
        f"{row_name(first)} has the highest accuracy ({percent(first['value'])}); the tests do not separate it from "
        f"{others}"
    )


def board_table(
    board: Board,
    *,
    sort: str | None = None,
    kind: str | None = None,
    most: int | None = None,
    is_linked: bool = True,
) -> str:
    """The table; text of others is escaped here.

    sort: a key of SORTED_BY, with DESCENDING before it for the largest first; None is the order of ranks. kind: only
    rows of this kind of detector, whose ranks stay those of the whole board. most: so many rows in a compact form.
    is_linked: names open the answers, and headings sort, which takes the app.
    """
    shown = _shown(board, sort, kind)[:most]
    # Whatever a row without labels has in its columns, it is a dash.
    rows = [row for row in shown if not _is_unlabelled(row)]
    is_compact = most is not None
    # A column that says nothing of any row only takes room: no seconds are known of imported answers.
    columns = [
        each
        for each in COLUMNS
        if not is_compact
        and any(each.cell(row) != NOTHING for row in rows)
        and not (each.name == LABELS and is_all_labelled(board))
    ]
    low, high = _scale(rows)
    # The order of ranks is that of accuracy, and a heading says so.
    heads = _heads(
        columns,
        sort or f"{DESCENDING}accuracy",
        low,
        high,
        is_linked=is_linked and not is_compact,
    )
    ends = _ends(rows)
    # Of all rows: the chart of the same board gives a stranger its colour by them.
    colours = detector_colours(board.rows["detector_title"].unique().tolist())
    body = "".join(
        _row_html(
            board,
            place,
            row | {"colour": colours[row["detector_title"]]},
            columns,
            ends,
            low,
            high,
            is_linked=is_linked,
        )
        for place, row in enumerate(rows)
    )
    unlabelled = [row for row in shown if _is_unlabelled(row)]
    if unlabelled:
        body += _unlabelled_html(
            board, unlabelled, 4 + len(columns), is_linked=is_linked
        )
    fold = FOLD if is_linked and not is_compact else ""
    css = "cw-leaders cw-compact" if is_compact else "cw-leaders"
    tenth = 10 / (high - low)
    looks = f"--groups: {board.n_groups}; --tenth: {tenth:.3f}%"
    return (
        f'{fold}<table class="{css}" style="{looks}"><caption class="cw-hidden">{escape(lead_words(board))}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def is_all_labelled(board: Board) -> bool:
    """Whether every row that is not without labels has a label for all that it needs, so that no row tells of them."""
    rows = [row for row in as_rows(board.rows) if not _is_unlabelled(row)]
    n_to_label = [row["n_to_label"] for row in rows if row["n_to_label"]]
    n_labelled = [row["n_labelled"] for row in rows if row["n_to_label"]]
    return bool(n_to_label) and n_to_label == n_labelled


def _is_unlabelled(row: Row) -> bool:
    return row["why_unranked"] is not None and row["value"] is None


def _unlabelled_html(
    board: Board, rows: Sequence[Row], n_columns: int, *, is_linked: bool
) -> str:
    """One line for all of them: how many, why, and their names."""
    names = ", ".join(
        f'<span data-place="{row["place"]}" title="{escape(row["why_unranked"])}">'
        f"{_linked_name(board, row, is_linked=is_linked)}</span>"
        for row in rows
    )
    why = (
        f"no labels by {board.policy.annotator}"
        if not any(row["n_labelled"] for row in rows)
        else "too few labels"
    )
    return (
        f'<tr class="cw-unranked"><td colspan="{n_columns}">{count(len(rows))} not ranked: {escape(why)}. {names}'
        "</td></tr>"
    )


def _linked_name(board: Board, row: Row, *, is_linked: bool) -> str:
    """The name, which opens the answers."""
    name = escape(row_name(row))
    if not is_linked:
        return name
    address = escape(
        leaderboard_formats.answers_address(board.policy.benchmark, row)
    )
    return f'<a href="{address}" data-page="runs">{name}</a>'


def _shown(board: Board, sort: str | None, kind: str | None) -> list[Row]:
    rows = as_rows(board.rows)
    rows = [row | {"place": place} for place, row in enumerate(rows)]
    if kind:
        rows = [row for row in rows if row["detector_kind"] == kind]
    name = (sort or "").removeprefix(DESCENDING)
    if name not in SORTED_BY:
        return rows
    by = SORTED_BY[name][0]
    known = [row for row in rows if row[by] is not None]
    known.sort(key=lambda row: row[by], reverse=sort != name)
    # What is unknown has no place in an order, so it comes last in both.
    return known + [row for row in rows if row[by] is None]


def _scale(rows: Sequence[Row]) -> tuple[float, float]:
    """Tenths around all intervals, so that their widths can be seen."""
    lows = [row["low"] for row in rows if row["low"] is not None]
    highs = [row["high"] for row in rows if row["high"] is not None]
    if not lows:
        return 0.0, 1.0
    return math.floor(10 * min(lows)) / 10, math.ceil(10 * max(highs)) / 10


def _ends(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """The first and the last shown row of each bracket."""
    ends: dict[int, tuple[int, int]] = {}
    for place, row in enumerate(rows):
        for group in row["groups"]:
            first, _ = ends.get(group, (place, place))
            ends[group] = (first, place)
    return ends


def _heads(
    columns: Sequence[BoardColumn],
    sort: str | None,
    low: float,
    high: float,
    *,
    is_linked: bool,
) -> str:
    rank = '<th scope="col" class="cw-rank" title="the ranks that the tests leave open">Rank</th>'
    brackets = (
        '<th scope="col" class="cw-brackets" title="rows that share a bracket are not shown to differ">'
        '<span class="cw-hidden">Brackets</span></th>'
    )
    span = f'<span class="cw-span"><em>{percent(low, 0)}</em><em>{percent(high, 0)}</em></span>'
    name = _head("name", "Detector and input", "", sort, is_linked=is_linked)
    accuracy = _head("accuracy", "Accuracy", span, sort, is_linked=is_linked)
    others = [
        _head(
            one.name, one.head, "", sort, is_linked=is_linked, about=one.about
        )
        for one in columns
    ]
    return rank + brackets + name + accuracy + "".join(others)


def _head(
    name: str,
    words: str,
    more: str,
    sort: str | None,
    *,
    is_linked: bool,
    about: str = "",
) -> str:
    if not is_linked:
        title = f' title="{escape(about)}"' * bool(about)
        return f'<th class="cw-of-{name}" scope="col"{title}>{words}{more}</th>'
    return sorting_head(
        name,
        words,
        sort,
        about=about,
        more=more,
        is_high_first=SORTED_BY[name][1],
    )


def sorting_head(
    name: str,
    words: str,
    sort: str | None,
    *,
    about: str,
    is_high_first: bool,
    more: str = "",
) -> str:
    """A heading whose button asks for the rows by this column, and in the other order where they are by it already.

    sort: as in the address. about: what the button explains. more: HTML below it.
    """
    high = DESCENDING + name
    first, turned = (high, name) if is_high_first else (name, high)
    asked = turned if sort == first else first
    arrow = {name: " ↑", high: " ↓"}.get(sort or "", "")
    order = {" ↑": "ascending", " ↓": "descending"}.get(arrow, "none")
    title = f' title="{escape(about)}"' * bool(about)
    return (
        f'<th class="cw-of-{name}" scope="col" aria-sort="{order}">'
        f'<button type="button" data-sort="{asked}"{title}>{words}{arrow}</button>{more}</th>'
    )


def _row_html(
    board: Board,
    place: int,
    row: Row,
    columns: Sequence[BoardColumn],
    ends: dict[int, tuple[int, int]],
    low: float,
    high: float,
    *,
    is_linked: bool,
) -> str:
    best, worst = (row[name] or math.nan for name in ("best", "worst"))
    css = "" if row["why_unranked"] is None else ' class="cw-unranked"'
    slots = "".join(
        _slot(place, group, row["groups"], ends)
        for group in range(board.n_groups)
    )
    shared = leaderboard_formats.letters(row["groups"])
    cells = "".join(_figure_html(one, row) for one in columns)
    return (
        f'<tr{css} data-place="{row["place"]}"><td class="cw-rank">{rank_words(best, worst)}</td>'
        f'<td class="cw-brackets" title="brackets {shared or NOTHING}"><span class="cw-hidden">{shared}</span>'
        f'<span class="cw-slots" aria-hidden="true">{slots}</span></td>'
        f"{_name_html(board, row, is_linked=is_linked)}{_accuracy_html(row, low, high)}"
        f"{cells}</tr>"
    )


def _figure_html(column: BoardColumn, row: Row) -> str:
    """A cell that names its column, for on a phone no heading is above it."""
    shown = column.cell(row)
    css = " cw-nothing" if shown == NOTHING else ""
    return f'<td class="cw-figure{css}" data-head="{column.head}">{escape(shown)}</td>'


def _slot(
    place: int,
    group: int,
    mine: Sequence[int],
    ends: dict[int, tuple[int, int]],
) -> str:
    first, last = ends.get(group, (place, place))
    if group not in mine:
        is_between = first < place < last
        return '<i class="skip"></i>' if is_between else "<i></i>"
    css = "on" + " top" * (place == first) + " end" * (place == last)
    return f'<i class="{css}"></i>'


def _name_html(board: Board, row: Row, *, is_linked: bool) -> str:
    name = _linked_name(board, row, is_linked=is_linked)
    own = ' <span class="cw-tag">yours</span>' if row["is_own"] else ""
    kind = KIND_OF_ROW.get(row["detector_kind"]) or str(row["detector_kind"])
    why = row["why_unranked"]
    # The same experiment in every row tells nothing; the sentence below the board names it.
    said = f"not ranked: {why}" if why else experiment_words(row["experiment"])
    is_told = why or board.ranked["experiment"].nunique() > 1
    note = escape(f"{kind}, {said}") if is_told else escape(kind)
    if is_linked:
        address = escape(
            leaderboard_formats.cases_address(board.policy.benchmark, row)
        )
        note += f' · <a href="{address}" data-page="cases">its cases</a>'
    tip = escape(
        f"{setting_words(row['setting'])}; {row['detector']}; {count(row['k'])} answers a question"
    )
    return f'<th scope="row" class="cw-of-name" title="{tip}">{name}{own}<small>{note}</small></th>'


def _accuracy_html(row: Row, low: float, high: float) -> str:
    if row["value"] is None:
        return f'<td class="cw-of-accuracy">{NOTHING}</td>'
    width = high - low

    def at(share: float) -> str:
        return f"{100 * (share - low) / width:.1f}%"

    css = ' class="cw-open"' if row["setting"] == Setting.CODE else ""
    marks = (
        f'<b style="left:{at(row["low"])};right:calc(100% - {at(row["high"])})"></b>'
        f'<i{css} style="left:{at(row["value"])}"></i>'
    )
    tip = (
        f"95% interval {interval(row['low'], row['high'])}, n {count(row['n'])}"
    )
    return (
        f'<td class="cw-of-accuracy" title="{tip}"><span class="cw-value">{percent(row["value"])}</span>'
        f'<span class="cw-dots" style="--mark: {row["colour"]}" aria-hidden="true">{marks}</span>'
        f'<span class="cw-interval">{interval(row["low"], row["high"])}</span></td>'
    )
