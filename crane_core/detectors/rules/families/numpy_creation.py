"""Arrays that NumPy makes: of literals, of lengths, of ranges, of chance; lists of which no array can be made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from crane_core.detectors.rules.families.numpy_things import (
    NUMBERS,
    array,
    axis_in,
    dtype_meant,
    dtype_of,
    given_to,
    is_array,
    is_none,
    is_number,
    is_ragged,
    lengths_in,
    scalar,
    shape_of,
    taken_shape,
    told,
    whole,
)
from crane_core.detectors.rules.families.versions import is_at_least
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.shapes import Shape, size
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing

RULES = Family("numpy: new arrays")
GENERATORS = ("numpy.Generator", "numpy.RandomState")
_LIKE = ("zeros_like", "ones_like", "empty_like", "full_like")


@RULES.function("numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray")
def of_something(site: Site) -> Thing | None:
    given = given_to(site, "object, dtype=None, *, copy=None, order=None, subok=False, ndmin=0, like=None")
    if given is None or "object" not in given or "ndmin" in given:
        return Thing()
    made_of, dtype = given["object"], given.get("dtype")
    if is_ragged(made_of) and is_none(dtype) and is_at_least(site, "numpy", 1, 24):
        site.crash(
            "ValueError",
            "setting an array element with a sequence: the parts of the list have different shapes",
            fact=f"{made_of.words or 'the list'} is ragged",
            remedy="give the parts the same shape, or keep them in a list",
        )
    shape = taken_shape(made_of)
    if shape is None:
        return Thing("numpy.ndarray") if made_of.type in ("list", "tuple", *NUMBERS) or is_array(made_of) else Thing()
    known = dtype_of(made_of) if is_none(dtype) else dtype_meant(dtype)
    return _whole_array(shape, known, made_of)


def _whole_array(shape: Shape, dtype: str | None, made_of: Thing) -> Thing:
    """Of shape () it is an array all the same, with no dimension."""
    values = made_of.literal if made_of.items is not None and len(shape) == 1 else NOT_KNOWN
    facts: dict[str, Any] = {"shape": shape, "dtype": dtype, "items": values if isinstance(values, list) else None}
    if isinstance(values, list) and values and all(type(value) in (int, float) for value in values):
        facts["value_range"] = [min(values), max(values)] if not any(value != value for value in values) else None
    if is_array(made_of):
        facts |= {name: made_of.fact(name) for name in ("value_range", "has_nan", "value_info", "items")}
        facts["view_of"] = made_of
    return Thing("numpy.ndarray", {name: fact for name, fact in facts.items() if fact is not None})


def _filled(dtype: str | None) -> Callable[[Site], Thing | None]:
    def rule(site: Site) -> Thing | None:
        given = given_to(site, "shape, dtype=None, order=None, *, device=None, like=None")
        if given is None or "shape" not in given:
            return Thing()
        if (second := given.get("dtype")) is not None and type(second.literal) is int:
            site.crash(
                "TypeError",
                "the second argument is the dtype; all lengths belong in the first argument",
                fact=f"the second argument is {second.literal}",
                remedy="put the lengths in parentheses: zeros((rows, columns))",
            )
        return _of_lengths(site, given["shape"], dtype if is_none(given.get("dtype")) else dtype_meant(given["dtype"]))

    return rule


def _of_lengths(site: Site, shape: Thing, dtype: str | None) -> Thing:
    """An array of this shape. A fraction or string is not a length."""
    if shape.type in ("float", "str") or any(item.type in ("float", "str") for item in shape.items or ()):
        site.crash(
            "TypeError",
            "a shape must consist of integers",
            fact=f"the shape is {shape.literal!r}" if shape.is_literal else f"the shape is a {shape.type}",
            remedy="convert it to integers: int(...), or use // instead of /",
        )
    lengths = lengths_in(shape)
    if lengths is not None and any(length is not None and length < 0 for length in lengths):
        site.crash(
            "ValueError",
            "negative dimensions are not allowed",
            fact=f"the shape is {shape.literal!r}",
            remedy="use a length of at least 0",
        )
    return Thing("numpy.ndarray") if lengths is None else _made(lengths, dtype)


def _made(lengths: Shape, dtype: str | None) -> Thing:
    facts = {"shape": lengths, "dtype": dtype}
    return Thing("numpy.ndarray", {name: fact for name, fact in facts.items() if fact is not None})


for _name in ("zeros", "ones", "empty"):
    RULES.function(f"numpy.{_name}")(_filled("float64"))


@RULES.function("numpy.full")
def full(site: Site) -> Thing | None:
    given = given_to(site, "shape, fill_value, dtype=None, order=None, *, device=None, like=None")
    if given is None or not {"shape", "fill_value"} <= given.keys():
        return Thing()
    value = given["fill_value"]
    dtype = dtype_of(value) if is_none(given.get("dtype")) and is_number(value) else dtype_meant(given.get("dtype"))
    return _of_lengths(site, given["shape"], dtype)


@RULES.function(*(f"numpy.{name}" for name in _LIKE))
def like(site: Site) -> Thing | None:
    if not site.arguments.is_complete or "shape" in site.arguments.keywords or not site.arguments.positional:
        return Thing()
    model = site.first
    shape = shape_of(model)
    is_plain = is_array(model) and not site.arguments.keywords and len(site.arguments.positional) == 1
    if shape is None or (not is_array(model) and model.type not in ("list", "tuple")):
        return Thing()
    return _made(shape, dtype_of(model) if is_plain else None)


@RULES.function("numpy.eye", "numpy.identity")
def eye(site: Site) -> Thing | None:
    given = given_to(site, "n, M=None, k=0, dtype=None, order=None, *, device=None, like=None")
    if given is None or "n" not in given:
        return Thing()
    rows = whole(given["n"])
    columns = rows if is_none(given.get("M")) else whole(given.get("M"))
    return array((rows, columns))


@RULES.function("numpy.arange")
def arange(site: Site) -> Thing | None:
    given = given_to(site, "start, stop=None, step=None, dtype=None, *, device=None, like=None")
    if given is None or "start" not in given:
        return Thing()
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
def spaced(site: Site) -> Thing | None:
    given = given_to(site, "start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, base=10.0")
    if given is None or not {"start", "stop"} <= given.keys() or "retstep" in given or "axis" in given:
        return Thing()
    if not all(is_number(given[name]) for name in ("start", "stop")):
        return Thing()
    count = given.get("num")
    if count is not None and count.type in ("float", "numpy.float64"):
        site.crash(
            "TypeError",
            "num must be an integer",
            fact=f"num is {count.literal!r}" if count.is_literal else f"num is a {count.type}",
            remedy="use int(...)",
        )
    return array((50 if count is None else whole(count),), None if "dtype" in given else "float64")


@RULES.function("numpy.meshgrid")
def meshgrid(site: Site) -> Thing | None:
    lines = site.arguments.positional
    sizes = [size(shape) if (shape := taken_shape(line)) is not None else None for line in lines]
    if not site.arguments.is_complete or site.arguments.keywords or len(lines) != 2:
        return Thing()
    shape = (sizes[1], sizes[0])
    return Thing("tuple" if is_at_least(site, "numpy", 2, 0) else "", items=[array(shape), array(shape)])


# Chance


@RULES.function("numpy.random.default_rng")
def generator(site: Site) -> Thing | None:
    return Thing("numpy.random.Generator")


@RULES.function("numpy.random.RandomState")
def random_state(site: Site) -> Thing | None:
    return Thing("numpy.random.RandomState")


@RULES.function("numpy.random.seed")
def seed(site: Site) -> Thing | None:
    return Thing("NoneType", literal=None)


def _drawn(parameters: str, dtype: str) -> Callable[[Site], Thing | None]:
    """Numbers drawn: as many as `size` says, one where parameters are numbers and no size is given."""

    def rule(site: Site) -> Thing | None:
        given = site.arguments.bound(parameters)
        if given is None or "dtype" in given:
            return Thing()
        if not is_none(given.get("size")):
            lengths = lengths_in(given["size"])
            return array(lengths, dtype) if lengths is not None else Thing("numpy.ndarray")
        alone = all(is_number(thing) for name, thing in given.items() if name != "size")
        return scalar(None if dtype == "int64" else dtype) if alone else Thing()

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
def rand(site: Site) -> Thing | None:
    given = site.arguments
    if not given.is_complete or given.keywords:
        return Thing()
    if any(thing.type in ("tuple", "list") for thing in given.positional):
        site.crash(
            "TypeError",
            "the lengths must be separate arguments, not a tuple",
            fact=f"{site.text} passes a {given.positional[0].type}",
            remedy="unpack it with *, or call numpy.random.random(...)",
        )
    return array(tuple(whole(thing) for thing in given.positional), "float64")


@RULES.function("numpy.random.randint")
@RULES.method("numpy.RandomState", "randint")
@RULES.method("numpy.Generator", "integers")
def randint(site: Site) -> Thing | None:
    given = site.arguments.bound("low, high=None, size=None, dtype=None, endpoint=False")
    if given is None or "low" not in given or "dtype" in given or "endpoint" in given:
        return Thing()
    _is_open(site, given["low"], given.get("high"))
    if is_none(given.get("size")):
        return Thing()
    lengths = lengths_in(given["size"])
    return array(lengths, "int64") if lengths is not None else Thing("numpy.ndarray")


def _is_open(site: Site, low: Thing, high: Thing | None) -> None:
    """There is a number between the bounds."""
    least, beyond = (0, low.literal) if is_none(high) or high is None else (low.literal, high.literal)
    if type(least) is int and type(beyond) is int and least >= beyond:
        site.crash(
            "ValueError",
            "low >= high" if high is not None else "high <= 0",
            fact=f"the bounds are {least} and {beyond}",
            remedy="the upper bound is exclusive: use a greater one",
        )


@RULES.function("numpy.random.choice")
@RULES.method("numpy.RandomState", "choice")
@RULES.method("numpy.Generator", "choice")
def choice(site: Site) -> Thing | None:
    given = site.arguments.bound("a, size=None, replace=True, p=None, axis=0, shuffle=True")
    if given is None or "a" not in given or "axis" in given:
        return Thing()
    shape = taken_shape(given["a"])
    if shape is None:
        return Thing()
    is_new = site.receiver is not None and site.receiver.class_name == "Generator"
    if len(shape) > 1 and not is_new:
        site.crash(
            "ValueError",
            "a must be 1-dimensional",
            fact=told(given["a"]),
            remedy="draw indices: choice(len(...), ...), and select those rows",
        )
    population = whole(given["a"]) if shape == () else shape[0]
    _is_enough(site, given, population)
    if is_none(given.get("size")):
        return Thing()
    lengths = lengths_in(given["size"])
    if lengths is None:
        return Thing("numpy.ndarray")
    return array((*lengths, *shape[1:]), "int64" if shape == () else dtype_of(given["a"]))


def _is_enough(site: Site, given: dict[str, Thing], population: int | None) -> None:
    lengths = lengths_in(given.get("size")) if not is_none(given.get("size")) else ()
    wanted = size(lengths) if lengths is not None else None
    chances = taken_shape(given["p"]) if not is_none(given.get("p")) else None
    if population is None or population < 1:
        return
    if chances is not None and len(chances) == 1 and chances[0] not in (None, population):
        site.crash(
            "ValueError",
            f"a and p must have same size: {chances[0]} probabilities for {population} items",
            fact=told(given["p"], "p"),
            remedy="pass one probability per item",
        )
    replace = given.get("replace")
    if wanted is not None and wanted > population and replace is not None and replace.literal is False:
        site.crash(
            "ValueError",
            f"cannot take a larger sample than population when replace is False: {wanted} of {population}",
            fact=told(given["a"], "the population") if shape_of(given["a"]) else f"the population is {population}",
            remedy="draw fewer, or use replace=True",
        )


@RULES.function("numpy.random.permutation")
@RULES.method("numpy.RandomState", "permutation")
@RULES.method("numpy.Generator", "permutation")
def permutation(site: Site) -> Thing | None:
    given = site.arguments.bound("x, axis=0")
    shape = shape_of(given["x"]) if given is not None and "x" in given else None
    if given is None or shape is None:
        return Thing()
    if shape == ():
        return array((whole(given["x"]),), "int64")
    known, _ = axis_in(given.get("axis"))
    return array(shape, dtype_of(given["x"])) if known else Thing("numpy.ndarray")
