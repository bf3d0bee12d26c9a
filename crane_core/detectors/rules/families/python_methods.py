"""Attributes and methods of Python's own types: those that do not exist, what they refuse, how containers change.

Knows the methods of this Python; those that came in later versions are passed over.
"""

import re
from functools import partial
from typing import Any

from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    all_known,
    known_facts,
    literal,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    LONG_NUMBER,
    SAMPLES,
    by_types,
    changed,
    elements_of,
    forget_views,
    known,
    length_of,
    refuse,
    tried,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation, is_before

RULES = Family("python: methods")
# Functions take new attributes: a decorator may set calls = 0 on them.
_MAY_HAVE_ANY = ("function", "method")
# int.is_integer came with Python 3.12, from_number with 3.14: the kernel's may be newer.
_CAME_LATER = ("is_integer", "from_number")
# format_map is left out: it calls __getitem__ of any mapping, which may be code of the notebook.
_PURE_ON_TEXT = tuple(
    name
    for name in dir(str)
    if not name.startswith("_") and name != "format_map"
)
_GIVES_TEXT = ("format", "join", "replace", "strip", "lstrip", "rstrip")
# "{:>{}}".format("a", 10**11) would fill the memory of this process.
_FIELD_IN_FIELD = re.compile(r"\{[^{}]*:[^{}]*\{")
_PADDING = ("ljust", "rjust", "center", "zfill", "expandtabs")
_OF_DICT = (
    "get",
    "keys",
    "values",
    "items",
    "clear",
    "update",
    "popitem",
    "setdefault",
    "pop",
    "copy",
)
_NONE = "NoneType"
_ERRORS = (TypeError, ValueError, LookupError)


@RULES.attribute("*")
def attribute_that_is_not_there(operation: Operation) -> Answer:
    """Raises Crash for a name that no value of the type has."""
    value, name = operation.receiver, operation.name
    may_be_there = (
        value.type in _MAY_HAVE_ANY
        or value.attributes.get(name)
        or name in _CAME_LATER
    )
    if not may_be_there and not value.path:
        by_types(operation, lambda held: getattr(held, name), [value])
    return UNKNOWN


@RULES.set_attribute("*")
def attribute_that_cannot_be_set(operation: Operation) -> Answer:
    """Raises Crash for a type whose values take no new attributes."""
    value = operation.receiver
    if value.type not in _MAY_HAVE_ANY and not value.path:
        by_types(
            operation, lambda held: setattr(held, operation.name, None), [value]
        )
    return UNKNOWN


# Texts


@RULES.method("builtins.str", *_PURE_ON_TEXT)
def method_of_text(operation: Operation) -> Answer:
    """The method itself is tried, on the text if it is known, else of samples."""
    name, given, names = (
        operation.name,
        operation.arguments.positional,
        list(operation.arguments.keywords),
    )
    operands = [
        operation.receiver,
        *given,
        *operation.arguments.keywords.values(),
    ]
    if name == "join":
        _refuse_join(operation)
    if not operation.arguments.is_complete:
        return UNKNOWN
    # Since Python 3.12 any object decides whether the ends of lines are kept, before only a number.
    if name == "splitlines" and not is_before(operation, "python", 3, 12):
        return AbstractValue("list", {"item_types": {"str": 1}})
    # `text.center(10**11)` would fill the memory here, and not raise in the notebook.
    if _may_be_long(operation, operands):
        return AbstractValue("str")
    found = tried(operation, partial(_call_of_text, name, names), operands)
    # A codec or handler of errors that Python does not know may be code of the notebook.
    if name == "encode" and (found is UNKNOWN or known(operands[1:]) is None):
        return UNKNOWN
    # How many parts an unknown text has is open; that they are texts is not.
    if known(operands) is None and name in ("split", "rsplit", "splitlines"):
        return AbstractValue("list", {"item_types": {"str": 1}})
    if found is UNKNOWN:
        return AbstractValue("str") if name in _GIVES_TEXT else UNCHANGED
    return found


def _call_of_text(name: str, names: list[str], text: str, *values: Any) -> Any:
    n_positional = len(values) - len(names)
    return getattr(text, name)(
        *values[:n_positional],
        **dict(zip(names, values[n_positional:], strict=True)),
    )


def _may_be_long(operation: Operation, operands: list[AbstractValue]) -> bool:
    """Padding to a large width; a format that is not known, or has a large width, or one that is among its values."""
    if operation.name in _PADDING:
        return any(each.literal not in range(1000) for each in operands[1:2])
    text = operation.receiver.literal
    is_known = (
        isinstance(text, str)
        and not _FIELD_IN_FIELD.search(text)
        and LONG_NUMBER.search(text) is None
    )
    return operation.name == "format" and not is_known


def _refuse_join(operation: Operation) -> None:
    """ "".join of something that is not a string."""
    held = operation.first
    types = (
        [item.type for item in elements_of(held) or ()]
        if held.type in ("list", "tuple")
        else []
    )
    # "".join([]) is fine whatever the items would be, so there must be one.
    if not types and len(held.item_types) == 1 and length_of(held):
        types = list(held.item_types)
    for at, kind in enumerate(types):
        if kind in SAMPLES and kind != "str":
            refuse(
                operation,
                TypeError(
                    f"sequence item {at}: expected str instance, {kind} found"
                ),
                [held],
            )


# Lists


@RULES.method(
    "builtins.list",
    "append",
    "extend",
    "insert",
    "pop",
    "reverse",
    "clear",
    "copy",
)
def method_of_list(operation: Operation) -> Answer:
    """What looks at no element: the method itself changes a list of abstract values."""
    row, name = operation.receiver, operation.name
    if name != "copy":
        forget_views(operation)
    if name == "extend":
        by_types(operation, iter, [operation.first])
    given = (
        _given_to_list(operation) if operation.arguments.is_complete else None
    )
    if row.items is None or given is None:
        return _of_unknown(row, name)
    items = list(row.items)
    try:
        gave = getattr(items, name)(*given)
    except _ERRORS as error:
        return refuse(operation, error, [row])
    if name == "copy":
        # A copy holds the same objects: a change of `b[0]` is seen in `a[0]`.
        return AbstractValue("list", row.facts, items=items)
    changed(row, items)
    return gave if gave is not None else AbstractValue(_NONE, literal=None)


@RULES.method("builtins.list", "remove", "index", "count", "sort")
@RULES.method("builtins.set", "add", "remove", "discard")
def method_on_values(operation: Operation) -> Answer:
    """What compares or hashes elements: tried on a copy where all values are known."""
    row, name, given = (
        operation.receiver,
        operation.name,
        operation.arguments.positional,
    )
    if name not in ("index", "count"):
        forget_views(operation)
    items = (
        [literal(each) for each in row.literal]
        if isinstance(row.literal, set)
        else row.items
    )
    # sort(key=...) runs a function of the notebook on each element.
    values = (
        None
        if operation.arguments.keywords or items is None
        else known([*items, *given])
    )
    if not operation.arguments.is_complete or values is None or items is None:
        return (
            AbstractValue("int")
            if name in ("index", "count")
            else _of_unknown(row, name)
        )
    held = (
        set(values[: len(items)]) if row.type == "set" else values[: len(items)]
    )
    try:
        gave = getattr(held, name)(*values[len(items) :])
    except _ERRORS as error:
        return refuse(operation, error, [row, *given])
    if name not in ("index", "count"):
        changed(row, [literal(each) for each in held])
        row.literal = held if isinstance(held, set) else NOT_KNOWN
    return literal(gave)


def _given_to_list(operation: Operation) -> list[Any] | None:
    """The arguments as the method takes them: numbers as they are, elements as abstract values. None if not known."""
    given, name = list(operation.arguments.positional), operation.name
    if name == "extend":
        return (
            [elements_of(operation.first)]
            if elements_of(operation.first) is not None
            else None
        )
    if name in ("insert", "pop") and given:
        return (
            [given[0].literal, *given[1:]]
            if isinstance(given[0].literal, int)
            else None
        )
    return given


def _of_unknown(held: AbstractValue, name: str) -> Answer:
    """The result of a method on a list or dict of which too little is known; it may have changed it."""
    if name in ("keys", "values", "items"):
        return AbstractValue(
            f"dict_{name}", known_facts(length=length_of(held))
        )
    if name == "copy":
        return AbstractValue(held.type, held.facts)
    if name == "get":
        return UNCHANGED
    held.forget()
    return (
        AbstractValue()
        if name in ("pop", "popitem", "setdefault")
        else AbstractValue(_NONE, literal=None)
    )


# Dicts


@RULES.method("builtins.dict", *_OF_DICT)
def method_of_dict(operation: Operation) -> Answer:
    """The method itself is tried on the members, which are known by their keys."""
    held, name, arguments = (
        operation.receiver,
        operation.name,
        operation.arguments,
    )
    if name not in ("get", "keys", "values", "items", "copy"):
        forget_views(operation)
    # A key that cannot be hashed is refused before the dict is looked at.
    takes_key = name in ("get", "pop", "setdefault")
    if takes_key and arguments.positional:
        by_types(operation, hash, [operation.first])
    given = _given_to_dict(operation) if arguments.is_complete else None
    if held.members is None or given is None:
        return _of_unknown(held, name)
    members = dict(held.members)
    try:
        gave = getattr(members, name)(*given, **arguments.keywords)
    except _ERRORS as error:
        return refuse(operation, error, [held])
    if name in ("keys", "values", "items"):
        return _view(name, members)
    if name == "copy":
        return AbstractValue("dict", held.facts, members=members)
    return _after_change(held, name, members, gave)


def _after_change(
    held: AbstractValue, name: str, members: dict[Any, AbstractValue], gave: Any
) -> AbstractValue:
    """The result of the method; the dict has the members that it left."""
    if name != "get":
        held.forget()
        held.members = members
    return (
        AbstractValue()
        # popitem returns a pair of key and value, not a member.
        if name == "popitem"
        else gave
        if gave is not None
        else AbstractValue(_NONE, literal=None)
    )


def _given_to_dict(operation: Operation) -> list[Any] | None:
    """The arguments as the method takes them: a key as it is, members as abstract values. None if not known."""
    given = list(operation.arguments.positional)
    if operation.name == "setdefault" and len(given) == 1:
        # `d.setdefault("a")` stores None.
        given.append(AbstractValue(_NONE, literal=None))
    # update also takes pairs: only dicts with known members count.
    if operation.name == "update":
        return all_known(each.members for each in given)
    if (
        not given
        or given[0].is_literal
        and given[0].type in ("str", "int", "float", "bool", _NONE)
    ):
        return [*(each.literal for each in given[:1]), *given[1:]]
    return None


def _view(name: str, members: dict[Any, AbstractValue]) -> AbstractValue:
    keys = [literal(key) for key in members]
    pairs = [
        AbstractValue("tuple", items=pair)
        for pair in zip(keys, members.values(), strict=True)
    ]
    items = {"keys": keys, "values": list(members.values()), "items": pairs}
    return AbstractValue(
        f"dict_{name}", {"length": len(members)}, items=items[name]
    )
