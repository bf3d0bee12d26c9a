"""The form in which a judge has to answer, and what its reply says: an explanation, then a label.

Knows the members of a judgement; which objects of a reply may be one is known to `reply_objects`. Refuses to guess:
what holds no label, or two, is None with the reason in words.

The text that a judge is shown is here too: two texts in either order, labels and guideline if there are any. Whose
texts they are is not known.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from crane_core.domain import LABEL_CODE, JsonObject, Label
from crane_core.prompts.reply_objects import Doubled, objects_with
from crane_core.prompts.secrets import redacted
from crane_core.prompts.template import Template

SCHEMA_FILE = Path(__file__).with_name("judge_reply_schema.json")
SCHEMA_NAME = "diagnosis_judgement"
LABELS = (Label.CORRECT, Label.PARTIAL, Label.WRONG, Label.UNVERIFIABLE)
"""The labels of a judge: detection is computed, so a crash that was not detected is never judged."""

MAX_EXPLANATION = 20_000

LABEL = "label"
EXPLANATION = "explanation"
MAX_TEXT = 20_000
"""Characters of a diagnosis that a judge is shown."""


class Presentation(StrEnum):
    """Which text comes first: some judges favour the first text, so each pair is judged in both orders."""

    NORMAL = "normal"
    REVERSED = "reversed"


class ReadJudgeReply(NamedTuple):
    """`label` is a code, None if none can be read; `trouble` then says why."""

    label: str | None
    explanation: str | None
    trouble: str | None


def labels_of_judge(own: str | None) -> tuple[str, ...]:
    """What a judge may say. own: the codes of a campaign's own labels, with commas between; None for the study's."""
    codes = (
        tuple(code for code in own.split(",") if LABEL_CODE.fullmatch(code))
        if own
        else ()
    )
    return (
        (*codes, str(Label.UNVERIFIABLE)) if codes else tuple(map(str, LABELS))
    )


def judge_reply_schema(own: str | None = None) -> JsonObject:
    """JSON Schema of one reply, for models that can be held to one. own: as in `labels_of_judge`."""
    schema: JsonObject = json.loads(SCHEMA_FILE.read_text("utf-8"))
    if own:
        label = {
            "type": "string",
            "enum": list(labels_of_judge(own)),
            "description": "The label that the rules give.",
        }
        schema["properties"][LABEL] = label
    return schema


def read_judge_reply(
    text: str, finish_reason: str | None = None, own: str | None = None
) -> ReadJudgeReply:
    """What a reply says: the last complete object with a `label`, outside of the judge's thinking.

    Two objects with different labels count as no label, and so does a reply that was cut off. own: as in
    `labels_of_judge`. Never raises.
    """
    found = objects_with(text, LABEL, EXPLANATION, finish_reason=finish_reason)
    if found.trouble is not None:
        return ReadJudgeReply(None, None, found.trouble)
    known = labels_of_judge(own)
    said = [_reading(body, known) for body in found.objects]
    if len({read.label for read in said}) > 1:
        return ReadJudgeReply(
            None, None, f"the reply contains {len(said)} different labels"
        )
    return said[-1]


def _reading(body: JsonObject, known: tuple[str, ...]) -> ReadJudgeReply:
    label, explanation = body[LABEL], body.get(EXPLANATION)
    # A judge that wrote two labels into one object has not decided; JSON readers would silently take the
    # last.
    if isinstance(label, Doubled):
        return ReadJudgeReply(None, None, "the object has a duplicate key")
    word = label.strip().lower() if isinstance(label, str) else None
    if word not in known:
        return ReadJudgeReply(
            None, None, f"the label is not one of {', '.join(known)}"
        )
    told = (
        explanation[:MAX_EXPLANATION] if isinstance(explanation, str) else None
    )
    return ReadJudgeReply(
        word,
        told.encode("utf-8", "backslashreplace").decode() if told else None,
        None,
    )


def judge_prompt(
    known_cause: str,
    diagnosis: str,
    presentation: Presentation,
    template: Template,
    guideline: str | None = None,
    labels: str | None = None,
) -> str:
    """The template around the two texts; the known cause first, or last where the order is reversed.

    labels: a list of a campaign's own, and guideline: whole, both before the texts; None if there is none.
    """
    parts = [
        _part("known cause", known_cause.strip()[:MAX_TEXT]),
        _part("diagnosis", diagnosis.strip()[:MAX_TEXT]),
    ]
    ordered = parts if presentation is Presentation.NORMAL else parts[::-1]
    given = {"labels": labels, "guideline": guideline}
    before = [
        _part(name, text) for name, text in given.items() if text is not None
    ]
    return template.around("\n\n".join([*before, *ordered]))


def _part(name: str, text: str) -> str:
    # Diagnoses quote code, and code may hold keys.
    shown = (
        redacted(text.strip())
        .encode("utf-8", "backslashreplace")
        .decode("utf-8")
    )
    return f"<<<{name}\n{shown}\n{name}>>>"
