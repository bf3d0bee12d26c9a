"""The start page's parts: the finding with its pictures, the paper, the cases behind it, where to go on."""

from html import escape

import pandas as pd
import streamlit as st

from crane_core.charts.headline import differences, dumbbells
from crane_core.domain import DetectorKind
from crane_core.pipeline.cases.pairs import Pattern, pair_table
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.stats.outcome import DIRECTED
from crane_core.ui import data, keys, paper
from crane_core.ui.caption import p_sentence, sampled
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.gains_view import compared, readable
from crane_core.ui.gains_words import headline
from crane_core.ui.glossary import explained
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import STUDY, ResultChoice
from crane_core.ui.rows_html import rows_html
from crane_core.ui.together_view import names_of, rules_first
from crane_core.ui.together_words import changed_by_rules, finding
from crane_core.ui.words import count, interval, p_value, percent, points

QUESTION = "Will the next cell crash?"
"""The title while the study is not loaded, which would answer it."""


def study() -> ResultChoice | None:
    """The study under its own rules: majority of five answers, correct diagnosis; None if it is not loaded."""
    verdicts = data.verdicts()
    rows = verdicts[verdicts["experiment"] == STUDY]
    if rows.empty:
        return None
    return ResultChoice(
        str(rows["benchmark"].iloc[0]),
        STUDY,
        DetectorKind.LLM,
        VoteRule.MAJORITY,
        Credit.STRICT,
    )


def prepare_answer() -> None:
    """Compute what `draw_head` and `draw_answer` show, so that the first visitor does not wait for it."""
    if chosen := study():
        comparison = compared(chosen).comparison
        if comparison.empty:
            return
        # What follows fills caches and draws nothing.
        drawn = _drawn(comparison)
        finished(dumbbells, drawn)
        finished(differences, drawn)
        _changed(chosen, tuple(comparison["detector"]))
        rules_first(chosen)


def draw_head() -> ResultChoice | None:
    """Title and what it is about; returns the study."""
    chosen = study()
    said = headline(compared(chosen).comparison) if chosen else QUESTION
    st.title(said)
    st.html(
        '<p class="cw-lead">Before a notebook cell runs, a model predicts whether it will crash, and why. '
        f"It reads the code alone ({explained('−RT')}), or also what the live kernel holds "
        f"({explained('+RT')}): structure ({explained('S')}), "
        f"representation ({explained('R')}) and values ({explained('V')}).</p>"
    )
    return chosen


def _draw_paper() -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="paper"
    ):
        authors = escape(", ".join(paper.PAPER_AUTHORS))
        st.html(
            f'<p class="cw-paper"><cite>{escape(paper.PAPER_TITLE)}</cite>, {authors}, {paper.PAPER_YEAR}. '
            f'<a href="{paper.PAPER_ADDRESS}" rel="noreferrer" target="_blank">arXiv:{paper.PAPER_ARXIV}</a></p>',
            width="content",
        )
        with st.popover("Cite", width="content"):
            st.code(paper.PAPER_BIBTEX, language="bibtex", wrap_lines=True)


def draw_answer(chosen: ResultChoice | None) -> None:
    """Accuracy without and with runtime state, and the paired differences beside it."""
    if chosen is None:
        st.info(
            "The published study is not loaded. The Data page shows what is loaded and fetches the rest."
        )
        link("data", "Open Data")
        return
    comparison = compared(chosen).comparison
    if comparison.empty:
        return
    drawn = _drawn(comparison)
    caption = chosen.captioned(
        headline(comparison), sampled(comparison), p_sentence(comparison)
    )
    n, n_cases = int(comparison["n"].max()), int(comparison["n_cases"].max())
    with st.container(
        key="answer"
    ):  # its height stands from the start, see style.css
        left, right = st.columns(2, gap="large")
    with left:
        st.markdown(
            "**Accuracy: code only → with runtime state** (paper, Table 2a)"
        )
        st.vega_lite_chart(
            finished(dumbbells, drawn)
            | {"description": f"Accuracy of each model. {caption.text}"},
            key="chart_dumbbells",
        )
        st.caption(
            "Right is a crash that is predicted with the correct diagnosis, and a fixed notebook for which no crash is "
            "predicted. Majority of five answers."
        )
    with right:
        st.markdown(
            "**Change, with its 95% interval** (paired by notebook, clustered by case)"
        )
        draw_chart(
            finished(differences, drawn),
            readable(comparison, ("−RT", "+RT")),
            numbers=comparison,
            name="accuracy_difference",
            caption=caption,
            note=f"{_p_words(comparison)} {count(n)} notebooks of {count(n_cases)} cases.",
        )


def _drawn(comparison: pd.DataFrame) -> pd.DataFrame:
    """The comparison with the texts beside its marks."""
    # Lists, because a series would be aligned by its index, and the comparison's holds titles.
    return comparison.reset_index(drop=True).assign(
        without_text=comparison["without"].map(percent).tolist(),
        with_text=comparison["with_"].map(percent).tolist(),
        text=comparison["difference"].map(points).tolist(),
        interval_text=[
            f"[{interval(row['low'], row['high']).removesuffix('%')}]"
            for row in as_rows(comparison)
        ],
    )


def _p_words(comparison: pd.DataFrame) -> str:
    values = ", ".join(
        f"{row['detector_title']} {p_value(row['p_holm'])}"
        for row in as_rows(comparison)
    )
    return f"Exact McNemar test, p after Holm: {values}."


@data.kept(data.answers)
def _changed(
    chosen: ResultChoice, detectors: tuple[str, ...]
) -> dict[Pattern, int]:
    """In how many cases runtime state helped, and hurt, one of the detectors to predict rightly."""
    rows = chosen.rows()
    table = pair_table(
        data.case_list(chosen.benchmark), rows[rows["detector"].isin(detectors)]
    )
    wanted = (Pattern.HELPED, Pattern.HURT)
    return {
        one: sum(one in patterns for patterns in table["patterns"])
        for one in wanted
    }


def draw_sources(chosen: ResultChoice | None) -> None:
    """What the answer rests on: the cases behind it, as links that open them, and the paper."""
    comparison = compared(chosen).comparison if chosen else pd.DataFrame()
    if chosen and not comparison.empty:
        _draw_cases(chosen, comparison["detector"].tolist())
    _draw_paper()


def _draw_cases(chosen: ResultChoice, detectors: list[str]) -> None:
    n_of = _changed(chosen, tuple(detectors))
    asked: dict[str, str | list[str]] = {
        keys.BENCHMARK: chosen.benchmark,
        keys.EXPERIMENT: chosen.experiment,
    }
    asked[keys.DETECTOR] = detectors
    with st.container(horizontal=True, gap="small", key="behind"):
        for pattern, words in (
            (Pattern.HELPED, "it helped a model"),
            (Pattern.HURT, "it hurt one"),
        ):
            link(
                "cases",
                f"{count(n_of[pattern])} cases where {words}",
                **asked | {keys.AGREEMENT: str(pattern)},
            )
        link(
            "results",
            "Claims checked",
            **{keys.PART: "Paper's claims"},
        )
        st.caption(
            "Helped and hurt by detection alone; a case can be among both.",
            width="content",
        )


def draw_together_finding(chosen: ResultChoice | None) -> None:
    """What our rules add to a model or take from it, in a sentence; nothing if no test supports either."""
    table = rules_first(chosen) if chosen else pd.DataFrame()
    if chosen and len(table) and table["outcome"].isin(DIRECTED).any():
        # The board above counts the diagnosis too, so the same detector has another accuracy there.
        st.header(
            "Do detectors do better together, by detection alone?",
            anchor="together",
        )
        names = names_of(chosen)
        st.markdown(finding(table, names))
        st.html(rows_html(changed_by_rules(table, names)))
        link(
            "results",
            "Combine detectors of your choice on Results",
            **{keys.PART: "Combinations"},
        )


def draw_ways() -> None:
    """Where to go on, each way with what is loaded there."""
    st.header("What to do next", anchor="ways")
    counts = data.table_counts()
    listed = data.benchmarks()
    n_cases = int(listed["n_cases"].sum())
    of = ", ".join(
        f"{count(row['n_cases'])} of {row['title']}" for row in as_rows(listed)
    )
    ways = {
        "cases": (
            f"Browse {count(n_cases)} pairs",
            f"crashing beside fixed: {of}",
        ),
        "results": (
            "Read the results",
            "by library, root cause and crash type, with intervals",
        ),
        "try_a_notebook": (
            "Try a notebook",
            "will its next cell crash? No key, no data needed",
        ),
        "annotate": (
            "Label diagnoses",
            "blind, one key each; practice needs no data",
        ),
        "runs": (
            f"See {count(counts['runs'])} answers",
            "prompts, raw replies, costs; start your own run",
        ),
        "data": (
            "Bring the published texts",
            "or your own notebooks and predictions",
        ),
    }
    with st.container(key="ways"):
        for name, (words, why) in ways.items():
            with st.container(gap="xxsmall"):
                link(name, f"**{words}**")
                st.caption(why)
