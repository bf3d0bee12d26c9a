"""Python's own functions: computed where all they are given is known, judged by types where those alone decide."""

from __future__ import annotations

import builtins
import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from crane_core.detectors.rules.families.python_values import (
    FLOWING,
    SAMPLES,
    elements_of,
    evaluated,
    first_of,
    known,
    length_of,
    made,
    range_thing,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

RULES = Family("python: functions")
_EXACT = "abs round min max sum sorted int float str bool ord chr divmod pow hex bin oct repr any all len complex"
_COMPUTED = tuple(f"builtins.{name}" for name in _EXACT.split())
_NUMBERLESS = ("NoneType", "list", "tuple", "dict", "set", "range", "function", "slice", "dict_keys", "dict_values")
_UNSIZED = ("int", "float", "bool", "NoneType", "complex", "function", "zip", "enumerate", "map", "filter", "generator")
_NOT_ITERABLE = (
    "int",
    "float",
    "bool",
    "NoneType",
    "complex",
    "function",
    "builtin_function_or_method",
    "slice",
    "method",
)
_DATA = {
    "numpy": ("ndarray", "float64", "float32", "int64", "int32", "bool", "bool_", "str_"),
    "pandas": ("DataFrame", "Series", "Index", "RangeIndex", "Timestamp"),
    "torch": ("Tensor",),
    "tensorflow": ("EagerTensor",),
}
"""Values of libraries that no one can call."""
_RESULTS = {"int": "int", "float": "float", "str": "str", "bool": "bool", "repr": "str", "len": "int", "ord": "int"}


@cache
def _signature(path: str) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(builtins, path.rpartition(".")[2]))
    except (ValueError, TypeError, AttributeError):
        return None


@RULES.function(*(f"builtins.{name}" for name in dir(builtins) if name[0].islower()))
def arguments_of_builtin(site: Site) -> Thing | None:
    """How many arguments one of Python's functions takes."""
    path = site.receiver.path if site.receiver is not None else ""
    signature = _signature(path)
    if signature is None or not site.arguments.is_complete:
        return None
    try:
        signature.bind(*site.arguments.positional, **site.arguments.keywords)
    except TypeError as error:
        name = path.rpartition(".")[2]
        site.crash(
            "TypeError",
            f"{name}(): {error}",
            fact=f"its parameters are {signature}",
            remedy="Pass the arguments that it takes.",
        )
    return None


@RULES.function(*_COMPUTED)
def computed(site: Site) -> Thing | None:
    """A function of values that are all known exactly."""
    name = _name(site)
    _say_types(site, name)
    values = known([*site.arguments.positional, *site.arguments.keywords.values()])
    if values is None or not site.arguments.is_complete or "key" in site.arguments.keywords or _is_costly(name, values):
        return Thing(_RESULTS.get(name, "")) if name in _RESULTS else _like(site, name)
    named = dict(zip(site.arguments.keywords, values[len(site.arguments.positional) :], strict=True))
    function: Callable[..., Any] = getattr(builtins, name)
    return evaluated(
        site,
        f"{name}()",
        lambda: function(*values[: len(site.arguments.positional)], **named),
        f"it is called with {', '.join(str(value)[:60] for value in map(repr, values))}",
        "Check the value that is passed.",
    )


def _name(site: Site) -> str:
    return site.receiver.path.rpartition(".")[2] if site.receiver is not None else ""


def _is_costly(name: str, values: list[Any]) -> bool:
    return name == "pow" and any(not isinstance(value, int) or abs(value) > 100 for value in values)


def _like(site: Site, name: str) -> Thing | None:
    if name == "sorted":
        thing = site.first
        length = length_of(thing)
        types = thing.fact("item_types")
        return Thing(
            "list", {key: fact for key, fact in (("length", length), ("item_types", types)) if fact is not None}
        )
    return Thing()


def _say_types(site: Site, name: str) -> None:
    """What a function refuses by type alone."""
    thing = site.first
    if not site.arguments.positional:
        return
    if name == "len" and thing.type in _UNSIZED and not thing.path:
        _refuse(
            site, thing, f"object of type '{thing.type}' has no len()", "Convert it to a list first, or remove len."
        )
    takes_number = name in ("int", "float", "abs", "round") and len(site.arguments.positional) == 1
    if takes_number and thing.type in _NUMBERLESS and not thing.path:
        _refuse(site, thing, f"{name}() takes a number, not {thing.type}", "Pass one number.")
    if name in ("sum", "min", "max", "sorted", "any", "all") and len(site.arguments.positional) == 1:
        if thing.type in _NOT_ITERABLE and not thing.path:
            _refuse(site, thing, f"'{thing.type}' object is not iterable", "Pass a list, or several values.")
        _say_empty(site, name, thing)


def _say_empty(site: Site, name: str, thing: Thing) -> None:
    if name not in ("min", "max") or "default" in site.arguments.keywords or thing.type in FLOWING:
        return
    if length_of(thing) == 0 and thing.type in ("list", "tuple", "set", "dict", "str", "range", "dict_values"):
        site.crash(
            "ValueError",
            f"{name}() iterable argument is empty",
            fact=f"{words_of(thing, 'it')} is empty",
            remedy="Pass a default, or check first that it is not empty.",
        )


def _refuse(site: Site, thing: Thing, why: str, remedy: str) -> None:
    site.crash("TypeError", why, fact=f"{words_of(thing)} is of type {thing.type}", remedy=remedy)


@RULES.function("builtins.range")
def range_of(site: Site) -> Thing | None:
    for thing in site.arguments.positional:
        if thing.type in ("float", "str", "NoneType", "list", "tuple", "dict") and not thing.path:
            _refuse(
                site,
                thing,
                f"'{thing.type}' object cannot be interpreted as an integer",
                "Use int(...), // or len(...).",
            )
    given = len(site.arguments.positional)
    if site.arguments.is_complete and not 1 <= given <= 3:
        site.crash(
            "TypeError",
            "range expected 1 to 3 arguments",
            fact=f"{given} are given",
            remedy="Pass start, stop, step.",
        )
    values = known(site.arguments.positional)
    if values is None or not all(isinstance(value, int) for value in values) or not site.arguments.is_complete:
        return Thing("range")
    if len(values) == 3 and values[2] == 0:
        site.crash("ValueError", "range() arg 3 must not be zero", fact="the step is 0", remedy="Use another step.")
    return range_thing(range(*values))


@RULES.function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset")
def container_of(site: Site) -> Thing | None:
    name = _name(site)
    if not site.arguments.positional:
        return made(getattr(builtins, name)())
    thing = site.first
    if thing.type in _NOT_ITERABLE and not thing.path:
        _refuse(site, thing, f"'{thing.type}' object is not iterable", f"Use [{words_of(thing)}] for one element.")
    items = elements_of(thing)
    if thing.type in FLOWING:
        items = None if items is None else list(items)
        thing.forget()
    if name in ("set", "frozenset"):
        values = None if items is None else known(items)
        is_plain = values is not None and all(isinstance(value, (str, int, float, bool)) for value in values)
        return literal(getattr(builtins, name)(values)) if is_plain else Thing(name)
    made_of = Thing(name, items=items)
    if items is None:
        length = length_of(thing) if thing.type in SAMPLES and thing.type not in FLOWING else None
        made_of.facts.update({} if length is None else {"length": length})
        if thing.type in ("list", "tuple"):
            made_of.facts.update({key: thing.facts[key] for key in ("first_items", "item_types") if key in thing.facts})
    return made_of


@RULES.function("builtins.dict")
def dict_of(site: Site) -> Thing | None:
    positional, keywords = site.arguments.positional, site.arguments.keywords
    if not site.arguments.is_complete:
        return Thing("dict")
    if not positional:
        return Thing("dict", members=keywords)
    if positional[0].type == "dict" and positional[0].members is not None:
        return Thing("dict", members={**positional[0].members, **keywords})
    return Thing("dict")


@RULES.function("builtins.zip", "builtins.enumerate", "builtins.reversed")
def flowing(site: Site) -> Thing | None:
    name = _name(site)
    for thing in site.arguments.positional[: 1 if name != "zip" else None]:
        if thing.type in _NOT_ITERABLE and not thing.path:
            _refuse(site, thing, f"'{thing.type}' object is not iterable", "Pass a list or another iterable.")
    firsts = [] if name == "reversed" else [site.element(thing) for thing in _flowing(site, name)]
    rows = [_taken(site, thing) for thing in _flowing(site, name)]
    if name == "zip" and rows and all(row is not None for row in rows) and not site.arguments.keywords:
        return Thing(
            "zip", items=[Thing("tuple", items=parts) for parts in zip(*(row or [] for row in rows), strict=False)]
        )
    if name == "enumerate" and rows and rows[0] is not None:
        start = site.arguments.keywords.get(
            "start", site.arguments.positional[1] if len(rows) > 1 else literal(0)
        ).literal
        if isinstance(start, int):
            return Thing(
                "enumerate",
                items=[Thing("tuple", items=[literal(at), thing]) for at, thing in enumerate(rows[0], start)],
            )
    if name == "reversed" and rows and rows[0] is not None:
        return Thing("reversed", items=rows[0][::-1])
    return _first_only(site, name, firsts)


def _flowing(site: Site, name: str) -> tuple[Thing, ...]:
    return site.arguments.positional if name == "zip" else site.arguments.positional[:1]


def _first_only(site: Site, name: str, firsts: list[Thing | None]) -> Thing:
    """Of what is not known whole, the first element where there certainly is one."""
    if not firsts or any(first is None for first in firsts):
        return Thing(name)
    parts = [first or Thing() for first in firsts]
    if name == "enumerate":
        start = site.arguments.keywords.get("start", literal(0)) if len(site.arguments.positional) < 2 else Thing("int")
        parts = [start, *parts]
    return Thing(name, {"first_items": [Thing("tuple", items=parts)]})


def _taken(site: Site, thing: Thing) -> list[Thing] | None:
    items = site.elements(thing)
    return None if items is None or len(items) > 200 else list(items)


@RULES.function("builtins.isinstance")
def is_instance(site: Site) -> Thing | None:
    if len(site.arguments.positional) != 2:
        return Thing("bool")
    thing, kind = site.arguments.positional
    wanted = kind.path.removeprefix("builtins.")
    if (
        thing.type in SAMPLES
        and kind.path.startswith("builtins.")
        and isinstance(getattr(builtins, wanted, None), type)
    ):
        return literal(isinstance(SAMPLES[thing.type], getattr(builtins, wanted)))
    return Thing("bool")


@RULES.function(
    "builtins.print", "builtins.id", "builtins.type", "builtins.hash", "builtins.callable", "builtins.format"
)
def harmless(site: Site) -> Thing | None:
    results = {"print": Thing("NoneType", literal=None), "id": Thing("int"), "hash": Thing("int")}
    if _name(site) == "hash" and site.first.type in ("list", "dict", "set"):
        _refuse(site, site.first, f"unhashable type: {site.first.type}", "Use a tuple.")
    return results.get(_name(site), Thing())


@RULES.function("math.sqrt", "math.log", "math.exp", "math.floor", "math.ceil", "math.log10", "math.log2", "math.sin")
def of_mathematics(site: Site) -> Thing | None:
    thing = site.first
    if thing.type in (*_NUMBERLESS, "str") and site.arguments.positional and not thing.path:
        _refuse(site, thing, f"must be real number, not {thing.type}", "Use the NumPy function, or pass one number.")
    values = known(site.arguments.positional)
    name = _name(site)
    if values is None or site.arguments.keywords or not values or name == "exp":
        return Thing("int" if name in ("floor", "ceil") else "float") if thing.type in ("int", "float") else Thing()
    function: Callable[..., Any] = getattr(math, name)
    fact = f"it is called with {values}"
    return evaluated(site, f"math.{name}", lambda: function(*values), fact, "Check the value that is passed.")


# Iterating, truth and calls


@RULES.element("*")
def element(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if thing.type in _NOT_ITERABLE and thing.package == "builtins" and not thing.path.startswith("numpy"):
        what = "None" if thing.type == "NoneType" else f"of type {thing.type}"
        _say = f"{words_of(thing)} is {what}"
        remedy = "Use range(...)." if thing.type == "int" else "Use an iterable instead."
        site.crash("TypeError", f"'{thing.type}' object is not iterable", fact=_say, remedy=remedy)
    return first_of(thing) if thing.type in SAMPLES or thing.type in FLOWING else None


@RULES.other("elements", "*")
def elements(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if thing.type not in SAMPLES and thing.type not in FLOWING:
        return None
    items = elements_of(thing)
    return None if items is None else Thing("list", items=items)


@RULES.truth("*")
def truth(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if thing.type in ("list", "tuple", "dict", "str", "set", "range", "frozenset"):
        length = length_of(thing)
        return None if length is None else literal(length > 0)
    return None


@RULES.method("*", "__call__")
def call_of_no_function(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    types = ("int", "float", "bool", "str", "list", "tuple", "dict", "set", "NoneType", "bytes", "range", "complex")
    is_module = thing.type == "module" and bool(thing.facts)
    is_data = thing.class_name in _DATA.get(thing.package, ())
    if (thing.type in types or is_data) and not thing.path or is_module:
        site.crash(
            "TypeError",
            f"'{thing.type}' object is not callable",
            fact=f"{words_of(thing)} is {_told(thing)}",
            remedy=_instead(thing),
        )
    return None


def _told(thing: Thing) -> str:
    return "None" if thing.type == "NoneType" else f"a {thing.type}"


def _instead(thing: Thing) -> str:
    if thing.type == "module":
        return f"Call a function of the module: {thing.words}.name(...)."
    if thing.type in ("list", "dict", "tuple") or thing.class_name in ("ndarray", "DataFrame", "Series", "Tensor"):
        return "Use square brackets for its items."
    return "The name was reassigned and no longer refers to the function: restart the kernel, or `del` it first."
