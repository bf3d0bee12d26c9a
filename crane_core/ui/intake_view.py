"""Bringing data in from the page: fetch what upstream publishes, or import your own file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from crane_core.fetch import DownloadStep, fetch
from crane_core.identity.visitor import Role
from crane_core.pipeline.loading.editions import in_edition
from crane_core.pipeline.loading.load import Imported, as_sources, import_paths
from crane_core.releases import PUBLISHED, SHORT, is_commit
from crane_core.storage.tables import noun
from crane_core.ui import data
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may
from crane_core.ui.words import count, literal

WHAT = {
    "crane-llm": "the study: code, states, reasoning (BSD-3-Clause)",
    "junobench": "the notebooks, from Hugging Face (CC-BY-4.0)",
    "junobench-construct": "the first exploration, two open models (MIT)",
}
ACCEPTED = [
    "gz",
    "tgz",
    "zip",
    "ipynb",
    "jsonl",
    "csv",
    "parquet",
    "eval",
    "json",
]


def draw_fetch() -> None:
    """A button per published source; an interrupted download resumes where it stopped."""
    st.markdown("**Fetch what is published**")
    if not may(Role.ADMIN):
        st.caption("Fetching needs the role admin.")
        return
    for name in WHAT:
        with st.container(
            horizontal=True, vertical_alignment="center", key=f"row_of_{name}"
        ):
            pressed = st.button(f"Fetch {name}", key=f"fetch_{name}", width=210)
            st.caption(f"{WHAT[name]}, {_default(name)}", width="stretch")
        if pressed:
            _fetch(name)
    st.caption("Leaving the page stops a download; the next one resumes it.")


def _default(name: str) -> str:
    """The release that the button brings."""
    published = PUBLISHED[name]
    commit = published.default
    return (
        f"commit [{commit[:SHORT]}]({published.page}/tree/{commit})"
        if is_commit(commit)
        else "the newest revision"
    )


def _fetch(name: str) -> None:
    bar = st.progress(0.0, f"Contacting the server of {name}")

    def show(step: DownloadStep) -> None:
        of = f" of {count(step.total)}" if step.total else ""
        share = min(step.done / step.total, 1.0) if step.total else 0.0
        bar.progress(share, f"{step.what}: {count(step.done)}{of} {step.unit}")

    with refusals_shown():
        path, release = fetch(name, data.folder().downloads, show)
        bar.progress(1.0, "Loading")
        _tell(
            import_paths([path], data.folder(), data.store(), release=release)
        )
    bar.empty()


def draw_import() -> None:
    """Upload, or name what lies on the machine that runs the app; big folders need no upload that way."""
    st.markdown("**Import your own**")
    if not may(Role.ADMIN):
        st.caption("Importing needs the role admin.")
        return
    uploads = st.file_uploader(
        "An archive, the two notebooks of a pair (name_reproduced.ipynb and name_fixed.ipynb), predictions (.jsonl, "
        ".csv, .parquet), captured states (.json), or logs of Inspect AI (.eval, .json)",
        type=ACCEPTED,
        accept_multiple_files=True,
    )
    if uploads and st.button(
        f"Import {len(uploads)} file{'s' if len(uploads) > 1 else ''}",
        type="primary",
    ):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for upload in uploads:
                path = Path(folder) / Path(upload.name).name
                path.write_bytes(upload.getvalue())
                paths.append(path)
            _import_sources(paths)
    with st.form("import_path", border=False, enter_to_submit=True):
        typed = st.text_input(
            "Or a path on the machine that runs the app",
            placeholder="~/Downloads/crane_llm.tar.gz",
        )
        if st.form_submit_button("Import path") and typed.strip():
            _import_sources([Path(typed.strip()).expanduser()])


def _import_sources(paths: list[Path]) -> None:
    for source in as_sources(paths):
        with st.spinner(literal(f"Reading {source[0].name}")), refusals_shown():
            _tell(import_paths(source, data.folder(), data.store()))


def _kind(entry: Imported) -> str:
    if not entry.edition:
        return entry.kind
    return f"{entry.kind}, kept apart from the default release as {literal(in_edition(entry.kind, entry.edition))}"


def _about(entry: Imported) -> str:
    named = ", ".join(literal(name) for name in entry.benchmarks)
    return (
        f" as {noun(len(entry.benchmarks), 'benchmarks')} {named}"
        if named
        else ""
    )


def _tell(entry: Imported) -> None:
    if entry.already_loaded:
        st.info(
            f"{literal(entry.name)} is already loaded as source {entry.source_id}; nothing changed."
        )
        return
    counts = ", ".join(
        f"{count(added.n_new)} {noun(added.n_new, added.record)}"
        for added in entry.added
        if added.n_new
    )
    n = len(entry.problems)
    problems = (
        f" {count(n)} problem{'s' if n != 1 else ''}: see below."
        if n
        else " No problems."
    )
    st.success(
        f"Loaded {literal(entry.name)} ({_kind(entry)}){_about(entry)}. New: {counts or 'nothing'}.{problems}"
    )
