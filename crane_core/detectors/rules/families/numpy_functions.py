"""What NumPy's functions ask of their arguments: elementwise functions, casts, counts, linear algebra, files."""

from __future__ import annotations

from typing import Any, Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    array,
    called,
    crash_on_shape_mismatch,
    describe,
    describe_all,
    dtype_meant,
    dtype_of,
    ends_of,
    given_to,
    is_array,
    is_none,
    kind_of,
    n_elements,
    shape_of,
    some_texts,
    taken_shape,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation

RULES = Family("numpy: functions")
_FLOATING: Final = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin"),
    *("arccos", "arctan", "sinh", "cosh", "tanh", "radians", "degrees", "deg2rad", "rad2deg"),
)
_TESTS: Final = ("isnan", "isinf", "isfinite")
_KEEPING: Final = ("abs", "absolute", "floor", "ceil", "sign", "square", "negative", "rint", "round", "around", "trunc")


def _one(name: str) -> Rule:
    """A function of each element."""

    def rule(operation: Operation) -> Answer:
        given = operation.arguments
        if not given.is_complete or given.keywords or not given.positional:
            return UNKNOWN if "out" in given.keywords else UNCHANGED
        subject = given.positional[0]
        _takes_numbers(operation, name, subject)
        shape = shape_of(subject)
        if shape is None or subject.type == "str":
            return UNCHANGED
        return array(shape, "bool" if name in _TESTS else None)

    return rule


def _takes_numbers(operation: Operation, name: str, subject: AbstractValue) -> None:
    """Texts have no logarithm; of objects NumPy asks methods that numbers do not have."""
    if name not in (*_TESTS, *_FLOATING):
        return
    if subject.is_a("pandas", "Series"):
        dtype = subject.fact("dtype")
        is_text, fact = dtype == "str" and subject.fact("length"), f"{subject.named('the column')} has dtype str"
    else:
        dtype = dtype_of(subject)
        is_text, fact = kind_of(dtype) == "U", describe(subject, "the argument")
    if is_text:
        how = "pandas.to_numeric(...)" if subject.is_a("pandas") else ".astype(float)"
        operation.crash(
            "TypeError",
            f"{name} cannot be computed for strings",
            fact=fact,
            remedy=f"convert the strings to numbers first: {how}",
        )
    if dtype == "object" and taken_shape(subject):
        _refuse_objects(operation, name, subject)


def _refuse_objects(operation: Operation, name: str, subject: AbstractValue) -> None:
    count = n_elements(subject)
    if name in _FLOATING and count and _is_plain(subject):
        operation.crash(
            "TypeError",
            f"loop of ufunc does not support an object array: numbers and strings have no {name} method",
            fact=f"{subject.named('the argument')} has dtype object",
            remedy="convert the values to numbers first: .astype(float)",
        )
    if name in _TESTS and count != 0:
        operation.crash(
            "TypeError",
            f"ufunc '{name}' not supported for arrays of dtype object",
            fact=f"{subject.named('the argument')} has dtype object",
            remedy="use pandas.isna, or convert the values to numbers first: .astype(float)",
        )


def _is_plain(subject: AbstractValue) -> bool:
    """An array of objects that holds Python's own numbers, texts and None alone."""
    return bool(subject.item_types) and subject.item_types <= {"int", "float", "str", "NoneType", "bool"}


for _name in (*_FLOATING, *_TESTS, *_KEEPING):
    RULES.function(f"numpy.{_name}")(_one(_name))


@RULES.function("numpy.dot", "numpy.matmul")
@RULES.method(ARRAY, "dot")
def product(operation: Operation) -> Answer:
    given = given_to(operation, "a, b, out=None")
    if given is None or "out" in given:
        return UNKNOWN
    pair = [given["a"], given["b"]]
    found = [shape_of(value) for value in pair]
    if found[0] is None or found[1] is None:
        return UNCHANGED
    with crash_on_shape_mismatch(describe_all(pair), "transpose one of them (.T), or select the part that fits"):
        shape = (shapes.matmul if called(operation) == "matmul" else shapes.dot)(found[0], found[1])
    return array(shape)


# Casts


@RULES.method(ARRAY, "astype")
def astype(operation: Operation) -> Answer:
    subject = operation.receiver
    given = operation.arguments.bound("dtype, order='K', casting='unsafe', subok=True, copy=True")
    if given is None or "casting" in given:
        return UNCHANGED
    wanted = dtype_meant(given["dtype"])
    shape = shape_of(subject)
    if kind_of(wanted) in tuple("iuf") and kind_of(dtype_of(subject)) in ("U", "O"):
        _reads_as(operation, subject, str(wanted))
    facts = {"shape": shape, "dtype": wanted}
    if kind_of(wanted) == "f" and kind_of(dtype_of(subject)) in tuple("iuf"):
        facts |= {name: subject.fact(name) for name in ("has_nan", "value_range")}
    return AbstractValue(ARRAY, {name: fact for name, fact in facts.items() if fact is not None})


def _reads_as(operation: Operation, subject: AbstractValue, wanted: str) -> None:
    """All texts read as numbers; a text array holds nothing but texts, one of objects may hold NaN."""
    kind = kind_of(wanted)
    if kind != "f" and kind_of(dtype_of(subject)) == "O" and _meets_none(subject.fact("items")):
        operation.crash(
            "TypeError",
            "int() argument must not be NoneType: None cannot be converted to an integer",
            fact=f"{subject.named('the array')} holds None",
            remedy="replace or drop the missing values first",
        )
    if bad := next((text for text in some_texts(subject) if not reads_as_number(text, is_whole=kind != "f")), None):
        operation.crash(
            "ValueError",
            f"could not convert string to float: {bad!r}",
            fact=f"{subject.named('the array')} holds the string {bad!r}",
            remedy="replace or drop such values first, or use pandas.to_numeric(..., errors='coerce')",
        )


def _meets_none(items: Any) -> bool:
    """Whether None comes before any text that cannot be read as an integer."""
    for item in items if isinstance(items, list) else ():
        if item is None:
            return True
        if isinstance(item, str) and not reads_as_number(item, is_whole=True):
            return False
    return False


def reads_as_number(text: str, *, is_whole: bool = False) -> bool:
    try:
        int(text) if is_whole else float(text)
    except ValueError:
        return False
    return True


# Counts


@RULES.function("numpy.bincount")
def bincount(operation: Operation) -> Answer:
    given = given_to(operation, "x, weights=None, minlength=0")
    low = next(iter(ends_of(given["x"])), None) if given is not None else None
    if given is not None and len(shape_of(given["x"]) or ()) == 1 and type(low) is int and low < 0:
        operation.crash(
            "ValueError",
            "list argument must have no negative elements",
            fact=f"the minimum of {given['x'].named('the array')} is {low}",
            remedy="remove or shift the negative numbers",
        )
    return UNCHANGED


@RULES.function("numpy.histogram")
def histogram(operation: Operation) -> Answer:
    given = given_to(operation, "a, bins=10, range=None, density=None, weights=None")
    if given is None:
        return UNCHANGED
    subject, bins = given["a"], given.get("bins")
    counted = bins is None or bins.type in ("int", "str")
    has_no_range = is_none(given.get("range")) and counted and n_elements(subject) != 0
    if is_array(subject) and has_no_range and True in (subject.fact("has_nan"), subject.fact("has_inf")):
        operation.crash(
            "ValueError",
            "autodetected range is not finite",
            fact=f"{subject.named('the array')} holds NaN or infinite values",
            remedy="remove them first: x[numpy.isfinite(x)], or pass range=",
        )
    return UNCHANGED


# Others


@RULES.function("numpy.savetxt")
def savetxt(operation: Operation) -> Answer:
    given = given_to(
        operation, "fname, X, fmt='%.18e', delimiter=' ', newline=None, header='', footer='', comments='# '"
    )
    if given is None:
        return AbstractValue("NoneType", literal=None)
    shape = shape_of(given["X"])
    if shape is not None and is_array(given["X"]) and (len(shape) > 2 or not shape):
        operation.crash(
            "ValueError",
            "Expected 1D or 2D array",
            fact=describe(given["X"]),
            remedy="reshape to two dimensions, or use numpy.save",
        )
    return AbstractValue("NoneType", literal=None)
