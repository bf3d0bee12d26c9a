"""Attributes and methods of Python's own types: those that do not exist, what they refuse, how containers change.

Knows the methods of this Python; those that came in later versions are passed over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from crane_core.detectors.rules.families.python_values import (
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
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing, literal

RULES = Family("python: methods")
_OWN = (*SCALARS, "list", "tuple", "dict", "set", "frozenset", "range", "dict_keys", "dict_values", "dict_items")
_CAME_LATER = {"int": ("is_integer",), "float": ("from_number",), "bytes": ()}
_PURE_ON_TEXT = frozenset(
    name for name in dir(str) if not name.startswith("_") and name not in ("format", "format_map")
)
_NONE = "NoneType"


@RULES.attribute("*")
def attribute_that_is_not_there(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if thing.type not in _OWN or thing.path or thing.attributes.get(site.name):
        return None
    if site.name in dir(SAMPLES[thing.type]) or site.name in _CAME_LATER.get(thing.type, ()):
        return None
    what = "None" if thing.type == _NONE else f"a {thing.type}"
    site.crash(
        "AttributeError",
        f"{what} has no attribute {site.name}",
        fact=f"{words_of(thing)} is {what}",
        remedy=_other_way(thing.type, site.name),
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
def attribute_that_cannot_be_set(site: Site) -> Thing | None:
    thing = site.receiver or Thing()
    if thing.type in _OWN and not thing.path:
        site.crash(
            "AttributeError",
            f"'{thing.type}' object has no attribute '{site.name}' and no __dict__ for setting it",
            fact=f"{words_of(thing)} is a {thing.type}",
            remedy="Use your own class, or a dict.",
        )
    return None


@cache
def _signature(type: str, name: str) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(SAMPLES[type], name))
    except (ValueError, TypeError, AttributeError):
        return None


@RULES.method("*")
def arguments_of_method(site: Site) -> Thing | None:
    """How many arguments a method takes, of Python's own types."""
    thing = site.receiver or Thing()
    if thing.type not in _OWN or thing.path or not site.arguments.is_complete:
        return None
    signature = _signature(thing.type, site.name)
    if signature is None:
        return None
    try:
        signature.bind(*site.arguments.positional, **site.arguments.keywords)
    except TypeError as error:
        site.crash(
            "TypeError",
            f"{thing.type}.{site.name}: {error}",
            fact=f"its parameters are {signature}",
            remedy="Pass the arguments that it takes.",
        )
    return None


# Texts


@RULES.method("builtins.str")
def method_of_text(site: Site) -> Thing | None:
    """A text that is known: the method itself is asked."""
    thing, arguments = site.receiver or Thing(), site.arguments
    if site.name == "join":
        _say_not_text(site)
    if site.name in ("format", "format_map"):
        return _formatted(site)
    if site.name not in _PURE_ON_TEXT or arguments.keywords or not arguments.is_complete:
        return None
    values = known([thing, *arguments.positional])
    if values is None:
        return _by_name(site.name)
    text, *others = values
    if site.name in ("ljust", "rjust", "center", "zfill", "expandtabs") and others and others[0] not in range(1000):
        return Thing("str")
    return evaluated(
        site,
        f"str.{site.name}",
        lambda: getattr(text, site.name)(*others),
        f"{words_of(thing)} is {text[:60]!r}",
        "Check the string and the arguments.",
    )


def _by_name(name: str) -> Thing:
    if name.startswith("is") or name in ("startswith", "endswith"):
        return Thing("bool")
    if name in ("split", "rsplit", "splitlines"):
        return Thing("list", {"item_types": {"str": 1}})
    if name in ("find", "rfind", "index", "rindex", "count"):
        return Thing("int")
    if name in ("partition", "rpartition"):
        return Thing("tuple", {"length": 3})
    return Thing("bytes") if name == "encode" else Thing("dict") if name == "maketrans" else Thing("str")


def _say_not_text(site: Site) -> None:
    """ "".join of something that is not a string."""
    for at, item in enumerate(elements_of(site.first) or () if site.first.type in ("list", "tuple") else ()):
        if item.type in SAMPLES and item.type != "str":
            site.crash(
                "TypeError",
                f"sequence item {at}: expected str instance, {item.type} found",
                fact=f"{words_of(site.first, 'the list')} holds {words_of(item)}",
                remedy="Convert the items first: join(map(str, ...)).",
            )
    types = site.first.fact("item_types")
    if site.first.type in ("list", "tuple") and isinstance(types, dict) and len(types) == 1 and length_of(site.first):
        only = next(iter(types))
        if only in SAMPLES and only != "str":
            site.crash(
                "TypeError",
                f"sequence item 0: expected str instance, {only} found",
                fact=f"the items of {words_of(site.first, 'the list')} are of type {only}",
                remedy="Convert the items first: join(map(str, ...)).",
            )


def _formatted(site: Site) -> Thing:
    """`"{} {}".format(...)` of values that are known."""
    arguments = site.arguments
    values = known([site.receiver or Thing(), *arguments.positional, *arguments.keywords.values()])
    if values is None or not arguments.is_complete or site.name != "format":
        return Thing("str")
    text, *others = values
    named = dict(zip(arguments.keywords, others[len(arguments.positional) :], strict=True))
    if any(len(part) > 3 for part in "".join(c if c.isdigit() else " " for c in text).split()):
        return Thing("str")
    return evaluated(
        site,
        "the string cannot be formatted",
        lambda: text.format(*others[: len(arguments.positional)], **named),
        f"the format is {text[:80]!r}",
        "Pass as many values as the format has placeholders.",
    )


# Lists


def _on_list(name: str) -> Callable[[Callable[[Site, Thing], Thing]], Callable[[Site, Thing], Thing]]:
    def registered(rule: Callable[[Site, Thing], Thing]) -> Callable[[Site, Thing], Thing]:
        def on_list(site: Site) -> Thing | None:
            return rule(site, site.receiver or Thing())

        RULES.method("builtins.list", name)(on_list)
        return rule

    return registered


@_on_list("append")
def _append(site: Site, row: Thing) -> Thing:
    length = length_of(row)
    items = None if row.items is None else [*row.items, site.first]
    first = row.fact("first_items")
    types = row.fact("item_types")
    result = changed(row, items, None if length is None else length + 1)
    if items is None and first:
        row.facts["first_items"] = first
    if items is None and isinstance(types, dict) and set(types) == {site.first.type}:
        row.facts["item_types"] = types
    return result


@_on_list("extend")
def _extend(site: Site, row: Thing) -> Thing:
    more = elements_of(site.first)
    if site.first.type in ("int", "float", "bool", _NONE):
        site.crash(
            "TypeError",
            f"'{site.first.type}' object is not iterable",
            fact=f"{words_of(site.first)} is of type {site.first.type}",
            remedy="Use append for one element.",
        )
    return changed(row, [*row.items, *more] if row.items is not None and more is not None else None)


@_on_list("insert")
def _insert(site: Site, row: Thing) -> Thing:
    at = site.first.literal
    if row.items is None or not isinstance(at, int) or len(site.arguments.positional) != 2:
        return changed(row)
    items = list(row.items)
    items.insert(at, site.arguments.positional[1])
    return changed(row, items)


@_on_list("pop")
def _pop(site: Site, row: Thing) -> Thing:
    at = site.first.literal if site.arguments.positional else -1
    length = length_of(row)
    if length is not None and isinstance(at, int) and not -length <= at < length:
        site.crash(
            "IndexError",
            f"pop index out of range: index {at}, length {length}",
            fact=f"{words_of(row, 'the list')} has {length} elements",
            remedy="Check first that it is not empty." if not length else "Use an index below its length.",
        )
    if row.items is None or not isinstance(at, int):
        changed(row, None, None if length is None else length - 1)
        return Thing()
    items = list(row.items)
    taken = items.pop(at)
    changed(row, items)
    return taken


@_on_list("remove")
def _remove(site: Site, row: Thing) -> Thing:
    values, wanted = known(row.items) if row.items is not None else None, site.first
    if values is None or not wanted.is_literal:
        length = length_of(row)
        return changed(row, None, None if length is None else length - 1)
    if wanted.literal not in values:
        site.crash(
            "ValueError",
            f"{wanted.literal!r} is not in the list",
            fact=f"{words_of(row, 'the list')} holds {str(values)[:120]}",
            remedy="Check with `in` first.",
        )
    items = list(row.items or ())
    del items[values.index(wanted.literal)]
    return changed(row, items)


@_on_list("index")
def _index(site: Site, row: Thing) -> Thing:
    values = known(row.items) if row.items is not None else None
    if values is not None and site.first.is_literal and len(site.arguments.positional) == 1:
        wanted = site.first.literal
        return evaluated(
            site,
            "index of a list",
            lambda: values.index(wanted),
            f"it holds {str(values)[:120]}",
            "Check with `in` first.",
        )
    return Thing("int")


@_on_list("sort")
def _sort(site: Site, row: Thing) -> Thing:
    values = known(row.items) if row.items is not None else None
    if "key" in site.arguments.keywords or values is None:
        length = length_of(row)
        return changed(row, None, length)
    is_down = site.arguments.keywords.get("reverse", literal(False)).literal
    ordered = evaluated(
        site, "the list cannot be sorted", lambda: sorted(values), f"it holds {str(values)[:120]}", "Pass sort a key."
    )
    return changed(
        row, list(reversed(ordered.items or ())) if is_down is True else ordered.items if is_down is False else None
    )


@_on_list("reverse")
def _reverse(site: Site, row: Thing) -> Thing:
    return changed(row, None if row.items is None else row.items[::-1], length_of(row))


@_on_list("clear")
def _clear(site: Site, row: Thing) -> Thing:
    return changed(row, [])


@_on_list("copy")
def _copy(site: Site, row: Thing) -> Thing:
    return Thing("list", row.facts, items=row.items)


@_on_list("count")
def _count(site: Site, row: Thing) -> Thing:
    return Thing("int")


# Dicts and sets


@RULES.method(
    "builtins.dict", "keys", "values", "items", "get", "copy", "pop", "popitem", "update", "setdefault", "clear"
)
def method_of_dict(site: Site) -> Thing | None:
    held = site.receiver or Thing()
    members = held.members
    key = site.first.literal if site.first.is_literal and site.arguments.positional else None
    if site.name in ("get", "pop", "setdefault") and site.first.type in UNHASHABLE:
        site.crash(
            "TypeError",
            f"unhashable type: {site.first.type}",
            fact=f"the key is a {site.first.type}",
            remedy="Use another key.",
        )
    if site.name in ("keys", "values", "items"):
        return _view(site.name, members, held)
    if site.name == "copy":
        return Thing("dict", held.facts, members=members)
    if site.name == "get":
        default = site.arguments.positional[1] if len(site.arguments.positional) > 1 else Thing(_NONE, literal=None)
        if members is None or not _is_plain(site.first):
            return Thing()
        return members.get(key, default)
    return _changing(site, held, members, key)


def _is_plain(thing: Thing) -> bool:
    return thing.is_literal and thing.type in ("str", "int", "float", "bool", _NONE)


def _view(name: str, members: dict[Any, Thing] | None, held: Thing) -> Thing:
    if members is None:
        return Thing(f"dict_{name}", {"length": length_of(held)} if length_of(held) is not None else {})
    pairs = [(literal(key), value) for key, value in members.items()]
    items = {
        "keys": [key for key, _ in pairs],
        "values": [value for _, value in pairs],
        "items": [Thing("tuple", items=pair) for pair in pairs],
    }
    return Thing(f"dict_{name}", {"length": len(pairs)}, items=items[name])


def _changing(site: Site, held: Thing, members: dict[Any, Thing] | None, key: Any) -> Thing:
    """pop, popitem, update, setdefault and clear."""
    name, n_given = site.name, len(site.arguments.positional)
    if name == "pop" and members is not None and _is_plain(site.first):
        if key not in members and n_given == 1:
            site.crash(
                "KeyError",
                f"{words_of(held, 'the dict')} has no key {key!r}",
                fact=f"its keys are {str(list(members))[:160]}",
                remedy="Pass pop a default, or use an existing key.",
            )
        held.forget()
        held.members = {known_key: thing for known_key, thing in members.items() if known_key != key}
        return members.get(key, site.arguments.positional[1] if n_given > 1 else Thing())
    if name == "popitem" and members is not None and not members:
        site.crash(
            "KeyError",
            "the dict is empty",
            fact=f"{words_of(held, 'it')} is empty",
            remedy="Check first that it is not empty.",
        )
    more = site.first.members if n_given == 1 else {} if not n_given else None
    held.forget()
    if name == "clear":
        held.members = {}
    elif name == "update" and members is not None and more is not None and site.arguments.is_complete:
        held.members = {**members, **more, **site.arguments.keywords}
    return Thing(_NONE, literal=None) if name in ("update", "clear") else Thing()


@RULES.method("builtins.set", "add", "remove", "discard", "update", "pop", "clear")
def method_of_set(site: Site) -> Thing | None:
    held = site.receiver or Thing()
    if site.name in ("add", "remove") and site.first.type in UNHASHABLE[:2]:
        site.crash(
            "TypeError",
            f"unhashable type: {site.first.type}",
            fact=f"the element is a {site.first.type}",
            remedy="Use a tuple.",
        )
    values = held.literal if held.is_literal else None
    if site.name == "remove" and values is not None and _is_plain(site.first) and site.first.literal not in values:
        site.crash(
            "KeyError",
            f"{site.first.literal!r} is not in the set",
            fact=f"it holds {sorted(map(repr, values))[:20]}",
            remedy="Use discard.",
        )
    if site.name == "pop" and values is not None and not values:
        site.crash(
            "KeyError",
            "the set is empty",
            fact=f"{words_of(held, 'it')} is empty",
            remedy="Check first that it is not empty.",
        )
    held.forget()
    return Thing() if site.name == "pop" else Thing(_NONE, literal=None)


@RULES.method("builtins.tuple", "count", "index")
def method_of_tuple(site: Site) -> Thing | None:
    values = known([site.receiver or Thing(), *site.arguments.positional])
    if values is None:
        return Thing("int")
    row, *others = values
    return evaluated(
        site,
        f"{site.name} of a tuple",
        lambda: getattr(row, site.name)(*others),
        f"it is {str(row)[:120]}",
        "Check with `in` first.",
    )
