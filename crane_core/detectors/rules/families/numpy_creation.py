"""Arrays that NumPy makes: of literals, of lengths, of ranges, of chance; lists of which no array can be made."""

from __future__ import annotations

import math
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families.numpy_arrays import (
    NUMBERS,
    array,
    axis_in,
    describe,
    dtype_meant,
    dtype_of,
    given_to,
    is_array,
    is_none,
    is_number,
    is_ragged,
    lengths_in,
    literal_of,
    scalar,
    shape_of,
    taken_shape,
    whole,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape, differ, only_length, size

RULES = Family("numpy: new arrays")
GENERATORS = ("numpy.Generator", "numpy.RandomState")
_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")


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
        return (
            AbstractValue("numpy.ndarray")
            if made_of.type in ("list", "tuple", *NUMBERS) or is_array(made_of)
            else UNCHANGED
        )
    known = dtype_of(made_of) if is_none(dtype) else dtype_meant(dtype)
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
    return AbstractValue("numpy.ndarray", known_facts(shape=shape, dtype=dtype, **facts))


def _filled(dtype: str | None) -> Rule:
    def rule(operation: Operation) -> Answer:
        given = given_to(operation, "shape, dtype=None, order=None, *, device=None, like=None")
        if given is None:
            return UNCHANGED
        if (second := given.get("dtype")) is not None and type(second.literal) is int:
            operation.crash(
                "TypeError",
                "the second argument is the dtype; all lengths belong in the first argument",
                fact=f"the second argument is {second.literal}",
                remedy="put the lengths in parentheses: zeros((rows, columns))",
            )
        return _of_lengths(
            operation, given["shape"], dtype if is_none(given.get("dtype")) else dtype_meant(given["dtype"])
        )

    return rule


def _of_lengths(operation: Operation, shape: AbstractValue, dtype: str | None) -> AbstractValue:
    """An array of this shape. A fraction or string is not a length."""
    if any(part.type in ("float", "str") for part in (shape, *(shape.items or ()))):
        operation.crash(
            "TypeError",
            "a shape must consist of integers",
            fact=f"the shape is {shape.literal!r}" if shape.is_literal else f"the shape is a {shape.type}",
            remedy="convert it to integers: int(...), or use // instead of /",
        )
    lengths = lengths_in(shape)
    if lengths is not None and any(length is not None and length < 0 for length in lengths):
        operation.crash(
            "ValueError",
            "negative dimensions are not allowed",
            fact=f"the shape is {shape.literal!r}",
            remedy="use a length of at least 0",
        )
    return AbstractValue("numpy.ndarray") if lengths is None else _made(lengths, dtype)


def _made(lengths: Shape, dtype: str | None) -> AbstractValue:
    return AbstractValue("numpy.ndarray", known_facts(shape=lengths, dtype=dtype))


for _name in ("zeros", "ones", "empty"):
    RULES.function(f"numpy.{_name}")(_filled("float64"))


@RULES.function("numpy.full")
def full(operation: Operation) -> Answer:
    given = given_to(operation, "shape, fill_value, dtype=None, order=None, *, device=None, like=None")
    if given is None:
        return UNCHANGED
    value = given["fill_value"]
    dtype = dtype_of(value) if is_none(given.get("dtype")) and is_number(value) else dtype_meant(given.get("dtype"))
    return _of_lengths(operation, given["shape"], dtype)


@RULES.function(*(f"numpy.{name}" for name in _LIKE))
def like(operation: Operation) -> Answer:
    if (
        not operation.arguments.is_complete
        or "shape" in operation.arguments.keywords
        or not operation.arguments.positional
    ):
        return UNCHANGED
    model = operation.first
    shape = shape_of(model)
    is_plain = is_array(model) and not operation.arguments.keywords and len(operation.arguments.positional) == 1
    if shape is None or (not is_array(model) and model.type not in ("list", "tuple")):
        return UNCHANGED
    return _made(shape, dtype_of(model) if is_plain else None)


@RULES.function("numpy.eye", "numpy.identity")
def eye(operation: Operation) -> Answer:
    given = given_to(operation, "n, M=None, k=0, dtype=None, order=None, *, device=None, like=None")
    if given is None:
        return UNCHANGED
    rows = whole(given["n"])
    columns = rows if is_none(given.get("M")) else whole(given.get("M"))
    return array((rows, columns))


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


@RULES.function("numpy.linspace", "numpy.logspace", "numpy.geomspace")
def spaced(operation: Operation) -> Answer:
    given = given_to(operation, "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, base=10.0")
    if given is None or {"retstep", "axis"} & given.keys() or not is_number(given["start"]):
        return UNCHANGED
    if not is_number(given["stop"]):
        return UNCHANGED
    count = given.get("num")
    if count is not None and count.type in ("float", "numpy.float64"):
        operation.crash(
            "TypeError",
            "num must be an integer",
            fact=f"num is {count.literal!r}" if count.is_literal else f"num is a {count.type}",
            remedy="use int(...)",
        )
    return array((50 if count is None else whole(count),), None if "dtype" in given else "float64")


@RULES.function("numpy.meshgrid")
def meshgrid(operation: Operation) -> Answer:
    lines = operation.arguments.positional
    sizes = [size(shape) if (shape := taken_shape(line)) is not None else None for line in lines]
    if not operation.arguments.is_complete or operation.arguments.keywords or len(lines) != 2:
        return UNCHANGED
    shape = (sizes[1], sizes[0])
    return AbstractValue("tuple" if is_at_least(operation, "numpy", 2, 0) else "", items=[array(shape), array(shape)])


# Chance


@RULES.function("numpy.random.default_rng")
def generator(operation: Operation) -> Answer:
    return AbstractValue("numpy.random.Generator")


@RULES.function("numpy.random.RandomState")
def random_state(operation: Operation) -> Answer:
    return AbstractValue("numpy.random.RandomState")


@RULES.function("numpy.random.seed")
def seed(operation: Operation) -> Answer:
    return AbstractValue("NoneType", literal=None)


def _drawn(parameters: str, dtype: str) -> Rule:
    """Numbers drawn: as many as `size` says, one where parameters are numbers and no size is given."""

    def rule(operation: Operation) -> Answer:
        given = operation.arguments.bound(parameters)
        if given is None or "dtype" in given:
            return UNCHANGED
        if not is_none(given.get("size")):
            lengths = lengths_in(given["size"])
            return array(lengths, dtype) if lengths is not None else AbstractValue("numpy.ndarray")
        alone = all(is_number(value) for name, value in given.items() if name != "size")
        return scalar(None if dtype == "int64" else dtype) if alone else UNCHANGED

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
for _name in ("random_sample", "ranf", "sample"):
    RULES.function(f"numpy.random.{_name}")(_drawn("size=None", "float64"))


@RULES.function("numpy.random.rand", "numpy.random.randn")
@RULES.method("numpy.RandomState", "rand", "randn")
def rand(operation: Operation) -> Answer:
    given = operation.arguments
    if not given.is_complete or given.keywords:
        return UNCHANGED
    if any(value.type in ("tuple", "list") for value in given.positional):
        operation.crash(
            "TypeError",
            "the lengths must be separate arguments, not a tuple",
            fact=f"{operation.text} passes a {given.positional[0].type}",
            remedy="unpack it with *, or call numpy.random.random(...)",
        )
    if not given.positional:
        return AbstractValue("float")
    return array(tuple(whole(value) for value in given.positional), "float64")


@RULES.function("numpy.random.randint")
@RULES.method("numpy.RandomState", "randint")
@RULES.method("numpy.Generator", "integers")
def randint(operation: Operation) -> Answer:
    given = operation.arguments.bound("low, high=None, size=None, dtype=None, endpoint=False")
    if given is None or "dtype" in given or "endpoint" in given:
        return UNCHANGED
    _is_open(operation, given["low"], given.get("high"))
    if is_none(given.get("size")):
        return UNCHANGED
    lengths = lengths_in(given["size"])
    return array(lengths, "int64") if lengths is not None else AbstractValue("numpy.ndarray")


def _is_open(operation: Operation, low: AbstractValue, high: AbstractValue | None) -> None:
    """There is a number between the bounds."""
    least, beyond = (0, low.literal) if is_none(high) or high is None else (low.literal, high.literal)
    if type(least) is int and type(beyond) is int and least >= beyond:
        operation.crash(
            "ValueError",
            "low >= high" if high is not None else "high <= 0",
            fact=f"the bounds are {least} and {beyond}",
            remedy="the upper bound is exclusive: use a greater one",
        )


@RULES.function("numpy.random.choice")
@RULES.method("numpy.RandomState", "choice")
@RULES.method("numpy.Generator", "choice")
def choice(operation: Operation) -> Answer:
    given = operation.arguments.bound("a, size=None, replace=True, p=None, axis=0, shuffle=True")
    if given is None or "axis" in given:
        return UNCHANGED
    shape = taken_shape(given["a"])
    if shape is None:
        return UNCHANGED
    is_new = operation.receiver.class_name == "Generator"
    if len(shape) > 1 and not is_new:
        operation.crash(
            "ValueError",
            "a must be 1-dimensional",
            fact=describe(given["a"]),
            remedy="draw indices: choice(len(...), ...), and select those rows",
        )
    population = whole(given["a"]) if shape == () else shape[0]
    _is_enough(operation, given, population)
    if is_none(given.get("size")):
        return UNCHANGED
    lengths = lengths_in(given["size"])
    if lengths is None:
        return AbstractValue("numpy.ndarray")
    return array((*lengths, *shape[1:]), "int64" if shape == () else dtype_of(given["a"]))


def _is_enough(operation: Operation, given: dict[str, AbstractValue], population: int | None) -> None:
    """There is a probability for each item, and without replacement no more are drawn than there are."""
    chances = only_length(taken_shape(given.get("p", AbstractValue())))
    if population is None or population < 1:
        return
    if differ(chances, population):
        operation.crash(
            "ValueError",
            f"a and p must have same size: {chances} probabilities for {population} items",
            fact=describe(given["p"], "p"),
            remedy="pass one probability per item",
        )
    lengths = () if is_none(given.get("size")) else lengths_in(given.get("size"))
    wanted = size(lengths) if lengths is not None else None
    if literal_of(given.get("replace")) is False and wanted is not None and wanted > population:
        operation.crash(
            "ValueError",
            f"cannot take a larger sample than population when replace is False: {wanted} of {population}",
            fact=describe(given["a"], "the population") if shape_of(given["a"]) else f"the population is {population}",
            remedy="draw fewer, or use replace=True",
        )


@RULES.function("numpy.random.permutation")
@RULES.method("numpy.RandomState", "permutation")
@RULES.method("numpy.Generator", "permutation")
def permutation(operation: Operation) -> Answer:
    given = operation.arguments.bound("x, axis=0")
    shape = shape_of(given["x"]) if given is not None else None
    if given is None or shape is None:
        return UNCHANGED
    if shape == ():
        return array((whole(given["x"]),), "int64")
    known, _ = axis_in(given.get("axis"))
    return array(shape, dtype_of(given["x"])) if known else AbstractValue("numpy.ndarray")
