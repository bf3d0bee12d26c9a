"""An item's first screen and the thread about it as HTML. All of it escaped."""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from keyword import iskeyword
from pathlib import Path
from typing import Any

from crane_core.annotation.order import Showing
from crane_core.annotation.thread import Thread, ThreadState
from crane_core.domain import CampaignMessage, MessageAction
from crane_core.pipeline.campaigns.cards import NO_CRASH, Card, Evidence, Text
from crane_core.pipeline.campaigns.desk_names import DeskNames
from crane_core.ui import words
from crane_core.ui.code_html import code_html, differing_prose_html, prose_html
from crane_core.ui.pair_code import code_and_state_html

MAX_LINES = 400
"""Lines of a target cell that are shown; the rest is counted."""
MAX_TEXT = 6_000
"""Characters of a text that are shown; the rest is counted."""
LONG = 25
"""Lines from which a target cell is searched, not read: names that the error and a diagnosis share are marked there."""
_WORD = re.compile(r"[^\W\d]\w+")


def card_style() -> str:
    """The style of cards, for a page that shows one without the desk."""
    return f"<style>{Path(__file__).with_name('desk.css').read_text('utf-8')}</style>"


def card_html(card: Card) -> str:
    """The card; the code scrolls inside its own box, so that the texts stay in sight."""
    texts = f"<div>{_truth(card)}{_texts(card)}</div>"
    return f'<div class="cw-card"><div class="cw-card-code">{_code(card)}</div>{texts}</div>'


def _code(card: Card) -> str:
    n_before = f"after {words.quantity(card.n_executed, 'executed cell')}"
    head = f'<h2>Target cell <span class="cw-dim">{n_before}</span></h2>'
    if card.code is None:
        return (
            head
            + '<p class="cw-dim">The code of this notebook is not loaded.</p>'
        )
    lines = card.code.splitlines() or [""]
    # The crashing line stays in sight, with about as many lines before it as behind it.
    first = max(
        0, min((card.crash_line or 1) - MAX_LINES // 2, len(lines) - MAX_LINES)
    )
    shown = enumerate(lines[first : first + MAX_LINES], start=first + 1)
    names = _shared_names(card, lines) if len(lines) >= LONG else frozenset()
    body = "".join(
        _line(number, text, names, crashes=number == card.crash_line)
        for number, text in shown
    )
    if names:
        head += '<p class="cw-dim">Marked: names of the error that a diagnosis uses.</p>'
    cut = len(lines) - MAX_LINES
    more = (
        f'<div class="cw-dim cw-more">{cut:,} more lines are not shown</div>'
        if cut > 0
        else ""
    )
    return f'{head}<div class="cw-code" tabindex="0" aria-label="Target cell">{body}</div>{more}'


def _shared_names(card: Card, lines: Sequence[str]) -> frozenset[str]:
    """Names in the code that the crash line or the error message has, and a diagnosis too."""
    at = card.crash_line
    crashing = lines[at - 1] if at is not None and at <= len(lines) else ""
    raised = _words(f"{crashing} {(card.message or '')[:MAX_TEXT]}")
    said = _words(" ".join(text.text[:MAX_TEXT] for text in card.texts))
    return frozenset(raised & said & _words("\n".join(lines)))


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if not iskeyword(word)}


def _line(
    number: int, text: str, names: frozenset[str], *, crashes: bool
) -> str:
    mark = (
        '<b title="the crash is raised here">▶<span class="cw-unseen"> raised here </span></b>'
        if crashes
        else "<b></b>"
    )
    css = "cw-side cw-crash" if crashes else "cw-side"
    marked = tuple(
        word.span() for word in _WORD.finditer(text) if word[0] in names
    )
    return f'<div class="{css}"><i>{number}</i>{mark}{code_html(text, marked)}</div>'


def _truth(card: Card) -> str:
    error = (
        f'<p class="cw-error"><code>{_bounded(_error(card))}</code></p>'
        if _error(card)
        else ""
    )
    truth = (
        card.truth
        or "The benchmark gives no diagnosis of this crash; use the error and the code."
    )
    return f'<section class="cw-truth"><h2>Ground truth</h2>{error}<p>{_bounded(truth)}</p></section>'


def _error(card: Card) -> str:
    return ": ".join(
        part
        for part in (words.exception_name(card.exception), card.message)
        if part
    )


def _texts(card: Card) -> str:
    head = f'<h2>Diagnosis to judge <span class="cw-dim">{_counts(card.texts)}</span></h2>'
    texts = "".join(_text(card, place) for place in range(len(card.texts)))
    return f'<section class="cw-diagnoses">{head}{texts}</section>'


def _counts(texts: tuple[Text, ...]) -> str:
    """Of how many answers and texts; nothing if that is hidden."""
    # How many texts there are is typical of a model, so a blind desk does not say it.
    if any(text.n_runs is None for text in texts):
        return ""
    n_runs = sum(text.n_runs or 0 for text in texts)
    return f"{words.quantity(n_runs, 'answer')}, {'one text' if len(texts) == 1 else f'{len(texts)} texts'}"


def _text(card: Card, place: int) -> str:
    """One text; one that is nearly the first is shown as its differences to it."""
    text, first = card.texts[place], card.texts[0]
    count = (
        ""
        if len(card.texts) == 1
        else f'<span class="cw-times">{text.n_runs}×</span>'
    )
    differing = (
        differing_prose_html(first.text[:MAX_TEXT], text.text[:MAX_TEXT])
        if place
        else None
    )
    told = (
        '<span class="cw-dim cw-versus">as the first, but for what is marked</span>'
        if differing
        else ""
    )
    body = (
        f"<p>{differing}{_more(text.text)}</p>"
        if differing
        else f"<p>{_bounded(text.text)}</p>"
    )
    css = "cw-diagnosis cw-differing" if differing else "cw-diagnosis"
    return f'<div class="{css}">{count}<div>{told}{body}{_claim(card, text)}</div></div>'


def _claim(card: Card, text: Text) -> str:
    """The exceptions that the text names beside the true one; nothing if it names none or the true one is unknown."""
    claimed = words.named_exceptions(text.text[:MAX_TEXT])
    true = words.exception_name(card.exception)
    if not claimed or not (true or card.truth == NO_CRASH):
        return ""
    names = ", ".join(f"<code>{escape(name)}</code>" for name in claimed)
    if claimed == (true,):
        return f'<p class="cw-claim">Names {names}, the exception that is raised.</p>'
    raised = (
        f"<code>{escape(true[:MAX_TEXT])}</code> is raised"
        if true
        else "nothing is raised"
    )
    return f'<p class="cw-claim">Names {names}; {raised}.</p>'


def _bounded(text: str) -> str:
    return prose_html(text[:MAX_TEXT]) + _more(text)


def _more(text: str) -> str:
    cut = len(text) - MAX_TEXT
    return (
        f' <span class="cw-dim">… {cut:,} more characters</span>'
        if cut > 0
        else ""
    )


STATE_WORDS = {
    ThreadState.OPEN: "waits for the lead",
    ThreadState.ANSWERED: "answered by the lead",
    ThreadState.RESOLVED: "resolved",
}


def threads_shown(
    threads: Mapping[Showing, Thread], near: Collection[str], names: DeskNames
) -> dict[str, Any]:
    """For the desk: the threads of items that are near, by token, and a line where the lead's answers wait."""
    named = {names.of(showing): one for showing, one in threads.items()}
    written = {
        name: thread_html(one)
        for name, one in named.items()
        if one.messages and name in near
    }
    n = sum(one.state is ThreadState.ANSWERED for one in threads.values())
    items = "one of your items" if n == 1 else f"{n} of your items"
    return {
        "threads": written,
        "answers": f"The lead answered {items}: see My items." if n else "",
    }


def evidence_html(found: Evidence) -> str:
    """The code of both versions with the state beside it, or that it is not loaded."""
    if found.cells.empty:
        return '<p class="cw-dim">The code of this case is not loaded; load it on the Data page.</p>'
    return code_and_state_html(
        found.cells, found.states, found.traceback, found.diagnosis
    )


def thread_html(thread: Thread) -> str:
    """The messages, oldest first, and the state."""
    head = f'<h2>Messages <span class="cw-dim">{STATE_WORDS[thread.state]}</span></h2>'
    return f'<section class="cw-thread">{head}{"".join(map(_message, thread.messages))}</section>'


def _message(message: CampaignMessage) -> str:
    when = escape(words.moment(message.written_at))
    head = f'<b>{escape(message.written_by)}</b> <span class="cw-dim">{message.side}, {when}</span>'
    if message.action is MessageAction.RESOLVE:
        return f'<div class="cw-message">{head} <span class="cw-dim">resolved it</span></div>'
    return f'<div class="cw-message">{head}<p>{escape(message.text or "")}</p></div>'
