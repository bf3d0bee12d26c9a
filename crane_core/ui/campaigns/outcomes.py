"""How far annotators agree so far, and how final labels came about."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Plan
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.so_far import SoFar, agreement_so_far
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.words import coefficient, coefficient_interval, count, literal


def draw_agreement(status: CampaignStatus) -> None:
    """One coefficient over everything labelled by two or more, and the way to all the others."""
    plan = status.plan
    st.markdown(
        _agreement(
            agreement_so_far(data.folder(), plan, locked=status.lock is not None)
        )
    )
    who = [f"{plan.campaign}: {name}" for name in plan.annotators]
    link("agreement", "All coefficients on the Agreement page", who=who)


def _agreement(so_far: SoFar) -> str:
    if so_far.found is None:
        if so_far.n_common == 0:
            return (
                "No item has labels of two annotators yet, so agreement is undefined."
            )
        return (
            f"{count(so_far.n_common)} items have labels of two annotators; the coefficient is shown from "
            f"{MIN_COMMON_WHEN_BLIND} on, because with fewer it would reveal single labels."
        )
    found = so_far.found
    over = f"over {count(found.n)} items of {count(found.n_clusters)} cases"
    if found.why is not None and coefficient(found.value) == coefficient(float("nan")):
        return f"**{so_far.coefficient}** has no value {over}: {found.why}."
    bounds = f"95% {coefficient_interval(found.low, found.high)}, bootstrap over cases"
    told = str(found.why) if found.why else bounds
    return f"**{so_far.coefficient} {coefficient(found.value)}** ({told}) {over}."


def draw_outcomes(plan: Plan) -> None:
    """Final labels by how they came about; every item is counted once."""
    grid(
        _table(final_outcomes(data.folder(), plan), plan.labels),
        height="content",
        width=640,
    )
    if told := standing_words(plan.labels):
        st.caption(literal(told))


def _table(finals: dict[str, Final], labels: LabelSet) -> pd.DataFrame:
    counts = Counter((final.provenance, final.label) for final in finals.values())
    rows = []
    for provenance in Provenance:
        of = {label.words: counts[provenance, label.code] for label in labels.labels}
        n = sum(of.values()) + counts[provenance, None]
        has_label = provenance not in (Provenance.OPEN, Provenance.UNLABELLED)
        shown = {name: count(k) if has_label else "" for name, k in of.items()}
        rows.append({"Provenance": str(provenance), "Items": count(n)} | shown)
    return pd.DataFrame(rows)
