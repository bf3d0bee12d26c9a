"""How stable are the runs? The accuracy of one and of several, and how often a crash with k votes is real."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.reliability import reliability
from crane_core.charts.theme import in_order
from crane_core.domain import Setting
from crane_core.pipeline.results.five_runs import Measure
from crane_core.pipeline.results.measures import WITH_STATE, Credit, VoteRule
from crane_core.pipeline.results.run_measures import Stability, stability
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.grid import grid
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.url_state import switch
from crane_core.ui.words import (
    NOTHING,
    bullets,
    count,
    interval,
    percent,
    setting_short,
)

ALL_INPUTS = "all inputs"
NUMBERS = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
}
ABOUT_VOTES = (
    "Dashed: as many real crashes as votes. Lines: 95% intervals by case. Larger marks: more instances. Half of the "
    "instances of a benchmark of pairs crash; where crashes are rarer, fewer of them are real."
)
ABOUT_RUNS = (
    "Detection only, over the instances that every run answered, with 95% intervals by case. Any of k: the chance that "
    "at least one of k runs is right (pass@k, unbiased). Nothing says which run that is, and chance gets far: a coin "
    "thrown {n} times is right at least once {by_chance} of the time. Between instances: the share of the variance of "
    "right and wrong that lies between instances (one-way ANOVA); the rest lies between the runs of one."
)


@data.kept(data.answers, 16, copied=True)
def _stability(where: ResultChoice) -> Stability:
    """Of the experiment itself; runs beside it are a separate experiment."""
    asked = where.conditions()
    mine = asked[asked["experiment"] == where.experiment].drop_duplicates(
        "detector"
    )
    titles = dict(zip(mine["detector"], mine["detector_title"], strict=True))
    return stability(data.store(), where.benchmark, where.experiment, titles)


def _where(chosen: ResultChoice) -> ResultChoice:
    """The switches that matter for single runs; the others must not invalidate the cache."""
    alike = chosen._replace(
        rule=VoteRule.MAJORITY,
        credit=Credit.DETECTION,
        annotator=PUBLISHED_HUMAN,
    )
    return alike._replace(beside=(), inputs=WITH_STATE)


def draw_five_runs(chosen: ResultChoice) -> None:
    """The section; a sentence where every instance has one run."""
    runs, by_setting = _stability(_where(chosen))
    if runs.empty:
        st.info(
            "Every instance was asked once, so there are no repeated runs to compare."
        )
        return
    most = int(runs["n_runs"].max())
    st.subheader(
        f"How stable are {NUMBERS.get(most, str(most))} runs?", anchor="runs"
    )
    settings = [
        str(setting) for setting in Setting if setting in set(runs["setting"])
    ]
    picked = ALL_INPUTS
    if len(settings) > 1:
        picked = switch(
            "Votes with",
            [ALL_INPUTS, *settings],
            key=keys.VOTES_OF,
            format_func=lambda name: (
                name if name == ALL_INPUTS else setting_short(name)
            ),
        )
    votes = by_setting[None if picked == ALL_INPUTS else picked]
    titles = in_order(votes["detector_title"].unique().tolist())
    st.markdown(
        bullets(
            finding(votes[votes["detector_title"] == title]) for title in titles
        )
    )
    draw_chart(
        finished(reliability, votes),
        _readable_votes(votes),
        numbers=votes,
        name="crash_votes",
        note=ABOUT_VOTES,
    )
    grid(_readable_runs(runs))
    about = ABOUT_RUNS.format(
        n=NUMBERS.get(most, str(most)), by_chance=percent(1 - 0.5**most)
    )
    st.caption(about + _left_out(runs))


def finding(votes: pd.DataFrame) -> str:
    """How often a crash is real that all runs of a detector predict, and one fewer; `votes` is of that detector."""
    said: list[str] = []
    most = votes["n_runs"].max()
    # From all votes down: the surest first.
    for row in as_rows(
        votes[(votes["n_runs"] == most) & (votes["votes"] >= most - 1)].iloc[
            ::-1
        ]
    ):
        verb = "are one" if said else "crash votes are a real crash"
        share = f"**{percent(row['value'])}** of the time ({interval(row['low'], row['high'])}, n {count(row['n'])})"
        said.append(f"{row['votes']} of {row['n_runs']} {verb} {share}")
    title = votes["detector_title"].iloc[0]
    return (
        f"{title}: {'; '.join(said)}."
        if said
        else f"{title}: no instance has {most - 1} crash votes or more."
    )


def _readable_votes(votes: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Crash votes": f"{row['votes']} of {row['n_runs']}",
            "Real crashes": percent(row["value"]),
            "95% interval": interval(row["low"], row["high"]),
            "Real": row["n_real"],
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(votes)
    )


def _readable_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and input, a column per measure; each value with its interval."""
    rows = []
    for title in in_order(runs["detector_title"].unique().tolist()):
        for setting, of in runs[runs["detector_title"] == title].groupby(
            "setting", sort=False
        ):
            rows.append(
                {"Detector": title, "Input": setting_short(str(setting))}
                | {_column(row): _with_interval(row) for row in as_rows(of)}
                | {"Instances": of["n"].max(), "Cases": of["n_cases"].max()}
            )
    return pd.DataFrame(rows).fillna(NOTHING)


def _column(row: dict[str, Any]) -> str:
    names = {
        Measure.RUN: f"Run {row['k']}",
        Measure.PASS: f"Any of {row['k']}",
        Measure.ALL: "All right",
    }
    return names.get(Measure(row["measure"]), "Between instances")


def _with_interval(row: dict[str, Any]) -> str:
    return (
        NOTHING
        if row["value"] is None
        else f"{percent(row['value'])} ({interval(row['low'], row['high'])})"
    )


def _left_out(runs: pd.DataFrame) -> str:
    # Each measure repeats how many were left out of its detector and input.
    lacking = runs.drop_duplicates(["detector", "setting"]).query(
        "left_out > 0"
    )
    return "".join(
        f" {row['detector_title']} {setting_short(row['setting'])}: {count(row['left_out'])} instances lack an answer "
        "and are left out."
        for row in as_rows(lacking)
    )
