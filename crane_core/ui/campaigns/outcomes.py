"""How far annotators agree by now, and how final labels came about."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Plan
from crane_core.pipeline.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement_so_far import SoFar, agreement_so_far
from crane_core.pipeline.campaign_status import Status
from crane_core.pipeline.label_frame import final_outcomes
from crane_core.ui import data
from crane_core.ui.navigation import link
from crane_core.ui.words import coefficient, coefficient_interval, count


def draw_agreement(status: Status) -> None:
    """One coefficient over everything labelled by two or more, and the way to all the others."""
    plan = status.plan
    st.markdown(_agreement(agreement_so_far(data.folder(), plan, locked=status.lock is not None)))
    who = [f"{plan.campaign}: {name}" for name in plan.annotators]
    link("agreement", "All coefficients on the Agreement page", who=who)


def _agreement(so_far: SoFar) -> str:
    if so_far.found is None:
        if so_far.n_common == 0:
            return "No item has labels of two annotators yet, so agreement is undefined."
        return (
            f"{count(so_far.n_common)} items have labels of two annotators; the coefficient is shown from "
            f"{MIN_COMMON_WHEN_BLIND} on, as of fewer it would tell single labels."
        )
    found = so_far.found
    over = f"over {count(found.n)} items of {count(found.n_clusters)} cases"
    if found.why is not None and coefficient(found.value) == coefficient(float("nan")):
        return f"**{so_far.coefficient}** has no value {over}: {found.why}."
    bounds = f"95% {coefficient_interval(found.low, found.high)}, bootstrap over cases"
    why = f" ({found.why})" if found.why else ""
    return f"**{so_far.coefficient} {coefficient(found.value)}** ({bounds}) {over}{why}."


def draw_outcomes(plan: Plan) -> None:
    """Final labels by how they came about; every item is counted once."""
    st.dataframe(_table(final_outcomes(data.folder(), plan)), hide_index=True, height="content", width=640)


def _table(finals: dict[str, Final]) -> pd.DataFrame:
    counts = Counter((final.provenance, final.label) for final in finals.values())
    rows = []
    for provenance in Provenance:
        of = {str(label).capitalize(): counts[provenance, label] for label in DIAGNOSIS_LABELS}
        n = sum(of.values()) + counts[provenance, None]
        has_label = provenance not in (Provenance.OPEN, Provenance.UNLABELLED)
        shown = {name: count(k) if has_label else "" for name, k in of.items()}
        rows.append({"Provenance": str(provenance), "Items": count(n)} | shown)
    return pd.DataFrame(rows)
