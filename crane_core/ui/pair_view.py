"""One pair on one page: facts, traceback, answers, code side by side with the runtime state, published inputs."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.theme import in_order
from crane_core.domain import Version
from crane_core.pipeline.editions import without_edition
from crane_core.pipeline.origins import ORIGIN_ORDER, best_origin
from crane_core.pipeline.pairs import voted
from crane_core.pipeline.rows import as_rows
from crane_core.storage import cases as stored
from crane_core.storage.store import Store
from crane_core.ui import keys
from crane_core.ui.navigation import link
from crane_core.ui.pair_code import code_and_state_html
from crane_core.ui.run_strip import Answers, Strip, strips_html
from crane_core.ui.words import edition_words, experiment_words, is_imported, literal, setting_words

Verdicts = dict[tuple[str, ...], dict[str, Any]]
VERDICT_KEY = ("version", "detector", "setting", "experiment")
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
    st.html(_facts(case))
    cells = stored.cells(store.cursor(), benchmark, case_id)
    _crash(case, stored.remarks(store.cursor(), benchmark, case_id))
    _answers(stored.runs(store.cursor(), benchmark, case_id), verdicts)
    _code_and_state(case["traceback"], cells, stored.kernel_states(store.cursor(), benchmark, case_id))
    _inputs(store, stored.prompt_list(store.cursor(), benchmark, case_id))


def _facts(case: dict[str, Any]) -> str:
    shown = {
        "library": case["library"],
        "root cause": case["root_cause"],
        "exception": case["exception"],
        "crash type": case["crash_type"],
        "pipeline stage": case["stage"],
        "benchmark": case["benchmark_title"],
    }
    pairs = "".join(f"<div><dt>{k}</dt><dd>{escape(str(v))}</dd></div>" for k, v in shown.items() if v)
    return f'<dl class="cw-facts">{pairs}</dl>'


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
    known = {tuple(row[name] for name in VERDICT_KEY): row for row in as_rows(voted(verdicts))}
    own: list[Strip] = []
    for experiment, rows in sorted(_by("experiment", as_rows(runs)).items()):
        if not is_imported(experiment):
            own += (strip._replace(experiment=experiment) for strip in _strips(rows, known))
            continue
        st.html(f'<div class="cw-dim">{escape(experiment_words(experiment))}</div>')
        st.html(strips_html(_strips(rows, known)))
    if own:
        with st.expander(f"Own runs: {len(own)}", expanded=len(own) <= FEW_RUNS):
            st.html(strips_html(own))


def _by(name: str, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The rows by what they hold under `name`, each group in their order."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups


def _strips(runs: list[dict[str, Any]], known: Verdicts) -> list[Strip]:
    strips = []
    of_detector = _by("detector_title", runs)
    for title in in_order(list(of_detector)):
        for setting, rows in sorted(_by("setting", of_detector[title]).items()):
            sides = {Version(version): _side(answers, known) for version, answers in _by("version", rows).items()}
            strips.append(Strip(title, setting, sides))
    return strips


def _side(runs: list[dict[str, Any]], known: Verdicts) -> Answers:
    verdict = known[tuple(runs[0][name] for name in VERDICT_KEY)]
    return Answers(runs, verdict["said"], verdict["human"])


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
