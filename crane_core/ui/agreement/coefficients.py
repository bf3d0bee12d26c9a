"""The answer in a sentence, and every coefficient in a table."""

from __future__ import annotations

import streamlit as st

from crane_core.pipeline.agreement.agreement import KAPPA, MIN_COMMON_WHEN_BLIND, PERCENT, Scope, confusions
from crane_core.pipeline.rows import as_rows
from crane_core.stats.cohen_kappa import landis_koch
from crane_core.stats.gwet_ac import AC1
from crane_core.stats.krippendorff_alpha import NOMINAL, ORDINAL
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.choice import Chosen
from crane_core.ui.agreement.phrases import bounds, names, readable, remarks, value
from crane_core.ui.grid import grid
from crane_core.ui.label_view import label_words
from crane_core.ui.words import coefficient, count, literal, percent

FAR_APART = 0.3
"""From this difference of AC1 and kappa on, the page explains where it comes from."""


def draw_answer(chosen: Chosen) -> bool:
    """The headline, what it leaves out, and what may not be shown yet; whether there is anything to show at all."""
    items = computed.items(chosen)
    n = len(items.facts)
    if computed.gives_labels_away(chosen):
        st.info(
            f"{names(chosen.annotators)} have {n} {chosen.noun} in common. {names(chosen.blind_campaigns)} is not "
            f"locked, so totals appear from {MIN_COMMON_WHEN_BLIND} on; with fewer they would reveal single labels."
        )
    elif n == 0:
        st.info(f"{names(chosen.annotators)} have none of the {chosen.noun} in common. Choose others to compare.")
    else:
        st.markdown(_sentence(chosen))
        if skewed := skew_words(chosen):
            st.markdown(skewed)
    _draw_off_scale(chosen)
    return n > 0 and not computed.gives_labels_away(chosen)


def _sentence(chosen: Chosen) -> str:
    main = headline_coefficient(chosen)
    row = next(row for row in as_rows(computed.table(chosen)) if row["coefficient"] == main)
    over = f"over {count(row['n'])} {chosen.noun} of {count(row['n_cases'])} cases by {names(chosen.annotators)}"
    if row["value"] is None:
        return f"**{main} is not defined** {over}: {row['why']}."
    said = f"**{main} {value(row)}** (95% {bounds(row)}) {over}."
    hint = f' Landis and Koch (1977) call that "{landis_koch(row["value"])}": a convention, not a test.'
    return said + (hint if main == KAPPA else "")


def skew_words(chosen: Chosen) -> str:
    """Why kappa is low beside a high AC1: most labels are the same one. Empty if the two are not far apart."""
    if len(chosen.annotators) != 2:
        return ""
    value_of = {row["coefficient"]: row["value"] for row in as_rows(computed.table(chosen))}
    kappa, ac1, agreed = (value_of.get(name) for name in (KAPPA, AC1.name, PERCENT))
    if kappa is None or ac1 is None or agreed is None or ac1 - kappa < FAR_APART:
        return ""
    counts = confusions(computed.items(chosen)).to_numpy().astype(float)
    shares = [counts.sum(axis=axis) / counts.sum() for axis in (1, 0)]
    most = int((shares[0] + shares[1]).argmax())
    label = label_words(computed.items(chosen).scale[most], computed.label_set(chosen))
    by_chance = float(shares[0] @ shares[1])
    return (
        f"Kappa is low ({coefficient(kappa)}) beside AC1 ({coefficient(ac1)}) because the labels are skewed: "
        f"“{literal(label)}” is {percent(float(shares[0][most]))} of one annotator's labels and "
        f"{percent(float(shares[1][most]))} of the other's, "
        f"so kappa expects {percent(by_chance)} agreement by chance and counts only what exceeds it. "
        f"They agree on {percent(agreed)}."
    )


def headline_coefficient(chosen: Chosen) -> str:
    """The coefficient of the headline: the study's kappa of two annotators, of more Krippendorff's alpha."""
    if len(chosen.annotators) == 2:
        return KAPPA
    is_ordered = chosen.scope is Scope.DIAGNOSES and computed.label_set(chosen).is_ordinal
    return ORDINAL.name if is_ordered else NOMINAL.name


def _draw_off_scale(chosen: Chosen) -> None:
    """Labels outside the scale, by annotator: they are left out, which the page must say."""
    strange, labels = as_rows(computed.items(chosen).off_scale), computed.label_set(chosen)
    if strange:
        said = ", ".join(
            f"{literal(row['annotator'])} said “{literal(label_words(row['label'], labels))}” {count(row['n'])} times"
            for row in strange
        )
        st.warning(f"Left out, because the scale of {chosen.noun} does not have these labels: {said}.")


def draw_coefficients(chosen: Chosen) -> None:
    """All coefficients with intervals, n, and why one is missing."""
    rows = as_rows(computed.table(chosen))
    sources = "\n".join(f"- **{row['coefficient']}**: {row['source']}" for row in rows)
    grid(
        readable(rows, {"Coefficient": "coefficient"}, with_remarks=False),
        height="content",
        column_config={"Coefficient": st.column_config.TextColumn(help=sources)},
    )
    if told := remarks(rows, "coefficient"):
        st.caption(told)
    st.caption("Intervals: BCa bootstrap over cases. Only items with two or more labels count.")
