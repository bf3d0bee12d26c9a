"""Starting a run from the page, and watching those that run."""

import os
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st

from crane_core.detectors.registry import local_detectors
from crane_core.domain import PAPER_RUNS, AuditAction, Setting
from crane_core.identity.visitor import Role
from crane_core.llm.endpoint import MODEL, Endpoint
from crane_core.llm.endpoints import configured_endpoints, named_endpoint
from crane_core.llm.prices import price_of
from crane_core.pipeline.detection.cascade import NAME as CASCADE
from crane_core.pipeline.jobs.files import LABELS, MOST_NAME, MOST_NOTE
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.access import acting, note_act
from crane_core.ui.documentation import help_address
from crane_core.ui.navigation import show_here
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.runs import started
from crane_core.ui.runs.address import address_of, key_of
from crane_core.ui.visit import may, require
from crane_core.ui.words import literal, setting_words

LLM, FAKE = "llm", "fake"
OF_MODEL = {
    LLM: "A model over HTTP",
    CASCADE: "Rules first, a model for the rest",
}
ASKED = OF_MODEL | {FAKE: "The fake model (no key, no cost)"}
POLL_S = 1.0
DEFAULT_BUDGET, DEFAULT_TOKENS = 5.0, 5_000_000
UNPRICED = (
    "The price of this model is not known here, so a cap in USD is not possible; the person who runs this server can "
    "add it to the endpoint. The run stops before more tokens are used; 0: no cap"
)
_NAMED = "The list of runs shows it"
SHOWN_ENDED = 3
"""Ended runs that are still shown, the newest."""

_LACKS_MODEL = "Name a model. The key of the endpoint comes from the environment of the server, never from a page."
_LACKS_ENDPOINT = (
    "No endpoint is configured on this server, so no model can be asked. "
    "Its owner can add one: the page Settings of the documentation says how."
)


class JobForm(NamedTuple):
    """What the form says."""

    detector: str
    benchmark: str
    settings: tuple[str, ...]
    instances: str = "*"
    n_runs: int = PAPER_RUNS
    models: tuple[str, ...] = ()
    endpoint: str = ""
    budget_usd: float = 0.0
    budget_tokens: int = 0
    name: str = ""
    note: str = ""

    @property
    def arguments(self) -> list[str]:
        """Those of `detect`; a value that looks like a switch stays a value."""
        given = [
            ("detector", self.detector),
            ("setting", ",".join(self.settings)),
            ("benchmark", self.benchmark),
        ]
        given += (
            [("instances", self.instances)]
            if self.instances not in ("", "*")
            else []
        )
        given += [("runs", str(self.n_runs))] if self.detector in ASKED else []
        if self.detector in OF_MODEL:
            given += [
                ("endpoint", self.endpoint),
                *(("model", model) for model in self.models),
            ]
            given += (
                [("budget-usd", f"{self.budget_usd:g}")]
                if self.budget_usd
                else []
            )
            given += (
                [("budget-tokens", str(self.budget_tokens))]
                if self.budget_tokens
                else []
            )
        given += [
            (label, text)
            for label in LABELS
            if (text := getattr(self, label).strip())
        ]
        # With an equals sign, because a note such as `--again` would be read as an option.
        return [f"--{name}={value}" for name, value in given]

    @property
    def n_started(self) -> int:
        """Runs that come of it: one per model and setting, one after the other."""
        return len(self.settings) * (
            len(self.models) if self.detector in OF_MODEL else 1
        )

    def check(self) -> None:
        """Raises DetectorError if a model is wanted that is not configured here, whatever the form offered."""
        if self.detector in OF_MODEL:
            # The form comes from a browser, which may send what was never offered.
            for model in self.models or ("",):
                named_endpoint(self.endpoint, model)


def draw_start_button() -> None:
    """The button that opens and closes the form; none for whom it would refuse."""
    if not may(Role.ADMIN):
        return
    is_open = bool(st.session_state.get(keys.START_OPEN))
    st.button(
        "Close the form" if is_open else "Start a run",
        # The open form has another main button.
        type="secondary" if is_open else "primary",
        key="start_form",
        on_click=_turn_form,
    )


def draw_starting(*, may_run: bool) -> None:
    """The form where it is open, or why there is none; below it what this server started."""
    if not may(Role.ADMIN):
        st.caption("To start runs you need the role admin.")
    elif st.session_state.get(keys.START_OPEN):
        _draw_opened(may_run=may_run)
    if started.started_runs():
        is_alive = any(run.is_running for run in started.started_runs())
        st.fragment(_watch, run_every=POLL_S if is_alive else None)()


def _draw_opened(*, may_run: bool) -> None:
    with st.container(border=True):
        if may_run:
            _draw_form()
        else:
            st.markdown(
                "Runs cannot be started from this page: the server's owner has not allowed it. Runs that are started "
                f"elsewhere on this data show up here while they run. [The documentation]({help_address('runs')}) "
                "says how to do both."
            )


def _turn_form() -> None:
    st.session_state[keys.START_OPEN] = not st.session_state.get(
        keys.START_OPEN
    )


def _draw_form() -> None:
    titles = ASKED | {
        name: detector.TITLE for name, detector in local_detectors().items()
    }
    names = (
        list(titles)
        # Without a model that is set, what needs none stands first.
        if os.environ.get(MODEL)
        else [name for name in titles if name not in OF_MODEL] + [*OF_MODEL]
    )
    benchmarks = data.benchmarks()["benchmark"].tolist()
    first = next(
        (
            place
            for place, name in enumerate(benchmarks)
            if data.case_list(name)["has_code"].any()
        ),
        0,
    )
    with st.container(key="fields_run"):
        detector = st.selectbox(
            "Detector",
            names,
            format_func=titles.__getitem__,
            key=keys.START_DETECTOR,
        )
        benchmark = st.selectbox(
            "Benchmark",
            benchmarks,
            index=first,
            format_func=data.benchmark_title,
            key=keys.START_BENCHMARK,
        )
        settings = st.multiselect(
            "Inputs",
            list(Setting),
            [Setting.RUNTIME],
            format_func=setting_words,
            key=keys.START_INPUTS,
        )
        pattern = "A pattern over their names, such as numpy_*"
        instances = st.text_input(
            "Instances", "*", key=keys.START_INSTANCES, help=pattern
        )
        form = JobForm(
            detector, benchmark, tuple(map(str, settings)), instances
        )
        if detector in ASKED:
            runs = st.number_input(
                "Answers per instance",
                1,
                100,
                PAPER_RUNS,
                key=keys.START_RUNS,
            )
            form = form._replace(n_runs=int(runs))
        if detector in OF_MODEL:
            form = _of_model(form)
        name = st.text_input(
            "Name",
            key=keys.START_NAME,
            max_chars=MOST_NAME,
            help=_NAMED,
        )
        note = st.text_input(
            "Note",
            key=keys.START_NOTE,
            max_chars=MOST_NOTE,
            help=_NAMED,
        )
        form = form._replace(name=name, note=note)
    if form.n_started > 1:
        st.caption(
            f"{form.n_started} runs, one per model and input, one after the other; a cap holds for each."
        )
    st.caption("The same as a command:")
    st.code(
        f"python -m crane_core detect {shlex.join(form.arguments)}",
        language="bash",
        wrap_lines=True,
    )
    lacks_model = detector in OF_MODEL and not (form.endpoint and form.models)
    if lacks_model:
        st.caption(_LACKS_MODEL if form.endpoint else _LACKS_ENDPOINT)
    if not settings:
        st.caption("Choose an input.")
    busy = busy_words(form.arguments, started.started_runs())
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Start run",
            type="primary",
            key=keys.START,
            disabled=lacks_model or not settings or bool(busy),
        )
        if busy:
            st.caption(busy, width="content")
    if pressed:
        with refusals_shown():
            require(Role.ADMIN)
            form.check()
            started.start(form.arguments, acting())
            st.rerun()


def busy_words(arguments: list[str], runs: Sequence[started.Started]) -> str:
    """Why nothing can be started now: the same run is running, or another one is only starting. Empty: it can."""
    alive = [run for run in runs if run.is_running]
    # A second start of the same run would only find it held by the first.
    if any(run.arguments == arguments for run in alive):
        return "This run is running, see below. Change a field to start another one."
    return (
        "Another run is starting, see below."
        if any(run.job is None for run in alive)
        else ""
    )


def _of_model(form: JobForm) -> JobForm:
    """Which of the configured endpoints is used, and how much may be spent."""
    known = {each.name: each for each in configured_endpoints()}
    if not known:
        return form
    name = st.selectbox("Endpoint", list(known), key=keys.START_ENDPOINT)
    endpoint = known[name]
    if endpoint.models:
        models = st.multiselect(
            "Models",
            endpoint.models,
            endpoint.models[:1],
            key=f"{keys.START_MODEL}_{name}",
        )
    else:
        usual, several = os.environ.get(MODEL, ""), "Several between commas"
        typed = st.text_input(
            "Models",
            usual,
            key=f"{keys.START_MODEL}_{name}",
            help=several,
        )
        models = list(
            dict.fromkeys(
                model.strip() for model in typed.split(",") if model.strip()
            )
        )
    form = form._replace(endpoint=name, models=tuple(models))
    if any(
        price_of(Endpoint(model, endpoint.base_url), endpoint.price) is None
        for model in models
    ):
        tokens = st.number_input(
            "At most, in tokens",
            0,
            None,
            DEFAULT_TOKENS,
            step=100_000,
            key=keys.START_TOKENS,
            help=UNPRICED,
        )
        return form._replace(budget_tokens=int(tokens))
    cap = "The run stops before more is spent; 0: no cap"
    budget = st.number_input(
        "At most, in USD",
        0.0,
        None,
        DEFAULT_BUDGET,
        key=keys.START_BUDGET,
        help=cap,
    )
    return form._replace(budget_usd=float(budget))


def _watch() -> None:
    """What this server started; the page is drawn again when one of them has begun to ask, and when one ends."""
    runs = started.started_runs()
    now = [(run.process.pid, run.is_running, run.job) for run in runs]
    # Only a run of the whole page shows a new or ended run in the list below.
    if st.session_state.get(keys.N_RUNNING, now) != now:
        st.session_state[keys.N_RUNNING] = now
        st.rerun()
    st.session_state[keys.N_RUNNING] = now
    if any(run.is_running for run in runs):
        data.refresh()  # what has come counts in the accuracy so far
    alive = [run for run in reversed(runs) if run.is_running]
    ended = [run for run in reversed(runs) if not run.is_running][:SHOWN_ENDED]
    for run in [*alive, *ended]:
        _draw_started(run)


def _draw_started(run: started.Started) -> None:
    asked = " ".join(
        argument.partition("=")[2] for argument in run.arguments[:3]
    )
    is_running = run.is_running
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{run.state}**", width="content")
        st.caption(f"{asked}, started {run.at[11:19]} UTC", width="content")
        if (
            is_running
            and may(Role.ADMIN)
            and st.button("Stop", key=f"{keys.START}_stop_{run.process.pid}")
        ):
            run.stop()
            note_act(
                AuditAction.STOP_RUN,
                f"run {run.job or 'without a name yet'}",
            )
        _draw_way_to(
            run, can_open=bool(run.job if is_running else _rows_of(run))
        )
        if not is_running and run.process.returncode != 0:
            _draw_way_on(run)
    if is_running:
        started.draw_bar(run.words, run.job)
        if run.silent_s >= started.SILENCE_S:
            st.caption(
                f"Nothing new for {run.silent_s:.0f} s: {literal(run.last_line)}"
            )
    else:
        if run.process.returncode != 0:
            st.caption(literal(run.last_line))
        with st.expander("Log"):
            st.code(run.words or "empty", language=None, wrap_lines=True)


def _draw_way_on(run: started.Started) -> None:
    """The same command once more; the ended start is no longer shown."""
    if may(Role.ADMIN) and st.button(
        "Resume",
        key=f"{keys.START}_again_{run.process.pid}",
        help="Answered questions are not asked again.",
    ):
        with refusals_shown():
            require(Role.ADMIN)
            started.start(run.arguments)
            if run in started.started_runs():
                started.started_runs().remove(run)
            st.rerun()


def _rows_of(run: started.Started) -> list[dict[str, Any]]:
    table = data.run_list()
    return as_rows(table[table["is_job"] & (table["experiment"] == run.job)])


def _draw_way_to(run: started.Started, *, can_open: bool) -> None:
    """To the page of a run; one that goes on is in the list once it has answered something."""
    if not can_open or not st.button(
        "Open run", type="tertiary", key=f"{keys.START}_open_{run.process.pid}"
    ):
        return
    data.refresh()
    if rows := _rows_of(run):
        show_here(**address_of(key_of(rows[0])))
        st.rerun()
    st.toast("No answer has arrived yet.")
