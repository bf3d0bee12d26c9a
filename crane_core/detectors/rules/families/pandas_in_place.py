"""Tables that a step changes in place, as pandas leaves them; what is known of values that a step does not touch."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue, restricted
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import literal_of
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    changed,
    labels_of,
    n_rows,
    replace_facts,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: in place")
_SAME_VALUES: Final = ("", "drop", "insert", "pop", "reset_index", "set_index")
"""Steps that leave the values of the columns that stay, where as many rows stay."""


@RULES.method(FRAME)
@RULES.set_item(FRAME)
@RULES.other("del_item", FRAME)
def left(operation: Operation) -> Answer:
    """The frame as pandas leaves a surrogate of it; every other name of it sees the change."""
    old = operation.receiver
    new = operation.left()
    if new is None:
        return UNKNOWN
    if operation.name in _SAME_VALUES and n_rows(new) == n_rows(old):
        new.facts["per_column"] = restricted(
            old.mapping("per_column"), labels_of(new) or ()
        )
    changed(operation, old)
    replace_facts(old, new)
    return UNCHANGED


@RULES.method(FRAME, "copy", "drop", "reset_index", "set_index", "assign")
def same_values(operation: Operation) -> Answer:
    """What a new table holds of the columns that it shares with the old one, where all rows stay."""
    keywords = operation.arguments.keywords
    # df.drop([0, 9]) drops rows: which values stay is unknown.
    is_of_rows = (
        operation.name == "drop"
        and "columns" not in keywords
        # axis=0 drops rows, too.
        and literal_of(keywords.get("axis"), 0) not in (1, "columns")
    )
    # inplace=True returns None, and index= drops rows.
    if (
        is_of_rows
        or {"inplace", "index"} & keywords.keys()
        or not operation.arguments.is_complete
    ):
        return UNKNOWN
    known = operation.receiver.mapping("per_column")
    # `df.assign(a=...)` replaces the column a.
    kept = {
        label: facts
        for label, facts in known.items()
        if operation.name != "assign" or label not in keywords
    }
    return AbstractValue(FRAME, {"per_column": kept}) if kept else UNKNOWN
