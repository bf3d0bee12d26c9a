"""The first screen of a pair: verdicts, code and runtime state side by side. Finished HTML from stored rows."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from crane_core.crash_place import traceback_text
from crane_core.ui.exception_names import exception_name
from crane_core.ui.glossary import with_terms
from crane_core.ui.pair_code import code_column_html, state_column_html
from crane_core.ui.pair_facts import MatrixRows
from crane_core.ui.verdict_matrix import LEGEND, finding, matrix_html

FEW_RUNS = 4
"""Up to this number, local runs are expanded."""
MAX_TRACEBACK = 20_000
"""Characters of a traceback that are shown."""
GUTTER = "A dotted line between line numbers: empty lines there are not shown."


def cockpit_html(
    case: dict[str, Any],
    asked: MatrixRows,
    cells: pd.DataFrame,
    states: pd.DataFrame,
    origin_words: str,
) -> str:
    """The columns; without cells the verdicts stand alone. cells and states: those of the case, as storage has them."""
    verdicts = f'<section class="cw-cockpit-verdicts">{verdicts_html(asked)}{traceback_html(case)}</section>'
    if cells.empty:
        return f'<div class="cw-cockpit">{verdicts}</div>'
    note = f'<p class="cw-dim cw-small">Code {escape(origin_words)}. {GUTTER}</p>'
    head = '<h4>Crashing → fixed <span class="cw-dim">Unchanged cells are collapsed.</span></h4>'
    code = f"<section>{head}{code_column_html(cells, case['traceback'], case['diagnosis'])}{note}</section>"
    state = state_column_html(cells, states)
    css = "cw-cockpit cw-cockpit-3" if state else "cw-cockpit cw-cockpit-2"
    return f'<div class="{css}">{verdicts}{code}{state}</div>'


def verdicts_html(asked: MatrixRows) -> str:
    """What runtime state changed, as the heading of the matrix; local runs below it."""
    if not asked.imported and not asked.local:
        return '<p class="cw-dim">No detector has been asked about this case yet.</p>'
    heading = f"<h4>{with_terms(finding([*asked.imported, *asked.local]))}</h4>"
    imported = matrix_html(asked.imported) if asked.imported else ""
    return f"{heading}{imported}{_local_html(asked)}{LEGEND}"


def _local_html(asked: MatrixRows) -> str:
    if not asked.local:
        return ""
    is_open = " open" if len(asked.local) <= FEW_RUNS else ""
    summary = f"<summary>Local runs: {len(asked.local)}</summary>"
    return f'<details class="cw-options"{is_open}>{summary}{matrix_html(asked.local)}</details>'


def traceback_html(case: dict[str, Any]) -> str:
    """The traceback, collapsed; nothing if neither it nor a message is known."""
    text = case["traceback"] or case["message"]
    if not text:
        return ""
    summary = f"<summary>Traceback: {escape(exception_name(case['exception']) or 'crash')}</summary>"
    shown = escape(traceback_text(str(text))[:MAX_TRACEBACK])
    return f'<details class="cw-options">{summary}<pre class="cw-trace">{shown}</pre></details>'
