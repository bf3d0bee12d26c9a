"""One case in five steps: the code, the state, two answers, what happened and its label, what the study concludes.

Every word about the case is computed from the store: with the published texts it is a case of the study, without them
one of the notebooks that ship. Knows the steps. Refuses to know how the case is chosen.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.domain import Cell, CellRole, Setting, Version
from crane_core.pipeline.cases.pairs import best_origin
from crane_core.pipeline.cases.turned_right import Example
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases as stored
from crane_core.ui import data, keys, overview_example
from crane_core.ui.gains_view import compared
from crane_core.ui.gains_words import headline
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import draw_neighbours, link
from crane_core.ui.overview_view import QUESTION, draw_answer, study
from crane_core.ui.pair_code import code_column_html
from crane_core.ui.pair_facts import facts_html, raised_html, why_html
from crane_core.ui.specification_view import draw_judge_caveat
from crane_core.ui.state_facts import Numbers
from crane_core.ui.state_tree import frames_of, state_html
from crane_core.ui.trial.cells_html import cells_html
from crane_core.ui.words import count, is_imported, literal

STEPS = ("code", "state", "two answers", "label", "the study")
NO_CASE = "No case with its code and answers is loaded. The Data page fetches the published ones."


class StoryCase(NamedTuple):
    """What is stored of the case that is shown: its facts, the cells of the crashing notebook, its state and answers.

    cells: the executed ones in order, then the target. both: the cells of both versions, as `storage.cases` returns
    them. state: the JSON text of a KernelState, None without one.
    without and with_: the detector's row of the verdict frame with each input.
    """

    example: Example
    facts: dict[str, Any]
    cells: list[Cell]
    both: pd.DataFrame
    state: str | None
    without: dict[str, Any]
    with_: dict[str, Any]


def asked_step() -> int | None:
    """The step that the address names, from 1; None where it names none that there is."""
    named = st.query_params.get(keys.STORY, "")
    numbers = [str(number) for number in range(1, len(STEPS) + 1)]
    return int(named) if named in numbers else None


def draw_story_link() -> None:
    """The way to the story; nothing without a case for it."""
    if overview_example.example_with_texts() is not None:
        link(
            "overview",
            "New here? Follow one case in five steps",
            **{keys.STORY: "1"},
        )


def draw_story(step: int) -> None:
    """One step of it, with the way to the next."""
    _draw_steps(step)
    told = _story()
    if told is None:
        draw_headline("One case in five steps", tab="Story")
        st.info(NO_CASE)
        link("data", "Open Data")
        return
    steps: tuple[Callable[[StoryCase], None], ...] = (
        _draw_code,
        _draw_state,
        _draw_answers,
        _draw_label,
        _draw_study,
    )
    steps[step - 1](told)


def _draw_steps(step: int) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.caption(
            f"Step {step} of {len(STEPS)}: {STEPS[step - 1]}", width="content"
        )
        draw_neighbours(
            str(step - 1) if step > 1 else None,
            str(step + 1) if step < len(STEPS) else None,
            _show,
        )
        st.button(
            "Overview",
            on_click=_show,
            args=[None],
            icon=":material/arrow_back:",
            shortcut="escape",
        )


def _show(step: str | None) -> None:
    if step is None:
        st.query_params.pop(keys.STORY, None)
    else:
        st.query_params[keys.STORY] = step


@data.kept(data.answers)
def _story() -> StoryCase | None:
    example = overview_example.example_with_texts()
    if example is None:
        return None
    cursor = data.store().cursor()
    facts = stored.case(cursor, example.benchmark, example.case_id)
    cells = stored.cells(cursor, example.benchmark, example.case_id)
    verdicts = data.verdicts()
    mine = verdicts[
        (verdicts["benchmark"] == example.benchmark)
        & (verdicts["experiment"] == example.experiment)
        & (verdicts["case_id"] == example.case_id)
        & (verdicts["detector_title"] == example.detector_title)
        & verdicts["truth"]
    ]
    answers = {row["setting"]: row for row in as_rows(mine)}
    return StoryCase(
        example,
        facts or {},
        _cells(cells),
        cells,
        example.state,
        answers[Setting.CODE],
        answers[Setting.RUNTIME],
    )


def _cells(cells: pd.DataFrame) -> list[Cell]:
    crashing = cells[cells["version"] == Version.REPRODUCED]
    shown = crashing[crashing["origin"] == best_origin(crashing["origin"])]
    return [
        Cell(
            instance_id="",
            benchmark="",
            origin=row["origin"],
            position=row["position"],
            role=CellRole(row["role"]),
            code=row["code"],
            execution_count=row["execution_count"],
            notebook_index=number,
        )
        for number, row in enumerate(as_rows(shown), start=1)
        if row["role"] != CellRole.NOT_RUN
    ]


def _draw_code(told: StoryCase) -> None:
    draw_headline(QUESTION, tab="Story")
    st.markdown(
        literal(
            f"{told.example.case_id} is a notebook of {_benchmark(told)}. Its first cells have run; the target cell, "
            "at the end, is about to run. A detector that reads the code alone sees this and no more."
        )
    )
    st.html(cells_html(told.cells))
    _draw_origin(told)


def _draw_state(told: StoryCase) -> None:
    draw_headline(
        "What the live kernel knows before the cell runs", tab="Story"
    )
    st.markdown(
        "The executed cells have left variables in the kernel. A detector with runtime state reads these beside the "
        "code: structure (S), representation (R) and values (V) of what the target cell uses."
    )
    if told.state is None:
        st.info("No state of this notebook is stored.")
        return
    target = cells_html(told.cells[-1:])
    st.html(
        '<div class="cw-bench cw-one cw-with-state">'
        f'<div class="cw-state-column">{_state_tree(told)}</div><div>{target}</div></div>'
    )


def _state_tree(told: StoryCase) -> str:
    numbers: Numbers = {
        cell.notebook_index: str(cell.notebook_index)
        for cell in told.cells
        if cell.notebook_index is not None
    }
    opened = frames_of(told.state, told.state, most=1)
    return state_html(told.state, told.state, (numbers, numbers), opened)


def _draw_answers(told: StoryCase) -> None:
    draw_headline(
        f"{told.example.detector_title}: no crash predicted from the code, a crash with runtime state",
        tab="Story",
    )
    st.markdown(
        literal(
            f"Answers that predict a crash: {_votes(told.without)} from the code alone, {_votes(told.with_)} "
            "with runtime state."
        )
    )
    without, with_ = overview_example.two_answers(told.example, "h2")
    code = cells_html(told.cells)
    state = _state_tree(told) if told.state else ""
    st.html(
        '<div class="cw-example cw-read">'
        f"<div>{without}{_read('the code', code)}</div>"
        f"<div>{with_}{_read('the code and the state', state)}</div></div>"
    )


def _read(what: str, html: str) -> str:
    """What the detector saw for its answer, below the answer."""
    if not html:
        return ""
    return (
        f'<div class="cw-saw"><p class="cw-dim">It read {what}:</p>{html}</div>'
    )


def _draw_label(told: StoryCase) -> None:
    draw_headline("The cell crashes; was the reason right?", tab="Story")
    crash = raised_html(told.facts) + code_column_html(
        told.both, told.facts["traceback"], told.facts["diagnosis"]
    )
    _, with_ = overview_example.two_answers(told.example, "h2")
    label = overview_example.labels_html(
        told.example.detector_title, told.with_["human"]
    )
    truth = facts_html(told.facts) + why_html(told.facts, {})
    st.html(
        '<div class="cw-example cw-read">'
        f"<div>{crash}</div><div>{truth}{with_}{label}</div></div>"
    )


def _draw_study(told: StoryCase) -> None:
    chosen = study()
    comparison = compared(chosen).comparison if chosen else pd.DataFrame()
    draw_headline(
        headline(comparison) if not comparison.empty else QUESTION, tab="Story"
    )
    st.markdown(
        "One case proves nothing. Over all cases of the published study, this is what the planned test finds."
    )
    draw_answer(chosen)
    if chosen is not None:
        draw_judge_caveat(chosen)
    with st.container(horizontal=True, gap="medium"):
        link(
            "cases",
            literal(f"Open {told.example.case_id} with all answers"),
            **{
                keys.CASE: told.example.case_id,
                keys.BENCHMARK: told.example.benchmark,
            },
        )
        link("results", "Read the results")
        link("try_a_notebook", "Try a notebook")
        link(
            "annotate", "Label diagnoses in a practice", **{keys.PRACTICE: "1"}
        )


def _draw_origin(told: StoryCase) -> None:
    if not is_imported(told.example.experiment):
        st.caption(overview_example.SHIPPED)


def _benchmark(told: StoryCase) -> str:
    return data.benchmark_title(told.example.benchmark)


def _votes(row: dict[str, Any]) -> str:
    n = int(row["n_crash"])
    of = n + int(row["n_safe"])
    return f"{count(n)} of {count(of)}"
