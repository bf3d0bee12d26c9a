"""Operands as they are sent: plain values as they are, objects of libraries as facts, made again with one of the fills.

Knows the form of what is sent. What an object of a library is, is in for_<package>.py.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Mapping

from ..crane_probe.limits import LookLimits  # noqa: TID252 - the worker finds both packages under another name
from ..crane_probe.looking import Look  # noqa: TID252

FILLS = range(3)
"""Each operation is tried with so many contents of its operands: none (zero, false), ones, and all different."""
LAST_FILL = FILLS[-1]
# Some 30 MB of numbers: several operands fit into the worker's memory.
MOST_ELEMENTS = 4_000_000
MOST_MESSAGE = 1_000
# For a number of which only the type is known.
_ANY = {"int": (0, 1, 2), "float": (0.0, 1.0, 2.5), "bool": (False, True, True)}
# Small, as a result is looked at for its schema alone.
_READ = LookLimits(variable_steps=2_000_000, nodes=8, depth=1)


class NotMadeError(Exception):
    """There is no surrogate of this."""


def no_name(name: str) -> Any:
    """Raises NotMadeError: what the file of a library says of which no name is an operand."""
    raise NotMadeError(name)


def nothing_told(_value: Any) -> dict[str, Any]:
    """No facts: what the file of a library says of which no object is stated, as it is tried with known values."""
    return {}


def refusal(error: Exception) -> dict[str, Any]:
    """What is reported of an operation that raises: {"raised", "message"}."""
    return {
        "raised": type(error).__name__,
        "message": str(error)[:MOST_MESSAGE],
    }


def made(told: Mapping[str, Any], fill: int) -> Any:
    """The operand; raises NotMadeError if no surrogate has its facts."""
    # Exactly one form per operand: two would be a mistake of the sender.
    [(form, held)] = told.items()
    if form == "is":
        return held
    if form == "any":
        return _ANY[held][fill]
    if form in _WITHOUT_PARTS:
        return _WITHOUT_PARTS[form](held)
    if form in _OF_PARTS:
        return _OF_PARTS[form]([made(part, fill) for part in held])
    if form == "dict":
        return {made(key, fill): made(value, fill) for key, value in held}
    if form == "facts":
        return library_of(held["type"].partition(".")[0]).make(held, fill)
    raise NotMadeError(form)


_PLAIN = {
    each.__name__: each
    for each in (
        int,
        float,
        bool,
        complex,
        str,
        object,
        bytes,
        list,
        tuple,
        dict,
        set,
    )
}


def _range(parts: Any) -> range:
    found = range(*parts)
    # len() of a range is free, its elements are not.
    if len(found) > MOST_ELEMENTS:
        raise NotMadeError("a range of so many numbers")
    return found


_OF_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "slice": lambda parts: slice(*parts),
    "range": _range,
}


def _named(path: str) -> Any:
    """A type or constant by its public name."""
    package, _, name = path.partition(".")
    if package == "builtins" and name in _PLAIN:
        return _PLAIN[name]
    return library_of(package).named(name)


_WITHOUT_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "named": _named,
    "complex": lambda parts: complex(*parts),
    "ellipsis": lambda _: Ellipsis,
}


def library_of(package: str) -> Any:
    """The file of a package; raises NotMadeError if there is none, or where the package is not installed."""
    try:
        return importlib.import_module(f"{__package__}.for_{package}")
    # Not installed here, or without a file: in both cases there is no surrogate.
    except ImportError:
        raise NotMadeError(package) from None


def seen(value: Any, limits: LookLimits = _READ) -> dict[str, Any]:
    """What the probe's own summarizer tells of a value, with its groups put together."""
    entry = Look(limits, {}).summary(value)
    plus = entry.get("plus", {})
    facts = {}
    for group in ("structure", "representation", "values"):
        facts.update(entry.get(group, {}))
        facts.update(plus.get(group, {}))
    return dict(facts, type=entry["type"])
