"""Attributes and methods of Python's own types: those that do not exist, what they refuse, how containers change.

Knows the methods of this Python; those that came in later versions are passed over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial

from crane_core.detectors.rules.abstract_value import AbstractValue, all_known, known_facts, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    LONG_NUMBER,
    SAMPLES,
    SCALARS,
    UNHASHABLE,
    changed,
    elements_of,
    evaluated,
    known,
    length_of,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import is_beyond

RULES = Family("python: methods")
_OWN = (*SCALARS, "list", "tuple", "dict", "set", "frozenset", "range", "dict_keys", "dict_values", "dict_items")
_CAME_LATER = {"int": ("is_integer",), "float": ("from_number",), "bytes": ()}
_PURE_ON_TEXT = frozenset(
    name for name in dir(str) if not name.startswith("_") and name not in ("format", "format_map")
)
_NONE = "NoneType"


@RULES.attribute("*")
def attribute_that_is_not_there(operation: Operation) -> Answer:
    value = operation.receiver
    if value.type not in _OWN or value.path or value.attributes.get(operation.name):
        return UNKNOWN
    if operation.name in dir(SAMPLES[value.type]) or operation.name in _CAME_LATER.get(value.type, ()):
        return UNKNOWN
    what = "None" if value.type == _NONE else f"a {value.type}"
    operation.crash(
        "AttributeError",
        f"{what} has no attribute {operation.name}",
        fact=f"{words_of(value)} is {what}",
        remedy=_other_way(value.type, operation.name),
    )


def _other_way(type: str, name: str) -> str:
    ways = {
        ("list", "shape"): "Use len(...), or convert it to an array first.",
        ("tuple", "append"): "Convert it to a list first.",
        ("dict", "has_key"): "Use the `in` operator.",
        ("str", "decode"): "It is already a string: remove decode.",
        ("dict", "iteritems"): "Use items().",
        ("list", "add"): "Use append.",
        ("set", "append"): "Use add.",
        ("list", "values"): "It is already a list.",
    }
    return ways.get((type, name), "Use an attribute of this type, or assign the intended value.")


@RULES.set_attribute("*")
def attribute_that_cannot_be_set(operation: Operation) -> Answer:
    value = operation.receiver
    if value.type in _OWN and not value.path:
        operation.crash(
            "AttributeError",
            f"'{value.type}' object has no attribute '{operation.name}' and no __dict__ for setting it",
            fact=f"{words_of(value)} is a {value.type}",
            remedy="Use your own class, or a dict.",
        )
    return UNKNOWN


@cache
def _signature(type: str, name: str) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(SAMPLES[type], name))
    except (ValueError, TypeError, AttributeError):
        return None


@RULES.method("*")
def arguments_of_method(operation: Operation) -> Answer:
    """How many arguments a method takes, of Python's own types."""
    value = operation.receiver
    if value.type not in _OWN or value.path or not operation.arguments.is_complete:
        return UNKNOWN
    signature = _signature(value.type, operation.name)
    if signature is None:
        return UNKNOWN
    try:
        signature.bind(*operation.arguments.positional, **operation.arguments.keywords)
    except TypeError as error:
        operation.crash(
            "TypeError",
            f"{value.type}.{operation.name}: {error}",
            fact=f"its parameters are {signature}",
            remedy="Pass the arguments that it takes.",
        )
    return UNKNOWN


# Texts


@RULES.method("builtins.str")
def method_of_text(operation: Operation) -> Answer:
    """A text that is known: the method itself is asked."""
    value, arguments = operation.receiver, operation.arguments
    if operation.name == "join":
        _say_not_text(operation)
    if operation.name in ("format", "format_map"):
        return _formatted(operation)
    if operation.name not in _PURE_ON_TEXT or arguments.keywords or not arguments.is_complete:
        return UNKNOWN
    values = known([value, *arguments.positional])
    if values is None:
        return _by_name(operation.name)
    text, *others = values
    if (
        operation.name in ("ljust", "rjust", "center", "zfill", "expandtabs")
        and others
        and others[0] not in range(1000)
    ):
        return AbstractValue("str")
    return evaluated(
        operation,
        f"str.{operation.name}",
        lambda: getattr(text, operation.name)(*others),
        f"{words_of(value)} is {text[:60]!r}",
        "Check the string and the arguments.",
    )


def _by_name(name: str) -> AbstractValue:
    if name.startswith("is") or name in ("startswith", "endswith"):
        return AbstractValue("bool")
    if name in ("split", "rsplit", "splitlines"):
        return AbstractValue("list", {"item_types": {"str": 1}})
    if name in ("find", "rfind", "index", "rindex", "count"):
        return AbstractValue("int")
    if name in ("partition", "rpartition"):
        return AbstractValue("tuple", {"length": 3})
    return (
        AbstractValue("bytes")
        if name == "encode"
        else AbstractValue("dict")
        if name == "maketrans"
        else AbstractValue("str")
    )


def _say_not_text(operation: Operation) -> None:
    """ "".join of something that is not a string."""
    held = operation.first
    if held.type not in ("list", "tuple"):
        return
    for at, item in enumerate(elements_of(held) or ()):
        if item.type in SAMPLES and item.type != "str":
            operation.crash(
                "TypeError",
                f"sequence item {at}: expected str instance, {item.type} found",
                fact=f"{words_of(held, 'the list')} holds {words_of(item)}",
                remedy="Convert the items first: join(map(str, ...)).",
            )
    only = next(iter(held.item_types)) if len(held.item_types) == 1 and length_of(held) else "str"
    if only in SAMPLES and only != "str":
        operation.crash(
            "TypeError",
            f"sequence item 0: expected str instance, {only} found",
            fact=f"the items of {words_of(held, 'the list')} are of type {only}",
            remedy="Convert the items first: join(map(str, ...)).",
        )


def _formatted(operation: Operation) -> AbstractValue:
    """`"{} {}".format(...)` of values that are known."""
    arguments = operation.arguments
    values = known([operation.receiver, *arguments.positional, *arguments.keywords.values()])
    if values is None or not arguments.is_complete or operation.name != "format":
        return AbstractValue("str")
    text, *others = values
    named = dict(zip(arguments.keywords, others[len(arguments.positional) :], strict=True))
    if LONG_NUMBER.search(text):
        return AbstractValue("str")
    return evaluated(
        operation,
        "the string cannot be formatted",
        lambda: text.format(*others[: len(arguments.positional)], **named),
        f"the format is {text[:80]!r}",
        "Pass as many values as the format has placeholders.",
    )


# Lists


_OnContainer = Callable[[Operation, AbstractValue], Answer]


def _on(type: str, *names: str) -> Callable[[_OnContainer], _OnContainer]:
    """Registers what methods of a container do; it is given beside the operation."""

    def registered(rule: _OnContainer) -> _OnContainer:
        def on_container(operation: Operation) -> Answer:
            return rule(operation, operation.receiver)

        RULES.method(f"builtins.{type}", *names)(on_container)
        return rule

    return registered


_on_list, _on_dict = partial(_on, "list"), partial(_on, "dict")


@_on_list("append")
def _append(operation: Operation, row: AbstractValue) -> AbstractValue:
    length = length_of(row)
    items = None if row.items is None else [*row.items, operation.first]
    first = row.fact("first_items")
    types = row.fact("item_types")
    result = changed(row, items, None if length is None else length + 1)
    if items is None and first:
        row.facts["first_items"] = first
    if items is None and isinstance(types, dict) and set(types) == {operation.first.type}:
        row.facts["item_types"] = types
    return result


@_on_list("extend")
def _extend(operation: Operation, row: AbstractValue) -> AbstractValue:
    more = elements_of(operation.first)
    if operation.first.type in ("int", "float", "bool", _NONE):
        operation.crash(
            "TypeError",
            f"'{operation.first.type}' object is not iterable",
            fact=f"{words_of(operation.first)} is of type {operation.first.type}",
            remedy="Use append for one element.",
        )
    return changed(row, [*row.items, *more] if row.items is not None and more is not None else None)


@_on_list("insert")
def _insert(operation: Operation, row: AbstractValue) -> AbstractValue:
    at = operation.first.literal
    if row.items is None or not isinstance(at, int) or len(operation.arguments.positional) != 2:
        return changed(row)
    items = list(row.items)
    items.insert(at, operation.arguments.positional[1])
    return changed(row, items)


@_on_list("pop")
def _pop(operation: Operation, row: AbstractValue) -> AbstractValue:
    at = operation.first.literal if operation.arguments.positional else -1
    length = length_of(row)
    if isinstance(at, int) and is_beyond(at, length):
        operation.crash(
            "IndexError",
            f"pop index out of range: index {at}, length {length}",
            fact=f"{words_of(row, 'the list')} has {length} elements",
            remedy="Check first that it is not empty." if not length else "Use an index below its length.",
        )
    if row.items is None or not isinstance(at, int):
        changed(row, None, None if length is None else length - 1)
        return AbstractValue()
    items = list(row.items)
    taken = items.pop(at)
    changed(row, items)
    return taken


@_on_list("remove")
def _remove(operation: Operation, row: AbstractValue) -> AbstractValue:
    values, wanted = known(row.items) if row.items is not None else None, operation.first
    if values is None or not wanted.is_literal:
        length = length_of(row)
        return changed(row, None, None if length is None else length - 1)
    if wanted.literal not in values:
        operation.crash(
            "ValueError",
            f"{wanted.literal!r} is not in the list",
            fact=f"{words_of(row, 'the list')} holds {str(values)[:120]}",
            remedy="Check with `in` first.",
        )
    items = list(row.items or ())
    del items[values.index(wanted.literal)]
    return changed(row, items)


@_on_list("index")
def _index(operation: Operation, row: AbstractValue) -> AbstractValue:
    values = known(row.items) if row.items is not None else None
    if values is not None and operation.first.is_literal and len(operation.arguments.positional) == 1:
        wanted = operation.first.literal
        return evaluated(
            operation,
            "index of a list",
            lambda: values.index(wanted),
            f"it holds {str(values)[:120]}",
            "Check with `in` first.",
        )
    return AbstractValue("int")


@_on_list("sort")
def _sort(operation: Operation, row: AbstractValue) -> AbstractValue:
    values = known(row.items) if row.items is not None else None
    if "key" in operation.arguments.keywords or values is None:
        length = length_of(row)
        return changed(row, None, length)
    is_down = operation.arguments.keywords.get("reverse", literal(False)).literal
    ordered = evaluated(
        operation,
        "the list cannot be sorted",
        lambda: sorted(values),
        f"it holds {str(values)[:120]}",
        "Pass sort a key.",
    )
    return changed(
        row, list(reversed(ordered.items or ())) if is_down is True else ordered.items if is_down is False else None
    )


@_on_list("reverse")
def _reverse(operation: Operation, row: AbstractValue) -> AbstractValue:
    return changed(row, None if row.items is None else row.items[::-1], length_of(row))


@_on_list("clear")
def _clear(operation: Operation, row: AbstractValue) -> AbstractValue:
    return changed(row, [])


@_on_list("copy")
def _copy(operation: Operation, row: AbstractValue) -> AbstractValue:
    return AbstractValue("list", row.facts, items=row.items)


@_on_list("count")
def _count(operation: Operation, row: AbstractValue) -> AbstractValue:
    return AbstractValue("int")


# Dicts and sets


def _say_unhashable(operation: Operation) -> None:
    if operation.first.type in UNHASHABLE:
        operation.crash(
            "TypeError",
            f"unhashable type: {operation.first.type}",
            fact=f"the key is a {operation.first.type}",
            remedy="Use another key.",
        )


@_on_dict("copy")
def _copy_of_dict(operation: Operation, held: AbstractValue) -> AbstractValue:
    return AbstractValue("dict", held.facts, members=held.members)


@_on_dict("get")
def _get(operation: Operation, held: AbstractValue) -> Answer:
    _say_unhashable(operation)
    if held.members is None or not _is_plain(operation.first):
        return UNCHANGED
    default = (*operation.arguments.positional, AbstractValue(_NONE, literal=None))[1]
    return held.members.get(operation.first.literal, default)


def _is_plain(value: AbstractValue) -> bool:
    return value.is_literal and value.type in ("str", "int", "float", "bool", _NONE)


@_on_dict("keys", "values", "items")
def _view(operation: Operation, held: AbstractValue) -> AbstractValue:
    name = operation.name
    if held.members is None:
        return AbstractValue(f"dict_{name}", known_facts(length=length_of(held)))
    pairs = [(literal(key), value) for key, value in held.members.items()]
    items = {
        "keys": [key for key, _ in pairs],
        "values": [value for _, value in pairs],
        "items": [AbstractValue("tuple", items=pair) for pair in pairs],
    }
    return AbstractValue(f"dict_{name}", {"length": len(pairs)}, items=items[name])


@_on_dict("clear")
def _clear_of_dict(operation: Operation, held: AbstractValue) -> AbstractValue:
    held.forget()
    held.members = {}
    return AbstractValue(_NONE, literal=None)


@_on_dict("update")
def _update(operation: Operation, held: AbstractValue) -> AbstractValue:
    given = [each.members for each in operation.arguments.positional[:2]]
    parts = all_known([held.members, *given, operation.arguments.keywords])
    held.forget()
    if parts is not None and len(given) < 2 and operation.arguments.is_complete:
        held.members = {key: value for part in parts for key, value in part.items()}
    return AbstractValue(_NONE, literal=None)


@_on_dict("popitem")
def _popitem(operation: Operation, held: AbstractValue) -> AbstractValue:
    if held.members == {}:
        operation.crash(
            "KeyError",
            "the dict is empty",
            fact=f"{words_of(held, 'it')} is empty",
            remedy="Check first that it is not empty.",
        )
    held.forget()
    return AbstractValue()


@_on_dict("setdefault")
def _setdefault(operation: Operation, held: AbstractValue) -> AbstractValue:
    _say_unhashable(operation)
    held.forget()
    return AbstractValue()


@_on_dict("pop")
def _pop_of_dict(operation: Operation, held: AbstractValue) -> AbstractValue:
    _say_unhashable(operation)
    given, members, key = operation.arguments.positional, held.members, operation.first.literal
    if members is None or not _is_plain(operation.first):
        held.forget()
        return AbstractValue()
    if key not in members and len(given) == 1:
        operation.crash(
            "KeyError",
            f"{words_of(held, 'the dict')} has no key {key!r}",
            fact=f"its keys are {str(list(members))[:160]}",
            remedy="Pass pop a default, or use an existing key.",
        )
    held.forget()
    held.members = {known_key: value for known_key, value in members.items() if known_key != key}
    return members.get(key, (*given, AbstractValue())[1])


@RULES.method("builtins.set", "add", "remove", "discard", "update", "pop", "clear")
def method_of_set(operation: Operation) -> Answer:
    held = operation.receiver
    if operation.name in ("add", "remove") and operation.first.type in UNHASHABLE[:2]:
        operation.crash(
            "TypeError",
            f"unhashable type: {operation.first.type}",
            fact=f"the element is a {operation.first.type}",
            remedy="Use a tuple.",
        )
    if held.is_literal:
        _say_not_in_set(operation, held)
    held.forget()
    return UNCHANGED if operation.name == "pop" else AbstractValue(_NONE, literal=None)


def _say_not_in_set(operation: Operation, held: AbstractValue) -> None:
    if operation.name == "remove" and _is_plain(operation.first) and operation.first.literal not in held.literal:
        operation.crash(
            "KeyError",
            f"{operation.first.literal!r} is not in the set",
            fact=f"it holds {sorted(map(repr, held.literal))[:20]}",
            remedy="Use discard.",
        )
    if operation.name == "pop" and not held.literal:
        operation.crash(
            "KeyError",
            "the set is empty",
            fact=f"{words_of(held, 'it')} is empty",
            remedy="Check first that it is not empty.",
        )


@RULES.method("builtins.tuple", "count", "index")
def method_of_tuple(operation: Operation) -> Answer:
    values = known([operation.receiver, *operation.arguments.positional])
    if values is None:
        return AbstractValue("int")
    row, *others = values
    return evaluated(
        operation,
        f"{operation.name} of a tuple",
        lambda: getattr(row, operation.name)(*others),
        f"it is {str(row)[:120]}",
        "Check with `in` first.",
    )
