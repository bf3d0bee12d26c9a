"""The confusion matrix of two annotators as an HTML table: counts, shares in the shade of a cell and in its title."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.pipeline.agreement.agreement import confusions
from crane_core.pipeline.rows import as_rows
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.choice import AgreementChoice
from crane_core.ui.agreement.phrases import readable, remarks
from crane_core.ui.grid import grid
from crane_core.ui.label_view import label_words
from crane_core.ui.words import count, percent

MAX_NAME = 60
"""Characters of an annotator's name that are shown."""


def draw_matrix(chosen: AgreementChoice) -> None:
    """The matrix of two annotators; for more, kappa of each two of them."""
    if len(chosen.annotators) == 2:
        st.html(
            matrix_html(
                confusions(computed.items(chosen)),
                chosen.noun,
                computed.label_set(chosen),
            )
        )
        return
    rows = as_rows(computed.pairwise(chosen))
    if rows:
        grid(readable(rows, {"Pair": "pair"}, with_remarks=False), height="content")
        if told := remarks(rows, "pair"):
            st.caption(told)
    st.caption(
        "Cohen's kappa of each two annotators. Choose two to see their confusion matrix."
    )


def matrix_html(counts: pd.DataFrame, noun: str, labels: LabelSet) -> str:
    """`counts`: rows by the label of the first, columns by that of the second annotator, named by index and columns.

    A cell is shaded by its share of the row, so that each row reads as "when the first says this, the second says ...".
    """
    first, second = (
        str(axis.name)[:MAX_NAME] for axis in (counts.index, counts.columns)
    )
    total = int(counts.to_numpy().sum())
    head = "".join(
        f'<th scope="col">{escape(label_words(label, labels))}</th>'
        for label in counts.columns
    )
    body = "".join(
        _row(counts, label, labels, first, second, total) for label in counts.index
    )
    sums = "".join(f"<td>{count(n)}</td>" for n in counts.sum(axis=0).tolist())
    return (
        '<div class="cw-scroll"><table class="cw-matrix">'
        f"<caption>Rows: {escape(first)}. Columns: {escape(second)}. {count(total)} {noun}; shading: "
        "share of the row. Framed: equal labels.</caption>"
        f'<thead><tr><td></td>{head}<th scope="col">all</th></tr></thead><tbody>{body}</tbody>'
        f'<tfoot><tr><th scope="row">all</th>{sums}<td>{count(total)}</td></tr></tfoot></table></div>'
    )


def _row(
    counts: pd.DataFrame,
    label: str,
    labels: LabelSet,
    first: str,
    second: str,
    total: int,
) -> str:
    row = dict(
        zip(counts.columns, counts.loc[[label]].to_numpy()[0].tolist(), strict=True)
    )
    whole = sum(row.values())
    cells = "".join(
        _cell(
            n, whole, total, f"{first}: {label}; {second}: {other}", same=label == other
        )
        for other, n in row.items()
    )
    return f'<tr><th scope="row">{escape(label_words(label, labels))}</th>{cells}<td>{count(whole)}</td></tr>'


def _cell(n: int, whole: int, total: int, who: str, *, same: bool) -> str:
    share = n / whole if whole else 0.0
    of_all = percent(n / total) if total else percent(None)
    title = escape(
        f"{who}: {n} ({percent(share)} of the row, {of_all} of all)", quote=True
    )
    css = ' class="cw-same"' if same else ""
    return f'<td{css} style="--share: {share:.3f}" title="{title}">{count(n)}</td>'
