"""Results of what was executed: what rehearsed targets did, how many crashes have a fix. None of it is a prediction."""

import pandas as pd
import streamlit as st

from crane_core.pipeline.results.repaired import rehearsed, repaired
from crane_core.pipeline.rows import as_rows
from crane_core.storage.jobs import repair_runs
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.words import VERSION_WORDS, count, interval, percent

ABOUT = (
    "Execution, not prediction: fixes that ran through in a copy of the kernel were run again in a fresh one. At 1: "
    "with the first fix that is shown; at k: with any. Same cells and same state compare the first fix with the "
    "published one. Notebooks without a verdict, or whose target did not crash here, are in no rate; Runs lists why."
)
ABOUT_REHEARSAL = (
    "Execution, not prediction: each target cell was run in a copy of its kernel, which was dropped. Targets that were "
    "still running at the limit or whose outcome is unknown gave no verdict; the Runs page lists their reasons."
)


@data.kept(data.answers, 16, copied=True)
def what_was_fixed(chosen: ResultChoice) -> pd.DataFrame:
    """The repair jobs of the chosen benchmark and experiment; see `pipeline.results.repaired`."""
    found = repaired(repair_runs(data.store().cursor()))
    is_chosen = found["benchmark"].eq(chosen.benchmark) & found[
        "experiment"
    ].eq(chosen.experiment)
    return found[is_chosen].reset_index(drop=True)


def draw_repair(chosen: ResultChoice) -> None:
    """A row for each way of proposing fixes."""
    st.header("Repair: how many crashes have a fix?", anchor="repair")
    st.caption(ABOUT)
    grid(readable(what_was_fixed(chosen)))


def readable(found: pd.DataFrame) -> pd.DataFrame:
    """The table of `repaired`, each number with what it is of."""
    return pd.DataFrame(
        {
            "Fixes by": row["detector_title"],
            "Fixed at 1": percent(row["value_1"]),
            "95% interval": interval(row["low_1"], row["high_1"]),
            "Fixed at k": percent(row["value_k"]),
            "95% interval, k": interval(row["low_k"], row["high_k"]),
            "n": count(row["n"]),
            "Same cells": _of(row["n_same_cells"], row["n_first"]),
            "Same state": _of(row["n_same_state"], row["n_compared"]),
            "Shown, but crash": _of(row["n_crash"], row["n_shown"]),
            "Fixed ones changed": _of(row["n_regressions"], row["n_fixed"]),
            "No crash here": count(row["n_not_crashed"]),
            "No verdict": count(row["n_open"]),
        }
        for row in as_rows(found)
    )


def repair_title(found: pd.DataFrame) -> str:
    """How many crashes have a first fix that runs through; found: of `repaired.repaired`."""
    n = int(found["n"].sum())
    if not n:
        return "No crashing notebook has a verdict about a fix"
    n_fixed = int(found["n_fixed_1"].sum())
    return f"{count(n_fixed)} of {count(n)} crashing notebooks run through with the first fix"


def _of(part: int, whole: int) -> str:
    return f"{count(part)} of {count(whole)}"


@data.kept(data.answers, 16, copied=True)
def what_ran(chosen: ResultChoice) -> pd.DataFrame:
    """What the rehearsed targets did; see `pipeline.results.repaired`."""
    return rehearsed(chosen.rows())


def draw_rehearsal(chosen: ResultChoice) -> None:
    """A row for the crashing and one for the fixed notebooks of each rehearsal."""
    st.header(
        "Rehearsal: what did the targets do in a copy of their kernel?",
        anchor="rehearsal",
    )
    st.caption(ABOUT_REHEARSAL)
    grid(readable_rehearsals(what_ran(chosen)))


def readable_rehearsals(found: pd.DataFrame) -> pd.DataFrame:
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
