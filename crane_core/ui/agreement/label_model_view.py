"""Label models of a locked campaign, folded on Agreement: abilities, and items whose likely label is unsure.

Beside the final labels: nothing here changes a label, an agreement or a result.
"""

import pandas as pd
import streamlit as st

from crane_core.errors import CampaignError
from crane_core.pipeline.agreement import label_model
from crane_core.pipeline.agreement.crowd_kit import is_installed
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.words import NOTHING, count, interval, literal, percent

MOST_ITEMS = 30
"""Unsure items that are listed; the rest is counted."""
COMPARED = "All three compared"
NOT_INSTALLED = "GLAD and MACE need the library crowd-kit, which is not installed here: the extra `labels`."


def draw_label_model() -> None:
    """A fold; a model is fitted when it is opened and chosen."""
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
        with st.container(horizontal=True, gap="medium"):
            campaign = st.selectbox("Locked campaign", campaigns, width=260)
            model = st.segmented_control(
                "Model",
                [*label_model.MODELS, COMPARED],
                default=label_model.DAWID_SKENE,
                required=True,
            )
        if model != label_model.DAWID_SKENE and not is_installed():
            st.info(NOT_INSTALLED)
            return
        chosen = label_model.MODELS if model == COMPARED else (str(model),)
        try:
            found = [_fitted(campaign, one) for one in chosen]
        except CampaignError as error:
            st.info(literal(str(error)))
            return
        if model == COMPARED:
            _draw_compared(found)
        else:
            _draw(found[0])


@data.kept(data.revision, 6, copied=True, spinner="Fitting the label model")
def _fitted(campaign: str, model: str) -> label_model.CampaignLabelModel:
    return label_model.campaign_label_model(data.folder(), campaign, model)


def _draw(found: label_model.CampaignLabelModel) -> None:
    unsure = found.items.head(MOST_ITEMS)
    n_final = int(found.items["final"].notna().sum())
    st.markdown(
        f"By the model {found.model}, the likely label of {count(found.n_unlike)} of the {count(n_final)} "
        "items with a final label is not the final one. The final labels stay: an adjudicator saw the evidence, "
        "the model only labels."
    )
    if not found.has_converged:
        st.warning("The fit did not converge; do not rely on it.")
    grid(people_table(found.people), height="content")
    grid(item_table(unsure), height="content")
    st.caption(
        f"95% bounds: {count(found.n_refits)} fits on resampled cases. {gold_words(found)} Hidden repeats are outside "
        f"of the model. Listed: the {count(len(unsure))} of {count(len(found.items))} items whose likely label is "
        "least probable. It assumes that annotators err independently."
    )


def gold_words(found: label_model.CampaignLabelModel) -> str:
    """What the model makes of gold items, in a sentence."""
    n_gold = count(len(found.gold))
    if found.is_anchored:
        return f"{n_gold} gold items are fixed at their known label."
    return f"{n_gold} gold items do not anchor it: it is fitted to them as to others."


def _draw_compared(found: list[label_model.CampaignLabelModel]) -> None:
    st.markdown(
        "How often the models name the same label as each other, and as the final labels, which stay."
    )
    grid(compared_table(label_model.compared_models(found)), height="content")
    st.caption(
        f"95% intervals by case. Gold items: {label_model.DAWID_SKENE} is fixed at their known label, so only "
        "the others can be right or wrong about it. The models see the same labels: that they agree makes none of "
        "them right."
    )


def compared_table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per pair: models, or a model and what it is compared with."""
    return pd.DataFrame(
        {
            "Compared": f"{row['first']} and {row['second']}",
            "n": count(row["n"]),
            "Same label": percent(row["value"]),
            "95% bounds": interval(row["low"], row["high"]),
        }
        for row in as_rows(rows)
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
