"""A form for a file of another evaluation tool: its first rows, a mapping to correct, and what that reads of them."""

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.domain import LoadProblem, Run
from crane_core.errors import CraneError, SourceError
from crane_core.identity.visitor import Role
from crane_core.importers.answer_maps import proposal
from crane_core.importers.filetree import open_files, open_tree
from crane_core.importers.mapped_answers import first_rows, read
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.loading.mapped import mapping_of_text
from crane_core.ui import data
from crane_core.ui.grid import grid
from crane_core.ui.intake_view import IMPORT, keep
from crane_core.ui.refusal import refusals_shown
from crane_core.ui.visit import may
from crane_core.ui.words import literal

_ACCEPTED = ["json", "jsonl", "ndjson", "csv", "parquet"]
_SHOWN_MEMBERS = 60
_SHOWN_VALUES = 3


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
