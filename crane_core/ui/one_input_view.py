"""What can be seen of answers with one input: their accuracy, their cases, and how to get another input."""

import pandas as pd
import streamlit as st

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.results.beside import asked_as
from crane_core.pipeline.results.measures import rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys, words
from crane_core.ui.gains_words import WHO
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import ResultChoice

MOST_LINKS = 8
"""Detectors and inputs whose answers are linked; the list of cases filters by the others."""


@data.kept(data.answers, 16, copied=True)
def each_input(chosen: ResultChoice) -> pd.DataFrame:
    """The accuracy of every detector with every input, whether or not there is another to compare it with.

    Columns: detector, detector_title, setting and those of `measures.rate_table`.
    """
    return rate_table(
        chosen.rows(),
        by=["experiment", "detector", "detector_title", "setting"],
        rate="Accuracy",
        rule=chosen.rule,
        credit=chosen.credit,
    )


def single_title(rates: pd.DataFrame, kind: DetectorKind) -> str:
    """Of detectors without a second input: how often they are right; rates: of `each_input`."""
    known = as_rows(rates[rates["value"].notna()])
    if not known:
        return "No answer can be scored with this reading"
    if len(known) == 1:
        row = known[0]
        return (
            f"{row['detector_title']} is right on {words.percent(row['value'])} of {words.count(row['n'])} "
            f"notebooks with {words.SETTING_WORDS[Setting(row['setting'])].removeprefix('with ')}; it has no other "
            "input"
        )
    shares = [row["value"] for row in known]
    who = WHO.get(kind, "detector")
    detectors = rates["detector_title"].nunique()
    named = (
        f"{words.count(detectors)} {who}s are"
        if detectors > 1
        else f"One {who} is"
    )
    return (
        f"{named} right on {words.percent(min(shares))} to {words.percent(max(shares))} of the notebooks; "
        "there are no two inputs to compare"
    )


def draw_one_input(chosen: ResultChoice) -> None:
    """The section in place of a comparison that cannot be made."""
    rates = each_input(chosen)
    st.header("What these answers show", anchor="gain")
    st.markdown(
        f"No detector here answered one instance with both inputs of {words.inputs_short(chosen.inputs)}, so "
        "nothing can be compared. Kinds of crash shows the same rates by library and cause; the links below open "
        "the cases. For a comparison, start the same detector with another input on the Runs page."
    )
    grid(readable(rates))
    with st.container(horizontal=True, gap="medium"):
        for row in as_rows(rates)[:MOST_LINKS]:
            link(
                "cases",
                f"Cases of {words.literal(row['detector_title'])} {words.setting_short(row['setting'])}",
                **{
                    keys.BENCHMARK: chosen.benchmark,
                    keys.EXPERIMENT: row["experiment"],
                    keys.DETECTOR: row["detector"]
                    if row["experiment"] == chosen.experiment
                    else asked_as(row["detector"]),
                    keys.SETTING: row["setting"],
                },
            )
        link("runs", "Runs: start another input")


def readable(rates: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and input."""
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": words.setting_short(row["setting"]),
            "Accuracy": words.percent(row["value"]),
            "95% interval": words.interval(row["low"], row["high"]),
            "Instances": words.count(row["n"]),
            "Cases": words.count(row["n_cases"]),
        }
        for row in as_rows(rates)
    )
