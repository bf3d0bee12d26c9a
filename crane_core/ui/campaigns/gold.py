"""How annotators label items whose label was known before. For the lead; annotators never see it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.pipeline.campaigns.gold_scores import GoldScore
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.ui.grid import grid
from crane_core.ui.words import NOTHING, count, percent


def draw_gold(status: CampaignStatus) -> None:
    """A row per annotator: how many are labelled, how many right, and the accuracy with its interval."""
    is_told = status.plan.gold_feedback
    grid(
        pd.DataFrame(_row(score) for score in status.gold), height="content", width=640
    )
    st.caption(
        "Items with a known label, mixed into everybody's order. "
        + (
            "Annotators are told after each; the first label counts. "
            if is_told
            else "Annotators are not told. "
        )
        + "95% intervals over cases. Gold items enter no outcome and no estimate."
    )


def _row(score: GoldScore) -> dict[str, str]:
    found = score.accuracy
    return {
        "Annotator": score.annotator,
        "Labelled": f"{count(found.n)} of {count(score.n_all)}",
        "Right": count(score.n_right),
        "Accuracy": percent(found.value) if found.n else NOTHING,
        "95% interval": f"{percent(found.low)} to {percent(found.high)}"
        if found.n
        else NOTHING,
    }
