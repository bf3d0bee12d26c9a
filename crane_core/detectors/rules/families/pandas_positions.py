"""Rows and cells by place or label, as far as values of columns go; the elements of tables."""

from typing import Any, Final

from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    known_facts,
    literal,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import slice_of
from crane_core.detectors.rules.families.pandas_frames import (
    FRAME,
    SERIES,
    changed,
    column,
    index_labels,
    is_frame,
    label_set,
    labels_of,
    n_columns,
    n_rows,
    need_columns,
    replace_facts,
    some_rows,
    whole_labels,
    with_columns,
    with_new_columns,
)
from crane_core.detectors.rules.families.pandas_values import row_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import is_beyond

RULES = Family("pandas: positions")
_INDEXERS: Final = {
    "loc": "_LocIndexer",
    "iloc": "_iLocIndexer",
    "at": "_AtIndexer",
    "iat": "_iAtIndexer",
}
_MOST: Final = 200
"""Labels that are gone through one by one."""


@RULES.attribute(FRAME, *_INDEXERS)
@RULES.attribute(SERIES, *_INDEXERS)
def indexer(operation: Operation) -> Answer:
    """.loc, .iloc, .at or .iat, bound to the frame or series."""
    old = operation.receiver
    name = f"{old.words}.{operation.name}" if old.words else ""
    return AbstractValue(
        f"pandas.{_INDEXERS[operation.name]}", bound_to=old, words=name
    )


def _of(operation: Operation) -> AbstractValue:
    return operation.receiver.bound_to or AbstractValue()


def _parts(asked: AbstractValue) -> list[AbstractValue] | None:
    if asked.type == "tuple":
        return asked.items
    return [asked] if asked.type else None


@RULES.item("pandas._iLocIndexer")
@RULES.item("pandas._LocIndexer")
def taken(operation: Operation) -> Answer:
    """Columns of which all rows are taken keep their values; of some rows only labels and dtypes are certain."""
    old, parts = _of(operation), _parts(operation.first)
    if parts is None or not old.type:
        return UNCHANGED
    rows, is_by_place = (
        parts[0],
        operation.receiver.class_name == "_iLocIndexer",
    )
    # By label it may be several rows: `df.loc[5]` is a frame where 5 repeats.
    if is_by_place and rows.type == "int" and len(parts) == 1 and is_frame(old):
        return row_of(old)
    is_several = rows.type in ("slice", "list") or rows.fact("dtype") == "bool"
    chosen = old
    if is_frame(old) and len(parts) > 1:
        takes_rows = (
            rows.type == "slice" or rows.fact("dtype") == "bool"
        )  # else both may be one row's label
        if not is_by_place and takes_rows and parts[1].type != "tuple":
            need_columns(operation, old, parts[1])
        labels = (
            _at_places(parts[1], labels_of(old))
            if is_by_place
            else whole_labels(parts[1])
        )
        # More than two parts, or a tuple among them, may be labels of several levels.
        if (
            labels is None
            or label_set(old) is None
            or len(parts) > 2
            or parts[1].type == "tuple"
        ):
            return UNCHANGED
        chosen = (
            with_columns(old, labels)
            if parts[1].type in ("list", "slice")
            else column(old, labels[0])
        )
        if rows.type == "slice" and all(
            bound.literal is None for bound in rows.items or [AbstractValue()]
        ):
            return chosen
    return some_rows(chosen) if is_several else UNCHANGED


def _at_places(
    part: AbstractValue, order: tuple[Any, ...] | None
) -> list[Any] | None:
    """The labels at these places; None where they are not known, or beyond the columns."""
    if order is None:
        return None
    if (chosen := slice_of(part)) is not None:
        return list(order[chosen])
    places = part.items or [] if part.type == "list" else [part]
    numbers = [place.literal for place in places]
    if not numbers or any(
        # `iloc[[True, False]]` is a mask, and does not mean the places 1 and 0.
        type(number) is not int or is_beyond(number, len(order))
        for number in numbers
    ):
        return None
    return [order[number] for number in numbers]


@RULES.set_item("pandas._LocIndexer")
@RULES.set_item("pandas._AtIndexer")
@RULES.set_item("pandas._iLocIndexer")
@RULES.set_item("pandas._iAtIndexer")
def store(operation: Operation) -> Answer:
    """Values are others now; a label that is not there is added."""
    old, parts = _of(operation), _parts(operation.first)
    changed(operation, old)
    is_by_label = operation.receiver.class_name in ("_LocIndexer", "_AtIndexer")
    new = (
        (_labels_stored(parts) if is_by_label else [])
        if parts is not None and label_set(old) is not None
        else None
    )
    if parts is None or new is None:
        old.forget()
        return UNCHANGED
    made = with_new_columns(old, new)
    # Before pandas 3 a single 1.5 made floats of a column of integers.
    made.drop({"dtypes", "per_column"})
    # df.loc[len(df)] = [...] adds a row. A mask adds none, and iloc raises IndexError instead.
    if (
        is_by_label
        and parts[0].type != "slice"
        and parts[0].fact("dtype") != "bool"
    ):
        made.drop({"index"})
        made.facts["shape"] = (None, n_columns(made))
    replace_facts(old, made)
    return UNCHANGED


def _labels_stored(parts: list[AbstractValue]) -> list[Any] | None:
    """The columns that are written, where the frame has them or they are known; None if there may be others."""
    # `df.loc[7] = [3]` fills the columns that there are, and adds none.
    if len(parts) == 1 or len(parts) == 2 and parts[1].type == "slice":
        return []
    return (
        whole_labels(parts[1])
        if len(parts) == 2 and parts[1].type != "tuple"
        else None
    )


# What iteration gives

_ARRAY_OF_LABELS: Final = "pandas.labels"
"""Not a class: what `index.values` is depends on the labels and on the version of pandas."""


@RULES.other("elements", FRAME)
@RULES.other("elements", "pandas.Index")
def all_labels(operation: Operation) -> Answer:
    """Iterating a frame returns its labels; how many there are may be all that is known."""
    held = operation.receiver
    labels = labels_of(held) if is_frame(held) else index_labels(held)
    if labels is not None:
        return AbstractValue("list", items=[literal(label) for label in labels])
    count = n_columns(held) if is_frame(held) else held.fact("length")
    if type(count) is not int or count > _MOST:
        return UNKNOWN
    return AbstractValue("list", items=[AbstractValue() for _ in range(count)])


@RULES.attribute("pandas.Index", "values")
def labels_as_array(operation: Operation) -> Answer:
    """The labels in an array, of which only the length is certain."""
    # In pandas 3 strings come as ArrowStringArray, numbers as a NumPy array, categories as Categorical.
    return AbstractValue(
        _ARRAY_OF_LABELS,
        known_facts(length=operation.receiver.fact("length")),
    )


@RULES.other("elements", _ARRAY_OF_LABELS)
def elements_of_labels(operation: Operation) -> Answer:
    """As many values as there are labels, each of them unknown."""
    count = operation.receiver.fact("length")
    if type(count) is not int or count > _MOST:
        return UNKNOWN
    return AbstractValue("list", items=[AbstractValue() for _ in range(count)])


@RULES.item("pandas.Index")
def label_at(operation: Operation) -> Answer:
    """A label by its position, or an index of some; raises Crash for a position beyond the last."""
    held, asked = operation.receiver, operation.first
    labels = index_labels(held)
    if labels is None:
        return UNCHANGED
    if asked.type == "int" and type(asked.literal) is int:
        if is_beyond(asked.literal, len(labels)):
            operation.crash(
                "IndexError",
                f"index {asked.literal} is out of bounds for axis 0 with size {len(labels)}",
                fact=f"{held.named('the index')} has {len(labels)} labels",
                remedy="positions start at 0; -1 is the last",
            )
        return literal(labels[asked.literal])
    if (chosen := slice_of(asked)) is None:
        return UNCHANGED
    return AbstractValue(
        "pandas.Index",
        {"labels": list(labels[chosen]), "length": len(labels[chosen])},
    )


@RULES.method(FRAME, "iterrows", "itertuples", "items")
def walked(operation: Operation) -> Answer:
    """The iterator that iterrows, itertuples or items returns."""
    return AbstractValue(
        "pandas.iteration", {"way": operation.name}, bound_to=operation.receiver
    )


@RULES.other("elements", "pandas.iteration")
def all_columns(operation: Operation) -> Answer:
    """frame.items(): each label with its column."""
    old = _of(operation)
    if operation.receiver.fact("way") != "items" or not is_frame(old):
        return UNKNOWN
    labels = operation.elements(old)
    columns = [
        AbstractValue(SERIES)
        if label.literal is NOT_KNOWN
        else column(old, label.literal)
        for label in labels or ()
    ]
    pairs = [
        AbstractValue("tuple", items=pair)
        for pair in zip(labels or (), columns, strict=True)
    ]
    return AbstractValue("list", items=pairs) if pairs else UNKNOWN


@RULES.element("pandas.iteration")
def step(operation: Operation) -> Answer:
    """The first element of such an iterator, where there certainly is one."""
    old = _of(operation)
    way = operation.receiver.fact("way")
    if not (n_columns(old) if way == "items" else n_rows(old)):
        return UNKNOWN  # there may be none
    # Its rows are named tuples, in which pandas renames labels that are not identifiers.
    if way == "itertuples":
        return UNCHANGED
    return AbstractValue(
        "tuple",
        items=[
            AbstractValue(),
            row_of(old) if way == "iterrows" else AbstractValue(SERIES),
        ],
    )
