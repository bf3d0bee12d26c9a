"""How stable are the answers? The accuracy of one and of several, and how often a crash with k votes is real."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.reliability import reliability
from crane_core.charts.theme import in_order
from crane_core.domain import Setting
from crane_core.pipeline.results.five_runs import Measure, Stability, stability
from crane_core.pipeline.results.measures import WITH_STATE, Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.storage.verdicts import PUBLISHED_HUMAN
from crane_core.ui import data, keys, url_state, words
from crane_core.ui.caption import sampled
from crane_core.ui.chart_box import draw_figure, draw_method, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.rows_html import rows_html

ALL_INPUTS = "all inputs"
ENOUGH = 10
"""Instances of which a share is more than a hint; shares of fewer are in no title."""
MANY = 100
"""Instances from which on a title need not say of how many a share is."""
BASIS = "By detection alone: a crash that is predicted counts, whatever its diagnosis."
ABOUT_VOTES = (
    "Dashed: as many real crashes as votes. Lines: 95% intervals by case. Larger marks: more instances; faded, without "
    "interval: at most two. Half of the instances of a benchmark of pairs crash; where crashes are rarer, fewer of "
    "them are real."
)
ABOUT_COLUMNS = {
    "One": "One answer: from the lowest to the highest accuracy of the single answers.",
    "Any": "Any of k: the chance that at least one of k answers is right (pass@k, unbiased).",
    "All": "All right: every answer to an instance is right.",
    "Between": "Between instances: the share of the variance of right and wrong that lies between instances (one-way "
    "ANOVA); the rest lies between the answers to one.",
}
"""What the first word of a heading means."""
ABOUT_RUNS = (
    "Detection only, over the instances that were answered every time, with 95% intervals by case. "
    f"{' '.join(ABOUT_COLUMNS.values())} Nothing says which of k answers is right, and chance gets far: a coin thrown "
    "{n} times is right at least once {by_chance} of the time."
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


def votes_title(chosen: ResultChoice) -> str | None:
    """How often a crash is real that all answers predict, and one fewer; None where an instance has one answer."""
    runs, by_setting = _stability(_where(chosen))
    if runs.empty:
        return None
    return title(by_setting[_setting(runs)])


def title(votes: pd.DataFrame) -> str | None:
    """The same as a title, over all detectors; None where none has so many votes of ENOUGH instances."""
    most = votes["n_runs"].max()
    is_counted = (votes["n_runs"] == most) & (votes["votes"] >= most - 1)
    counted = votes[is_counted & (votes["n"] >= ENOUGH)]
    said: list[str] = []
    for votes_of, of in reversed(list(counted.groupby("votes"))):
        # Integers are exact enough for a title.
        least, high = (
            words.percent(end, 0)
            for end in (of["value"].min(), of["value"].max())
        )
        span = high if least == high else f"{least[:-1]} to {high}"
        few = words.with_n("", of["n"].min(), of["n"].max())
        few = few.replace("(n ", "(n\xa0")
        told = span + few * bool(of["n"].min() < MANY)
        n = f"all {most}" if votes_of == most else f"{votes_of} of {most}"
        said.append(
            f"if {n}, {told}"
            if said
            else f"If {n} answers predict a crash, {told} are real"
        )
    return "; ".join(said) or None


def _inputs(runs: pd.DataFrame) -> list[str]:
    """What the votes can be counted with: all inputs, and each of several."""
    known = set(runs["setting"].unique())
    settings = [str(setting) for setting in Setting if setting in known]
    return [ALL_INPUTS, *settings * (len(settings) > 1)]


def _setting(runs: pd.DataFrame) -> str | None:
    """The one that is picked, None for all of them."""
    picked = url_state.held(keys.VOTES_OF, _inputs(runs))
    return None if picked == ALL_INPUTS else picked


def draw_five_runs(chosen: ResultChoice) -> None:
    """The section; a sentence where every instance has one answer."""
    runs, by_setting = _stability(_where(chosen))
    if runs.empty:
        st.info(
            "Every instance was asked once, so there are no repeated answers to compare."
        )
        return
    most = int(runs["n_runs"].max())
    st.header(f"How stable are {most} answers?", anchor="runs")
    with st.container(horizontal=True, gap="small"):
        st.caption(BASIS, width="content")
        link(
            "results",
            "With a correct diagnosis: Leaderboard",
            **{keys.BENCHMARK: chosen.benchmark},
        )
    inputs = _inputs(runs)
    if len(inputs) > 1:
        url_state.switch(
            "Votes with",
            inputs,
            key=keys.VOTES_OF,
            format_func=lambda name: (
                name if name == ALL_INPUTS else words.setting_short(name)
            ),
        )
    setting = _setting(runs)
    st.markdown(words.bullets(_findings(by_setting[setting])))
    draw_figure(votes_figure(chosen, setting))
    shown, n = summed_up(runs), ""
    if shown["Instances"].nunique() == 1:
        n = f", n {shown.pop('Instances')[0]}"
    st.caption(f"Accuracy by detection alone, 95% intervals{n}.")
    about = {
        str(name): ABOUT_COLUMNS.get(str(name).split()[0], "") for name in shown
    }
    st.html(rows_html(shown, about=about, css="cw-cards cw-each"))
    with st.expander("Every answer and any of k, with intervals"):
        grid(readable_runs(runs))
    method = ABOUT_RUNS.format(n=most, by_chance=words.percent(1 - 0.5**most))
    draw_method(method + _left_out(runs))


def votes_figure(chosen: ResultChoice, setting: str | None) -> ChartFigure:
    """How often a crash is real by the number of votes, with one input or with all; some instance has several runs."""
    votes = _stability(_where(chosen))[1][setting]
    asked_with = ALL_INPUTS if setting is None else words.setting_short(setting)
    return ChartFigure(
        "crash_votes",
        [finished(reliability, votes)],
        shown=_readable_votes(votes),
        numbers=votes,
        caption=_where(chosen).captioned(
            f"How often is a crash real by the number of votes ({asked_with})?",
            ABOUT_VOTES,
            *_findings(votes),
            sampled(votes),
        ),
        note=ABOUT_VOTES,
    )


def has_repeats(chosen: ResultChoice) -> bool:
    """Whether some instance has several runs."""
    return not _stability(_where(chosen)).runs.empty


def _findings(votes: pd.DataFrame) -> list[str]:
    """A sentence per detector."""
    titles = in_order(votes["detector_title"].unique().tolist())
    return [finding(votes[votes["detector_title"] == one]) for one in titles]


def finding(votes: pd.DataFrame) -> str:
    """How often a crash is real that all answers of a detector predict, and one fewer; `votes` is of that detector."""
    said: list[str] = []
    most = votes["n_runs"].max()
    # From all votes down: the surest first.
    for row in as_rows(
        votes[(votes["n_runs"] == most) & (votes["votes"] >= most - 1)].iloc[
            ::-1
        ]
    ):
        is_few = row["n"] < ENOUGH
        bold = "" if is_few else "**"
        n = f"if {row['votes']} of {row['n_runs']}"
        sure = f"({words.interval(row['low'], row['high'])}, n {words.count(row['n'])}{': few' * is_few})"
        share = f"{bold}{words.percent(row['value'])}{bold}"
        said.append(
            f"{n}, {share} {sure}"
            if said
            else f"{n} answers predict a crash, {share} are real {sure}"
        )
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
            "Real crashes": words.percent(row["value"]),
            "95% interval": words.interval(row["low"], row["high"]),
            "Real": row["n_real"],
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(votes)
    )


def _by_input(
    runs: pd.DataFrame,
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Detector, input as the paper writes it, and the measures of both."""
    for title in in_order(runs["detector_title"].unique().tolist()):
        of = runs[runs["detector_title"] == title]
        for setting, measures in of.groupby("setting", sort=False):
            yield title, words.setting_short(str(setting)), measures


def summed_up(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per detector and input: how far single answers are apart, and what several together reach."""
    rows = []
    for title, setting, of in _by_input(runs):
        single = of.loc[of["measure"] == Measure.RUN, "value"]
        of_all = of[
            (of["measure"] != Measure.PASS) | (of["k"] == of["k"].max())
        ]
        rows.append(
            {
                "Detector and input": f"{title} {setting}",
                "One answer": words.interval(single.min(), single.max()),
            }
            | {
                _column(row): _with_interval(row)
                for row in as_rows(of_all[of_all["measure"] != Measure.RUN])
            }
            | {"Instances": words.count(int(of["n"].max()))}
        )
    return pd.DataFrame(rows).fillna(words.NOTHING)


def readable_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """A row per measure, a column per detector and input: each value with its interval."""
    return (
        pd.DataFrame(
            {
                f"{title} {setting}": {
                    _column(row): _with_interval(row) for row in as_rows(of)
                }
                for title, setting, of in _by_input(runs)
            }
        )
        .fillna(words.NOTHING)
        .rename_axis("Measure")
        .reset_index()
    )


def _column(row: dict[str, Any]) -> str:
    names = {
        Measure.RUN: f"Answer {row['k']}",
        Measure.PASS: f"Any of {row['k']}",
        Measure.ALL: "All right",
    }
    return names.get(Measure(row["measure"]), "Between instances")


def _with_interval(row: dict[str, Any]) -> str:
    return (
        words.NOTHING
        if row["value"] is None
        else f"{words.percent(row['value'])} ({words.interval(row['low'], row['high'])})"
    )


def _left_out(runs: pd.DataFrame) -> str:
    # Each measure repeats how many were left out of its detector and input.
    lacking = runs.drop_duplicates(["detector", "setting"]).query(
        "left_out > 0"
    )
    return "".join(
        f" {row['detector_title']} {words.setting_short(row['setting'])}: {words.count(row['left_out'])} "
        "instances lack an answer and are left out."
        for row in as_rows(lacking)
    )
