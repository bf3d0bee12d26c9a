"""The form in which a model has to answer, and what a reply says: reasoning, then detection (paper, section 3.2).

Knows the members of an answer; which objects of a reply may be one is known to `reply_objects`. Refuses to guess: what
holds no answer, or two, is None with the reason in words.
"""

import json
from pathlib import Path
from typing import NamedTuple

from crane_core.domain import JsonObject
from crane_core.prompts.reply_objects import Doubled, objects_with
from crane_core.prompts.template import Template

SCHEMA_FILE = Path(__file__).with_name("reply_schema.json")
SCHEMA_NAME = "crash_prediction"

MAX_REASONING = 20_000
"""Characters of a reasoning that are kept; the reply itself is whole in the ledger."""

DETECTION = "detection"
REASONING = "reasoning"
CONFIDENCE = "confidence"
_WORDS = {"true": True, "false": False}


class ReadReply(NamedTuple):
    """`crashes` is None if no answer can be read; `trouble` then says why."""

    crashes: bool | None
    reasoning: str | None
    trouble: str | None


def reply_schema(template: Template | None = None) -> JsonObject:
    """JSON Schema of one reply, for models that can be held to one; template: what asks for it, None for our protocol.

    A model is shown the descriptions in it, so it states the rule of certainty and a confidence only where the
    template does.
    """
    schema: JsonObject = json.loads(SCHEMA_FILE.read_text("utf-8"))
    if template is None:
        return schema
    members = schema["properties"]
    if "certain" not in template.text:
        members[DETECTION]["description"] = "whether the target cell crashes."
    if f'"{CONFIDENCE}"' in template.text:
        members[CONFIDENCE] = {
            "type": "number",
            "description": "how likely it is that the detection is right, in percent, from 0 to 100.",
        }
        # Strict schemas of OpenAI require every property.
        schema["required"].append(CONFIDENCE)
    return schema


def read_reply(text: str, finish_reason: str | None = None) -> ReadReply:
    """What a reply says: the last complete object that has a `detection`, outside of the model's thinking.

    The last, because a model that answers again means what it says at the end; but where two of them differ it has
    not decided, and none is taken. A reply that was cut off, or thinking without an end, is not an answer. Published
    models write a boolean; the words "true" and "false", which the study's own reader takes too, are read as one.
    Never raises.
    """
    found = objects_with(
        text, DETECTION, REASONING, finish_reason=finish_reason
    )
    if found.trouble is not None:
        return _unread(found.trouble)
    readings = [_reading(answer) for answer in found.objects]
    last = readings[-1]
    if last.crashes is None:
        return last
    if any(reading.crashes is not last.crashes for reading in readings):
        return _unread(f"the reply contains {len(readings)} different answers")
    return last


def _reading(answer: JsonObject) -> ReadReply:
    detection, reasoning = answer[DETECTION], answer.get(REASONING)
    if isinstance(detection, Doubled) or isinstance(reasoning, Doubled):
        return _unread("the object has a duplicate key")
    crashes = (
        _WORDS.get(detection.strip().lower())
        # A model may write the word as a string in place of JSON's boolean.
        if isinstance(detection, str)
        else detection
    )
    if not isinstance(crashes, bool):
        return _unread("the key detection is not a boolean")
    return ReadReply(
        crashes, _kept(reasoning) if isinstance(reasoning, str) else None, None
    )


def _unread(why: str) -> ReadReply:
    return ReadReply(None, None, why)


def _kept(reasoning: str) -> str:
    """Within MAX_REASONING, and sayable in UTF-8."""
    head = (
        reasoning[:MAX_REASONING]
        .encode("utf-8", "backslashreplace")
        .decode("utf-8")
    )
    rest = len(reasoning) - MAX_REASONING
    return f"{head} ... {rest:,} more characters" if rest > 0 else head
