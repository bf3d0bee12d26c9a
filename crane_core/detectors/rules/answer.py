"""What a rule answers: that it does not know the step, that the step changes nothing, or the result of the step."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from crane_core.detectors.rules.abstract_value import AbstractValue


class NoValue(Enum):
    """Answers without a value."""

    UNKNOWN = "unknown"
    UNCHANGED = "unchanged"


UNKNOWN: Final[Literal[NoValue.UNKNOWN]] = NoValue.UNKNOWN
"""The rule does not know the step: receiver and arguments count as changed."""
UNCHANGED: Final[Literal[NoValue.UNCHANGED]] = NoValue.UNCHANGED
"""Nothing is changed but what the rule itself has changed; the result is unknown."""
Answer = AbstractValue | NoValue


def or_unknown(value: AbstractValue | None) -> Answer:
    """The value; UNKNOWN where there is none."""
    return UNKNOWN if value is None else value
