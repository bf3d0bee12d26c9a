"""The study's tables, recomputed cell by cell, and the claims of its text: printed, ours, and the verdict."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import pandas as pd
import streamlit as st

from crane_core.pipeline.claims import claims, formats
from crane_core.pipeline.claims.verdicts import ClaimVerdict
from crane_core.pipeline.study import table_cells
from crane_core.pipeline.study.study_tables import study_tables
from crane_core.rounding import digits
from crane_core.ui import data, keys, url_state
from crane_core.ui.chart_box import draw_method
from crane_core.ui.result_switches import pick
from crane_core.ui.rows_html import MOST_NUMBERS, rows_html
from crane_core.ui.url_state import switch
from crane_core.ui.words import count, sentence_case

MOST_METRICS = 6
"""Tables with more are shown one metric at a time."""
USUAL = "Accuracy, end-to-end"
VERDICT = "Verdict"
SIGN = {
    table_cells.CellStatus.EQUAL: (
        "=",
        "cw-right",
        "equal to the printed value",
    ),
    table_cells.CellStatus.DIFFERS: (
        "≠",
        "cw-wrong",
        "differs from the printed value",
    ),
    table_cells.CellStatus.PUBLISHED_ONLY: (
        "○",
        "cw-dim",
        "published only: not recomputable from the loaded data",
    ),
    table_cells.CellStatus.OURS_ONLY: (
        "·",
        "cw-dim",
        "ours only: not printed in the paper",
    ),
}


@data.kept(data.answers, spinner="Recomputing the study's tables")
def tables() -> dict[str, table_cells.StudyTable]:
    """All study tables for what is loaded now."""
    return study_tables(data.verdicts(), data.printed_numbers())


def draw_tables() -> None:
    """Every table of the study, one at a time."""
    st.header("The paper's tables, recomputed", anchor="tables")
    known = tables()
    picked = switch(
        "Table",
        list(known),
        key=keys.TABLE,
        default="2a",
        label_visibility="collapsed",
        format_func=lambda name: table_words(known[name]),
    )
    table = known[picked]
    st.markdown(f"**{table.title}**")
    metrics = metrics_of(table)
    if len(metrics) <= MOST_METRICS:
        # Else the address would go on naming a metric that this table does not ask for.
        url_state.drop(keys.METRIC)
        draw_table(table)
        return
    metric = pick(
        "Metric",
        sorted(metrics, key=lambda name: name != USUAL),
        keys.METRIC,
        str,
    )
    draw_table(
        replace(
            table,
            cells=[
                cell for cell in table.cells if _metric(cell.column) == metric
            ],
        )
    )


def metrics_of(table: table_cells.StudyTable) -> list[str]:
    """What the columns measure, whatever the input: "Recall (-RT)" and "Recall (+RT)" are one."""
    return list(dict.fromkeys(_metric(cell.column) for cell in table.cells))


def _metric(column: str) -> str:
    return re.sub(r" \([^)]*\)", "", column)


def table_words(table: table_cells.StudyTable) -> str:
    """A table as a choice: the paper's by number, others by title."""
    return f"Table {table.id}" if table.id[0].isdigit() else table.title


def draw_table(table: table_cells.StudyTable) -> None:
    """One table as printed, every cell with its sign; hovering shows the exact value."""
    # In the order in which the cells are printed.
    rows = list(dict.fromkeys(cell.row for cell in table.cells))
    columns = list(dict.fromkeys(cell.column for cell in table.cells))
    cells = {(cell.row, cell.column): cell for cell in table.cells}
    # A cell without text would be read out as an empty heading.
    heads = "".join(
        f'<th scope="col">{escape(_head(column))}</th>' for column in columns
    )
    head = f"<td></td>{heads}"
    body = "".join(
        f'<tr><th scope="row">{escape(row)}</th>{_cells(row, columns, cells)}</tr>'
        for row in rows
    )
    filled = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    # A few columns are narrow enough for a phone as they are.
    css = " cw-cards" * (len(columns) >= MOST_NUMBERS)
    st.html(
        f'<div class="cw-scroll" tabindex="0"><table class="cw-numbers{css}">{filled}</table></div>'
    )
    st.caption(_summary(table))


def _head(column: str) -> str:
    """A column with the minus sign of inputs: a line could break behind the hyphen that the paper types."""
    return re.sub(r"(?<=\()-|(?<=RT)-", "−", column)


def _cells(
    row: str,
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], table_cells.TableCell],
) -> str:
    return "".join(
        _cell(cells.get((row, column)), _head(column)) for column in columns
    )


def _cell(cell: table_cells.TableCell | None, head: str) -> str:
    if cell is None:
        return '<td class="cw-empty"></td>'
    sign, css, words = SIGN[cell.status]
    ours = "" if cell.ours is None else f"ours {float(cell.ours):.4f}, "
    n = f"n = {cell.n}, " if cell.n is not None else ""
    title = escape(f"{ours}{n}{words}", quote=True)
    shown = cell.printed or ("" if cell.ours is None else digits(cell.ours, 1))
    if (
        cell.status is table_cells.CellStatus.EQUAL
        and cell.unit == "percent"
        and cell.ours is not None
    ):
        shown = f"{digits(cell.ours, 1)}%"  # the paper prints 73% beside 73.4%
    return f'<td data-head="{escape(head)}" title="{title}">{escape(shown)}&nbsp;<span class="{css}">{sign}</span></td>'


def _summary(table: table_cells.StudyTable) -> str:
    counts = pd.Series([cell.status for cell in table.cells]).value_counts()
    parts = [
        f"{counts[status]} {SIGN[status][2]} ({SIGN[status][0]})"
        for status in SIGN
        if status in counts
    ]
    return (
        f"{sentence_case(table.source)}. {len(table.cells)} cells: "
        + "; ".join(parts)
        + ". Hover a cell for our value and n."
    )


EVERY = "all"
MOST_CLAIMS = 20
"""Claims that are open; a list of all would be screens long."""
SHOWN = {
    "claim": "Claim",
    "place": "In the paper",
    "stated": "Stated",
    "exact": "From the data",
    "interval": "95% interval, unadjusted",
    "verdict": VERDICT,
}
CLAIM_WORDS = {
    ClaimVerdict.CONTRADICTED: "are contradicted",
    ClaimVerdict.WITHIN_NOISE: "are within noise",
    ClaimVerdict.ROUNDS_DIFFERENTLY: "round differently",
    ClaimVerdict.NOT_TESTABLE: "cannot be tested here",
}
"""Verdicts as a title says them, after how many claims hold."""
VERDICT_SIGN = {
    ClaimVerdict.CONTRADICTED: ("✗", "cw-wrong"),
    ClaimVerdict.ROUNDS_DIFFERENTLY: ("≈", "cw-part"),
    ClaimVerdict.WITHIN_NOISE: ("~", "cw-part"),
    ClaimVerdict.NOT_TESTABLE: ("?", "cw-dim"),
    ClaimVerdict.HOLDS: ("✓", "cw-right"),
}
"""Sign and class of a verdict, in the order of the page: what a reader looks for first."""
UNIT = {"count": "", "kappa": "", "percent": "%"}
"""Units as they stand behind a number; others follow as they are."""
_HYPHEN = r"(?<![\w)])-(?=\d)"
FORMATS = "The rows are facts in our words; `report --claims` writes them as CSV, JSON or LaTeX."


@data.kept(data.revision, copied=True, spinner="Checking the paper's claims")
def _claims() -> tuple[pd.DataFrame, dict[ClaimVerdict, int]]:
    loaded = claims.loaded_from(
        data.store(), data.verdicts(), data.printed_numbers(), data.labels()
    )
    checked = claims.checked_claims(loaded, claims.published_claims())
    return formats.claim_frame(checked), formats.verdict_counts(checked)


def claims_title() -> str:
    """How many claims hold, and how many do not."""
    frame, counts = _claims()
    told = [
        f"{count(counts[verdict])}\xa0{said}"
        for verdict, said in CLAIM_WORDS.items()
        if counts[verdict]
    ]
    n_hold = count(counts[ClaimVerdict.HOLDS])
    return ", ".join(
        [f"{n_hold} of the paper's {count(len(frame))} claims hold", *told]
    )


def draw_claims() -> None:
    """The section: how many claims hold, and each of them."""
    st.header("The paper's claims, checked against the data", anchor="claims")
    frame, counts = _claims()
    options = [EVERY, *(str(one) for one in VERDICT_SIGN if counts[one])]
    words = {EVERY: f"all {len(frame)}"} | {
        str(verdict): f"{verdict} {n}" for verdict, n in counts.items()
    }
    picked = switch(
        VERDICT,
        options,
        key=keys.CLAIMS,
        label_visibility="collapsed",
        format_func=words.get,
    )
    rows = frame if picked == EVERY else frame[frame["verdict"] == picked]
    table = claims_table(rows, data.detector_titles())
    html = rows_html(table, finished=[VERDICT], css="cw-claims")
    if len(table) > MOST_CLAIMS:
        html += f'<label class="cw-rest"><input type="checkbox"> All {count(len(table))} claims</label>'
    st.html(html)
    draw_method(f"{formats.ABOUT} {FORMATS}")


def claims_table(rows: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """The claims as people read them, the most telling verdicts first; verdicts are HTML. titles: of detectors.

    rows: of `formats.claim_frame`, which writes a minus, units and the ids of detectors as programs read them.
    """
    order = list(VERDICT_SIGN)
    told = rows.sort_values(
        "verdict", key=lambda of: of.map(order.index), kind="stable"
    ).replace(_HYPHEN, "−", regex=True)
    for detector, title in titles.items():
        named = rf"(?<![\w.-]){re.escape(detector)}(?![\w.-])"
        for column in ("interval", "why"):
            told[column] = told[column].str.replace(named, title, regex=True)
    for column in ("stated", "exact"):
        told[column] = [
            f"{number} {UNIT.get(unit, unit)}".strip().replace(" %", "%")
            if number
            else ""
            for number, unit in zip(told[column], told["unit"], strict=True)
        ]
    told["verdict"] = [
        _verdict_html(ClaimVerdict(verdict), why)
        for verdict, why in zip(told["verdict"], told["why"], strict=True)
    ]
    return told[list(SHOWN)].rename(columns=SHOWN)


def _verdict_html(verdict: ClaimVerdict, why: str) -> str:
    sign, css = VERDICT_SIGN[verdict]
    because = f": {escape(why)}" if why else ""
    return f'<b class="{css}">{sign}&nbsp;{verdict}</b>{because}'
