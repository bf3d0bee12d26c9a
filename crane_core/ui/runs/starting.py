"""Starting a run from the page, and watching those that run."""

from __future__ import annotations

import os

import streamlit as st

from crane_core.detectors.registry import local_detectors
from crane_core.domain import PAPER_RUNS, Setting
from crane_core.pipeline.ask_one import BASE_URL, MODEL
from crane_core.pipeline.check import ALLOWED
from crane_core.ui import data, keys
from crane_core.ui.runs.started import Started, start, started_runs
from crane_core.ui.words import setting_words

LLM, FAKE = "llm", "fake"
ASKED = {LLM: "A model over HTTP", FAKE: "The fake model (no key, no cost)"}
POLL_S = 1.0
DEFAULT_BUDGET = 5.0


def draw_starting(*, may_run: bool) -> None:
    """The form, or why there is none; below it what this server started."""
    with st.expander("Start a run", icon=None):
        if may_run:
            _draw_form()
        else:
            st.markdown(
                f"This server does not start runs. Whoever starts it allows that with `{ALLOWED}=1`; or run "
                "`python -m crane_core detect` yourself: its answers show up here while it works."
            )
    if started_runs():
        _watch()


def _draw_form() -> None:
    titles = ASKED | {name: detector.TITLE for name, detector in local_detectors().items()}
    left, right = st.columns(2)
    with left:
        detector = st.selectbox("Detector", list(titles), format_func=titles.__getitem__, key=keys.START_DETECTOR)
        benchmark = st.selectbox("Benchmark", data.benchmarks()["benchmark"].tolist(), key=keys.START_BENCHMARK)
        setting = st.selectbox("Input", list(Setting), format_func=setting_words, index=1, key=keys.START_SETTING)
        instances = st.text_input("Instances (a pattern)", "*", key=keys.START_INSTANCES)
    with right:
        model, base_url = "", ""
        if detector == LLM:
            model = st.text_input("Model", os.environ.get(MODEL, ""), key=keys.START_MODEL)
            base_url = st.text_input(
                "Base URL", os.environ.get(BASE_URL, ""), placeholder="OpenAI's", key=keys.START_URL
            )
        runs = st.number_input("Answers per instance", 1, 100, PAPER_RUNS, key=keys.START_RUNS)
        budget = st.number_input("At most, in USD", 0.0, None, DEFAULT_BUDGET, key=keys.START_BUDGET)
    arguments = ["--detector", detector, "--setting", str(setting), "--benchmark", benchmark, "--instances", instances]
    if detector in ASKED:
        arguments += ["--runs", str(runs)]
    if detector == LLM:
        arguments += ["--model", model, "--budget-usd", f"{budget:g}", *(["--base-url", base_url] if base_url else [])]
    st.caption("The same as a command:")
    st.code(f"python -m crane_core detect {' '.join(map(_quoted, arguments))}", language="bash", wrap_lines=True)
    if st.button("Start", type="primary", key=keys.START, disabled=detector == LLM and not model.strip()):
        start(arguments)
        st.rerun()


def _quoted(text: str) -> str:
    return text if text and all(c.isalnum() or c in "-_./:+" for c in text) else f"'{text}'"


@st.fragment(run_every=POLL_S)
def _watch() -> None:
    """What this server started; the page is drawn anew when one of them ends."""
    runs = started_runs()
    n_running = sum(run.is_running for run in runs)
    if st.session_state.get(keys.N_RUNNING, n_running) != n_running:
        st.session_state[keys.N_RUNNING] = n_running
        st.rerun()
    st.session_state[keys.N_RUNNING] = n_running
    for number, run in enumerate(reversed(runs)):
        _draw_started(number, run)


def _draw_started(number: int, run: Started) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        state = "running" if run.is_running else "done" if run.process.returncode == 0 else "ended early"
        st.markdown(f"**{state}** · started {run.at[11:19]} UTC")
        if run.is_running and st.button("Stop", key=f"{keys.START}_stop_{run.process.pid}"):
            run.stop()
    if run.is_running or number == 0:
        st.code(run.last_words or "starting", language=None, wrap_lines=True)
