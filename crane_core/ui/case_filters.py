"""The filters of the case list, kept in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pandas as pd
import streamlit as st
from pandas.api.types import is_string_dtype

from crane_core.charts.theme import in_order
from crane_core.pipeline.cases.pairs import (
    COUNTED,
    PATTERN_MEANING,
    Pattern,
    cases_answered,
    hardest_first,
    keep,
    natural_order,
    pair_table,
    sorted_by,
)
from crane_core.pipeline.cases.picture import Picture, picture
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.comparisons import (
    comparison_from,
    comparison_text,
    comparisons,
)
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.storage.search import cases_with_text
from crane_core.ui import data, keys, url_state
from crane_core.ui.case_finding import CountedAnswers
from crane_core.ui.case_list import DESCENDING, SORTABLE
from crane_core.ui.words import (
    count,
    experiment_words,
    inputs_short,
    setting_short,
)

WIDTH = 230
LABEL_FILTERS = {
    keys.LIBRARY: "Library",
    keys.ROOT_CAUSE: "Root cause",
    keys.CRASH_TYPE: "Crash type",
    keys.STAGE: "Pipeline stage",
}
FILTERS = (keys.SEARCH, keys.AGREEMENT, *LABEL_FILTERS)
ANSWER_FILTERS = (keys.EXPERIMENT, keys.DETECTOR, keys.SETTING)
"""Columns of the verdict frame that say which answers the counts and patterns are about."""
Answers = tuple[tuple[str, tuple[str, ...]], ...]
"""Which values of these columns count; none: all of them."""
Filters = Answers
"""The values of each filter of the list."""


def chosen_benchmark() -> str:
    """The benchmark that the URL names, else the largest."""
    known = data.benchmarks()["benchmark"].tolist()
    asked = st.query_params.get(keys.BENCHMARK)
    url_state.note_unknown(keys.BENCHMARK, "Benchmark", known)
    return str(asked if asked in known else known[0])


def filtered_cases(benchmark: str) -> pd.DataFrame:
    """The pair table under the filters and in the order that the URL names; draws nothing."""
    return _filtered(
        benchmark,
        _asked_answers(),
        _asked_inputs(),
        _asked_filters(),
        asked_sort(),
    )


def asked_sort() -> str | None:
    """The order of the list that the URL names; None for the default, hardest first within each library."""
    asked = st.query_params.get(keys.SORT, "")
    return asked if asked.removeprefix(DESCENDING) in SORTABLE else None


def _asked_filters() -> Filters:
    """Every filter of the URL with its values."""
    return tuple(
        (name, tuple(st.query_params.get_all(name))) for name in FILTERS
    )


@data.kept(data.answers, 32)
def _filtered(
    benchmark: str,
    answers: Answers,
    inputs: Inputs,
    filters: Filters,
    sort: str | None,
) -> pd.DataFrame:
    table = _kept(
        _pair_table(benchmark, answers, inputs),
        benchmark,
        dict(filters),
    )
    if sort is None:
        return hardest_first(table)
    return sorted_by(
        table,
        sort.removeprefix(DESCENDING),
        descending=sort.startswith(DESCENDING),
    )


def _kept(
    table: pd.DataFrame,
    benchmark: str,
    filters: dict[str, tuple[str, ...]],
) -> pd.DataFrame:
    find = next(iter(filters.get(keys.SEARCH, ())), "")
    return keep(
        table,
        find=find,
        holding=_holding(benchmark, find),
        pattern=next(iter(filters.get(keys.AGREEMENT, ())), None),
        **{column: list(filters.get(column, ())) for column in LABEL_FILTERS},
    )


@data.kept(data.answers, 32)
def _holding(benchmark: str, find: str) -> frozenset[str]:
    """The cases whose texts contain the search words."""
    return frozenset(
        cases_with_text(data.store().cursor(), benchmark, find)
        if find.strip()
        else ()
    )


@data.kept(data.answers, 32)
def _counts(
    benchmark: str, answers: Answers, inputs: Inputs, filters: Filters
) -> dict[str, dict[str, int]]:
    """Per filter and value, how many cases there are under all the other filters.

    For the filters of answers: how many cases of the list have an answer of that value.
    """
    table, chosen = _pair_table(benchmark, answers, inputs), dict(filters)
    counts = {}
    for name in (*LABEL_FILTERS, keys.AGREEMENT):
        # Without its own filter: a value must show what choosing it instead would leave.
        others = _kept(
            table,
            benchmark,
            {
                other: values
                for other, values in chosen.items()
                if other != name
            },
        )
        column = (
            others["patterns"].explode()
            if name == keys.AGREEMENT
            else others[name]
        )
        counts[name] = {
            str(value): int(n) for value, n in column.value_counts().items()
        }
    listed = set(_kept(table, benchmark, chosen)["case_id"])
    for name in ANSWER_FILTERS:
        other_answers = tuple(
            (other, values) for other, values in answers if other != name
        )
        rows = _verdicts(benchmark, other_answers, columns=("case_id", name))
        counts[name] = cases_answered(
            rows
            if len(listed) == len(table)
            else rows[rows["case_id"].isin(listed)],
            name,
        )
    return counts


@data.kept(data.answers, 8)
def _pair_table(
    benchmark: str, answers: Answers, inputs: Inputs
) -> pd.DataFrame:
    """The pair table in natural order."""
    rows = _verdicts(benchmark, answers, columns=COUNTED)
    return natural_order(
        pair_table(data.case_list(benchmark), rows, inputs=inputs, jobs=_jobs())
    )


def drawn_picture(benchmark: str, cases: Iterable[str]) -> Picture:
    """The marks of these cases; local runs only where the URL names experiments."""
    return _picture(benchmark, _asked_answers(), tuple(cases))


@data.kept(data.answers, 8)
def _picture(
    benchmark: str, answers: Answers, cases: tuple[str, ...]
) -> Picture:
    asked = _asked_of(benchmark)
    asked = asked[_counts_in(asked, answers)]
    if not dict(answers)[keys.EXPERIMENT]:
        asked = asked[~asked["experiment"].isin(_jobs())]
    verdicts = data.verdicts()
    rows = verdicts[verdicts["case_id"].isin(cases)]
    is_drawn = (rows["benchmark"] == benchmark) & rows["experiment"].isin(
        asked["experiment"].unique()
    )
    rows = rows[is_drawn & _counts_in(rows, answers)]
    return picture(
        rows, in_order(asked["detector_title"].unique().tolist()), asked=asked
    )


def _verdicts(
    benchmark: str, answers: Answers, *, columns: Sequence[str]
) -> pd.DataFrame:
    """The rows of the verdict frame that are requested, with these columns; texts are categories."""
    verdicts = _coded()
    return verdicts.loc[
        (verdicts["benchmark"] == benchmark) & _counts_in(verdicts, answers),
        list(columns),
    ]


def prepare_counts() -> None:
    """What the first visit would wait for."""
    _coded()


@data.kept(data.answers)
def _coded() -> pd.DataFrame:
    """The columns of the verdict frame that are counted here: texts as categories, which are compared at once."""
    verdicts = data.verdicts()
    columns = dict.fromkeys(
        ("benchmark", *ANSWER_FILTERS, "case_id", "instance_id", *COUNTED)
    )
    return pd.DataFrame(
        {
            # Categories are compared as integers, not letter by letter.
            name: pd.Categorical(of)
            if is_string_dtype(of := verdicts[name])
            else of
            for name in columns
        }
    )


def _counts_in(frame: pd.DataFrame, answers: Answers) -> pd.Series[bool]:
    """Rows of the verdict frame, or of conditions, that the filters of answers leave."""
    asked = pd.Series(True, frame.index)
    for column, wanted in answers:
        if wanted:
            asked &= frame[column].isin(wanted)
    return asked


def _jobs() -> set[str]:
    """The names of local runs: each is an experiment with one setting."""
    ran = data.run_list()
    return set(ran.loc[ran["is_job"], "experiment"])


@data.kept(data.answers, 8, copied=True)
def _comparisons(benchmark: str) -> list[str]:
    """Inputs that can be compared on a benchmark, those of the study first."""
    rows = _verdicts(
        benchmark,
        (),
        columns=("experiment", "detector", "setting", "instance_id"),
    )
    # Local runs are one experiment each, with one input: compared apart, none of them would have two.
    series = rows["experiment"].cat.codes.mask(
        rows["experiment"].isin(_jobs()), -1
    )
    asked = rows.assign(
        detector=rows.groupby([series, "detector"], observed=True).ngroup()
    )
    return [comparison_text(inputs) for inputs in comparisons(asked)]


def _asked_inputs() -> Inputs:
    """The inputs to compare that the URL names, if they are offered; else those of the study."""
    asked = st.query_params.get(keys.COMPARE)
    is_offered = asked in _comparisons(chosen_benchmark())
    return (
        comparison_from(asked)
        if asked is not None and is_offered
        else WITH_STATE
    )


def _asked_answers() -> Answers:
    return tuple(
        (column, tuple(st.query_params.get_all(column)))
        for column in ANSWER_FILTERS
    )


def answers_words(benchmark: str) -> str:
    """Which experiments the counts and patterns cover, if there are several; else empty."""
    names = joined_series(benchmark)
    if len(names) < 2:
        return ""
    told = "; ".join(
        f"({place}) {series_words(name)}"
        for place, name in enumerate(names, start=1)
    )
    return f"Counts join {len(names)} experiments; each pattern names those in which it occurs: {told}."


def counted_answers(benchmark: str) -> CountedAnswers:
    """The filters of the URL in words; names that the benchmark does not have are left out, as they are of counts."""
    asked = _asked_of(benchmark)
    chosen = {
        column: [name for name in names if name in set(asked[column])]
        for column, names in _asked_answers()
    }
    titles = dict(zip(asked["detector"], asked["detector_title"], strict=True))
    return CountedAnswers(
        detectors=[str(titles[name]) for name in chosen[keys.DETECTOR]],
        inputs=[setting_short(name) for name in chosen[keys.SETTING]],
        experiments=[
            experiment_words(name) for name in chosen[keys.EXPERIMENT]
        ],
        is_of_all_cases=not any(values for _, values in _asked_filters()),
    )


def joined_series(benchmark: str) -> list[str]:
    """The experiments behind the list in the order of their numbers; local runs count as one."""
    return _joined_series(benchmark, _asked_answers())


@data.kept(data.answers, 32, copied=True)
def _joined_series(benchmark: str, answers: Answers) -> list[str]:
    asked = _asked_of(benchmark)
    experiments = asked.loc[_counts_in(asked, answers), "experiment"]
    return sorted(experiments.where(~experiments.isin(_jobs()), OWN).unique())


def _asked_of(benchmark: str) -> pd.DataFrame:
    """Each detector, setting and experiment of a benchmark once."""
    conditions = data.conditions()
    return conditions[conditions["benchmark"] == benchmark]


def series_words(name: str) -> str:
    """An experiment, or all local runs together, in words."""
    return "local runs" if name == OWN else experiment_words(name)


def draw_filters() -> str:
    """All filters in two rows, each kept in the URL; the benchmark that is chosen there."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", key="case_filters"
    ):
        _draw_benchmark()
        benchmark = chosen_benchmark()
        # What the widgets will hold in this run, since their counts are drawn with them.
        coming = tuple((name, tuple(url_state.asked(name))) for name in FILTERS)
        coming_answers = tuple(
            (name, tuple(url_state.asked(name))) for name in ANSWER_FILTERS
        )
        counts = _counts(benchmark, coming_answers, _asked_inputs(), coming)
        cases = data.case_list(benchmark)
        asked = _asked_of(benchmark)
        titles = dict(
            zip(asked["detector"], asked["detector_title"], strict=True)
        )
        url_state.text(
            "Find", key=keys.SEARCH, placeholder="any text or id", width=WIDTH
        )
        for column, label in LABEL_FILTERS.items():
            _many(
                label,
                column,
                sorted(cases[column].dropna().unique()),
                partial(_with_count, counts=counts[column]),
            )
        url_state.one_of(
            st.selectbox,
            "Pattern",
            [str(pattern) for pattern in Pattern],
            key=keys.AGREEMENT,
            default=None,
            format_func=partial(_with_count, counts=counts[keys.AGREEMENT]),
            placeholder="any",
            help="\n".join(
                f"- **{pattern}**: {meaning}"
                for pattern, meaning in PATTERN_MEANING.items()
            ),
            width=WIDTH,
        )
        _draw_comparison(benchmark)
        words = {
            keys.DETECTOR: (
                "Detector",
                lambda name: str(titles.get(name, name)),
            ),
            keys.SETTING: ("Input", setting_short),
            keys.EXPERIMENT: ("Experiment", experiment_words),
        }
        for column, (label, named) in words.items():
            options = sorted(asked[column].unique())
            _many(
                label,
                column,
                options,
                partial(_with_count, counts=counts[column], named=named),
            )
    return benchmark


def _with_count(
    name: str, counts: dict[str, int], named: Callable[[str], str] = str
) -> str:
    """The value of a filter in words, and how many cases it would leave."""
    return f"{named(name)} · {count(counts.get(name, 0))}"


def _draw_comparison(benchmark: str) -> None:
    """Which inputs the patterns about runtime state compare; not drawn without a choice."""
    options = _comparisons(benchmark)
    if len(options) < 2:
        url_state.drop(keys.COMPARE)
        return
    url_state.one_of(
        st.selectbox,
        "Inputs compared",
        options,
        key=keys.COMPARE,
        default=comparison_text(WITH_STATE)
        if comparison_text(WITH_STATE) in options
        else options[0],
        format_func=lambda text: inputs_short(comparison_from(text)),
        help="The two inputs that the patterns compare: one is right and the other wrong.",
        width=WIDTH,
    )


def _draw_benchmark() -> None:
    titles = data.benchmark_titles()
    if len(titles) > 1:
        url_state.one_of(
            st.selectbox,
            "Benchmark",
            list(titles),
            key=keys.BENCHMARK,
            default=next(iter(titles)),
            format_func=lambda name: titles.get(name, name),
            width=WIDTH,
        )


def _many(
    label: str, key: str, options: list[str], words: Callable[[str], str]
) -> None:
    if options:
        url_state.many_of(
            label,
            options,
            key=key,
            format_func=words,
            placeholder="any",
            width=WIDTH,
        )
    else:
        url_state.drop(key)
