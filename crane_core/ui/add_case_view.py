"""The form for a visitor's case: two notebooks and what is known of them, executed before anything is kept."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from crane_core.errors import CraneError, NotebookError, SourceError
from crane_core.identity.visitor import Role
from crane_core.pipeline.own_notebooks.check import ALLOWED, execution_allowed
from crane_core.pipeline.verification import add_case
from crane_core.runtime.endings import short
from crane_core.runtime.plan import MOST_BYTES
from crane_core.ui import data, keys
from crane_core.ui.navigation import link
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.trial.background import Background, begin, draw_watch
from crane_core.ui.trial.running import full, here_words, limits, places
from crane_core.ui.visit import may, require
from crane_core.ui.words import cells_words, literal

MOST_LABEL = 120
MOST_DIAGNOSIS = 4_000


@dataclass(slots=True, kw_only=True)
class Adding(Background[add_case.OwnCase]):
    """One case on its way into a benchmark."""

    name: str


def _start_adding(case: add_case.NewCase, benchmark: str) -> Adding:
    """Begin to execute its notebooks. Raises KernelError if too many notebooks are running."""
    adding = Adding(name=case.name)
    folder, store = data.folder(), data.store()

    def work() -> add_case.OwnCase:
        return add_case.add_own_case(
            case, benchmark, folder, store, limits(), stop=adding.stop
        )

    begin(adding, work, places(), full=full(), failed="Adding the case failed")
    return adding


def draw_add_case() -> None:
    """The form, or why there is none; progress while a case is checked, then its link or the refusal."""
    adding = st.session_state.get(keys.CASE_ADDING)
    # Open while something is on its way, else its outcome would be out of sight.
    with st.expander("Add your own case", expanded=isinstance(adding, Adding)):
        if not may(Role.ADMIN):
            st.caption("Adding a case needs the role admin.")
        elif not execution_allowed(os.environ):
            st.caption(
                "A case is executed before it is added, and this server does not run notebooks; its operator can "
                f"allow it with `{ALLOWED}=1`. `python -m crane_core add-case` does the same in a folder of pairs."
            )
        elif isinstance(adding, Adding) and adding.outcome is None:
            draw_watch(
                adding,
                "Stop",
                key=keys.CASE_STOP,
                words=partial(_running_words, adding),
            )
        else:
            if isinstance(adding, Adding):
                _draw_outcome(adding)
            _draw_form()


def _running_words(adding: Adding) -> str:
    what = "Stopping" if adding.stop.is_set() else "Checking"
    return f"{what} {literal(adding.name)}: {adding.seconds:.0f} s so far"


def _draw_outcome(adding: Adding) -> None:
    with refusals_shown():
        if isinstance(adding.outcome, CraneError) and adding.stop.is_set():
            st.info(f"{literal(adding.name)} was stopped; nothing was kept.")
        elif isinstance(adding.outcome, CraneError):
            raise adding.outcome
        elif adding.outcome is not None:
            st.success(literal(added_words(adding.outcome)))
            link(
                "cases",
                "Open the case",
                benchmark=adding.outcome.benchmark,
                case=adding.outcome.added.name,
            )


def added_words(own: add_case.OwnCase) -> str:
    """What was found and kept."""
    name, target, exception, n_differ, _ = own.added
    differ = (
        "1 code cell differs."
        if n_differ == 1
        else f"{cells_words(n_differ)} differ; look whether all are needed."
    )
    return (
        f"{name} is a case of {own.benchmark} now. Code cell {target} raised {short(exception)} "
        f"{add_case.N_TRIES} times, and"
        f" the fixed notebook ran through. {differ}"
    )


def _draw_form() -> None:
    st.caption(
        f"The crashing notebook is executed {add_case.N_TRIES} times and the fixed one once. They are kept only "
        f"if the same cell raises the same exception each time and the fixed one runs through. {here_words()}"
    )
    with st.form(keys.CASE_FORM, border=False):
        left, right = st.columns(2, gap="large")
        with left:
            crashing = _upload("Crashing notebook")
        with right:
            fixed = _upload("Fixed notebook")
        with st.container(horizontal=True):
            benchmark = st.selectbox(
                "Benchmark",
                add_case.own_benchmarks(data.store()),
                index=None,
                accept_new_options=True,
                placeholder="One of yours, or a new name",
                width=250,
            )
            name = st.text_input(
                "Name of the case",
                max_chars=add_case.LONGEST_NAME,
                placeholder="trip",
                width=190,
            )
            target = st.number_input(
                "Cell that crashes",
                min_value=0,
                value=None,
                step=1,
                placeholder="as recorded",
                help="Code cells are counted from 0. Default: the one with an error output, else the one that raises",
                width=170,
            )
            library = st.text_input(
                "Library",
                max_chars=MOST_LABEL,
                placeholder="optional",
                width=150,
            )
            cause = st.text_input(
                "Root cause",
                max_chars=MOST_LABEL,
                placeholder="optional",
                width=190,
            )
        diagnosis = st.text_input(
            "Diagnosis",
            max_chars=MOST_DIAGNOSIS,
            placeholder="optional: why it crashes",
        )
        pressed = st.form_submit_button("Check and add", type="primary")
    if pressed:
        with refusals_shown():
            # Again at the press: the role may have been taken since the form was drawn.
            require(Role.ADMIN)
            labels = [
                text.strip() or None for text in (library, cause, diagnosis)
            ]
            _start(
                str(benchmark or ""),
                name.strip(),
                crashing,
                fixed,
                target,
                labels,
            )


def _upload(label: str) -> UploadedFile | None:
    return st.file_uploader(
        f"{label} (.ipynb)",
        type=["ipynb"],
        max_upload_size=MOST_BYTES // 1_000_000,
    )


def _start(
    benchmark: str,
    name: str,
    crashing: UploadedFile | None,
    fixed: UploadedFile | None,
    target: int | None,
    labels: list[str | None],
) -> None:
    if crashing is None or fixed is None:
        raise SourceError(
            "A case needs two notebooks.",
            remedy="Upload the crashing and the fixed one.",
        )
    case = add_case.NewCase(
        name, _document(crashing), _document(fixed), target, *labels
    )
    st.session_state[keys.CASE_ADDING] = _start_adding(case, benchmark)
    st.rerun()


def _document(upload: UploadedFile) -> dict[str, Any]:
    """Raises NotebookError, which names the file as the visitor knows it."""
    with TemporaryDirectory(prefix="crane-case-") as place:
        path = Path(place) / "notebook.ipynb"
        path.write_bytes(upload.getvalue())
        try:
            return add_case.read_notebook(path)
        except NotebookError as error:
            raise NotebookError(
                error.args[0].replace(str(path), upload.name),
                remedy=error.remedy,
            ) from error
