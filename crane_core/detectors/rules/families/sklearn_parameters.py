"""Functions of scikit-learn that check their parameters: values that they refuse, whatever the data.

Where the library here is the kernel's version, its own constraints are asked about plain values.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.sklearn_limits import refuse_parameters
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: parameters of functions")


@RULES.function("sklearn.*")
def checked(operation: Operation) -> Answer:
    """The first value that is refused."""
    if operation.arguments.is_complete:
        plain = {name: value.literal for name, value in operation.arguments.keywords.items() if _is_plain(value)}
        refuse_parameters(operation, operation.receiver.path, "call", plain)
    return UNKNOWN


def _is_plain(value: AbstractValue) -> bool:
    return value.literal is not NOT_KNOWN and (value.literal is None or type(value.literal) in (bool, int, float, str))
