"""One detector's answers to one version: a square per answer, the majority against the truth, the human label."""

import json
from html import escape
from typing import Any, NamedTuple

from crane_core.domain import Label, Version
from crane_core.ui.words import LABEL_CSS, LABEL_WORDS, shortened

MAX_REASON = 900
UNCLEAR = frozenset({"tie", "no answer"})
"""Votes that are neither right nor wrong."""


class Answers(NamedTuple):
    """One detector's answers to one version, in the order of asking."""

    runs: list[dict[str, Any]]
    vote: str
    label: str | None


class Strip(NamedTuple):
    """One detector in one setting of an experiment: its answers to both versions."""

    detector: str
    setting: str
    sides: dict[Version, Answers]
    experiment: str = ""


def is_right(answers: Answers | None, version: Version) -> bool | None:
    """Whether the majority is right about this version; None if there is no majority."""
    if answers is None or answers.vote in UNCLEAR:
        return None
    return (answers.vote == "crash") == (version is Version.REPRODUCED)


def strip_html(answers: Answers | None, version: Version) -> str:
    """The squares with the majority and its sign; of a crash that was predicted the human label too."""
    if answers is None:
        return '<span class="cw-dim">not asked</span>'
    strip = "".join(square_html(run) for run in answers.runs)
    # Of the fixed version there is nothing to diagnose.
    label = _label_html(answers.label) if version is Version.REPRODUCED else ""
    return f'<span class="cw-strip"><span class="cw-runs">{strip}</span> {sign_html(answers, version)}</span>{label}'


def sign_html(answers: Answers, version: Version) -> str:
    """✓ or ✗ for a majority that is right or wrong; what it is called where it is neither."""
    right = is_right(answers, version)
    css = {None: "cw-dim", True: "cw-right", False: "cw-wrong"}[right]
    sign = {None: answers.vote, True: "✓", False: "✗"}[right]
    return f'<span class="{css}" title="majority: {escape(_vote_words(answers))}">{escape(sign)}</span>'


def vote_html(answers: Answers, version: Version) -> str:
    """The majority in words and its sign."""
    clear = (
        "" if answers.vote in UNCLEAR else f"{escape(_vote_words(answers))} "
    )
    return f'<span class="cw-vote">{clear}{sign_html(answers, version)}</span>'


def _vote_words(answers: Answers) -> str:
    return {"crash": "crash", "safe": "no crash"}.get(
        answers.vote, answers.vote
    )


def square_html(run: dict[str, Any]) -> str:
    """One answer as a square: full for a crash that it predicts, empty for none, a question mark for no answer."""
    index = f"answer {run['run_index']}"
    if run["unanswered"]:
        why = escape(shortened(str(run["unanswered"]), MAX_REASON))
        return f'<span class="cw-run-none" title="{index}: {why}">?</span>'
    if run["crashes"]:
        return f'<span class="cw-run-crash" title="{index}: crash"></span>'
    return f'<span class="cw-run-safe" title="{index}: no crash"></span>'


def _label_html(label: str | None) -> str:
    # That a crash was missed is said by the sign already.
    if label is None or Label(label) is Label.MISDETECTED:
        return ""
    known = Label(label)
    # Without the label's own sign: beside that of the vote, one tick would mean two things.
    words = LABEL_WORDS[known].partition(" ")[2]
    return f' <span class="cw-verdict-label {LABEL_CSS[known]}">{escape(words)}</span>'


def has_texts(answers: Answers | None) -> bool:
    """Whether any answer says why."""
    return answers is not None and any(reason(run) for run in answers.runs)


def reason(run: dict[str, Any]) -> str:
    """What an answer says of why: its text, else its diagnostics; empty where there are none."""
    if run["reasoning"]:
        return str(run["reasoning"])
    if run["diagnostics"]:
        return _diagnostics(str(run["diagnostics"]))
    return ""


def _diagnostics(text: str) -> str:
    """An analyzer's list, one diagnostic a line; any other text as it is."""
    try:
        entries = json.loads(text)
    except ValueError:
        return text
    return (
        "\n".join(map(_diagnostic, entries))
        if isinstance(entries, list)
        else text
    )


def _diagnostic(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    rule = entry.get("symbol") or entry.get("rule") or ""
    return (
        f"{entry.get('message', '')} [{rule}] at {entry.get('code_line', '')}"
    )
