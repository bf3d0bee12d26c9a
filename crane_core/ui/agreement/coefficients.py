"""The answer in a sentence, every coefficient in a table, and the confusion matrix of two annotators."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.pipeline.agreement.agreement import (
    KAPPA,
    MIN_COMMON_WHEN_BLIND,
    PERCENT,
    ComparedVerdicts,
    confusions,
)
from crane_core.pipeline.campaigns.label_frame import (
    DIFFERENCES_ONLY,
    labels_differences_only,
)
from crane_core.pipeline.rows import as_rows
from crane_core.stats.cohen_kappa import landis_koch
from crane_core.stats.gwet_ac import AC1
from crane_core.stats.krippendorff_alpha import NOMINAL, ORDINAL
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.computed import AgreementChoice
from crane_core.ui.agreement.phrases import (
    PairAgreement,
    bounds,
    interval_method,
    kappa_words,
    names,
    readable,
    remarks,
    value,
)
from crane_core.ui.grid import grid
from crane_core.ui.label_view import label_words
from crane_core.ui.words import count, literal, percent


def draw_answer(chosen: AgreementChoice) -> bool:
    """The headline, what it leaves out, and what may not be shown yet; whether there is anything to show at all."""
    items = computed.items(chosen)
    n = len(items.facts)
    if computed.gives_labels_away(chosen):
        st.info(
            f"{names(chosen.annotators)} have {n} {chosen.noun} in common. {names(chosen.blind_campaigns)} is not "
            f"locked, so totals appear from {MIN_COMMON_WHEN_BLIND} on; with fewer they would reveal single labels."
        )
    elif n == 0:
        st.info(
            f"{names(chosen.annotators)} have none of the {chosen.noun} in common. Choose others to compare."
        )
    else:
        st.markdown(_sentence(chosen))
        if explained := explained_kappa(chosen):
            st.markdown(explained)
    _draw_off_scale(chosen)
    _draw_differences_only(chosen)
    return n > 0 and not computed.gives_labels_away(chosen)


def _sentence(chosen: AgreementChoice) -> str:
    main = headline_coefficient(chosen)
    row = next(
        row
        for row in as_rows(computed.table(chosen))
        if row["coefficient"] == main
    )
    over = f"over {count(row['n'])} {chosen.noun} of {count(row['n_cases'])} cases by {names(chosen.annotators)}"
    if row["value"] is None:
        return f"**{main} is not defined** {over}: {row['why']}."
    bounds_or_why = (
        f"95% {bounds(row)}" if row["low"] is not None else row["why"]
    )
    said = f"**{main} {value(row)}** ({bounds_or_why}) {over}."
    hint = f' Landis and Koch (1977) call that "{landis_koch(row["value"])}": a convention, not a test.'
    return said + (hint if main == KAPPA else "")


def explained_kappa(chosen: AgreementChoice) -> str:
    """What a negative kappa, or one far below AC1, means; see `kappa_words`. Empty of more than two annotators."""
    if len(chosen.annotators) != 2:
        return ""
    of = {row["coefficient"]: row for row in as_rows(computed.table(chosen))}
    kappa, ac1, agreed = of[KAPPA], of[AC1.name], of[PERCENT]
    if kappa["value"] is None or ac1["value"] is None:
        return ""
    items, labels = computed.items(chosen), computed.label_set(chosen)
    # Words as annotators saw them: the codes of labels are for files.
    names_of_labels = [label_words(label, labels) for label in items.scale]
    counts = confusions(items).set_axis(names_of_labels, axis=0)
    found = PairAgreement(
        kappa["value"],
        kappa["low"],
        kappa["high"],
        ac1["value"],
        agreed["value"],
    )
    return kappa_words(found, counts)


def headline_coefficient(chosen: AgreementChoice) -> str:
    """The coefficient of the headline: the study's kappa of two annotators, of more Krippendorff's alpha."""
    if len(chosen.annotators) == 2:
        return KAPPA
    is_ordered = (
        chosen.scope is ComparedVerdicts.DIAGNOSES
        and computed.label_set(chosen).is_ordinal
    )
    return ORDINAL.name if is_ordered else NOMINAL.name


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
        st.warning(
            f"Left out, because the scale of {chosen.noun} does not have these labels: {said}."
        )


def _draw_differences_only(chosen: AgreementChoice) -> None:
    """That the labels of an annotator were not given at random, which no coefficient shows."""
    chosen_by_difference = [
        name for name in chosen.annotators if labels_differences_only(name)
    ]
    if chosen_by_difference:
        st.warning(
            f"“{names(chosen_by_difference)}” {DIFFERENCES_ONLY}. Agreement with it is not that of all verdicts."
        )


def draw_coefficients(chosen: AgreementChoice) -> None:
    """All coefficients with intervals, n, and why one is missing."""
    rows = as_rows(computed.table(chosen))
    sources = "\n".join(
        f"- **{row['coefficient']}**: {row['source']}" for row in rows
    )
    grid(
        readable(rows, {"Coefficient": "coefficient"}, with_remarks=False),
        height="content",
        column_config={
            "Coefficient": st.column_config.TextColumn(help=sources)
        },
    )
    if told := remarks(rows, "coefficient"):
        st.caption(told)
    st.caption(
        f"Intervals of coefficients: {interval_method(KAPPA)}; of percent agreement: {interval_method(PERCENT)}. "
        "Only items with two or more labels count."
    )


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
        grid(
            readable(rows, {"Pair": "pair"}, with_remarks=False),
            height="content",
        )
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
        _row(counts, label, labels, first, second, total)
        for label in counts.index
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
