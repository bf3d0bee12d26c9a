"""The outcomes of executing the pairs of benchmarks: counts by benchmark, and every pair that is not as recorded."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from crane_core.domain import VerifiedAs
from crane_core.pipeline.verification import verified
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.rows_html import draw_first_rows
from crane_core.ui.words import count, literal, moment


def draw_verified() -> None:
    """One row per benchmark and environment, the newest first; then the other pairs of each benchmark's newest.

    Folded away while no pair was executed.
    """
    found = verified.summaries(data.store())
    if not found:
        with st.expander("Verified pairs: none yet"):
            st.caption(
                "No pairs were executed here yet. The command `verify minibench`, or the name of any benchmark or "
                "folder, runs every pair and says whether one notebook crashes as recorded and the other does not."
            )
        return
    st.header("Verified pairs", anchor="verified")
    titles = data.benchmark_titles()
    grid(
        pd.DataFrame(
            {
                "Benchmark": [
                    titles.get(one.benchmark, one.benchmark) for one in found
                ],
                "Pairs": [len(one.pairs) for one in found],
                "As recorded": [one.n(VerifiedAs.AS_RECORDED) for one in found],
                "Not as recorded": [one.n(*verified.WRONG) for one in found],
                "Not verified here": [one.n(*verified.APART) for one in found],
                "Python": [one.python for one in found],
                "Executed": [moment(one.last_at) for one in found],
                "Environment": [one.environment for one in found],
            }
        )
    )
    newest = list({one.benchmark: one for one in reversed(found)}.values())
    _draw_pairs(
        "Pairs that are not what they claim to be", newest, verified.WRONG
    )
    _draw_pairs("Pairs that could not be verified here", newest, verified.APART)


def _draw_pairs(
    heading: str,
    found: Sequence[verified.Summary],
    outcomes: Sequence[VerifiedAs],
) -> None:
    listed = [
        pair for one in found for pair in one.pairs if pair.outcome in outcomes
    ]
    if not listed:
        return
    st.markdown(f"**{literal(heading)}** ({count(len(listed))})")
    shown = pd.DataFrame(
        {
            "Case": [pair.case_id for pair in listed],
            "Benchmark": [pair.benchmark for pair in listed],
            "Notebook": [str(pair.of.version) for pair in listed],
            "Outcome": [str(pair.outcome) for pair in listed],
            "Reason": [pair.of.why for pair in listed],
        }
    )
    draw_first_rows(shown, "pairs")
