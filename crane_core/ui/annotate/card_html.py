"""An item's first screen as HTML: target cell with the crashing line, ground truth, diagnoses. All of it escaped."""

from __future__ import annotations

from crane_core.pipeline.cards import Card, Text
from crane_core.ui.code_html import code_html, prose_html

MAX_LINES = 400
"""Lines of a target cell that are shown; the rest is counted."""
MAX_TEXT = 6_000
"""Characters of a text that are shown; the rest is counted."""


def card_html(card: Card) -> str:
    """The card; the code scrolls inside its own box, so that the texts stay in sight."""
    texts = f"<div>{_truth(card)}{_texts(card)}</div>"
    return f'<div class="cw-card"><div class="cw-card-code">{_code(card)}</div>{texts}</div>'


def _code(card: Card) -> str:
    n_before = f"after {card.n_executed} executed cell{'s' if card.n_executed != 1 else ''}"
    head = f'<h4>Target cell <span class="cw-dim">{n_before}</span></h4>'
    if card.code is None:
        return head + '<p class="cw-dim">The code of this notebook is not loaded.</p>'
    lines = card.code.splitlines() or [""]
    first = max(0, min((card.crash_line or 1) - MAX_LINES // 2, len(lines) - MAX_LINES))
    shown = enumerate(lines[first : first + MAX_LINES], start=first + 1)
    body = "".join(_line(number, text, crashes=number == card.crash_line) for number, text in shown)
    cut = len(lines) - MAX_LINES
    more = f'<div class="cw-dim cw-more">{cut:,} more lines are not shown</div>' if cut > 0 else ""
    return f'{head}<div class="cw-code" tabindex="0" aria-label="Target cell">{body}</div>{more}'


def _line(number: int, text: str, *, crashes: bool) -> str:
    mark = '<b title="the crash is raised here">▶</b>' if crashes else "<b></b>"
    css = "cw-side cw-crash" if crashes else "cw-side"
    return f'<div class="{css}"><i>{number}</i>{mark}{code_html(text)}</div>'


def _truth(card: Card) -> str:
    error = f'<p class="cw-error"><code>{_bounded(_error(card))}</code></p>' if _error(card) else ""
    truth = card.truth or "The benchmark gives no diagnosis of this crash; use the error and the code."
    return f'<section class="cw-truth"><h4>Ground truth</h4>{error}<p>{_bounded(truth)}</p></section>'


def _error(card: Card) -> str:
    return ": ".join(part for part in (card.exception, card.message) if part)


def _texts(card: Card) -> str:
    same = len(card.texts) == 1
    head = f'<h4>Diagnosis to judge <span class="cw-dim">{_counts(card.texts)}</span></h4>'
    return f'<section class="cw-diagnoses">{head}{"".join(_text(text, alone=same) for text in card.texts)}</section>'


def _counts(texts: tuple[Text, ...]) -> str:
    """Of how many runs and texts; nothing where that is hidden."""
    if any(text.n_runs is None for text in texts):
        return ""
    n_runs = sum(text.n_runs or 0 for text in texts)
    return f"{n_runs} run{'s' if n_runs != 1 else ''}, {'one text' if len(texts) == 1 else f'{len(texts)} texts'}"


def _text(text: Text, *, alone: bool) -> str:
    count = "" if alone else f'<span class="cw-times">{text.n_runs}×</span>'
    return f'<div class="cw-diagnosis">{count}<p>{_bounded(text.text)}</p></div>'


def _bounded(text: str) -> str:
    cut = len(text) - MAX_TEXT
    more = f' <span class="cw-dim">… {cut:,} more characters</span>' if cut > 0 else ""
    return prose_html(text[:MAX_TEXT]) + more
