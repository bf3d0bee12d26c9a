"""One pair on one page: facts, traceback, answers, code side by side with the runtime state, published inputs."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.editions import without_edition
from crane_core.pipeline.origins import ORIGIN_ORDER, best_origin
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases as stored
from crane_core.storage.store import Store
from crane_core.ui import keys
from crane_core.ui.navigation import link
from crane_core.ui.pair_code import code_and_state_html
from crane_core.ui.pair_facts import facts_html, strips_by_experiment
from crane_core.ui.run_strip import Strip, strips_html
from crane_core.ui.words import edition_words, experiment_words, is_imported, literal, setting_words

MAX_INPUT = 200_000
"""Characters of a published input that are shown; the download has all."""
FEW_RUNS = 4
"""Own runs up to so many are open; more are folded, so that the code stays near."""
ORIGIN_WORDS = {
    "notebook": "from the notebooks",
    "crane-llm-2025-10": "from the published inputs of October 2025 (comments removed there)",
    "crane-llm-2026": "from the published inputs of 2026 (comments removed there)",
}


def draw_pair(store: Store, benchmark: str, case_id: str, verdicts: pd.DataFrame) -> None:
    """Everything that is known of a case. `verdicts` are its rows of the verdict frame."""
    case = stored.case(store.cursor(), benchmark, case_id)
    if case is None:
        missing = literal(f"There is no case {case_id!r} in {benchmark!r}.")
        st.error(f"{missing} Go back to the list and pick one.")
        return
    st.html(facts_html(case))
    cells = stored.cells(store.cursor(), benchmark, case_id)
    _crash(case, stored.remarks(store.cursor(), benchmark, case_id))
    _answers(stored.runs(store.cursor(), benchmark, case_id), verdicts)
    _code_and_state(case["traceback"], cells, stored.kernel_states(store.cursor(), benchmark, case_id))
    _inputs(store, stored.prompt_list(store.cursor(), benchmark, case_id))


def _crash(case: dict[str, Any], remarks: dict[str, str]) -> None:
    if case["diagnosis"]:
        st.markdown("**Why it crashes** (ground truth)")
        st.html(f"<p>{escape(case['diagnosis'])}</p>")
    for version, remark in remarks.items():
        st.html(f'<p class="cw-dim">Remark on the {escape(version)} notebook: {escape(remark)}</p>')
    text = case["traceback"] or case["message"]
    if text:
        with st.expander(f"Traceback: {literal(case['exception'] or 'crash')}", expanded=False):
            st.html(f'<pre class="cw-trace">{escape(str(text)[:20_000])}</pre>')


def _answers(runs: pd.DataFrame, verdicts: pd.DataFrame) -> None:
    st.subheader("What the detectors say", anchor="answers")
    if runs.empty:
        st.info("No detector has been asked about this case yet.")
        return
    own: list[Strip] = []
    for experiment, strips in strips_by_experiment(runs, verdicts).items():
        if not is_imported(experiment):
            own += (strip._replace(experiment=experiment) for strip in strips)
            continue
        st.html(f'<div class="cw-dim">{escape(experiment_words(experiment))}</div>')
        st.html(strips_html(strips))
    if own:
        with st.expander(f"Own runs: {len(own)}", expanded=len(own) <= FEW_RUNS):
            st.html(strips_html(own))


def _code_and_state(traceback: str | None, cells: pd.DataFrame, states: pd.DataFrame) -> None:
    st.subheader("Code and runtime state", anchor="code")
    if cells.empty:
        st.info(
            "The code and the runtime state of this case are not on this machine: this project ships facts of the "
            "published study, not its texts. Fetching them takes a minute."
        )
        link("data", "Fetch or import them on the Data page")
        return
    origin = best_origin(cells["origin"])
    st.html(f'<div class="cw-dim">Code {escape(_origin_words(origin))}. Cells that are the same fold.</div>')
    st.html(code_and_state_html(cells, states, traceback))


def _origin_words(origin: str) -> str:
    name, edition = without_edition(origin)
    return f"{ORIGIN_WORDS[name]}{edition_words(edition)}" if name in ORIGIN_WORDS else origin


def _inputs(store: Store, prompts: pd.DataFrame) -> None:
    if prompts.empty:
        return
    st.subheader("Published inputs", anchor="inputs")
    listed = {_input_name(row): row["sha256"] for row in as_rows(prompts)}
    chosen = st.selectbox(
        "Input text", list(listed), index=None, key=keys.PROMPT, placeholder="choose one to read", width=480
    )
    text = stored.prompt_text(store.cursor(), listed[chosen]) if chosen else None
    if text is not None:
        cut = f"\n… {len(text) - MAX_INPUT:,} more characters in the download" if len(text) > MAX_INPUT else ""
        st.html(f'<div class="cw-prompt">{escape(text[:MAX_INPUT] + cut)}</div>')
        st.download_button("Download this text", text, f"{chosen}.txt", "text/plain", on_click="ignore")


def _input_name(row: dict[str, Any]) -> str:
    origin = "" if row["origin"] == ORIGIN_ORDER[1] else f", {row['origin']}"
    return f"{row['version']}, {setting_words(row['setting'])}{origin} · {row['n_chars']:,} characters"
