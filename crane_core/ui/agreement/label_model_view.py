"""The label model of a locked campaign, folded on Agreement: abilities, and items whose likely label is unsure.

Beside the final labels: nothing here changes a label, an agreement or a result.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.errors import CampaignError
from crane_core.pipeline.agreement.label_model import (
    CampaignLabelModel,
    campaign_label_model,
)
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.words import NOTHING, count, interval, literal, percent

MOST_ITEMS = 30
"""Unsure items that are listed; the rest is counted."""


def draw_label_model() -> None:
    """A fold; the model is fitted when it is opened."""
    campaigns = sorted(data.locked_campaigns())
    if not campaigns:
        return
    fold = st.expander(
        "Label model: who is right where annotators differ",
        key="label_model",
        on_change="rerun",
    )
    if not fold.open:
        return
    with fold:
        campaign = st.selectbox("Locked campaign", campaigns, width=260)
        try:
            found = _fitted(campaign)
        except CampaignError as error:
            st.info(literal(str(error)))
            return
        _draw(found)


@data.kept(data.revision, copied=True)
def _fitted(campaign: str) -> CampaignLabelModel:
    return campaign_label_model(data.folder(), campaign)


def _draw(found: CampaignLabelModel) -> None:
    unsure = found.items.head(MOST_ITEMS)
    n_final = int(found.items["final"].notna().sum())
    st.markdown(
        f"By the model of Dawid and Skene, the likely label of {count(found.n_unlike)} of the {count(n_final)} "
        "items with a final label is not the final one. The final labels stay: an adjudicator saw the evidence, "
        "the model only labels."
    )
    if not found.has_converged:
        st.warning("The fit did not converge; do not rely on it.")
    grid(people_table(found.people), height="content")
    grid(item_table(unsure), height="content")
    st.caption(
        f"95% bounds: 200 fits on resampled cases. {count(found.n_gold)} gold items are fixed at their known label; "
        f"hidden repeats are outside of the model. Listed: the {count(len(unsure))} of {count(len(found.items))} items "
        f"whose likely label is least probable. It assumes that annotators err independently."
    )


def people_table(people: pd.DataFrame) -> pd.DataFrame:
    """A row per annotator: ability with bounds, gold and repeats."""
    return pd.DataFrame(
        {
            "Annotator": row["annotator"],
            "n": count(row["n"]),
            "Ability": percent(row["ability"]),
            "95% bounds": interval(row["low"], row["high"]),
            "Gold right": f"{count(row['n_gold_right'])} of {count(row['n_gold'])}",
            "Repeats alike": f"{count(row['n_same'])} of {count(row['n_repeats'])}",
        }
        for row in as_rows(people)
    )


def item_table(items: pd.DataFrame) -> pd.DataFrame:
    """A row per item: likely label with its probability and bounds, and the final label."""
    return pd.DataFrame(
        {
            "Case": row["case"],
            "Item": row["item"],
            "Likely": row["likely"],
            "Probability": percent(row["probability"]),
            "95% bounds": interval(row["low"], row["high"]),
            "Final": row["final"] or NOTHING,
            "Origin": row["provenance"],
        }
        for row in as_rows(items)
    )
