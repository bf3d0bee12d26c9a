"""NumPy's functions: new arrays, products, and what depends on the values of the elements."""

from typing import Any

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    NUMBERS,
    array,
    crash_on_shape_mismatch,
    describe,
    describe_all,
    dtype_meant,
    dtype_of,
    is_array,
    is_none,
    kind_of,
    lengths_in,
    shape_of,
    some_texts,
    taken_shape,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("numpy: functions")


@RULES.function(
    "numpy.array",
    "numpy.asarray",
    "numpy.asanyarray",
    "numpy.ascontiguousarray",
)
def of_something(operation: Operation) -> Answer:
    """numpy.array and its relatives: shape, dtype and values as far as the source has them."""
    given = operation.arguments.bound(
        "object, dtype=None, *, copy=None, order=None, subok=False, ndmin=0, like=None"
    )
    # ndmin= adds axes in front; the class of like= makes the result.
    if given is None or {"ndmin", "like"} & given.keys():
        return UNCHANGED
    made_of, dtype = given["object"], given.get("dtype")
    shape = taken_shape(made_of)
    known = dtype_of(made_of) if is_none(dtype) else dtype_meant(dtype)
    if shape is None:
        # A class with __array__ may return what it likes: only these surely become a plain array.
        is_made = made_of.type in ("list", "tuple", *NUMBERS) or is_array(
            made_of
        )
        return AbstractValue(ARRAY) if is_made else UNCHANGED
    # Records take a tuple each, "2i4" adds an axis, and "c" makes one of the characters.
    if not is_none(dtype) and (kind_of(known) in (None, "V") or known == "c"):
        return AbstractValue(ARRAY)
    return AbstractValue(
        ARRAY, known_facts(shape=shape, dtype=known, **_values(made_of))
    )


def _values(made_of: AbstractValue) -> dict[str, Any]:
    """What is known of the elements."""
    if is_array(made_of):
        kept = {
            name: made_of.fact(name)
            for name in ("value_range", "has_nan", "value_info", "items")
        }
        # asarray may share the memory: then a change of either changes both.
        return {**kept, "view_of": made_of}
    items = made_of.literal if made_of.items else None
    # With NaN among them, min and max depend on the order.
    if not isinstance(items, list) or any(
        type(value) not in (int, float) or value != value for value in items
    ):
        return {}
    return {"items": items, "value_range": [min(items), max(items)]}


@RULES.function("numpy.zeros", "numpy.ones", "numpy.empty")
def filled(operation: Operation) -> Answer:
    """An array of the shape and dtype that the arguments name."""
    given = operation.arguments.bound(
        "shape, dtype=None, order=None, *, device=None, like=None"
    )
    if given is None or "like" in given:
        return UNCHANGED
    dtype = (
        "float64"
        if is_none(given.get("dtype"))
        else dtype_meant(given["dtype"])
    )
    # The dtypes "3i4" and np.dtype((int, 3)) add an axis.
    is_plain = dtype is not None and kind_of(dtype) != "V"
    shape = lengths_in(given["shape"]) if is_plain else None
    return AbstractValue(ARRAY, known_facts(shape=shape, dtype=dtype))


@RULES.function("numpy.arange")
def arange(operation: Operation) -> Answer:
    """Exact of integers; of fractions only NumPy's own rounding tells how many there are."""
    if "like" in operation.arguments.keywords:
        return UNCHANGED
    bounds = [value.literal for value in operation.arguments.positional]
    # A step of 0 raises ZeroDivisionError in NumPy, as in range() below.
    is_whole = (
        # From 2**63 on they are objects.
        all(type(bound) is int and abs(bound) < 2**62 for bound in bounds)
        and 1 <= len(bounds) <= 3
        and bounds[2:] != [0]
    )
    if (
        not is_whole
        or operation.arguments.keywords
        or not operation.arguments.is_complete
    ):
        return AbstractValue(ARRAY)
    return AbstractValue(
        ARRAY, {"shape": (len(range(*bounds)),), "dtype": "int64"}
    )


# Products


@RULES.function("numpy.dot", "numpy.matmul")
@RULES.method(ARRAY, "dot")
def product(operation: Operation) -> Answer:
    """The shape of a product; raises Crash where the inner lengths differ."""
    given = operation.arguments
    pair = (
        list(given.positional)
        if operation.receiver.path
        else [operation.receiver, *given.positional]
    )
    if len(pair) != 2 or given.keywords or not given.is_complete:
        return UNKNOWN
    left, right = map(shape_of, pair)
    if left is None or right is None:
        return UNCHANGED
    # np.dot multiplies by a number, which matmul refuses.
    if operation.function_name != "matmul" and not {len(left), len(right)} <= {
        1,
        2,
    }:
        return UNCHANGED  # every row meets every column
    with crash_on_shape_mismatch(
        describe_all(pair),
        "transpose one of them (.T), or select the part that fits",
    ):
        return array(shapes.matmul(left, right))


# Casts


@RULES.method(ARRAY, "astype")
def astype(operation: Operation) -> Answer:
    """The array with another dtype; raises Crash for a string that is certainly no number."""
    subject = operation.receiver
    given = operation.arguments.bound(
        "dtype, order='K', casting='unsafe', subok=True, copy=True"
    )
    # The default, casting="unsafe", refuses no dtype; the others refuse some.
    if given is None or "casting" in given:
        return UNCHANGED
    wanted, kind = dtype_meant(given["dtype"]), kind_of(dtype_of(subject))
    # "2i4" adds an axis.
    if kind_of(wanted) == "V":
        return AbstractValue(ARRAY)
    if (
        kind == "U"
        and kind_of(wanted) in tuple("iuf")
        or kind == "O"
        and kind_of(wanted) == "f"
    ):
        _reads_as(operation, subject, is_whole=kind_of(wanted) != "f")
    facts = {"shape": shape_of(subject), "dtype": wanted}
    # A cast to integers cuts fractions and may wrap around, so the range is kept for floats only.
    if kind_of(wanted) == "f" and kind in tuple("iuf"):
        facts |= {
            name: subject.fact(name) for name in ("has_nan", "value_range")
        }
    return AbstractValue(ARRAY, known_facts(**facts))


def _reads_as(
    operation: Operation, subject: AbstractValue, *, is_whole: bool
) -> None:
    """All texts read as numbers. Among objects None is NaN; as an integer it is refused with another class."""
    if bad := next(
        (
            text
            for text in some_texts(subject)
            if not reads_as_number(text, is_whole=is_whole)
        ),
        None,
    ):
        operation.crash(
            "ValueError",
            f"could not convert string to float: {bad!r}",
            fact=f"{subject.named('the array')} holds the string {bad!r}",
            remedy="replace or drop such values first, or use pandas.to_numeric(..., errors='coerce')",
        )


def reads_as_number(text: str, *, is_whole: bool = False) -> bool:
    """Whether float(text), or int(text), accepts a string."""
    try:
        int(text) if is_whole else float(text)
    except ValueError:
        return False
    return True


# Files


@RULES.function("numpy.savetxt")
def savetxt(operation: Operation) -> Answer:
    """It writes a file, so NumPy itself does not try it."""
    written = next(iter(operation.arguments.positional[1:2]), AbstractValue())
    shape = shape_of(written) if is_array(written) else None
    if shape is not None and len(shape) not in (1, 2):
        operation.crash(
            "ValueError",
            f"Expected 1D or 2D array, got {len(shape)}D array instead",
            fact=describe(written),
            remedy="reshape to two dimensions, or use numpy.save",
        )
    return AbstractValue("NoneType", literal=None)


@RULES.function("numpy.bincount")
def bincount(operation: Operation) -> Answer:
    """Raises Crash for a negative number among integers."""
    counted = operation.first
    low = next(iter(counted.fact("value_range") or ()), None)
    # Fractions are a TypeError and two dimensions "object too deep", both before values are read.
    is_line_of_integers = (
        is_array(counted)
        and kind_of(dtype_of(counted)) == "i"
        and len(counted.shape or ()) == 1
    )
    if is_line_of_integers and type(low) is int and low < 0:
        operation.crash(
            "ValueError",
            "'list' argument must have no negative elements",
            fact=f"the minimum of {counted.named('the array')} is {low}",
            remedy="remove or shift the negative numbers",
        )
    return UNCHANGED
