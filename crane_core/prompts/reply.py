"""The form in which a model is asked to answer, and what a reply says: reasoning, then detection (paper, section 3.2).

Knows JSON objects alone, in a code fence or amid prose. Refuses to guess: what holds no answer, or two, is None with
the reason in words.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA_FILE = Path(__file__).with_name("reply_schema.json")
SCHEMA_NAME = "crash_prediction"

MAX_REASONING = 20_000
"""Characters of a reasoning that are kept; the reply itself stands whole in the ledger."""

DETECTION = "detection"
REASONING = "reasoning"
_THOUGHT_ENDS = "</think>"
_WORDS = {"true": True, "false": False}
_OPENING = re.compile(r'\{\s{0,200}"(?:[^"\\]|\\.){0,200}"\s{0,200}:')
_WINDOWS = (2_000, 60_000, 2_000_000)
_LONGEST_WORD = 16
"""Where a window ends within a word or an escape, reading stops so many characters before its end."""

_MAX_STEPS = 200_000_000
"""Characters that may be looked at for one reply, each as often as an object might begin before it."""


class ReadReply(NamedTuple):
    """`crashes` is None where no answer can be read; `trouble` then says why."""

    crashes: bool | None
    reasoning: str | None
    trouble: str | None


class _Doubled:
    """Stands for a member that an object gives twice."""


class _Found(NamedTuple):
    answers: list[dict[str, Any]]
    n_objects: int
    is_given_up: bool


def reply_schema() -> dict[str, Any]:
    """JSON Schema of one reply, for models that can be held to one."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return schema


def read_reply(text: str) -> ReadReply:
    """What a reply says: the last complete object that has a `detection`, wherever it stands.

    The last, because a model that answers again means what it says at the end; but where two of them differ it has
    not decided, and none is taken. Thoughts that some models print before `</think>` are no answer. Published models
    write a boolean; the words "true" and "false", which the study's own reader takes too, are read as one. Never
    raises, and looks at no more than _MAX_STEPS characters.
    """
    said = text.rpartition(_THOUGHT_ENDS)[2]
    found = _answers(said)
    if not found.answers and len(said) < len(text):
        found = _answers(text)
    if not found.answers:
        return _unread(_why_nothing(text, found))
    readings = [_reading(answer) for answer in found.answers]
    last = readings[-1]
    if last.crashes is None:
        return last
    if any(reading.crashes is not last.crashes for reading in readings):
        return _unread(f"the reply holds {len(readings)} answers that differ")
    return last


def _reading(answer: dict[str, Any]) -> ReadReply:
    detection, reasoning = answer[DETECTION], answer.get(REASONING)
    if isinstance(detection, _Doubled) or isinstance(reasoning, _Doubled):
        return _unread("the object gives a member twice")
    crashes = _WORDS.get(detection.strip().lower()) if isinstance(detection, str) else detection
    if not isinstance(crashes, bool):
        return _unread("the member detection is neither true nor false")
    return ReadReply(crashes, _kept(reasoning) if isinstance(reasoning, str) else None, None)


def _unread(why: str) -> ReadReply:
    return ReadReply(None, None, why)


def _kept(reasoning: str) -> str:
    """Within MAX_REASONING, and sayable in UTF-8."""
    head = reasoning[:MAX_REASONING].encode("utf-8", "backslashreplace").decode("utf-8")
    rest = len(reasoning) - MAX_REASONING
    return f"{head} ... {rest:,} more characters" if rest > 0 else head


def _why_nothing(text: str, found: _Found) -> str:
    if not text.strip():
        return "the reply is empty"
    if found.is_given_up:
        return "the reply is too tangled to be read"
    if found.n_objects:
        return "no object in the reply has the member detection"
    if re.search(r"\{\s*\"", text):
        return "the JSON of the reply is cut off or malformed"
    return "the reply holds no JSON object"


def _answers(text: str) -> _Found:
    """Every complete object with a `detection`, at any depth, in the order in which they end."""
    answers: list[dict[str, Any]] = []
    pending: list[dict[str, Any]] = []

    def gather(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if DETECTION in members:
            names = [name for name, _ in pairs]
            doubled = {name: _Doubled() for name in (DETECTION, REASONING) if names.count(name) > 1}
            pending.append(members | doubled)
        return members

    decoder = json.JSONDecoder(object_pairs_hook=gather)
    n_objects, steps = 0, 0
    opening = _OPENING.search(text)
    while opening:
        pending.clear()
        start = opening.start()
        n_read, n_seen = _object_at(decoder, text, start)
        if n_read:
            answers += pending
            n_objects += 1
        steps += n_seen
        if steps > _MAX_STEPS:
            return _Found([], n_objects, is_given_up=True)
        opening = _OPENING.search(text, start + max(n_read, 1))
    return _Found(answers, n_objects, is_given_up=False)


def _object_at(decoder: json.JSONDecoder, text: str, start: int) -> tuple[int, int]:
    """Characters of the object that begins at `start`, 0 where it is none; and how many were looked at for it.

    It is read in windows that grow, because an error costs as much as the text that the decoder was given is long.
    """
    n_seen = 0
    for size in (*_WINDOWS, len(text)):
        window = text[start : start + size]
        try:
            n_read = decoder.raw_decode(window)[1]
            return n_read, n_seen + n_read
        except json.JSONDecodeError as error:
            may_go_on = error.msg.startswith("Unterminated") or error.pos > len(window) - _LONGEST_WORD
        except (ValueError, RecursionError):  # a number of thousands of digits, or brackets within brackets
            may_go_on = False
        n_seen += len(window)
        if not may_go_on or len(window) < size:
            break
    return 0, n_seen
