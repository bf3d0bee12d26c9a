"""Python's own functions: computed where all they are given is known, judged by types where those alone decide."""

from __future__ import annotations

import builtins
import inspect
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, all_known, known_facts, literal, restricted
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    FLOWING,
    NO_ITEMS,
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
from crane_core.detectors.rules.operation import Operation

RULES = Family("python: functions")
_EXACT = "abs round min max sum sorted int float str bool ord chr divmod pow hex bin oct repr any all len complex"
_COMPUTED = tuple(f"builtins.{name}" for name in _EXACT.split())
_NUMBERLESS = ("NoneType", "list", "tuple", "dict", "set", "range", "function", "slice", "dict_keys", "dict_values")
_UNSIZED = ("int", "float", "bool", "NoneType", "complex", "function", "zip", "enumerate", "map", "filter", "generator")
_NOT_ITERABLE = (*NO_ITEMS, "slice")
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
def arguments_of_builtin(operation: Operation) -> Answer:
    """How many arguments one of Python's functions takes."""
    path = operation.receiver.path
    signature = _signature(path)
    if signature is None or not operation.arguments.is_complete:
        return UNKNOWN
    try:
        signature.bind(*operation.arguments.positional, **operation.arguments.keywords)
    except TypeError as error:
        name = path.rpartition(".")[2]
        operation.crash(
            "TypeError",
            f"{name}(): {error}",
            fact=f"its parameters are {signature}",
            remedy="Pass the arguments that it takes.",
        )
    return UNKNOWN


@RULES.function(*_COMPUTED)
def computed(operation: Operation) -> Answer:
    """A function of values that are all known exactly."""
    name = operation.function_name
    _say_types(operation, name)
    values = known([*operation.arguments.positional, *operation.arguments.keywords.values()])
    if (
        values is None
        or not operation.arguments.is_complete
        or "key" in operation.arguments.keywords
        or _is_costly(name, values)
    ):
        return AbstractValue(_RESULTS.get(name, "")) if name in _RESULTS else _like(operation, name)
    named = dict(zip(operation.arguments.keywords, values[len(operation.arguments.positional) :], strict=True))
    function: Callable[..., Any] = getattr(builtins, name)
    return evaluated(
        operation,
        f"{name}()",
        lambda: function(*values[: len(operation.arguments.positional)], **named),
        f"it is called with {', '.join(str(value)[:60] for value in map(repr, values))}",
        "Check the value that is passed.",
    )


def _is_costly(name: str, values: list[Any]) -> bool:
    return name == "pow" and any(not isinstance(value, int) or abs(value) > 100 for value in values)


def _like(operation: Operation, name: str) -> Answer:
    if name == "sorted":
        value = operation.first
        length = length_of(value)
        types = value.fact("item_types")
        return AbstractValue("list", known_facts(length=length, item_types=types))
    return UNCHANGED


def _say_types(operation: Operation, name: str) -> None:
    """What a function refuses by type alone."""
    value = operation.first
    if not operation.arguments.positional or value.path:
        return
    if name == "len" and value.type in _UNSIZED:
        _refuse(
            operation,
            value,
            f"object of type '{value.type}' has no len()",
            "Convert it to a list first, or remove len.",
        )
    takes_number = name in ("int", "float", "abs", "round") and len(operation.arguments.positional) == 1
    if takes_number and value.type in _NUMBERLESS:
        _refuse(operation, value, f"{name}() takes a number, not {value.type}", "Pass one number.")
    if name in ("sum", "min", "max", "sorted", "any", "all") and len(operation.arguments.positional) == 1:
        _refuse_not_iterable(operation, value, "Pass a list, or several values.")
        _say_empty(operation, name, value)


def _say_empty(operation: Operation, name: str, value: AbstractValue) -> None:
    if name not in ("min", "max") or "default" in operation.arguments.keywords or value.type in FLOWING:
        return
    if length_of(value) == 0 and value.type in ("list", "tuple", "set", "dict", "str", "range", "dict_values"):
        operation.crash(
            "ValueError",
            f"{name}() iterable argument is empty",
            fact=f"{words_of(value, 'it')} is empty",
            remedy="Pass a default, or check first that it is not empty.",
        )


def _refuse_not_iterable(operation: Operation, value: AbstractValue, remedy: str) -> None:
    if value.type in _NOT_ITERABLE and not value.path:
        _refuse(operation, value, f"'{value.type}' object is not iterable", remedy)


def _refuse(operation: Operation, value: AbstractValue, why: str, remedy: str) -> None:
    operation.crash("TypeError", why, fact=f"{words_of(value)} is of type {value.type}", remedy=remedy)


@RULES.function("builtins.range")
def range_of(operation: Operation) -> Answer:
    for abstract in operation.arguments.positional:
        if abstract.type in ("float", "str", "NoneType", "list", "tuple", "dict") and not abstract.path:
            _refuse(
                operation,
                abstract,
                f"'{abstract.type}' object cannot be interpreted as an integer",
                "Use int(...), // or len(...).",
            )
    given = len(operation.arguments.positional)
    if operation.arguments.is_complete and not 1 <= given <= 3:
        operation.crash(
            "TypeError",
            "range expected 1 to 3 arguments",
            fact=f"{given} are given",
            remedy="Pass start, stop, step.",
        )
    values = known(operation.arguments.positional)
    if values is None or not {int, bool}.issuperset(map(type, values)) or not operation.arguments.is_complete:
        return AbstractValue("range")
    if values[2:] == [0]:
        operation.crash(
            "ValueError", "range() arg 3 must not be zero", fact="the step is 0", remedy="Use another step."
        )
    return range_thing(range(*values))


@RULES.function("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset")
def container_of(operation: Operation) -> Answer:
    name = operation.function_name
    if not operation.arguments.positional:
        return made(getattr(builtins, name)())
    abstract = operation.first
    _refuse_not_iterable(operation, abstract, f"Use [{words_of(abstract)}] for one element.")
    items = elements_of(abstract)
    if abstract.type in FLOWING:
        items = None if items is None else list(items)
        abstract.forget()
    if name in ("set", "frozenset"):
        values = None if items is None else known(items)
        is_plain = values is not None and all(isinstance(value, (str, int, float, bool)) for value in values)
        return literal(getattr(builtins, name)(values)) if is_plain else AbstractValue(name)
    return AbstractValue(name, _facts_of_items(abstract) if items is None else None, items=items)


def _facts_of_items(value: AbstractValue) -> dict[str, Any]:
    """What is known of elements of which not each is."""
    length = length_of(value) if value.type in SAMPLES and value.type not in FLOWING else None
    kept = ("first_items", "item_types") if value.type in ("list", "tuple") else ()
    return known_facts(length=length) | restricted(value.facts, kept)


@RULES.function("builtins.dict")
def dict_of(operation: Operation) -> Answer:
    positional, keywords = operation.arguments.positional, operation.arguments.keywords
    if not operation.arguments.is_complete:
        return AbstractValue("dict")
    if not positional:
        return AbstractValue("dict", members=keywords)
    if positional[0].type == "dict" and positional[0].members is not None:
        return AbstractValue("dict", members={**positional[0].members, **keywords})
    return AbstractValue("dict")


@RULES.function("builtins.zip", "builtins.enumerate", "builtins.reversed")
def flowing(operation: Operation) -> Answer:
    name = operation.function_name
    for value in operation.arguments.positional[: 1 if name != "zip" else None]:
        _refuse_not_iterable(operation, value, "Pass a list or another iterable.")
    firsts = [] if name == "reversed" else [operation.element(value) for value in _flowing(operation, name)]
    rows = [_taken(operation, value) for value in _flowing(operation, name)]
    known = all_known(rows)
    items = _all_of(operation, name, known) if known else None
    return _first_only(operation, name, firsts) if items is None else AbstractValue(name, items=items)


def _all_of(operation: Operation, name: str, rows: list[list[AbstractValue]]) -> list[AbstractValue] | None:
    """All that it gives, of elements that are all known."""
    if name == "reversed":
        return rows[0][::-1]
    if name == "zip":
        is_plain = not operation.arguments.keywords
        return [AbstractValue("tuple", items=parts) for parts in zip(*rows, strict=False)] if is_plain else None
    start = _start(operation).literal
    if not isinstance(start, int):
        return None
    return [AbstractValue("tuple", items=[literal(at), value]) for at, value in enumerate(rows[0], start)]


def _start(operation: Operation) -> AbstractValue:
    """The number that enumerate begins with."""
    positional = operation.arguments.positional
    return positional[1] if len(positional) > 1 else operation.arguments.keywords.get("start", literal(0))


def _flowing(operation: Operation, name: str) -> tuple[AbstractValue, ...]:
    return operation.arguments.positional if name == "zip" else operation.arguments.positional[:1]


def _first_only(operation: Operation, name: str, firsts: list[AbstractValue | None]) -> AbstractValue:
    """Of what is not known whole, the first element where there certainly is one."""
    if not firsts or any(first is None for first in firsts):
        return AbstractValue(name)
    parts = [first or AbstractValue() for first in firsts]
    if name == "enumerate":
        parts = [_start(operation), *parts]
    return AbstractValue(name, {"first_items": [AbstractValue("tuple", items=parts)]})


def _taken(operation: Operation, value: AbstractValue) -> list[AbstractValue] | None:
    items = operation.elements(value)
    return None if items is None or len(items) > 200 else list(items)


@RULES.function("builtins.isinstance")
def is_instance(operation: Operation) -> Answer:
    if len(operation.arguments.positional) != 2:
        return AbstractValue("bool")
    value, kind = operation.arguments.positional
    wanted = kind.path.removeprefix("builtins.")
    if (
        value.type in SAMPLES
        and kind.path.startswith("builtins.")
        and isinstance(getattr(builtins, wanted, None), type)
    ):
        return literal(isinstance(SAMPLES[value.type], getattr(builtins, wanted)))
    return AbstractValue("bool")


@RULES.function(
    "builtins.print", "builtins.id", "builtins.type", "builtins.hash", "builtins.callable", "builtins.format"
)
def harmless(operation: Operation) -> Answer:
    results = {
        "print": AbstractValue("NoneType", literal=None),
        "id": AbstractValue("int"),
        "hash": AbstractValue("int"),
    }
    if operation.function_name == "hash" and operation.first.type in ("list", "dict", "set"):
        _refuse(operation, operation.first, f"unhashable type: {operation.first.type}", "Use a tuple.")
    return results.get(operation.function_name, AbstractValue())


@RULES.function("math.sqrt", "math.log", "math.exp", "math.floor", "math.ceil", "math.log10", "math.log2", "math.sin")
def of_mathematics(operation: Operation) -> Answer:
    value = operation.first
    if value.type in (*_NUMBERLESS, "str") and operation.arguments.positional and not value.path:
        _refuse(
            operation, value, f"must be real number, not {value.type}", "Use the NumPy function, or pass one number."
        )
    values = known(operation.arguments.positional)
    name = operation.function_name
    if values is None or operation.arguments.keywords or not values or name == "exp":
        return (
            AbstractValue("int" if name in ("floor", "ceil") else "float")
            if value.type in ("int", "float")
            else UNCHANGED
        )
    function: Callable[..., Any] = getattr(math, name)
    fact = f"it is called with {values}"
    return evaluated(operation, f"math.{name}", lambda: function(*values), fact, "Check the value that is passed.")


# Iterating, truth and calls


@RULES.element("*")
def element(operation: Operation) -> Answer:
    value = operation.receiver
    if value.type in _NOT_ITERABLE and value.package == "builtins" and not value.path.startswith("numpy"):
        what = "None" if value.type == "NoneType" else f"of type {value.type}"
        _say = f"{words_of(value)} is {what}"
        remedy = "Use range(...)." if value.type == "int" else "Use an iterable instead."
        operation.crash("TypeError", f"'{value.type}' object is not iterable", fact=_say, remedy=remedy)
    return first_of(value) if value.type in SAMPLES or value.type in FLOWING else UNKNOWN


@RULES.other("elements", "*")
def elements(operation: Operation) -> Answer:
    value = operation.receiver
    if value.type not in SAMPLES and value.type not in FLOWING:
        return UNKNOWN
    items = elements_of(value)
    return UNKNOWN if items is None else AbstractValue("list", items=items)


@RULES.truth("*")
def truth(operation: Operation) -> Answer:
    value = operation.receiver
    if value.type in ("list", "tuple", "dict", "str", "set", "range", "frozenset"):
        length = length_of(value)
        return UNKNOWN if length is None else literal(length > 0)
    return UNKNOWN


@RULES.method("*", "__call__")
def call_of_no_function(operation: Operation) -> Answer:
    value = operation.receiver
    types = ("int", "float", "bool", "str", "list", "tuple", "dict", "set", "NoneType", "bytes", "range", "complex")
    is_module = value.type == "module" and bool(value.facts)
    is_data = value.class_name in _DATA.get(value.package, ())
    if (value.type in types or is_data) and not value.path or is_module:
        operation.crash(
            "TypeError",
            f"'{value.type}' object is not callable",
            fact=f"{words_of(value)} is {_describe(value)}",
            remedy=_instead(value),
        )
    return UNKNOWN


def _describe(value: AbstractValue) -> str:
    return "None" if value.type == "NoneType" else f"a {value.type}"


def _instead(value: AbstractValue) -> str:
    if value.type == "module":
        return f"Call a function of the module: {value.words}.name(...)."
    if value.type in ("list", "dict", "tuple") or value.class_name in ("ndarray", "DataFrame", "Series", "Tensor"):
        return "Use square brackets for its items."
    return "The name was reassigned and no longer refers to the function: restart the kernel, or `del` it first."
