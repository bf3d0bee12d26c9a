"""Results of rehearsals: what the targets did when they were executed. Nothing here is a prediction."""

import pandas as pd
import streamlit as st

from crane_core.pipeline.results.rehearsed import rehearsed
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.words import VERSION_WORDS, count, interval, percent

ABOUT = (
    "Execution, not prediction: each target cell was run in a copy of its kernel, which was dropped. Targets that were "
    "still running at the limit or whose outcome is unknown gave no verdict; the Runs page lists their reasons."
)


@data.kept(data.answers, 16, copied=True)
def what_ran(chosen: ResultChoice) -> pd.DataFrame:
    """What the rehearsed targets did; see `pipeline.results.rehearsed`."""
    return rehearsed(chosen.rows())


def draw_rehearsal(chosen: ResultChoice) -> None:
    """A row for the crashing and one for the fixed notebooks of each rehearsal."""
    st.header(
        "Rehearsal: what did the targets do in a copy of their kernel?",
        anchor="rehearsal",
    )
    st.caption(ABOUT)
    grid(readable(what_ran(chosen)))


def readable(found: pd.DataFrame) -> pd.DataFrame:
    """The table; it names the detector only where there are several, as a phone has no room for a wide first column."""
    titles = found["detector_title"].nunique() > 1
    return pd.DataFrame(
        ({"Detector": row["detector_title"]} if titles else {})
        | {
            "Notebooks": VERSION_WORDS[row["version"]],
            "Crashed": count(row["n_crashed"]),
            "Ran through": count(row["n_through"]),
            "No verdict": count(row["n_open"]),
            "As recorded": percent(row["value"]),
            "95% interval": interval(row["low"], row["high"]),
            "n": count(row["n"]),
        }
        for row in as_rows(
            found.sort_values("version", ascending=False, kind="stable")
        )
    )
