"""Arrays that NumPy makes: of literals, of lengths, of ranges, of chance; lists of which no array can be made."""

from __future__ import annotations

import math
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    ARRAY,
    NUMBERS,
    array,
    dtype_meant,
    dtype_of,
    given_to,
    is_array,
    is_none,
    is_number,
    is_ragged,
    kind_of,
    lengths_in,
    taken_shape,
    whole,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

RULES = Family("numpy: new arrays")
GENERATORS = ("numpy.Generator", "numpy.RandomState")


@RULES.function("numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray")
def of_something(operation: Operation) -> Answer:
    given = given_to(operation, "object, dtype=None, *, copy=None, order=None, subok=False, ndmin=0, like=None")
    if given is None or "ndmin" in given:
        return UNCHANGED
    made_of, dtype = given["object"], given.get("dtype")
    if is_ragged(made_of) and is_none(dtype) and is_at_least(operation, "numpy", 1, 24):
        operation.crash(
            "ValueError",
            "setting an array element with a sequence: the parts of the list have different shapes",
            fact=f"{made_of.named('the list')} is ragged",
            remedy="give the parts the same shape, or keep them in a list",
        )
    shape = taken_shape(made_of)
    if shape is None:
        is_made = made_of.type in ("list", "tuple", *NUMBERS) or is_array(made_of)
        return AbstractValue(ARRAY) if is_made else UNCHANGED
    known = dtype_of(made_of) if is_none(dtype) else dtype_meant(dtype)
    if not is_none(dtype) and kind_of(known) in (None, "V"):
        return AbstractValue(ARRAY)  # of records, which take a tuple each, or nobody knows
    return _whole_array(shape, known, made_of)


def _whole_array(shape: Shape, dtype: str | None, made_of: AbstractValue) -> AbstractValue:
    """Of shape () it is an array all the same, with no dimension."""
    values = made_of.literal if made_of.items is not None and len(shape) == 1 else None
    items = values if isinstance(values, list) else []
    are_numbers = all(type(value) in (int, float) and value == value for value in items)
    facts: dict[str, Any] = {"items": values if isinstance(values, list) else None}
    facts["value_range"] = [min(items), max(items)] if items and are_numbers else None
    if is_array(made_of):
        facts = {name: made_of.fact(name) for name in ("value_range", "has_nan", "value_info", "items")}
        facts["view_of"] = made_of
    return AbstractValue(ARRAY, known_facts(shape=shape, dtype=dtype, **facts))


@RULES.function("numpy.zeros", "numpy.ones", "numpy.empty")
def filled(operation: Operation) -> Answer:
    given = given_to(operation, "shape, dtype=None, order=None, *, device=None, like=None")
    if given is None:
        return UNCHANGED
    dtype = "float64" if is_none(given.get("dtype")) else dtype_meant(given["dtype"])
    shape = lengths_in(given["shape"]) if kind_of(dtype) != "V" else None  # "3i4" adds an axis
    return AbstractValue(ARRAY, known_facts(shape=shape, dtype=dtype))


@RULES.function("numpy.arange")
def arange(operation: Operation) -> Answer:
    given = given_to(operation, "start, stop=None, step=None, dtype=None, *, device=None, like=None")
    if given is None:
        return UNCHANGED
    bounds = [given[name].literal if name in given else None for name in ("start", "stop", "step")]
    is_whole = all(bound is None or type(bound) is int for bound in bounds)
    dtype = "int64" if is_whole and "dtype" not in given else None
    return array((_n_steps(bounds),), dtype)


def _n_steps(bounds: list[object]) -> int | None:
    """How many numbers numpy.arange gives: exact for integers; for fractions only NumPy's own rounding tells."""
    if any(bound is not None and type(bound) is not int for bound in bounds):
        return None
    start, stop, step = (bound if type(bound) is int else None for bound in bounds)
    if start is None:
        return None
    first, last = (0, start) if stop is None else (start, stop)
    return max(0, math.ceil((last - first) / (step or 1))) if step != 0 else None


# Chance


@RULES.function("numpy.random.default_rng")
def generator(operation: Operation) -> Answer:
    return AbstractValue("numpy.random.Generator")


def _drawn(parameters: str, dtype: str) -> Rule:
    """Numbers drawn: as many as `size` says, one where parameters are numbers and no size is given."""

    def rule(operation: Operation) -> Answer:
        given = operation.arguments.bound(parameters)
        if given is None or "dtype" in given:
            return UNCHANGED
        if not is_none(given.get("size")):
            lengths = lengths_in(given["size"])
            return array(lengths, dtype) if lengths is not None else AbstractValue(ARRAY)
        alone = all(is_number(value) for name, value in given.items() if name != "size")
        return AbstractValue(dtype.removesuffix("64")) if alone else UNCHANGED

    return rule


_DRAWS = {
    "normal": ("loc=0.0, scale=1.0, size=None", "float64"),
    "uniform": ("low=0.0, high=1.0, size=None", "float64"),
    "exponential": ("scale=1.0, size=None", "float64"),
    "gamma": ("shape, scale=1.0, size=None", "float64"),
    "beta": ("a, b, size=None", "float64"),
    "lognormal": ("mean=0.0, sigma=1.0, size=None", "float64"),
    "poisson": ("lam=1.0, size=None", "int64"),
    "binomial": ("n, p, size=None", "int64"),
    "random": ("size=None, dtype=None", "float64"),
    "standard_normal": ("size=None, dtype=None", "float64"),
}
for _name, (_parameters, _dtype) in _DRAWS.items():
    RULES.function(f"numpy.random.{_name}")(_drawn(_parameters, _dtype))
    for _generator in GENERATORS:
        RULES.method(_generator, _name)(_drawn(_parameters, _dtype))


@RULES.function("numpy.random.rand", "numpy.random.randn")
@RULES.method("numpy.RandomState", "rand", "randn")
def rand(operation: Operation) -> Answer:
    given = operation.arguments
    if not given.is_complete or given.keywords:
        return UNCHANGED
    if not given.positional:
        return AbstractValue("float")
    return array(tuple(whole(value) for value in given.positional), "float64")
