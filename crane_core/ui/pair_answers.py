"""What the detectors wrote about a pair: per version and input, folded by agreement. Finished HTML, escaped."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

from crane_core.domain import Version
from crane_core.ui import run_strip, verdict_matrix, words
from crane_core.ui.code_html import prose_html

_SAID = {
    True: ("says", "say", "crash"),
    False: ("says", "say", "no crash"),
    None: ("gives", "give", "no prediction"),
}
"""Whether an answer predicts a crash: the verb for one and for several, and what is said."""


def answers_html(rows: Sequence[verdict_matrix.MatrixRow]) -> str:
    """A line per detector that opens to its texts; open is the first that runtime state changed.

    A line below names those without texts; where none has any, there is nothing to read.
    """
    told = [
        row
        for row in rows
        if any(map(run_strip.has_texts, verdict_matrix.all_answers(row)))
    ]
    changed = [
        row
        for row in told
        if any(
            verdict_matrix.change_by_state(row, version) is not None
            for version in Version
        )
    ]
    # One is open, so that a reader sees what opens; the one that changed is the most telling.
    opened = (changed or told)[:1]
    lines = "".join(
        _detector(row, number, is_open=row in opened)
        for number, row in enumerate(rows)
        if row in told
    )
    silent = [
        f"{row.detector} ({row.note})" if row.note else row.detector
        for row in rows
        if row not in told
    ]
    if not told or not silent:
        return lines
    names = escape(words.listed(silent))
    return f'{lines}<p class="cw-dim cw-small">Verdicts only, without texts: {names}.</p>'


def _detector(
    row: verdict_matrix.MatrixRow, number: int, *, is_open: bool
) -> str:
    settings = verdict_matrix.settings_of([row])
    votes = " ".join(
        f'<span><span class="cw-dim">{words.VERSION_WORDS[version]}:</span> {_votes(row, version, settings)}</span>'
        for version in Version
    )
    note = (
        f' <span class="cw-dim">{escape(row.note)}</span>' if row.note else ""
    )
    summary = f"<summary><b>{escape(row.detector)}</b>{note} {votes}</summary>"
    body = "".join(
        _texts(row, number, version, setting)
        for version in Version
        for setting in settings
    )
    return f'<details class="cw-reasons"{" open" if is_open else ""}>{summary}{body}</details>'


def _votes(
    row: verdict_matrix.MatrixRow, version: Version, settings: list[str]
) -> str:
    pairs = ((setting, row.answers(setting, version)) for setting in settings)
    return " ".join(
        f"{escape(words.setting_short(s))} {run_strip.vote_html(found, version)}"
        for s, found in pairs
        if found
    )


def _texts(
    row: verdict_matrix.MatrixRow, number: int, version: Version, setting: str
) -> str:
    """One input's answers about one version; nothing where none says why."""
    answers = row.answers(setting, version)
    if answers is None or not run_strip.has_texts(answers):
        return ""
    place = escape(verdict_matrix.place_of(number, version, setting))
    strip = run_strip.strip_html(answers, version)
    head = f"<h3>{words.notebook_words(version)}, {escape(words.setting_words(setting))} {strip}</h3>"
    groups = [
        (said, [run for run in answers.runs if _predicts(run) is said])
        for said in (True, False, None)
    ]
    # The majority's words come first.
    groups.sort(key=lambda group: -len(group[1]))
    told = "".join(
        _group(runs, answers, said=said) for said, runs in groups if runs
    )
    return f'<section id="{place}" class="cw-texts">{head}{told}</section>'


def _predicts(run: dict[str, Any]) -> bool | None:
    """Whether the answer predicts a crash; None of one that could not be read."""
    return None if run["unanswered"] else bool(run["crashes"])


def _group(
    runs: list[dict[str, Any]], answers: run_strip.Answers, *, said: bool | None
) -> str:
    """Answers of one prediction: the most frequent text, other wordings folded."""
    one, several, what = _SAID[said]
    n, n_all = len(runs), len(answers.runs)
    verb = one if n == 1 else several
    head = f"{n} of {n_all} {verb} {what}" if n_all > 1 else ""
    told = f'<span class="cw-agreed">{head}</span> ' if head else ""
    texts = Counter(text for run in runs if (text := run_strip.reason(run)))
    if not texts:
        return f'<p class="cw-answer">{told}<span class="cw-dim">without a reason</span></p>'
    # One wording needs no count: the head has it.
    is_counted = len(texts) > 1
    items = [
        f"<p class='cw-answer'>{told if place == 0 else ''}{_times(times) if is_counted else ''}"
        f"{prose_html(words.shortened(text, run_strip.MAX_REASON))}</p>"
        for place, (text, times) in enumerate(texts.most_common())
    ]
    if len(items) == 1:
        return items[0]
    others = words.quantity(len(items) - 1, "other wording")
    return f"{items[0]}<details class='cw-wordings'><summary>{others}</summary>{''.join(items[1:])}</details>"


def _times(n: int) -> str:
    return f'<span class="cw-dim">{n}×</span> '
