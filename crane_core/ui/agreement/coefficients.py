"""The answer in a sentence, the coefficients, and the confusion matrix of two annotators."""

import math
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.campaigns import label_frame
from crane_core.pipeline.rows import as_rows
from crane_core.ui.agreement import computed, phrases
from crane_core.ui.agreement.computed import AgreementChoice
from crane_core.ui.agreement.judges import draw_gate
from crane_core.ui.agreement.scale_html import agreement_row, scale_html
from crane_core.ui.agreement.title import (
    NOBODY,
    PAGE,
    agreement_title,
    nothing_title,
    subject_words,
    withheld_title,
)
from crane_core.ui.grid import grid
from crane_core.ui.label_view import label_words
from crane_core.ui.words import count, literal, percent


def title_words(chosen: AgreementChoice | None) -> str:
    """The page's title: what the choice says, or why it says nothing."""
    if chosen is None:
        return NOBODY
    subject = subject_words(chosen.annotators, chosen.kinds)
    n = len(computed.items(chosen).facts)
    if computed.gives_labels_away(chosen):
        return withheld_title(n, chosen.noun)
    if n == 0:
        return nothing_title(subject, chosen.noun)
    rows = computed.main_rows(chosen)
    return agreement_title(
        rows[computed.main_names(chosen)[0]],
        subject,
        chosen.noun,
        # Of several pairs it would be a mean, and no share of items.
        rows[agreement.PERCENT]["value"]
        if len(chosen.annotators) == 2
        else None,
    )


def tab_words(chosen: AgreementChoice | None) -> str:
    """What the browser's tab says."""
    if chosen is None:
        return PAGE
    return f"{PAGE} of {subject_words(chosen.annotators, chosen.kinds)}"


def draw_answer(chosen: AgreementChoice) -> bool:
    """Whether a judge may replace a person, why kappa is low, what is left out or hidden; whether there is more."""
    n = len(computed.items(chosen).facts)
    is_withheld = computed.gives_labels_away(chosen)
    draw_gate(chosen)
    if is_withheld:
        st.info(
            f"{phrases.names(chosen.annotators)} have {n} {chosen.noun} in common. "
            f"{phrases.names(chosen.blind_campaigns)} is not "
            f"locked, so totals appear from {agreement.MIN_COMMON_WHEN_BLIND} on; with fewer they would reveal "
            "single labels."
        )
    elif n == 0:
        st.info(
            f"{phrases.names(chosen.annotators)} have none of the {chosen.noun} in common. Choose others to compare."
        )
    elif explained := explained_kappa(chosen):
        st.markdown(explained)
    _draw_off_scale(chosen)
    _draw_differences_only(chosen)
    if (computed.items(chosen).weights != 1).any():
        st.caption(
            "Some second labels were drawn by chance, those of uncertain items more often. Agreement weights each by "
            "1 / chance; tables of counts do not."
        )
    return n > 0 and not is_withheld


def _agreed(chosen: AgreementChoice) -> str:
    row = computed.main_rows(chosen)[agreement.PERCENT]
    whose = "" if len(chosen.annotators) == 2 else ", the mean over pairs"
    return (
        f"Of {count(row['n'])} {chosen.noun} of {count(row['n_cases'])} cases, {phrases.value(row)} have equal labels "
        f"(95% {phrases.bounds(row)}){whose}."
    )


def explained_kappa(chosen: AgreementChoice) -> str:
    """Why a kappa is negative, or far below AC1; see `kappa_words`. Empty of more than two annotators."""
    kappa = computed.main_rows(chosen).get(agreement.KAPPA)
    if kappa is None or kappa["value"] is None:
        return ""
    items, labels = computed.items(chosen), computed.label_set(chosen)
    # Words as annotators saw them: the codes of labels are for files.
    names_of_labels = [label_words(label, labels) for label in items.scale]
    first, second = items.annotators
    counts = agreement.confusions(items).set_axis(names_of_labels, axis=0)
    counts = counts.rename_axis(index=first, columns=second)
    return phrases.kappa_words(
        kappa["value"], kappa["low"], kappa["high"], counts
    )


def _draw_off_scale(chosen: AgreementChoice) -> None:
    """Labels outside the scale, by annotator: they are left out, which the page must say."""
    strange, labels = (
        as_rows(computed.items(chosen).off_scale),
        computed.label_set(chosen),
    )
    if strange:
        said = ", ".join(
            f"{literal(row['annotator'])} said “{literal(label_words(row['label'], labels))}” {count(row['n'])} times"
            for row in strange
        )
        st.caption(
            f"**Left out**, because the scale of {chosen.noun} does not have these labels: {said}."
        )


def _draw_differences_only(chosen: AgreementChoice) -> None:
    """That the labels of an annotator were not given at random, which no coefficient shows."""
    chosen_by_difference = [
        name
        for name in chosen.annotators
        if label_frame.labels_differences_only(name)
    ]
    if chosen_by_difference:
        st.warning(
            f"“{phrases.names(chosen_by_difference)}” {label_frame.DIFFERENCES_ONLY}. Agreement with it is not "
            "that of all verdicts."
        )


def draw_coefficients(chosen: AgreementChoice) -> None:
    """Three coefficients with what they are called; the others are computed when they are opened."""
    main = computed.main_names(chosen)
    rows = computed.main_rows(chosen)
    st.html(coefficients_html([rows[name] for name in main]))
    st.caption(f"{_agreed(chosen)} Lines: 95% intervals; 0:\u00a0chance.")
    others = tuple(
        name
        for name in agreement.COEFFICIENTS
        if name not in (*main, agreement.PERCENT)
    )
    fold = st.expander(
        f"{len(others)} more coefficients, and how they are computed",
        key="others",
        on_change="rerun",
    )
    if fold.open:
        with fold:
            _draw_others(chosen, (*others, agreement.PERCENT))


def _draw_others(chosen: AgreementChoice, others: tuple[str, ...]) -> None:
    rows = as_rows(computed.table(chosen, others))
    sources = "\n".join(
        f"- **{row['coefficient']}**: {row['source']}" for row in rows
    )
    grid(
        phrases.readable(
            rows, {"Coefficient": "coefficient"}, with_remarks=False
        ),
        height="content",
        column_config={
            "Coefficient": st.column_config.TextColumn(help=sources)
        },
    )
    if told := phrases.remarks(rows, "coefficient"):
        st.caption(told)
    st.caption(
        f"Intervals of coefficients: {phrases.interval_method(agreement.KAPPA)}; of percent agreement: "
        f"{phrases.interval_method(agreement.PERCENT)}. "
        "Only items with two or more labels count. No test is made: the interval decides the words, and the names of "
        "sizes are conventions."
    )


STEP = 0.2
"""The scale of the intervals begins at a multiple of it."""


def coefficients_html(rows: list[dict[str, Any]]) -> str:
    """Rows of an agreement table on one scale up to 1: name, value, interval, and what it is called."""
    ends = [row[end] for row in rows for end in ("low", "value")]
    least = min([0.0, *(end for end in ends if end is not None)])
    return scale_html(
        [
            agreement_row(
                row["coefficient"], row["source"], row, phrases.reading(row)
            )
            for row in rows
        ],
        heads=("Coefficient", "Value", "Read as"),
        start=STEP * math.floor(least / STEP + 1e-9),
    )


MAX_NAME = 60
"""Characters of an annotator's name that are shown."""


def draw_matrix(chosen: AgreementChoice) -> None:
    """The matrix of two annotators; for more, kappa of each two of them."""
    if len(chosen.annotators) == 2:
        st.html(
            matrix_html(
                agreement.confusions(computed.items(chosen)),
                chosen.noun,
                computed.label_set(chosen),
            )
        )
        return
    rows = as_rows(computed.pairwise(chosen))
    if rows:
        grid(
            phrases.readable(rows, {"Pair": "pair"}, with_remarks=False),
            height="content",
        )
        if told := phrases.remarks(rows, "pair"):
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
    n_columns = len(counts.columns)
    above = (
        f'<th scope="colgroup" colspan="{n_columns}">{escape(second)} says</th>'
    )
    body = "".join(
        _row(counts, label, labels, first, second, total)
        for label in counts.index
    )
    sums = "".join(f"<td>{count(n)}</td>" for n in counts.sum(axis=0).tolist())
    return (
        '<div class="cw-scroll" tabindex="0"><table class="cw-matrix">'
        f"<caption>{count(total)} {noun}. Shading: share of the row. Framed: equal labels.</caption>"
        f"<thead><tr><td></td>{above}<td></td></tr>"
        f'<tr><th scope="col">{escape(first)} says</th>{head}<th scope="col">all</th></tr></thead><tbody>{body}</tbody>'
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
        zip(
            counts.columns,
            counts.loc[[label]].to_numpy()[0].tolist(),
            strict=True,
        )
    )
    # The share is of the row, so that the shading says how the second labels what the first calls this.
    whole = sum(row.values())
    cells = "".join(
        _cell(
            n,
            whole,
            total,
            f"{first}: {label}; {second}: {other}",
            same=label == other,
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
    return (
        f'<td{css} style="--share: {share:.3f}" title="{title}">{count(n)}</td>'
    )
