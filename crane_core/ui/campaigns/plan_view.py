"""A plan before it is stored: the sentences and tables that the command line prints, too."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.pipeline.plan_outline import SECONDS_PER_ITEM, Outline
from crane_core.ui.words import count, literal


def draw_outline(told: Outline) -> None:
    """Population, sample, strata, everybody's work, and what the items weigh."""
    st.markdown("  \n".join(map(literal, told.sentences)))
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.dataframe(_strata(told), hide_index=True, height="content")
    with right:
        st.dataframe(_load(told), hide_index=True, height="content")
        st.caption(f"Hours at {SECONDS_PER_ITEM:.0f} s an item, repeats included: an assumption, not a measurement.")
    st.markdown("**What the labels will weigh**")
    st.markdown("  \n".join(map(literal, told.dependence)))
    for remark in told.remarks:
        st.warning(literal(remark))


def _strata(told: Outline) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Stratum": row.stratum,
            "Population": count(row.population),
            "Drawn": count(row.drawn),
            "Labelled twice or more": count(row.twice_or_more),
            "Inclusion probability": f"{row.inclusion_probability:.4f}",
        }
        for row in told.strata
    )


def _load(told: Outline) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Annotator": row.annotator,
            "Items": count(row.items),
            "Hidden repeats": count(row.repeats),
            "Hours": f"{row.hours:.1f}",
        }
        for row in told.load
    )
