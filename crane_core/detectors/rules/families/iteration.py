"""What iterating over frames and labels gives: the labels themselves, where the state tells them all."""

from __future__ import annotations

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("iteration")
_MOST = 200


@RULES.other("elements", "pandas.Index")
def labels_of_index(operation: Operation) -> Answer:
    index = operation.receiver
    return _labels(index.fact("labels"), index.fact("length"))


@RULES.other("elements", "pandas.DataFrame")
def columns_of_frame(operation: Operation) -> Answer:
    columns = (operation.receiver).fact("columns")
    return _labels(columns, len(columns) if isinstance(columns, tuple) else None)


def _labels(labels: object, length: object) -> Answer:
    """Labels that are told whole, as a list of texts or numbers."""
    if not isinstance(labels, (list, tuple)) or len(labels) != length or len(labels) > _MOST:
        return UNKNOWN
    is_plain = all(isinstance(label, (str, int)) and "\u2026" not in str(label) for label in labels)
    return AbstractValue("list", items=[literal(label) for label in labels]) if is_plain else UNKNOWN
