"""Groups of rows: keys and columns that the frame does not have."""

from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families import pandas_frames
from crane_core.detectors.rules.families.pandas_column_levels import aggregated
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: groups")
GROUPED: Final = "pandas.DataFrameGroupBy"


@RULES.method(pandas_frames.FRAME, "groupby")
def groupby(operation: Operation) -> Answer:
    """Groups that know their frame; raises Crash for a key that is neither column nor level."""
    given = operation.arguments.bound(
        "by=None, axis=0, level=None, as_index=True, sort=True, group_keys=True, observed=True, dropna=True"
    )
    old = operation.receiver
    # groupby(axis=1) groups columns: its keys are labels of the index.
    if given is None or "axis" in given:
        return UNCHANGED
    by = given.get("by", AbstractValue())
    # As many keys as rows may be values, one per row: five.groupby(list("abcde")) runs.
    # So may an index, of which the length is compared first.
    may_be = by.type == "list" or by.is_a("pandas")
    if not may_be or not pandas_frames.may_be_values(old, by):
        pandas_frames.need_columns(operation, old, by, pandas_frames.lacks_key)
    elif pandas_frames.lacking(old, by, pandas_frames.lacks_key):
        return AbstractValue(GROUPED)
    return AbstractValue(
        GROUPED,
        known_facts(frame=old, by=_index_of_result(given)),
        words=f"the groups of {old.words}" if old.words else "",
    )


def _index_of_result(given: Mapping[str, AbstractValue]) -> Any:
    """The names of the index of what is computed by group; None where they are not known."""
    labels = pandas_frames.whole_labels(given.get("by"))
    is_plain = labels is not None and all(
        isinstance(label, str) for label in labels
    )
    # as_index=False keeps the keys among the columns.
    return tuple(labels or ()) if is_plain and given.keys() == {"by"} else None


def _frame_of(groups: AbstractValue) -> AbstractValue:
    held = groups.fact("frame")
    return held if isinstance(held, AbstractValue) else AbstractValue()


@RULES.item(GROUPED)
def select(operation: Operation) -> Answer:
    """Some columns of groups; raises Crash for a column that the frame lacks."""
    asked = operation.first
    if asked.type in ("str", "int", "list"):
        pandas_frames.need_columns(
            operation, _frame_of(operation.receiver), asked
        )
    # Before pandas 2.0 a tuple of columns only warned.
    if (
        asked.type == "tuple"
        and len(asked.items or ()) > 1
        and pandas_frames.is_pandas(operation, 2, 0)
    ):
        operation.crash(
            "ValueError",
            "Cannot subset columns with a tuple with more than one element; use a list instead",
            fact=f"the index is the tuple {asked.literal!r}"
            if asked.is_literal
            else "the index is a tuple",
            remedy="use double brackets: [[...]]",
        )
    # One label gives a SeriesGroupBy, of which no rule here knows anything.
    return AbstractValue(GROUPED) if asked.type == "list" else UNCHANGED


@RULES.method(GROUPED, "agg", "aggregate")
def aggregate(operation: Operation) -> Answer:
    """A dict names columns by its keys; keywords give tuples of a column and a function."""
    groups, given = operation.receiver, operation.arguments
    asked = (
        given.positional[0] if given.positional else given.keywords.get("func")
    )
    if asked is not None:
        sources = list(asked.members or ()) if asked.type == "dict" else []
    else:
        sources = [
            made.items[0].literal
            for made in given.keywords.values()
            if made.type == "tuple" and made.items
        ]
    for label in sources:
        if asked is not None or isinstance(label, str):
            pandas_frames.need_column(operation, _frame_of(groups), label)
    by = groups.fact("by")
    if asked is not None and asked.type == "dict" and isinstance(by, tuple):
        made = aggregated(asked.members or {}, by)
        return AbstractValue(pandas_frames.FRAME) if made is None else made
    return (
        AbstractValue(pandas_frames.FRAME)
        if asked is None or asked.type == "dict"
        else UNCHANGED
    )
