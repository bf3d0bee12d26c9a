"""The form in which a judge is asked to answer, and what its reply says: an explanation, then a label.

Knows JSON objects alone, in a code fence or amid prose. Refuses to guess: what holds no label, or two, is None with the
reason in words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.domain import Label

SCHEMA_FILE = Path(__file__).with_name("judge_reply_schema.json")
SCHEMA_NAME = "diagnosis_judgement"
LABELS = (Label.CORRECT, Label.PARTIAL, Label.WRONG, Label.UNVERIFIABLE)
"""What a judge may say: detection is computed, so a crash that was not detected is never put to it."""

MAX_EXPLANATION = 20_000
MAX_LOOKED_AT = 20_000
"""Characters at the end of a reply that are looked at; a label with a paragraph of reasons has under 2,000 of them."""


class ReadJudgeReply(NamedTuple):
    """`label` is None where none can be read; `trouble` then says why."""

    label: Label | None
    explanation: str | None
    trouble: str | None


def judge_reply_schema() -> dict[str, Any]:
    """JSON Schema of one reply, for models that can be held to one."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return schema


def read_judge_reply(text: str) -> ReadJudgeReply:
    """What a reply says: the last complete object with a `label`; two objects whose labels differ say nothing.

    Pure, never raises, looks at no more than the last MAX_LOOKED_AT characters.
    """
    said = [_reading(body) for body in _objects(text[-MAX_LOOKED_AT:]) if "label" in body]
    if not said:
        return ReadJudgeReply(None, None, "the reply holds no object with a label")
    if len({read.label for read in said}) > 1:
        return ReadJudgeReply(None, None, f"the reply holds {len(said)} labels that differ")
    return said[-1]


def _objects(text: str) -> list[dict[str, Any]]:
    """The outermost JSON objects in a text, in order."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    start = text.find("{")
    while start >= 0:
        try:
            body, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # half an object, braces in prose, brackets within brackets
            end = start + 1
        else:
            found.append(body)
        start = text.find("{", end)
    return found


def _reading(body: dict[str, Any]) -> ReadJudgeReply:
    label, explanation = body["label"], body.get("explanation")
    known = {str(each): each for each in LABELS}
    word = label.strip().lower() if isinstance(label, str) else None
    if word not in known:
        return ReadJudgeReply(None, None, f"the label is none of {', '.join(known)}")
    told = explanation[:MAX_EXPLANATION] if isinstance(explanation, str) else None
    return ReadJudgeReply(known[word], told.encode("utf-8", "backslashreplace").decode() if told else None, None)
