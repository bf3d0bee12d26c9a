"""The elements of frames and labels: the labels themselves, where the state tells them all."""

from __future__ import annotations

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("iteration")
# A loop over labels is followed turn by turn, and each turn costs time.
_MOST = 200


@RULES.other("elements", "pandas.Index")
@RULES.other("elements", "pandas.DataFrame")
def labels(operation: Operation) -> Answer:
    """Labels that are stated whole, as a list of texts or numbers."""
    held = operation.receiver
    told = held.fact("labels") if held.class_name == "Index" else held.fact("columns")
    length = held.fact("length") if held.class_name == "Index" else len(told or ())
    # A state lists only the first labels of a wide table: a loop over these would end too soon.
    if not isinstance(told, (list, tuple)) or len(told) != length or length > _MOST:
        return UNKNOWN
    # An ellipsis marks a label that the state cut; as it is, it would be a missing column.
    is_plain = all(
        isinstance(label, (str, int)) and "\u2026" not in str(label) for label in told
    )
    return AbstractValue("list", items=map(literal, told)) if is_plain else UNKNOWN
