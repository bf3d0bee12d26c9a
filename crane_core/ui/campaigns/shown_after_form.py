"""Labels that annotators of a new campaign see after their own: those of a table or of an LLM judge."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns import gold
from crane_core.ui import data
from crane_core.ui.campaigns.gold_form import TABLE_HELP

SENTENCE = (
    "After each label the annotator reads this other one: for training. Later labels may follow it; the plan says what "
    "that costs."
)


class ShownAfterAnswers(NamedTuple):
    """A table with its file name, or the name of a judge; all empty: nothing is shown."""

    table: bytes = b""
    name: str = ""
    judge: str = ""


def draw_shown_after(judges: Sequence[str]) -> ShownAfterAnswers:
    """What the lead chose; a table goes before a judge. judges: those with labels of the population."""
    with st.expander("Labels shown after one's own"):
        st.caption(SENTENCE)
        table = st.file_uploader(
            "Labels from a file",
            type="csv",
            help=TABLE_HELP,
            max_upload_size=gold.MOST_BYTES >> 20,
        )
        judge = st.selectbox(
            "Or of an LLM judge",
            judges,
            index=None,
            placeholder="none" if judges else "none has labels here",
            disabled=table is not None or not judges,
        )
    if table is not None:
        return ShownAfterAnswers(table.getvalue(), table.name)
    return ShownAfterAnswers(judge=judge or "")


def with_shown_after(plan: Plan, chosen: ShownAfterAnswers) -> Plan:
    """The plan with these labels. Raises CampaignError if they have none for its items."""
    if not any(chosen):
        return plan
    shown = (
        gold.shown_after(data.store(), plan, chosen.judge)
        if chosen.judge
        else gold.shown_after_of_table(
            data.store(), plan, chosen.table, chosen.name
        )
    )
    return replace(plan, shown_after=shown)
