"""The filters of the case list, kept in the URL."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from crane_core.pipeline.beside import OWN
from crane_core.pipeline.comparisons import comparison_from, comparison_text, comparisons
from crane_core.pipeline.measures import WITH_STATE, Inputs
from crane_core.pipeline.pairs import PATTERN_MEANING, Pattern, keep, natural_order, pair_table
from crane_core.ui import data, keys, url_state
from crane_core.ui.words import experiment_words, inputs_short, setting_short

WIDTH = 230
LABEL_FILTERS = {
    keys.LIBRARY: "Library",
    keys.ROOT_CAUSE: "Root cause",
    keys.CRASH_TYPE: "Crash type",
    keys.STAGE: "Pipeline stage",
}
ANSWER_FILTERS = (keys.EXPERIMENT, keys.DETECTOR, keys.SETTING)
"""Columns of the verdict frame that say which answers the counts and patterns are about."""
Answers = tuple[tuple[str, tuple[str, ...]], ...]
"""Which values of these columns count; none: all of them."""


def chosen_benchmark() -> str:
    """The benchmark that the URL names, else the largest."""
    known = data.benchmarks()["benchmark"].tolist()
    asked = st.query_params.get(keys.BENCHMARK)
    return str(asked if asked in known else known[0])


def filtered_cases(benchmark: str) -> pd.DataFrame:
    """The pair table under the filters that the URL holds; draws nothing."""
    return keep(
        _pair_table(data.answers(), benchmark, _asked_answers(), _asked_inputs()),
        find=st.query_params.get(keys.SEARCH, ""),
        pattern=st.query_params.get(keys.AGREEMENT),
        **{column: st.query_params.get_all(column) for column in LABEL_FILTERS},
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _pair_table(loaded: str, benchmark: str, answers: Answers, inputs: Inputs) -> pd.DataFrame:
    """The pair table in natural order."""
    rows = _verdicts(benchmark, answers)
    return natural_order(pair_table(data.case_list(benchmark), rows, inputs=inputs, jobs=_jobs()))


def _verdicts(benchmark: str, answers: Answers) -> pd.DataFrame:
    rows = data.verdicts()
    rows = rows[rows["benchmark"] == benchmark]
    for column, wanted in answers:
        if wanted:
            rows = rows[rows[column].isin(wanted)]
    return rows


def _jobs() -> set[str]:
    """The names of own runs, which are experiments of one setting each."""
    ran = data.run_list()
    return set(ran.loc[ran["is_job"], "experiment"])


@st.cache_data(max_entries=8, show_spinner=False)
def _comparisons(loaded: str, benchmark: str) -> list[str]:
    """Inputs that can be compared on a benchmark, those of the study first."""
    rows = _verdicts(benchmark, ())
    series = rows["experiment"].where(~rows["experiment"].isin(_jobs()), OWN)
    return [comparison_text(inputs) for inputs in comparisons(rows.assign(detector=series + "/" + rows["detector"]))]


def _asked_inputs() -> Inputs:
    """The inputs compared that the URL names, where they can be; else those of the study."""
    asked = st.query_params.get(keys.COMPARE)
    is_offered = asked in _comparisons(data.answers(), chosen_benchmark())
    return comparison_from(asked) if asked is not None and is_offered else WITH_STATE


def _asked_answers() -> Answers:
    return tuple((column, tuple(st.query_params.get_all(column))) for column in ANSWER_FILTERS)


def answers_words(benchmark: str) -> str:
    """What the counts and patterns of the list are of where several experiments answered; else nothing."""
    names = joined_series(benchmark)
    if len(names) < 2:
        return ""
    told = "; ".join(f"({place}) {series_words(name)}" for place, name in enumerate(names, start=1))
    return f"Counts join {len(names)} experiments; a pattern says in which of them it is: {told}."


def joined_series(benchmark: str) -> list[str]:
    """The experiments behind the list, own runs as one, in the order in which their numbers stand."""
    experiments = _verdicts(benchmark, _asked_answers())["experiment"]
    return sorted(experiments.where(~experiments.isin(_jobs()), OWN).unique())


def series_words(name: str) -> str:
    """An experiment, or own runs together, in words."""
    return "own runs" if name == OWN else experiment_words(name)


def draw_filters() -> str:
    """All filters in two rows, each kept in the URL; the benchmark that is chosen there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _draw_benchmark()
        benchmark = chosen_benchmark()
        cases = data.case_list(benchmark)
        verdicts = data.verdicts()
        verdicts = verdicts[verdicts["benchmark"] == benchmark]
        titles = dict(zip(verdicts["detector"], verdicts["detector_title"], strict=True))
        url_state.text("Find", key=keys.SEARCH, placeholder="id, exception, crash type …", width=WIDTH)
        for column, label in LABEL_FILTERS.items():
            _many(label, column, sorted(cases[column].dropna().unique()), str)
        url_state.one_of(
            st.selectbox,
            "Pattern",
            [str(pattern) for pattern in Pattern],
            key=keys.AGREEMENT,
            default=None,
            placeholder="any",
            help="\n".join(f"- **{pattern}**: {meaning}" for pattern, meaning in PATTERN_MEANING.items()),
            width=WIDTH,
        )
        _draw_comparison(benchmark)
        _many("Detector", keys.DETECTOR, sorted(titles), lambda name: titles.get(name, name))
        _many("Input", keys.SETTING, sorted(verdicts["setting"].unique()), setting_short)
        _many("Experiment", keys.EXPERIMENT, sorted(verdicts["experiment"].unique()), experiment_words)
    return benchmark


def _draw_comparison(benchmark: str) -> None:
    """Which inputs the patterns about runtime state compare; nothing where there is no choice."""
    options = _comparisons(data.answers(), benchmark)
    if len(options) < 2:
        url_state.drop(keys.COMPARE)
        return
    url_state.one_of(
        st.selectbox,
        "Inputs compared",
        options,
        key=keys.COMPARE,
        default=comparison_text(WITH_STATE) if comparison_text(WITH_STATE) in options else options[0],
        format_func=lambda text: inputs_short(comparison_from(text)),
        help="Of which two inputs the patterns say that one is right and the other wrong.",
        width=WIDTH,
    )


def _draw_benchmark() -> None:
    known = data.benchmarks()
    if len(known) > 1:
        titles = dict(zip(known["benchmark"], known["title"], strict=True))
        url_state.one_of(
            st.selectbox,
            "Benchmark",
            list(titles),
            key=keys.BENCHMARK,
            default=known["benchmark"].iloc[0],
            format_func=lambda name: titles.get(name, name),
            width=WIDTH,
        )


def _many(label: str, key: str, options: list[str], words: Callable[[str], str]) -> None:
    if options:
        url_state.many_of(label, options, key=key, format_func=words, placeholder="any", width=WIDTH)
    else:
        url_state.drop(key)
