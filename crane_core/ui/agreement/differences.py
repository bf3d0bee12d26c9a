"""The single verdicts that annotators label differently, each leading to its pair."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.pipeline.agreement.agreement import Items, differing
from crane_core.ui import keys
from crane_core.ui.agreement import computed
from crane_core.ui.agreement.choice import AgreementChoice
from crane_core.ui.label_view import label_words
from crane_core.ui.navigation import go
from crane_core.ui.open_list import clicked_row
from crane_core.ui.words import NOTHING, count, setting_short

MOST_HEIGHT = 420
FACTS = {
    "case_id": "Case",
    "detector_title": "Detector",
    "setting": "Input",
    "library_group": "Library",
}


def draw_differences(chosen: AgreementChoice) -> None:
    """A row per verdict, a column per annotator; a click opens the pair. Campaigns that are not locked are excluded."""
    if chosen.blind_campaigns:
        return
    items = computed.items(chosen)
    unlike = differing(items)
    with st.expander(
        f"{count(len(unlike))} of {count(len(items.facts))} {chosen.noun} with different labels"
    ):
        if unlike.empty:
            st.caption("None: all common labels are equal.")
            return
        st.caption("Click a row to open the pair.")
        place = clicked_row(
            _shown(unlike, items),
            key=f"differences_{'_'.join((chosen.noun, *chosen.annotators))}",
            most_height=MOST_HEIGHT,
        )
    if place is not None:
        row = unlike.iloc[place]
        go("cases", **{keys.BENCHMARK: row["benchmark"], keys.CASE: row["case_id"]})


def _shown(unlike: pd.DataFrame, items: Items) -> pd.DataFrame:
    facts = (
        unlike[list(FACTS)]
        .assign(setting=unlike["setting"].map(setting_short))
        .rename(columns=FACTS)
    )
    said = {
        name: [
            label_words(label, items.label_set) if isinstance(label, str) else NOTHING
            for label in unlike[name]
        ]
        for name in items.annotators
    }
    return facts.assign(**said)
