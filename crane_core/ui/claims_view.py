"""The claims of the paper's text beside the data: a table with a verdict for each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.pipeline.claims.claims import (
    checked_claims,
    loaded_from,
    published_claims,
)
from crane_core.pipeline.claims.formats import ABOUT, claim_frame, verdict_counts
from crane_core.pipeline.claims.verdicts import ClaimVerdict
from crane_core.ui import data, keys
from crane_core.ui.url_state import one_of

EVERY = "all"
SHOWN = {
    "place": "Place in the paper",
    "claim": "Claim",
    "stated": "Stated",
    "exact": "From the data",
    "interval": "95% interval, unadjusted",
    "unit": "Unit",
    "verdict": "Verdict",
    "why": "Why",
}
FORMATS = "The rows are facts in our words; `report --claims` writes them as CSV, JSON or LaTeX."


@st.cache_data(max_entries=2, show_spinner="Checking the paper's claims")
def _claims(revision: str) -> tuple[pd.DataFrame, dict[ClaimVerdict, int]]:
    loaded = loaded_from(
        data.store(), data.verdicts(), data.printed_numbers(), data.labels()
    )
    checked = checked_claims(loaded, published_claims())
    return claim_frame(checked), verdict_counts(checked)


def draw_claims() -> None:
    """The section: how many claims hold, and each of them."""
    st.subheader("The paper's claims, checked against the data", anchor="claims")
    frame, counts = _claims(data.revision())
    options = [EVERY, *(str(verdict) for verdict, n in counts.items() if n)]
    words = {EVERY: f"all {len(frame)}"} | {
        str(verdict): f"{verdict} {n}" for verdict, n in counts.items()
    }
    picked = one_of(
        st.segmented_control,
        "Verdict",
        options,
        key=keys.CLAIMS,
        default=EVERY,
        required=True,
        label_visibility="collapsed",
        format_func=words.get,
    )
    rows = frame if picked == EVERY else frame[frame["verdict"] == picked]
    st.dataframe(
        rows[list(SHOWN)].rename(columns=SHOWN),
        hide_index=True,
        height=min(len(rows), 12) * 35 + 38,
        column_config={SHOWN["claim"]: st.column_config.TextColumn(width="large")},
    )
    st.caption(f"{ABOUT} {FORMATS}")
