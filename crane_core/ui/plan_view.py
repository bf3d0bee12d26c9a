"""What was planned, beside what was found: every registered plan of the benchmark, whatever the other switches say."""

import pandas as pd
import streamlit as st

from crane_core.pipeline.results import study_plan
from crane_core.pipeline.results.plan_findings import (
    deviations,
    exploratory,
    plan_findings,
    readable_plans,
)
from crane_core.ui import data
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import count, inputs_short, literal

MOST_NAMED = 6
ABOUT = (
    "Each plan counts as it says itself: its vote rule, credit, judge and smallest effect, with p adjusted over all of "
    "its questions, also those that are open. Held: the outcome is the one that was expected."
)
NONE = (
    "No plan is registered for this benchmark. A plan names the questions, the smallest effect and the number of cases "
    "before a run; crane plan new and crane plan register keep it in the ledger."
)


@data.kept(data.revision, 16, copied=True)
def _findings(on_record: study_plan.PlanOnRecord) -> pd.DataFrame:
    verdicts = data.verdicts()
    rows = verdicts[verdicts["benchmark"] == on_record.plan.benchmark]
    return plan_findings(on_record, lambda who: data.judged(rows, who))


def draw_plans(chosen: ResultChoice) -> None:
    """The section: a table per plan, how it was kept, and what no plan names."""
    st.header("What was planned, and did it hold?", anchor="plan")
    plans = _plans(chosen)
    if not plans:
        st.info(NONE)
        return
    for one in plans:
        found = _findings(one)
        st.markdown(f"**{literal(one.plan.title)}**")
        st.html(rows_html(readable_plans(found).drop(columns="Plan")))
        st.caption(
            " ".join([*deviations(one, found), *_other_bound(one, chosen)])
        )
    st.caption(ABOUT)
    draw_exploratory(chosen)


def _other_bound(
    one: study_plan.PlanOnRecord, chosen: ResultChoice
) -> list[str]:
    planned, here = (100 * bound for bound in (one.plan.bound, chosen.bound))
    if planned == here:
        return []
    return [
        f"Its smallest effect is {planned:.4g} points; the other sections of this page are set to {here:.4g}."
    ]


def draw_exploratory(chosen: ResultChoice) -> None:
    """Which comparisons no plan names; nothing where nothing was planned."""
    plans = _plans(chosen)
    rows = chosen.rows()
    names = exploratory(plans, rows) if plans else []
    if names:
        titles = dict(
            zip(rows["detector"], rows["detector_title"], strict=True)
        )
        named = ", ".join(
            f"{literal(titles[detector])} {inputs_short(inputs)}"
            for detector, inputs in names[:MOST_NAMED]
        )
        n_more = len(names) - MOST_NAMED
        more = f" and {count(n_more)} more" if n_more > 0 else ""
        st.caption(f"Exploratory, in no registered plan: {named}{more}.")


def _plans(chosen: ResultChoice) -> list[study_plan.PlanOnRecord]:
    """Those of the benchmark; none, with a warning, if one of them was altered."""
    found: list[study_plan.PlanOnRecord] = []
    with refusals_shown():
        found = study_plan.registered_plans(data.folder())
    return [one for one in found if one.plan.benchmark == chosen.benchmark]
