"""How sure a model says it is: the member `confidence` beside its `detection`, in percent, that the detection is right.

Knows replies as `reply` reads them. Refuses to guess: a number up to 1 may be a share or a percentage.
"""

from typing import NamedTuple

from crane_core.prompts.reply import CONFIDENCE, DETECTION, REASONING
from crane_core.prompts.reply_objects import objects_with

NONE = "no confidence stated"
NO_NUMBER = "the confidence is not a number"
OUT_OF_RANGE = "the confidence is not within 0 to 100"
UNCLEAR = (
    "the confidence is between 0 and 1, which may be a share or a percentage"
)


class StatedConfidence(NamedTuple):
    """A probability in 0..1 that the detection is right; None where none can be read, and `trouble` then says why."""

    probability: float | None
    trouble: str | None


def read_confidence(
    text: str, finish_reason: str | None = None
) -> StatedConfidence:
    """The confidence of the reply's last answer, which is the one that counts (`reply.read_reply`). Never raises."""
    found = objects_with(
        text, DETECTION, REASONING, finish_reason=finish_reason
    )
    if found.trouble is not None:
        return StatedConfidence(None, found.trouble)
    last = found.objects[-1]
    if last.get(CONFIDENCE) is None:
        return StatedConfidence(None, NONE)
    stated = last[CONFIDENCE]
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return StatedConfidence(None, NO_NUMBER)
    # Also refuses nan, which Python's JSON reader takes.
    if not 0 <= stated <= 100:
        return StatedConfidence(None, OUT_OF_RANGE)
    if 0 < stated <= 1:
        return StatedConfidence(None, UNCLEAR)
    return StatedConfidence(stated / 100, None)
