"""A plan before it is stored, in the sentences and tables that the command line prints too: first its size."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from crane_core.annotation.draw import SEPARATOR
from crane_core.annotation.plan import Population
from crane_core.domain import Setting
from crane_core.pipeline.campaigns.plan_outline import (
    SECONDS_PER_ITEM,
    Outline,
    StratumRow,
)
from crane_core.ui import data
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import (
    count,
    experiment_words,
    literal,
    percent,
    setting_short,
)

N_OF_SIZE = 2
"""The first sentences of an outline, which are about population and sample."""


def draw_outline(told: Outline, *, with_people: bool = True) -> None:
    """Population, sample, strata, effective sample size and workload; without people, only the sizes."""
    st.markdown(f"**{literal(told.size)}**")
    *sentences, seed = told.sentences
    _draw_small(sentences if with_people else sentences[:N_OF_SIZE])
    st.html(
        rows_html(
            _strata(told),
            css="cw-summed",
            about={"Share": "the inclusion probability of a verdict"},
        )
    )
    if with_people:
        st.html(rows_html(_load(told)))
        st.caption(
            f"Hours assume {SECONDS_PER_ITEM:.0f} s per item, repeats included."
        )
    with st.expander("How the margin is computed, and the seed"):
        _draw_small((*told.dependence, seed))
    for remark in told.remarks:
        st.warning(literal(remark))


def _draw_small(sentences: Sequence[str]) -> None:
    """A paragraph per sentence."""
    st.caption("\n\n".join(map(literal, sentences)))


def titles_of(asked: Population) -> dict[str, str]:
    """The names of what a population query asks for, by their ids."""
    return (
        data.benchmark_titles()
        | _condition_titles()
        | {asked.experiment: experiment_words(asked.experiment)}
    )


def _condition_titles() -> dict[str, str]:
    """The names of detectors and inputs, by their ids."""
    settings = {str(setting): setting_short(setting) for setting in Setting}
    return data.detector_titles() | settings


def _strata(told: Outline) -> pd.DataFrame:
    titles = _condition_titles()
    # Where every item is, the sentences above say so.
    has_overlap = any(row.twice_or_more < row.drawn for row in told.strata)
    n, n_drawn, n_twice = (
        sum(ns) for ns in zip(*(row[1:4] for row in told.strata), strict=True)
    )
    whole = StratumRow("all", n, n_drawn, n_twice, n_drawn / n)
    return pd.DataFrame(
        {
            "Stratum": _stratum_words(row.stratum, titles),
            "Verdicts": count(row.population),
            "Drawn": count(row.drawn),
            **(
                {"Labelled twice or more": count(row.twice_or_more)}
                if has_overlap
                else {}
            ),
            "Share": percent(
                row.inclusion_probability,
                0 if row.inclusion_probability >= 0.01 else 2,
            ),
        }
        for row in (*told.strata, *[whole] * (len(told.strata) > 1))
    )


def _stratum_words(stratum: str, titles: Mapping[str, str]) -> str:
    return SEPARATOR.join(
        titles.get(part, part) for part in stratum.split(SEPARATOR)
    )


def _load(told: Outline) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Annotator": row.annotator,
            "Items": count(row.items),
            "Hidden repeats": count(row.repeats),
            "Hours": f"{row.hours:.1f}",
        }
        for row in told.load
    )
