"""The content of the store: sources, counts, unreadable records, contradictions."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.domain import LoadProblem, ProblemKind
from crane_core.identity.visitor import Role
from crane_core.pipeline.loading.sources import StagedSource, staged_sources
from crane_core.pipeline.results.contradictions import contradictions
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_scores import BENCHMARK as STUDY
from crane_core.releases import SHORT, is_commit
from crane_core.storage import state, verdicts
from crane_core.ui import data
from crane_core.ui.grid import grid, reading_grid
from crane_core.ui.navigation import link
from crane_core.ui.visit import may
from crane_core.ui.words import NOTHING, count, literal, setting_short

SHIPS = "ships with the app"
COMMIT = rf"/tree/([0-9a-f]{{{SHORT}}}|.+)"
"""Shown of an address: the first digits of a commit, or the name of a branch without a known commit."""
PROBLEM_WIDTHS = {
    "Kind": 110,
    "Source": 90,
    "File": 130,
    "Place": 330,
    "Reason": 640,
}
"""Pixels; the reason is what people read."""
MEANING = {
    ProblemKind.UNREADABLE: "a record that could not be read",
    ProblemKind.CONTRADICTION: "one fact with two different values",
    ProblemKind.WAITING: "an answer or label whose instance is not loaded yet",
}


def draw_loaded() -> None:
    """What is in the store in a few numbers, each with the page that shows it, and what to do next."""
    counts = data.table_counts()
    with st.container(horizontal=True, gap="medium", key="loaded"):
        for row in as_rows(data.benchmarks()):
            unit = "case" if row["n_cases"] == 1 else "cases"
            words = f"{row['title']}: {count(row['n_cases'])} {unit}, {count(row['n_instances'])} notebooks"
            link("cases", literal(words), benchmark=row["benchmark"])
        link(
            "runs",
            f"{count(counts['runs'])} answers of {count(counts['detectors'])} detectors",
        )
        link("agreement", f"{count(counts['judgements'])} labels")
        st.caption(
            f"{count(counts['kernel_states'])} kernel snapshots",
            width="content",
        )
    if state.has_prompts(data.store().cursor(), STUDY):
        st.caption(
            "The published texts (code, kernel states, prompts, reasoning) are loaded."
        )
    else:
        after = (
            "**Next: press Fetch crane-llm**, which takes a minute."
            if may(Role.ADMIN)
            else "An admin can fetch them."
        )
        st.info(
            "The published study is loaded as facts: labels, votes, outcomes and printed numbers. Its code, kernel "
            f"states and reasoning belong to their authors. {after}"
        )


def draw_sources() -> None:
    """One row per source, oldest first; its commit leads to where others published it."""
    sources = state.sources(data.store().cursor())
    kept = {
        source.source_id: source
        for source in staged_sources(data.folder().sources)
    }
    released = [
        source if (source := kept.get(name)) and source.release else None
        for name in sources["source_id"]
    ]
    when = (
        sources["imported_at"].dt.strftime("%Y-%m-%d %H:%M UTC").fillna(SHIPS)
    )
    shown = pd.DataFrame(
        {
            "Source": sources["source_id"],
            "Kind": sources["kind"],
            "Name": sources["name"],
            "Size": [_size(n) for n in sources["n_bytes"]],
            "Loaded": when,
            "Problems": sources["n_problems"],
            "Release": [
                _release_words(source) if source else "" for source in released
            ],
            "Commit": [
                source.release.page if source and source.release else ""
                for source in released
            ],
            "sha256": sources["sha256"],
        }
    )
    shown = shown.loc[
        :, (shown != "").any()
    ]  # without Release and Commit where no source has one
    grid(
        shown,
        column_config={
            "Commit": st.column_config.LinkColumn(display_text=COMMIT)
        },
    )
    counts = state.source_counts(data.store().cursor())
    with st.expander("Records by source"):
        names = dict(zip(sources["source_id"], sources["name"], strict=True))
        shown = counts.assign(
            source=counts["source_id"].map(names),
            record=counts["record"].str.replace("_", " "),
        )
        columns = {
            "source": "Source",
            "record": "Record",
            "n_read": "Read",
            "n_new": "New",
        }
        records = st.column_config.NumberColumn(format="localized")
        shown = shown[list(columns)].rename(columns=columns)
        grid(shown, column_config={"Read": records, "New": records})


def _release_words(source: StagedSource) -> str:
    """The chosen release: the default release, or another one by its branch or tag."""
    if not source.edition:
        return "default"
    ref = source.release.ref if source.release else ""
    return "other" if is_commit(ref) or not ref else ref


def _size(n_bytes: int) -> str:
    return (
        f"{n_bytes / 1e6:.1f} MB"
        if n_bytes >= 100_000
        else f"{n_bytes / 1e3:.1f} kB"
    )


@data.kept(data.version)
def _without_instance() -> list[LoadProblem]:
    return state.without_instance(data.store().cursor())


@data.kept(data.answers)
def _contradictions() -> pd.DataFrame:
    return contradictions(data.verdicts())


def draw_problems() -> None:
    """Every record that was not loaded as it is, with place and reason."""
    for waiting in _without_instance():
        st.warning(
            literal(f"{waiting.path}, {waiting.place}: {waiting.reason}.")
        )
    problems = state.load_problems(data.store().cursor())
    if problems.empty:
        st.caption("No problems: every record of every source was read.")
        return
    kinds = problems["kind"].value_counts()
    st.caption(
        ", ".join(
            f"{count(n)} × {kind}: {MEANING[ProblemKind(str(kind))]}"
            for kind, n in kinds.items()
        )
    )
    columns = {
        "kind": "Kind",
        "source_id": "Source",
        "path": "File",
        "place": "Place",
        "reason": "Reason",
    }
    reading_grid(
        problems[list(columns)].rename(columns=columns), PROBLEM_WIDTHS
    )


def draw_contradictions() -> None:
    """Published human outcomes that the votes of the same files contradict, by instance."""
    found = _contradictions()
    st.markdown("**Votes that contradict the published human outcomes**")
    if found.empty:
        st.caption("None in the loaded data.")
        return
    shown = pd.DataFrame(
        {
            "Instance": found["instance_id"],
            "Detector": found["detector"].map(data.detector_titles()),
            "Input": found["setting"].map(setting_short),
            "Runs that predict a crash": [
                f"{a} of {a + b}"
                for a, b in zip(found["n_crash"], found["n_safe"], strict=True)
            ],
            "Human outcome": found["human"].fillna(NOTHING),
            "Explanation": found["why"],
        }
    )
    grid(
        shown,
        column_config={
            "Explanation": st.column_config.TextColumn(width="large")
        },
    )


def draw_annotators() -> None:
    """Who gave how many labels: people, and LLM judges with their repetitions and orders."""
    counts = verdicts.label_counts(data.store().cursor())
    columns = {
        "annotator": "Annotator",
        "annotator_kind": "Kind",
        "presentation": "Order of texts",
        "n_repetitions": "Repetitions",
        "n_labels": "Labels",
    }
    shown = counts[list(columns)].rename(columns=columns)
    labels = st.column_config.NumberColumn(format="localized")
    grid(shown, width=760, column_config={"Labels": labels})


def draw_counts() -> None:
    """Rows of every table, folded away."""
    counts = data.table_counts()
    with st.expander(
        f"Database: {count(sum(counts.values()))} rows in {count(len(counts))} tables"
    ):
        shown = pd.DataFrame(
            {
                "Table": [name.replace("_", " ") for name in counts],
                "Rows": [count(n) for n in counts.values()],
            }
        )
        grid(shown, width=420, height="content")
