"""What NumPy's functions ask of their arguments: elementwise functions, casts, counts, linear algebra, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from crane_core.detectors.rules import shapes
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    array,
    axis_in,
    called,
    crash_on_shape_mismatch,
    describe,
    describe_all,
    dtype_meant,
    dtype_of,
    given_to,
    is_array,
    is_none,
    is_number,
    kind_of,
    n_elements,
    promoted,
    scalar,
    shape_of,
    some_texts,
    taken_shape,
    values_changed,
    whole,
)
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ, only_length, size

RULES = Family("numpy: functions")
_FLOATING: Final = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arcsin"),
    *("arccos", "arctan", "sinh", "cosh", "tanh", "radians", "degrees", "deg2rad", "rad2deg"),
)
_TESTS: Final = ("isnan", "isinf", "isfinite")
_KEEPING: Final = ("abs", "absolute", "floor", "ceil", "sign", "square", "negative", "rint", "round", "around", "trunc")
_TWO: Final = ("add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "power", "mod", "fmax")


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
        return array(shape, _dtype_of_one(name, dtype_of(subject)))

    return rule


def _dtype_of_one(name: str, dtype: str | None) -> str | None:
    kind = kind_of(dtype)
    if name in _TESTS:
        return "bool"
    if kind == "f":
        return dtype
    if name in _FLOATING:
        return "float64" if dtype in ("int64", "int32", "uint32", "uint64") else None
    return dtype if kind == "i" and name in ("abs", "absolute", "sign", "square", "negative") else None


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


@RULES.function("numpy.clip")
def clip(operation: Operation) -> Answer:
    given = given_to(operation, "a, a_min=None, a_max=None, out=None, *, min=None, max=None")
    if given is None or "out" in given:
        return UNKNOWN
    bounds = [value for name, value in given.items() if name != "a"]
    shape = shape_of(given["a"])
    is_plain = shape is not None and all(is_number(bound) or is_none(bound) for bound in bounds)
    return array(shape, None) if is_plain else UNCHANGED


@RULES.method(ARRAY, "round", "clip", "conj", "conjugate", "fill", "sort", "tobytes")
def of_each(operation: Operation) -> Answer:
    subject = operation.receiver
    if operation.name in ("fill", "sort"):
        values_changed(operation, subject)
        return AbstractValue("NoneType", literal=None)
    shape = shape_of(subject)
    if shape is None or operation.name == "tobytes" or "out" in operation.arguments.keywords:
        return UNCHANGED
    return array(shape, dtype_of(subject) if operation.name == "round" and kind_of(dtype_of(subject)) == "f" else None)


def _two(name: str) -> Rule:
    def rule(operation: Operation) -> Answer:
        given = operation.arguments
        if not given.is_complete or given.keywords or len(given.positional) != 2:
            return UNKNOWN
        found = [shape_of(value) for value in given.positional]
        if found[0] is None or found[1] is None:
            return UNCHANGED
        with crash_on_shape_mismatch(describe_all(given.positional), "give both shapes that broadcast"):
            shape = shapes.broadcast(found[0], found[1])
        dtypes = [dtype_of(value) for value in given.positional]
        is_kept = all(is_array(value) for value in given.positional) and name in ("add", "subtract", "multiply")
        known = [dtype for dtype in dtypes if dtype is not None and kind_of(dtype) in tuple("iuf")]
        return array(shape, promoted(*known) if is_kept and len(known) == 2 else None)

    return rule


for _name in _TWO:
    RULES.function(f"numpy.{_name}")(_two(_name))


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
    return array(shape, promoted(*map(dtype_of, pair)))


@RULES.function("numpy.outer")
def outer(operation: Operation) -> Answer:
    given = given_to(operation, "a, b")
    found = [taken_shape(value) for value in given.values()] if given is not None and len(given) == 2 else [None]
    known = [size(shape) for shape in found if shape is not None]
    return array(tuple(known)) if len(known) == 2 else UNCHANGED


@RULES.function("numpy.where")
def where(operation: Operation) -> Answer:
    given = operation.arguments
    if not given.is_complete or given.keywords or len(given.positional) not in (1, 3):
        return UNCHANGED
    known = [shape for value in given.positional if (shape := taken_shape(value)) is not None]
    if len(given.positional) == 1:
        ndim = len(known[0]) if known else 0
        return AbstractValue("tuple", items=[array((None,), "int64") for _ in range(ndim)]) if ndim else UNCHANGED
    with crash_on_shape_mismatch(
        describe_all(given.positional), "pass values with the shape of the condition, or scalars"
    ):
        shape = shapes.broadcast(*known)
    left, right = map(dtype_of, given.positional[1:])
    is_same = left == right and kind_of(left) in tuple("iuf")
    return array(shape, left if is_same else None) if len(known) == 3 else UNCHANGED


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
    if given is None:
        return UNCHANGED
    subject, weights = given["x"], given.get("weights")
    shape = taken_shape(subject)
    if len(shape or ()) > 1:
        _refuse(
            operation,
            "ValueError",
            "object too deep for desired array: only 1 dimension can be counted",
            subject,
            "flatten it first: .ravel()",
        )
    if shape and size(shape) != 0:
        _refuse_uncountable(operation, subject)
    if weights is not None and not is_none(weights):
        why, remedy = "the weights and list don't have the same length", "pass one weight per number"
        _are_as_many(operation, [subject, weights], "ValueError", why, remedy)
    return array((None,), "int64" if is_none(weights) else "float64")


def _refuse_uncountable(operation: Operation, subject: AbstractValue) -> None:
    """Fractions and negative numbers."""
    if kind_of(dtype_of(subject)) == "f":
        _refuse(
            operation,
            "TypeError",
            "cannot cast the array to int64 according to the rule 'safe': only integers can be counted",
            subject,
            "convert them to integers first: .astype(int)",
        )
    low = (subject.fact("value_range") or [None])[0]
    if type(low) is int and low < 0:
        operation.crash(
            "ValueError",
            "list argument must have no negative elements",
            fact=f"the minimum of {subject.named('the array')} is {low}",
            remedy="remove or shift the negative numbers",
        )


def _refuse(operation: Operation, exception: str, why: str, subject: AbstractValue, remedy: str) -> None:
    operation.crash(exception, why, fact=describe(subject, "the argument"), remedy=remedy)


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
    n_bins = 10 if bins is None else whole(bins)
    return AbstractValue("tuple", items=[array((n_bins,)), array((None if n_bins is None else n_bins + 1,))])


@RULES.function("numpy.interp")
def interp(operation: Operation) -> Answer:
    given = given_to(operation, "x, xp, fp, left=None, right=None, period=None")
    if given is None:
        return UNCHANGED
    _are_as_many(operation, [given["xp"], given["fp"]], "ValueError", "fp and xp are not of the same length")
    shape = taken_shape(given["x"])
    return array(shape, "float64") if shape else UNCHANGED


def _are_as_many(
    operation: Operation,
    values: Sequence[AbstractValue],
    exception: str,
    why: str,
    remedy: str = "give them the same length",
) -> None:
    """Two lines of one length."""
    if differ(*(only_length(taken_shape(value)) for value in values)):
        operation.crash(exception, why, fact=describe_all(values, "the argument"), remedy=remedy)


@RULES.function("numpy.polyfit")
def polyfit(operation: Operation) -> Answer:
    given = given_to(operation, "x, y, deg, rcond=None, full=False, w=None, cov=False")
    if given is None:
        return UNCHANGED
    why = "expected x and y to have same length"
    _are_as_many(operation, [given["x"], given["y"]], "TypeError", why)
    degree = whole(given["deg"])
    is_plain = not {"full", "cov"} & given.keys()
    shape = taken_shape(given["y"])
    known = degree is not None and is_plain and shape is not None and len(shape) == 1
    return array((degree + 1,), "float64") if known and degree is not None else UNCHANGED


@RULES.function("numpy.corrcoef", "numpy.cov")
def of_two_lines(operation: Operation) -> Answer:
    given = given_to(operation, "x, y=None, rowvar=True, bias=False, dtype=None")
    if given is not None and not is_none(given.get("y")):
        _are_as_many(operation, [given["x"], given["y"]], "ValueError", "x and y must have the same length")
    return UNCHANGED


# Linear algebra


def _square(subject: AbstractValue, operation: Operation) -> None:
    shape = shape_of(subject)
    if shape is None:
        return
    is_square = len(shape) > 1 and (None in shape[-2:] or shape[-1] == shape[-2])
    if not is_square:
        operation.crash(
            "LinAlgError",
            "Last 2 dimensions of the array must be square",
            fact=describe(subject),
            remedy="use numpy.linalg.pinv or lstsq for other matrices, or select the square part",
        )


@RULES.function(*(f"numpy.linalg.{name}" for name in ("inv", "det", "cholesky", "eig", "eigh", "eigvals", "eigvalsh")))
def of_square(operation: Operation) -> Answer:
    subject = operation.first
    _square(subject, operation)
    shape = shape_of(subject)
    if shape is None or called(operation) not in ("inv", "cholesky", "det"):
        return UNCHANGED
    dtype = "float64" if kind_of(dtype_of(subject)) in ("i", "u") else dtype_of(subject)
    return array(shape if called(operation) != "det" else shape[:-2], dtype)


@RULES.function("numpy.linalg.solve")
def solve(operation: Operation) -> Answer:
    given = given_to(operation, "a, b")
    if given is None:
        return UNCHANGED
    _square(given["a"], operation)
    left, right = shape_of(given["a"]), shape_of(given["b"])
    if left is None or right is None or len(left) != 2 or len(right) not in (1, 2):
        return UNCHANGED
    with crash_on_shape_mismatch(describe_all(given.values()), "the right side needs one row per row of the matrix"):
        shapes.same(left[-1], right[0])
    return array(right)


@RULES.function("numpy.linalg.lstsq")
def lstsq(operation: Operation) -> Answer:
    given = given_to(operation, "a, b, rcond=None")
    if given is None:
        return UNCHANGED
    left, right = shape_of(given["a"]), taken_shape(given["b"])
    if left is None or right is None or len(left) != 2 or not right:
        return UNCHANGED
    with crash_on_shape_mismatch(
        describe_all([given["a"], given["b"]]),
        "Incompatible dimensions: a and b need the same number of rows",
        exception="LinAlgError",
    ):
        shapes.same(left[0], right[0])
    return AbstractValue("tuple", items=[array((left[1], *right[1:])), array((None,)), AbstractValue(), array((None,))])


@RULES.function("numpy.linalg.norm")
def norm(operation: Operation) -> Answer:
    given = given_to(operation, "x, ord=None, axis=None, keepdims=False")
    if given is None or set(given) != {"x"} or shape_of(given["x"]) is None or not is_array(given["x"]):
        return UNCHANGED
    return scalar("float64") if dtype_of(given["x"]) == "float64" else UNCHANGED


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


@RULES.function("numpy.take")
def take(operation: Operation) -> Answer:
    given = given_to(operation, "a, indices, axis=None, out=None, mode='raise'")
    if given is None or {"mode", "out"} & given.keys():
        return UNCHANGED
    shape, number = shape_of(given["a"]), whole(given["indices"])
    axis = whole(given["axis"]) if "axis" in given else None
    if shape is None or number is None or ("axis" in given and axis is None):
        return UNCHANGED
    with crash_on_shape_mismatch(describe(given["a"]), "use an index within the array", exception="IndexError"):
        at = None if axis is None else shapes.axis_of(axis, len(shape))
        shapes.index((size(shape),) if at is None else (shape[at],), number)
    return UNCHANGED


@RULES.function("numpy.delete")
def delete(operation: Operation) -> Answer:
    given = given_to(operation, "arr, obj, axis=None")
    if given is None:
        return UNCHANGED
    shape, number = shape_of(given["arr"]), whole(given["obj"])
    known, axis = axis_in(given.get("axis"))
    if shape is None or number is None or not known or isinstance(axis, tuple):
        return UNCHANGED
    with crash_on_shape_mismatch(describe(given["arr"]), "use an index within the array", exception="IndexError"):
        at = None if axis is None else shapes.axis_of(axis, len(shape))
        length = size(shape) if at is None else shape[at]
        shapes.index((length,), number)
    left = None if length is None else length - 1
    return array((left,) if at is None else (*shape[:at], left, *shape[at + 1 :]), dtype_of(given["arr"]))


@RULES.function("numpy.unique")
def unique(operation: Operation) -> Answer:
    if len(operation.arguments.positional) != 1 or operation.arguments.keywords or not operation.arguments.is_complete:
        return UNCHANGED
    return array((None,), dtype_of(operation.first)) if shape_of(operation.first) is not None else UNCHANGED


@RULES.function("numpy.repeat")
def repeat(operation: Operation) -> Answer:
    given = given_to(operation, "a, repeats, axis=None")
    if given is None or set(given) != {"a", "repeats"}:
        return UNCHANGED
    shape, times = shape_of(given["a"]), whole(given["repeats"])
    count = size(shape) if shape is not None else None
    return array((count * times,), dtype_of(given["a"])) if count is not None and times is not None else UNCHANGED


@RULES.function("numpy.diff")
def diff(operation: Operation) -> Answer:
    shape = shape_of(operation.first)
    if shape is None or len(operation.arguments.positional) != 1 or operation.arguments.keywords:
        return UNCHANGED
    if not shape:
        _refuse(
            operation,
            "ValueError",
            "diff requires input that is at least one dimensional",
            operation.first,
            "pass an array",
        )
        return UNCHANGED
    length = shape[-1]
    return array((*shape[:-1], None if length is None else max(length - 1, 0)))
