"""Annotator consistency: labels of hidden repeats."""

from __future__ import annotations

import streamlit as st

from crane_core.pipeline.agreement.agreement import KAPPA, PERCENT
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.phrases import interval_method, readable, remarks
from crane_core.ui.campaign_lead import is_leading
from crane_core.ui.grid import grid


def draw_repeats() -> None:
    """Self-agreement per annotator of every campaign; without repeats yet, how they come about."""
    table = computed.repeats()
    if len(table) and not is_leading():
        table = table[~table["campaign"].isin(data.blind_campaigns())]
    if table.empty:
        st.caption(
            "No hidden repeat has been labelled yet. A campaign shows about one item in twenty again to its "
            "annotator, at least 20 items later; these second labels count only here."
        )
        return
    rows = as_rows(table)
    shown = readable(
        rows,
        {"Annotator": "annotator", "Coefficient": "coefficient"},
        with_remarks=False,
    )
    grid(shown, width=720, height="content")
    if told := remarks(
        [row | {"who": f"{row['coefficient']} of {row['annotator']}"} for row in rows],
        "who",
    ):
        st.caption(told)
    st.caption(
        f"Over hidden repeats. 95% interval of percent agreement: {interval_method(PERCENT)}; of kappa: "
        f"{interval_method(KAPPA)}."
    )
