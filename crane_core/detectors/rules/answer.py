"""What a rule answers: nothing, the result of the step, or that it raises, with the evidence that makes it certain."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, NamedTuple

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


@dataclass(frozen=True, slots=True)
class Finding:
    """A certain crash. `line` counts lines of the target cell from 1, `column` from 0; `expression` is its text there.

    `exception` is the class that will be raised ("KeyError"); `fact` is what is known of the kernel ("harvest has the
    columns bed, day, crop, yield_kg "); `why` says in a sentence why that raises; `remedy` is the shortest change.
    """

    family: str
    exception: str
    why: str
    fact: str
    remedy: str
    line: int
    column: int
    expression: str


class Crash(Exception):  # noqa: N818 - it is an answer, not an error
    """A rule's answer that this step raises, on its way to the interpreter, which knows whether the step is reached.

    The interpreter writes down the family that said it and the piece of the target at which it was said (`place`).
    """

    def __init__(
        self, exception: str, why: str, *, fact: str, remedy: str
    ) -> None:
        super().__init__(f"{exception}: {why}")
        self.exception = exception
        self.why = why
        self.fact = fact
        self.remedy = remedy
        self.family = ""
        self.place: Any = None


class RefusedParameter(NamedTuple):
    """A parameter whose value a library refuses: what it raises, and what it takes instead, as far as it tells."""

    name: str
    exception: str
    message: str
    options: Sequence[str]
