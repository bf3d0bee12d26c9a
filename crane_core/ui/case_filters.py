"""The filters of the case list, kept in the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st
from pandas.api.types import is_string_dtype

from crane_core.charts.theme import in_order
from crane_core.domain import Setting
from crane_core.pipeline.cases import pairs
from crane_core.pipeline.cases.picture import Picture, picture
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.comparisons import (
    comparison_from,
    comparison_text,
    comparisons,
)
from crane_core.pipeline.results.measures import WITH_STATE, Inputs
from crane_core.storage import search
from crane_core.ui import data, keys, url_state
from crane_core.ui.board_html import DESCENDING
from crane_core.ui.case_finding import CountedAnswers, Search
from crane_core.ui.case_list import SORTABLE, pattern_title
from crane_core.ui.notes.pair_notes import tag_cases
from crane_core.ui.words import (
    SETTING_WORDS,
    count,
    experiment_words,
    inputs_short,
    setting_short,
)

WIDTH = 230
ALL_FILTERS = (
    '<label class="cw-all"><input type="checkbox"> All filters</label>'
)
"""A box that a phone has: without it, filters would fill the first screen."""
LABEL_FILTERS = {
    keys.LIBRARY: "Library",
    keys.ROOT_CAUSE: "Root cause",
    keys.CRASH_TYPE: "Crash type",
    keys.STAGE: "Pipeline stage",
}
FILTERS = (keys.SEARCH, keys.AGREEMENT, *LABEL_FILTERS)
FOLDED = (keys.CRASH_TYPE, keys.STAGE)
"""Filters of labels that are behind a button: root cause and library say nearly the same."""
ANSWER_LABELS = {
    keys.EXPERIMENT: "Experiment",
    keys.DETECTOR: "Detector",
    keys.SETTING: "Input",
}
ANSWER_FILTERS = tuple(ANSWER_LABELS)
"""Columns of the verdict frame that say which answers the counts and patterns are about."""
Answers = tuple[tuple[str, tuple[str, ...]], ...]
"""Which values of these columns count; none: all of them."""
Filters = Answers
"""The values of each filter of the list."""


class ActiveFilter(NamedTuple):
    """One value that narrows the list or its answers, as the address names it and as people read it."""

    key: str
    value: str
    label: str
    words: str


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
        _asked_answers(benchmark),
        _asked_inputs(),
        _with_cases(benchmark, _asked_filters(benchmark)),
        asked_sort(),
    )


def _with_cases(benchmark: str, filters: Filters) -> Filters:
    """The filters with the cases of the chosen tags in the place of the tags.

    What is kept for a tag would be wrong as soon as another case has it.
    """
    of_tags = tag_cases(benchmark)
    chosen = dict(filters).get(keys.TAG, ())
    cases = {case_id for tag in chosen for case_id in of_tags[tag]}
    return tuple(
        (name, tuple(sorted(cases)) if name == keys.TAG else values)
        for name, values in filters
    )


def asked_sort() -> str | None:
    """The order of the list that the URL names; None for the default, hardest first within each library."""
    asked = st.query_params.get(keys.SORT, "")
    return asked if asked.removeprefix(DESCENDING) in SORTABLE else None


def _asked_filters(benchmark: str) -> Filters:
    """Every filter of the URL with those of its values that the benchmark has."""
    known = [(name, _known(benchmark, name)) for name in FILTERS]
    return (*known, (keys.TAG, _known_tags(benchmark, url_tags())))


def url_tags() -> list[str]:
    """The tags that the URL names, whether there are such or not."""
    return st.query_params.get_all(keys.TAG)


def _known_tags(benchmark: str, asked: Iterable[str]) -> tuple[str, ...]:
    offered = tag_cases(benchmark)
    return tuple(tag for tag in asked if tag in offered)


def _known(benchmark: str, name: str) -> tuple[str, ...]:
    """The values of a filter in the URL, without those that are not offered."""
    asked = st.query_params.get_all(name)
    if name == keys.SEARCH:
        return tuple(value for value in asked if value.strip())
    offered = _offered(benchmark)[name]
    return tuple(value for value in asked if value in offered)


@data.kept(data.answers, 8)
def _offered(benchmark: str) -> dict[str, list[str]]:
    """The values of each filter that can be chosen, in their order."""
    cases, asked = data.case_list(benchmark), _asked_of(benchmark)
    return (
        {keys.AGREEMENT: [str(pattern) for pattern in pairs.Pattern]}
        | {
            column: sorted(cases[column].dropna().unique())
            for column in LABEL_FILTERS
        }
        | {column: sorted(asked[column].unique()) for column in ANSWER_FILTERS}
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
        return pairs.hardest_first(table)
    return pairs.sorted_by(
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
    return pairs.keep(
        table,
        find=find,
        holding=_holding(benchmark, find),
        pattern=next(iter(filters.get(keys.AGREEMENT, ())), None),
        case_id=list(filters.get(keys.TAG, ())),
        **{column: list(filters.get(column, ())) for column in LABEL_FILTERS},
    )


@data.kept(data.answers, 32)
def _holding(benchmark: str, find: str) -> frozenset[str]:
    """The cases whose texts contain the search words."""
    return frozenset(
        search.cases_with_text(data.store().cursor(), benchmark, find)
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
        counts[name] = pairs.cases_answered(
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
    rows = _verdicts(benchmark, answers, columns=pairs.COUNTED)
    return pairs.natural_order(
        pairs.pair_table(
            data.case_list(benchmark), rows, inputs=inputs, jobs=_jobs()
        )
    )


def drawn_picture(benchmark: str, cases: Iterable[str]) -> Picture:
    """The marks of these cases; local runs only where the URL names experiments."""
    return _picture(benchmark, _asked_answers(benchmark), tuple(cases))


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
        ("benchmark", *ANSWER_FILTERS, "case_id", "instance_id", *pairs.COUNTED)
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


def _asked_answers(benchmark: str) -> Answers:
    return tuple(
        (column, _known(benchmark, column)) for column in ANSWER_FILTERS
    )


def answers_words(benchmark: str) -> str:
    """The experiments that counts and patterns cover, with their places, if there are several; else empty."""
    names = joined_series(benchmark)
    if len(names) < 2:
        return ""
    told = "; ".join(
        f"({place}) {series_words(name)}"
        for place, name in enumerate(names, start=1)
    )
    return f"The experiments: {told}. A sign says on hover in which of them it holds."


def counted_answers(benchmark: str) -> CountedAnswers:
    """The filters of the URL in words, for the title."""
    chosen = dict(_asked_answers(benchmark))
    filters = dict(_asked_filters(benchmark))
    libraries = filters.pop(keys.LIBRARY)
    titles = _detector_titles(benchmark)
    return CountedAnswers(
        detectors=[titles[name] for name in chosen[keys.DETECTOR]],
        inputs=[SETTING_WORDS[Setting(name)] for name in chosen[keys.SETTING]],
        experiments=[
            experiment_words(name) for name in chosen[keys.EXPERIMENT]
        ],
        library=libraries[0] if len(libraries) == 1 else "",
        is_of_all_cases=len(libraries) < 2 and not any(filters.values()),
    )


def asked_search(benchmark: str, table: pd.DataFrame) -> Search | None:
    """What the URL searches for, with its counts in the filtered pair table; None without a search."""
    filters = dict(_asked_filters(benchmark))
    libraries = filters.pop(keys.LIBRARY)
    find = next(iter(filters.pop(keys.SEARCH)), "")
    if not find:
        return None
    return Search(
        text=find,
        n_words=len(table),
        n_phrase=int(
            table["case_id"].isin(_with_phrase(benchmark, find)).sum()
        ),
        is_of_all_cases=len(libraries) < 2 and not any(filters.values()),
    )


@data.kept(data.answers, 32)
def _with_phrase(benchmark: str, find: str) -> frozenset[str]:
    return frozenset(
        search.cases_with_phrase(data.store().cursor(), benchmark, find)
    )


def lines_found(
    benchmark: str, find: str, cases: Iterable[str]
) -> dict[str, search.FoundLine]:
    """Per case the line that holds what is searched for."""
    return _lines_found(benchmark, find, tuple(cases))


@data.kept(data.answers, 8)
def _lines_found(
    benchmark: str, find: str, cases: tuple[str, ...]
) -> dict[str, search.FoundLine]:
    return search.found_lines(data.store().cursor(), benchmark, find, cases)


def active_filters(benchmark: str) -> list[ActiveFilter]:
    """Every value of the URL that narrows the list or its answers, in the order of the filters."""
    asked = _asked_filters(benchmark) + _asked_answers(benchmark)
    labels = (
        {keys.SEARCH: "Find", keys.AGREEMENT: "Pattern", keys.TAG: "Tag"}
        | LABEL_FILTERS
        | ANSWER_LABELS
    )
    return [
        ActiveFilter(
            key=name,
            value=value,
            label=labels[name],
            words=_value_words(benchmark, name, value),
        )
        for name, values in asked
        for value in values
    ]


def _value_words(benchmark: str, name: str, value: str) -> str:
    """The value of a filter as people read it."""
    if name == keys.DETECTOR:
        return _detector_titles(benchmark)[value]
    if name == keys.SETTING:
        return setting_short(value)
    if name == keys.AGREEMENT:
        return _pattern_words(benchmark, value)
    return experiment_words(value) if name == keys.EXPERIMENT else value


def _pattern_words(benchmark: str, pattern: str) -> str:
    chosen = dict(_asked_answers(benchmark))[keys.DETECTOR]
    return pattern_title(pattern, is_of_all=not chosen)


def _detector_titles(benchmark: str) -> dict[str, str]:
    asked = _asked_of(benchmark)
    return dict(
        zip(
            asked["detector"],
            asked["detector_title"].astype(str),
            strict=True,
        )
    )


def joined_series(benchmark: str) -> list[str]:
    """The experiments behind the list in the order of their numbers; local runs count as one."""
    return _joined_series(benchmark, _asked_answers(benchmark))


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
    """The filters, each kept in the URL, the rarer ones behind a button; the benchmark that is chosen there."""
    with st.container(
        horizontal=True, vertical_alignment="bottom", key="case_filters"
    ):
        st.html(ALL_FILTERS)
        _draw_benchmark()
        benchmark = chosen_benchmark()
        # What the widgets will hold in this run, since their counts are drawn with them.
        coming = tuple((name, tuple(url_state.asked(name))) for name in FILTERS)
        coming_answers = tuple(
            (name, tuple(url_state.asked(name))) for name in ANSWER_FILTERS
        )
        coming_tags = _known_tags(benchmark, url_state.asked(keys.TAG))
        counts = _counts(
            benchmark,
            _without_unknown(benchmark, coming_answers),
            _asked_inputs(),
            _with_cases(
                benchmark,
                (*_without_unknown(benchmark, coming), (keys.TAG, coming_tags)),
            ),
        )
        draw = partial(_draw_many, benchmark, counts)
        url_state.text(
            "Find", key=keys.SEARCH, placeholder="any text or id", width=WIDTH
        )
        for column in LABEL_FILTERS:
            if column not in FOLDED:
                draw(column)
        _draw_patterns(benchmark, counts[keys.AGREEMENT])
        draw(keys.DETECTOR)
        draw(keys.SETTING)
        with st.popover("More filters", key="more_filters"):
            _draw_tags(benchmark)
            for column in FOLDED:
                draw(column)
            draw(keys.EXPERIMENT)
            _draw_comparison(benchmark)
    return benchmark


def _without_unknown(benchmark: str, filters: Filters) -> Filters:
    """The filters without values that the benchmark does not have."""
    offered = _offered(benchmark)
    return tuple(
        (name, values)
        if name == keys.SEARCH
        else (name, tuple(v for v in values if v in offered[name]))
        for name, values in filters
    )


def _draw_many(
    benchmark: str, counts: dict[str, dict[str, int]], name: str
) -> None:
    """A filter with several values, each with the number of cases it would leave; none where nothing can be chosen."""
    options = _offered(benchmark)[name]
    if not options:
        url_state.drop(name)
        return
    url_state.many_of(
        (LABEL_FILTERS | ANSWER_LABELS)[name],
        options,
        key=name,
        format_func=partial(
            _with_count,
            counts=counts[name],
            named=partial(_value_words, benchmark, name),
        ),
        placeholder="any",
        width=WIDTH,
    )


def _draw_tags(benchmark: str) -> None:
    """The filter of tags, each with its number of cases; none if there is no tag."""
    of_tags = tag_cases(benchmark)
    if not of_tags:
        url_state.note_unknown(keys.TAG, "Tag", [])
        url_state.drop(keys.TAG)
        return
    others = tuple(
        (name, () if name == keys.TAG else values)
        for name, values in _asked_filters(benchmark)
    )
    under_others = _filtered(
        benchmark,
        _asked_answers(benchmark),
        _asked_inputs(),
        others,
        None,
    )
    listed = set(under_others["case_id"])
    url_state.many_of(
        "Tag",
        list(of_tags),
        key=keys.TAG,
        format_func=partial(
            _with_count,
            counts={tag: len(of & listed) for tag, of in of_tags.items()},
        ),
        placeholder="any",
        width=WIDTH,
    )


def _draw_patterns(benchmark: str, counts: dict[str, int]) -> None:
    url_state.one_of(
        st.selectbox,
        "Pattern",
        [str(pattern) for pattern in pairs.Pattern],
        key=keys.AGREEMENT,
        default=None,
        format_func=partial(
            _with_count,
            counts=counts,
            named=partial(_pattern_words, benchmark),
        ),
        placeholder="any",
        help="\n".join(
            f"- **{pattern}**: {meaning}"
            for pattern, meaning in pairs.PATTERN_MEANING.items()
        ),
        width=WIDTH,
    )


def note_unknown_parameters() -> None:
    """Have the page say which parameters of the address it does not know, and a sort order that it does not have."""
    url_state.note_unknown_names(
        {
            keys.BENCHMARK,
            keys.SORT,
            keys.COMPARE,
            keys.TAG,
            *FILTERS,
            *ANSWER_FILTERS,
        }
    )
    asked = st.query_params.get(keys.SORT)
    if asked and asked_sort() is None:
        url_state.note_unknown_names(set(st.query_params) - {keys.SORT})


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
