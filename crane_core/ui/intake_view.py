"""Bringing data in from the page: fetch what upstream publishes, or import your own file.

For a file of another evaluation tool: its first rows, a mapping to correct, and what that reads of them.
"""

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.domain import LoadProblem, Run
from crane_core.errors import CraneError, SourceError
from crane_core.fetch import DownloadStep, fetch
from crane_core.identity.visitor import Role
from crane_core.importers.answer_maps import proposal
from crane_core.importers.filetree import open_files, open_tree
from crane_core.importers.mapped_answers import first_rows, read
from crane_core.pipeline.loading.editions import in_edition
from crane_core.pipeline.loading.load import Imported, as_sources, import_paths
from crane_core.pipeline.loading.mapped import mapping_of_text
from crane_core.pipeline.loading.saved_dataset import readable
from crane_core.releases import PUBLISHED, SHORT, is_commit
from crane_core.storage import state
from crane_core.storage.tables import noun
from crane_core.ui import data, keys, source_cards
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may
from crane_core.ui.words import count, literal, quantity

FETCH, IMPORT = "fetch", "import"
"""Sections of the page in which an import begins, and below which its outcome is shown."""
MOST_LINKS = 3
"""Experiments of one import that get a link."""
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
_ACCEPTED = ["json", "jsonl", "ndjson", "csv", "parquet"]
_SHOWN_MEMBERS = 60
_SHOWN_VALUES = 3


def draw_fetch() -> None:
    """A card with a button per published source; an interrupted download resumes where it stopped."""
    is_admin = may(Role.ADMIN)
    sources = source_cards.loaded_sources()
    pressed = None
    with st.container(key="cards_to_fetch"):
        for name in source_cards.OTHERS:
            with st.container(border=True, key=f"card_{name}"):
                st.html(
                    source_cards.published_card(name, sources, _default(name))
                )
                loaded = source_cards.of_published(name, sources)
                is_next = name == source_cards.FIRST and not loaded
                with st.container(horizontal=True):
                    if is_admin and st.button(
                        f"Fetch {name} again" if loaded else f"Fetch {name}",
                        key=f"fetch_{name}",
                        type="primary" if is_next else "secondary",
                    ):
                        pressed = name
                    if loaded:
                        source_cards.draw_problems(loaded[-1])
    if not is_admin:
        st.caption("Fetching needs the role admin.")
    if pressed:
        _fetch(pressed)


def _default(name: str) -> tuple[str, str]:
    """The release that the button brings, in words, and its address."""
    published = PUBLISHED[name]
    commit = published.default
    return (
        (f"commit {commit[:SHORT]}", f"{published.page}/tree/{commit}")
        if is_commit(commit)
        else ("the newest revision", published.page)
    )


def _fetch(name: str) -> None:
    bar, told = st.progress(0.0, f"Contacting the server of {name}"), st.empty()
    told.caption(
        "Leaving this page stops the download. Fetch again to resume it."
    )

    def show(step: DownloadStep) -> None:
        of = f" of {count(step.total)}" if step.total else ""
        share = min(step.done / step.total, 1.0) if step.total else 0.0
        bar.progress(share, f"{step.what}: {count(step.done)}{of} {step.unit}")

    imported = []
    with refusals_shown():
        path, release = fetch(name, data.folder().downloads, show)
        bar.progress(1.0, "Loading")
        imported.append(
            import_paths([path], data.folder(), data.store(), release=release)
        )
    bar.empty()
    told.empty()
    keep(FETCH, imported, is_all=bool(imported))


def draw_import() -> None:
    """Upload, or name what lies on the machine that runs the app; big folders need no upload that way."""
    if not may(Role.ADMIN):
        st.caption("Importing needs the role admin.")
        return
    st.caption(
        "An archive, the two notebooks of a pair (name_reproduced.ipynb and name_fixed.ipynb), predictions (.jsonl, "
        ".csv, .parquet), captured states (.json), or logs of Inspect AI (.eval, .json)"
    )
    with st.container(key="ways_of_import"):
        left, right = st.columns(2, gap="small")
    with left:
        _draw_upload()
    with right, st.form("import_path", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                "Or a path on the app's machine",
                placeholder="~/Downloads/crane_llm.tar.gz",
            )
            is_sent = st.form_submit_button("Import path")
        if is_sent and typed.strip():
            _import_sources([Path(typed.strip()).expanduser()])


def _draw_upload() -> None:
    uploads = st.file_uploader(
        "Files of this computer",
        type=ACCEPTED,
        accept_multiple_files=True,
    )
    if uploads and st.button(
        f"Import {quantity(len(uploads), 'file')}",
        type="primary",
    ):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for upload in uploads:
                path = Path(folder) / Path(upload.name).name
                path.write_bytes(upload.getvalue())
                paths.append(path)
            _import_sources(paths)


def _import_sources(paths: list[Path]) -> None:
    imported: list[Imported] = []
    n_read, sources = 0, as_sources(paths)
    for source in sources:
        with st.spinner(literal(f"Reading {source[0].name}")), refusals_shown():
            with readable(source) as ready:
                imported += [
                    import_paths(each, data.folder(), data.store())
                    for each in ready
                ]
            n_read += 1
    keep(IMPORT, imported, is_all=n_read == len(sources))


def keep(section: str, imported: list[Imported], *, is_all: bool) -> None:
    """Remember the outcomes for `draw_outcomes` of a section; is_all: nothing was refused."""
    st.session_state[keys.IMPORTED] = (section, imported)
    # What is above was drawn from the data before the import. A refusal is shown in this run alone.
    if is_all:
        st.rerun()


def draw_outcomes(section: str) -> None:
    """The outcomes of the last import if it began in this section, until the next one; each with what to open next."""
    began_in, imported = st.session_state.get(keys.IMPORTED, ("", []))
    for entry in imported if began_in == section else []:
        with st.container(key=f"outcome_{entry.source_id}"):
            _draw_outcome(entry)


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


def _draw_outcome(entry: Imported) -> None:
    if entry.already_loaded:
        st.info(
            f"{literal(entry.name)} is already loaded as source {entry.source_id}; nothing changed."
        )
    else:
        counts = ", ".join(
            f"{count(added.n_new)} {source_cards.record_noun(added.n_new, added.record)}"
            for added in entry.added
            if added.n_new
        )
        st.success(
            f"Loaded {literal(entry.name)} ({_kind(entry)}){_about(entry)}. New: {counts or 'nothing'}. "
            f"{quantity(len(entry.problems), 'problem') if entry.problems else 'No problems'}."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if entry.problems:
            n = len(entry.problems)
            source_cards.draw_problems_button(
                entry.source_id, f"See {quantity(n, 'problem')}"
            )
        _draw_results_links(entry)


def _draw_results_links(entry: Imported) -> None:
    """A link to the results of each experiment that the source has answers of, if they can be measured."""
    measured = data.measured()
    known = set(zip(measured["benchmark"], measured["experiment"], strict=True))
    found = [
        one
        for one in state.experiments_of_source(
            data.store().cursor(), entry.source_id
        )
        if one in known
    ]
    for benchmark, experiment in found[:MOST_LINKS]:
        words = (
            "See them in Results"
            if len(found) == 1
            else f"See {literal(experiment)} in Results"
        )
        link("results", words, benchmark=benchmark, experiment=experiment)


def draw_mapping() -> None:
    """Folded until it is wanted; nothing for visitors who may not import."""
    if not may(Role.ADMIN):
        return
    with st.expander("A file of another tool"):
        st.caption(
            "Answers that another evaluation tool collected: a mapping says which member of a row means what. Files of"
            " promptfoo, lm-evaluation-harness, Langfuse, Weave, OpenAI Evals and Phoenix bring most of theirs."
        )
        upload = st.file_uploader(
            "File of answers", type=_ACCEPTED, key="mapped_file"
        )
        if upload is None:
            return
        with tempfile.TemporaryDirectory() as place, refusals_shown():
            # Only the last part of the name: a browser sends what it likes.
            path = Path(place) / Path(upload.name).name
            path.write_bytes(upload.getvalue())
            _draw_file(path, upload.file_id)


def _draw_file(path: Path, file_id: str) -> None:
    first = first_rows(open_tree(path))
    members = proposal.seen_members(first.rows)
    if not members:
        raise SourceError(
            f"{path.name} has no row of members.",
            remedy="The command `import --map` names the list of rows of any JSON.",
        )
    st.caption(f"Members of the first rows ({len(first.rows)}):")
    grid(_member_table(members))
    text = st.text_area(
        "Mapping (TOML): correct the paths, and state what is missing",
        value=proposal.proposed(*first),
        height=320,
        key=f"mapping_{file_id}",
    )
    _draw_preview(path, text)
    if st.button("Import with this mapping", type="primary"):
        with mapping_of_text(path, text) as paths:
            entry = import_paths(paths, data.folder(), data.store())
        keep(IMPORT, [entry], is_all=True)


def _member_table(members: Sequence[proposal.SeenMember]) -> pd.DataFrame:
    """A row per path with its first values, cut to a line each."""
    rows = [
        {
            "Path": member.path,
            "First values": ", ".join(
                map(proposal.example, member.values[:_SHOWN_VALUES])
            ),
        }
        for member in members[:_SHOWN_MEMBERS]
    ]
    return pd.DataFrame(rows)


def _draw_preview(path: Path, text: str) -> None:
    """The first answers that the mapping reads, or what is wrong with it."""
    try:
        with mapping_of_text(path, text) as paths:
            # Readers are lazy, so a long table is not read to its end for a few rows.
            read_first = list(
                islice(
                    read(open_files(paths, path.stem)), proposal.ROWS_LOOKED_AT
                )
            )
    except CraneError as error:
        st.warning(literal(str(error.args[0])))
        return
    for problem in read_first:
        if isinstance(problem, LoadProblem):
            st.warning(literal(f"{problem.place}: {problem.reason}."))
    answers = [_answer_cells(one) for one in read_first if isinstance(one, Run)]
    if answers:
        st.caption(f"First answers that it reads ({len(answers)}):")
        grid(pd.DataFrame(answers))


def _answer_cells(run: Run) -> dict[str, Any]:
    said = {True: "crash", False: "no crash", None: "no answer"}
    return {
        "Instance": run.instance_id,
        "Benchmark": run.benchmark,
        "Detector": run.detector,
        "Input": str(run.setting),
        "Answer": str(run.run_index),
        "Predicted": said[run.crashes],
        "Reason": proposal.example(run.reasoning or run.unanswered or ""),
    }
