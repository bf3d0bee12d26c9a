"""The start page's parts: the headline answer, what is loaded, where to go."""

from __future__ import annotations

import streamlit as st

from crane_core.domain import DetectorKind
from crane_core.pipeline.combinations import holds_up
from crane_core.pipeline.measures import Credit, VoteRule
from crane_core.pipeline.rows import as_rows
from crane_core.storage import state
from crane_core.ui import data
from crane_core.ui.gains_view import compared, draw_gains, headline
from crane_core.ui.navigation import link
from crane_core.ui.result_switches import STUDY, Chosen
from crane_core.ui.together_view import names_of, rules_first
from crane_core.ui.together_words import finding
from crane_core.ui.words import count, literal


def draw_answer() -> None:
    """The study's main comparison under its own rules: majority of five runs, correct diagnosis."""
    verdicts = data.verdicts()
    rows = verdicts[verdicts["experiment"] == STUDY]
    if rows.empty:
        st.info("The published study is not loaded. Run `python -m crane_core rebuild` to load the embedded facts.")
        return
    chosen = Chosen(str(rows["benchmark"].iloc[0]), STUDY, DetectorKind.LLM, VoteRule.MAJORITY, Credit.STRICT)
    st.subheader("With runtime information, how much better, how sure?", anchor="answer")
    st.markdown(
        f"Accuracy of detecting and correctly diagnosing the crash changes by {headline(compared(chosen).comparison)} "
        "when the model also sees the kernel's state. In brackets: 95% intervals."
    )
    draw_gains(chosen)
    draw_together_finding(chosen)


def draw_together_finding(chosen: Chosen) -> None:
    """What our rules add to a model, in a sentence; nothing where no test supports it."""
    table = rules_first(chosen)
    if any(map(holds_up, as_rows(table))):
        st.subheader("Do detectors do better together?", anchor="together")
        st.markdown(f"{finding(table, names_of(chosen))} Detection only.")
        link("results", "Combine detectors of your choice on Results")


def draw_loaded() -> None:
    """What is in the store, each number with the page that shows it."""
    st.subheader("What is loaded", anchor="loaded")
    counts = state.table_counts(data.store().cursor())
    benchmarks = data.benchmarks()
    with st.container(horizontal=True, gap="medium"):
        for row in as_rows(benchmarks):
            with st.container(width=230, border=True):
                st.markdown(f"**{literal(row['title'])}**")
                loaded = f"{count(row['n_cases'])} cases, {count(row['n_instances'])} notebooks"
                link("cases", loaded, benchmark=row["benchmark"])
        with st.container(width=230, border=True):
            st.markdown("**Answers of detectors**")
            link("runs", f"{count(counts['runs'])} answers, {counts['detectors']} detectors")
        with st.container(width=230, border=True):
            st.markdown("**Labels**")
            link("data", f"{count(counts['judgements'])} judgements")
        with st.container(width=230, border=True):
            st.markdown("**Runtime states**")
            link("cases", f"{count(counts['kernel_states'])} states before a target")
    if not counts["prompts"]:
        st.caption(
            "The published study is here as facts: labels, votes, outcomes, printed numbers. Its notebook code, "
            "runtime states and reasoning texts belong to their authors; the Data page brings them."
        )


def draw_ways() -> None:
    """The next steps of a newcomer."""
    st.subheader("Where to go", anchor="ways")
    ways = {
        "try_a_notebook": ("Try a notebook", "will its next cell crash? No key and no data needed"),
        "cases": ("Browse the pairs", "crashing beside fixed, with every detector's runs"),
        "results": ("Read the results", "by library and root cause, with intervals"),
        "ablations": ("See the ablations", "what each category of runtime state is worth"),
        "runs": ("See the runs", "prompts, raw replies and costs; start one of your own"),
        "annotate": ("Label diagnoses", "blind, one key each; practice needs no data"),
        "data": ("Bring the published texts", "or your own notebooks and predictions"),
    }
    with st.container(horizontal=True, gap="medium"):
        for name, (words, why) in ways.items():
            with st.container(width=300):
                link(name, f"**{words}**")
                st.caption(why)
