"""What every detector said of both versions: one square per run, the vote, what people said of it, the reasons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

from crane_core.domain import Label, Version
from crane_core.ui.words import LABEL_CSS, LABEL_WORDS, setting_words

COLUMNS = (
    "Detector",
    "Input",
    "Crashing: runs, vote",
    "Diagnosis, as people judged it",
    "Fixed: runs, vote",
    "What was said of it",
)
MAX_REASON = 900


class Answers(NamedTuple):
    """One detector's answers to one version, in the order of asking."""

    runs: list[dict[str, Any]]
    vote: str
    label: str | None


class Strip(NamedTuple):
    """One detector in one setting: its answers to both versions. `experiment` is named where no heading names it."""

    detector: str
    setting: str
    sides: dict[Version, Answers]
    experiment: str = ""


def strips_html(rows: Iterable[Strip]) -> str:
    """A table: detector and setting, then crashing and fixed."""
    body = "".join(
        f"<tr><td>{escape(row.detector)}{_experiment(row.experiment)}</td><td>{escape(setting_words(row.setting))}</td>"
        f"{_version(row.sides.get(Version.REPRODUCED), crashes=True)}"
        f"{_version(row.sides.get(Version.FIXED), crashes=False)}</tr>"
        for row in rows
    )
    head = "".join(f"<th>{title}</th>" for title in COLUMNS)
    return f'<table class="cw-strip"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _experiment(name: str) -> str:
    return f'<div class="cw-dim">{escape(name)}</div>' if name else ""


def _version(answers: Answers | None, *, crashes: bool) -> str:
    if answers is None:
        return '<td class="cw-dim">not asked</td><td></td>'
    right = (answers.vote == "crash") == crashes
    css = "cw-dim" if answers.vote in {"tie", "no answer"} else "cw-right" if right else "cw-wrong"
    word = {"crash": "crash", "safe": "no crash"}.get(answers.vote, answers.vote)
    sign = "" if answers.vote in {"tie", "no answer"} else " ✓" if right else " ✗"
    strip = "".join(square_html(run) for run in answers.runs)
    left = f'<td><span class="cw-runs">{strip}</span> <span class="{css}">{word}{sign}</span></td>'
    return left + f"<td>{_label(answers.label, shown=crashes)}{_reasons(answers.runs)}</td>"


def square_html(run: dict[str, Any]) -> str:
    """One run as a square: C for a crash that it predicts, a dot for none, a question mark for no answer."""
    index = f"run {run['run_index']}"
    if run["unanswered"]:
        return f'<span class="cw-run-none" title="{index}: {escape(_cut(str(run["unanswered"])))}">?</span>'
    if run["crashes"]:
        return f'<span class="cw-run-crash" title="{index}: crash">C</span>'
    return f'<span class="cw-run-safe" title="{index}: no crash">·</span>'


def _label(label: str | None, *, shown: bool) -> str:
    if label is None or not shown:
        return ""
    known = Label(label)
    return f'<span class="{LABEL_CSS[known]}">{escape(LABEL_WORDS[known])}</span> '


def _reasons(runs: list[dict[str, Any]]) -> str:
    """The distinct texts with their counts, folded; nothing when no text is at hand."""
    texts = Counter(text for run in runs if (text := _reason(run)))
    if not texts:
        return ""
    items = "".join(
        f"<li>{escape(_cut(text))}{f' <span class=cw-dim>({n} runs)</span>' if n > 1 else ''}</li>"
        for text, n in texts.most_common()
    )
    many = f"{len(texts)} texts" if len(texts) > 1 else "text"
    return f"<details><summary>{many}</summary><ol>{items}</ol></details>"


def _reason(run: dict[str, Any]) -> str:
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
    return "\n".join(map(_diagnostic, entries)) if isinstance(entries, list) else text


def _diagnostic(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    rule = entry.get("symbol") or entry.get("rule") or ""
    return f"{entry.get('message', '')} [{rule}] at {entry.get('code_line', '')}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]}… ({len(text):,} characters)"
