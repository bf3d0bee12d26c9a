"""One pair on one page: its steps, its first screen, and the published inputs."""

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.cases.pairs import ORIGIN_ORDER, best_origin
from crane_core.pipeline.loading.editions import without_edition
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases as stored
from crane_core.storage.store import Store
from crane_core.ui import keys, words
from crane_core.ui.code_html import prompt_html
from crane_core.ui.headline import draw_headline
from crane_core.ui.navigation import draw_neighbours, link
from crane_core.ui.notes.pair_notes import draw_notes, steps_words
from crane_core.ui.pair_facts import asked_rows, raised_html
from crane_core.ui.pair_panel import PairMaterial, draw_panel

ORIGIN_WORDS = {
    "notebook": "from the notebooks",
    "crane-llm-2025-10": "from the published inputs of October 2025, whose comments were removed",
    "crane-llm-2026": "from the published inputs of 2026, whose comments were removed",
}


def draw_pair(
    store: Store,
    benchmark: str,
    case_id: str,
    verdicts: pd.DataFrame,
    listed: list[str],
) -> None:
    """Everything that is known of a case. verdicts: its rows of the verdict frame; listed: the cases in the list."""
    case = stored.case(store.cursor(), benchmark, case_id)
    noted = steps_words(benchmark, case_id) if case else ""
    _draw_steps(case_id, listed, raised_html(case) if case else "", noted)
    if case is None:
        missing = words.literal(
            f"There is no case {case_id!r} in {benchmark!r}."
        )
        st.error(f"{missing} Go back to the list and pick one.")
        return
    cells = stored.cells(store.cursor(), benchmark, case_id)
    states = stored.kernel_states(store.cursor(), benchmark, case_id)
    asked = asked_rows(
        stored.runs(store.cursor(), benchmark, case_id), verdicts
    )
    pair = PairMaterial(
        case,
        stored.remarks(store.cursor(), benchmark, case_id),
        cells,
        states,
        "" if cells.empty else _origin_words(best_origin(cells["origin"])),
    )
    draw_panel(pair, asked)
    if cells.empty:
        st.info(
            "The code and the runtime state of this case are not on this machine: this project ships facts of the "
            "published study, not its texts. Fetching them takes a minute."
        )
        link("data", "Fetch or import them on the Data page")
    draw_notes(benchmark, case_id)
    _inputs(store, stored.prompt_list(store.cursor(), benchmark, case_id))


def _draw_steps(
    case_id: str, listed: list[str], raised: str, noted: str
) -> None:
    """The case's name, what it raises (HTML), its way back and its neighbours in the filtered list; stays in sight.

    noted: Markdown about its notes.
    """
    place = listed.index(case_id) if case_id in listed else None
    before = listed[place - 1] if place else None
    after = (
        listed[place + 1]
        if place is not None and place + 1 < len(listed)
        else None
    )
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="steps"
    ):
        draw_headline(case_id, tab=case_id, width="content")
        where = (
            f"{place + 1} of {len(listed)} in this list"
            if place is not None
            else "not in the filtered list"
        )
        st.caption(where + noted, width="content")
        # An empty element keeps the place: the buttons stay at the right where nothing is raised.
        st.html(raised or "<span></span>", width="stretch")
        st.button(
            "All cases",
            on_click=_show,
            args=[None],
            icon=":material/arrow_back:",
            shortcut="escape",
        )
        draw_neighbours(before, after, _show)


def _show(case_id: str | None) -> None:
    """Move the URL to another case; the page follows."""
    if case_id is None:
        st.query_params.pop(keys.CASE, None)
    else:
        st.query_params[keys.CASE] = case_id


def _origin_words(origin: str) -> str:
    name, edition = without_edition(origin)
    return (
        f"{ORIGIN_WORDS[name]}{words.edition_words(edition)}"
        if name in ORIGIN_WORDS
        else origin
    )


def _inputs(store: Store, prompts: pd.DataFrame) -> None:
    if prompts.empty:
        return
    with st.container(key="inputs"):
        st.header("Published inputs", anchor="inputs")
    listed = {_input_name(row): row["sha256"] for row in as_rows(prompts)}
    chosen = st.selectbox(
        "Input text",
        list(listed),
        index=None,
        key=keys.PROMPT,
        placeholder="choose one to read",
        width=480,
    )
    text = (
        stored.prompt_text(store.cursor(), listed[chosen]) if chosen else None
    )
    if text is not None:
        st.html(prompt_html(text, "more characters in the download"))
        st.download_button(
            "Download this text",
            text,
            f"{chosen}.txt",
            "text/plain",
            on_click="ignore",
        )


def _input_name(row: dict[str, Any]) -> str:
    # The release that the study's models were shown goes without a name.
    origin = "" if row["origin"] == ORIGIN_ORDER[1] else f", {row['origin']}"
    version = words.VERSION_WORDS[row["version"]]
    return f"{version}, {words.setting_words(row['setting'])}{origin} · {row['n_chars']:,} characters"
