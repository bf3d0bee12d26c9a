"""Python's own types: numbers, texts, containers with what is inside them, ranges, iterators, objects of classes.

Knows the methods of the built-in classes themselves. Refuses to call anything that a subclass may have overridden, to
advance an iterator, and to compare or hash what is not plain.
"""

from __future__ import annotations

import collections
import operator
import sys
import types
from collections import Counter
from itertools import islice
from typing import Any, Iterable

from ..anatomy import (
    class_dict,
    instance_dict,
    is_kind,
    may_hold_more,
    mro_of,
    name_of,
    overriders,
    owner_of,
    package_of,
    type_name,
)
from ..bounds import Facts, merged, stated
from ..callables import functions
from ..callables.functions import signature_of
from ..chains.following import Resolution, lacking, similar, without
from ..contents import dicts, sequences
from ..contents.sequences import RowOfValues
from ..dispatch import answer_of
from ..kinds import NUMBERS, PLAIN, ROWS, SCALARS, Kinds, counted
from ..syntax.asked import ATTRIBUTE, CALL, ITEM, Steps, Unknown

_PREFIXES = (
    (types.GeneratorType, "gi"),
    (types.CoroutineType, "cr"),
    (types.AsyncGeneratorType, "ag"),
)
_OWN_REFERENCES = 3
"""To the dict of a frame's variables: the frame's, that of the function that asks, and the argument of getrefcount."""
_READS_LOCALS = frozenset(
    (
        "locals",
        "vars",
        "dir",
        "eval",
        "exec",
        "_getframe",
        "currentframe",
        "f_locals",
    )
)
_EXAMPLES = 3
_LOOKED_AT = 2_000
"""Items among which those of another type or shape are looked for."""
_COMPARED = 200
"""Items of which the content is compared, too: as many keys or attributes of each as _SIGNS."""
_SIGNS = 20
_NS_PER_SHAPE = 250
# Sorting more takes longer than a look may.
_LONGEST_SORTED = 20_000
_NEVER_CALLED = Kinds(
    int, float, bool, str, list, tuple, dict, set, bytes, type(None)
)
_WITHOUT_ITEMS = Kinds(int, float, bool, type(None), set, frozenset)
_UNDECIDED = Kinds(Unknown, slice, bool)


def scalar(value: Any, look: Any) -> Facts:
    """A number, boolean or None: its value."""
    return {"values": {"value": look.scalar(value)}}


def text(value: Any, look: Any) -> Facts:
    """A text: its value, bounded, and its length."""
    return dict(
        scalar(value, look), plus={"structure": {"length": str.__len__(value)}}
    )


def octets(value: Any, look: Any) -> Facts:
    """Bytes, a bytearray or a memoryview: length in bytes, and how it begins."""
    base: Any = next(
        kind for kind in (bytes, bytearray, memoryview) if is_kind(value, kind)
    )
    # memoryview has no length in bytes but nbytes.
    length = value.nbytes if base is memoryview else base.__len__(value)
    return {
        "plus": {
            "structure": {"length": length},
            "values": {"value": look.scalar(value)},
        }
    }


def number_range(value: range, look: Any) -> Facts:
    """A range: start, stop, step and length."""
    spelled = {"start": value.start, "stop": value.stop, "step": value.step}
    # len() of a range refuses more than sys.maxsize.
    length = max(
        0,
        (value.stop - value.start + value.step - (1 if value.step > 0 else -1))
        // value.step,
    )
    return {
        "plus": {
            "structure": {"length": look.scalar(length)},
            "values": {
                name: look.scalar(part) for name, part in spelled.items()
            },
        }
    }


def part_of_sequence(value: slice, look: Any) -> Facts:
    """A slice: as Python writes it, where its parts are plain; it may hold objects, whose repr is code."""
    is_plain = PLAIN.hold_all((value.start, value.stop, value.step))
    return {"plus": {"values": {"value": str(value) if is_plain else "slice"}}}


def sequence(value: Any, look: Any) -> Facts:
    """A list or tuple: length; of a flat list its values; what is inside, shapes through all levels, by index."""
    base: Any = list if is_kind(value, list) else tuple
    row = RowOfValues(
        base.__len__(value),
        lambda: base.__iter__(value),
        lambda at: base.__getitem__(value, at),
    )
    summary = row_facts(row, look)
    if base is tuple:
        # The published extractor says nothing of a tuple's values: they are an addition.
        summary["plus"] = merged(
            summary.get("plus", {}), {"values": summary.pop("values", {})}
        )
    fields = stated(fields=_field_names(value))
    return merged(summary, {"plus": {"representation": fields}})


def _field_names(value: Any) -> list[str]:
    """The fields of a named tuple."""
    # A class may put anything under `_fields`.
    names = (
        class_dict(type(value)).get("_fields")
        if is_kind(value, tuple)
        else None
    )
    return (
        list(names)
        if type(names) is tuple and all(type(name) is str for name in names)
        else []
    )


def row_facts(row: RowOfValues, look: Any) -> Facts:
    """What is said of values in a row, whatever holds them."""
    told: Facts = look.in_time(
        {"structure": {"length": row.length}}, lambda: _row_content(row, look)
    )
    return told


def _row_content(row: RowOfValues, look: Any) -> Facts:
    if not look.affords(row.length * sequences.NS_PER_TYPE):
        return {
            "plus": {
                "values": {
                    "not_computed": f"{row.length} items are too many to look through"
                }
            }
        }
    kinds = counted(row.again)
    plus: Facts = {"representation": sequences.item_types(kinds, look)}
    if not all(kind in SCALARS for kind, _ in kinds):
        return {"plus": merged(plus, _inner(row, look))}
    if look.is_nested and row.length <= look.limits.values:
        # Inside others the few values themselves say all.
        return {"plus": merged(plus, _short(row, look))}
    values = _values(row, [kind for kind, _ in kinds], look)
    examples = (
        {"values": {"examples_by_type": _examples(row, kinds, look)}}
        if len(kinds) > 1
        else {}
    )
    return {
        "values": values,
        "plus": merged(merged(plus, _short(row, look)), examples),
    }


def _examples(
    row: RowOfValues, kinds: list[tuple[type, int]], look: Any
) -> Facts:
    """The first values of each type, where a row is mixed and too long to be shown."""
    if row.length <= look.limits.values or not look.affords(
        row.length * sequences.NS_PER_TYPE
    ):
        return {}
    found: dict[str, list[Any]] = {
        type_name(kind): [] for kind, _ in kinds[: look.limits.values]
    }
    for item in row.again():
        examples = found.get(type_name(type(item)))
        if examples is not None and len(examples) < _EXAMPLES:
            examples.append(look.scalar(item))
    return found


def _values(row: RowOfValues, kinds: Iterable[type], look: Any) -> Facts:
    """value_info of plain values."""
    if not row.length:
        return {"value_info": {"value_type": "empty or all NaN"}}
    if all(kind in NUMBERS for kind in kinds):
        return {"value_info": sequences.number_facts(row, look)}
    if all(kind is str for kind in kinds):
        return {"value_info": sequences.text_facts(row, look)}
    return {"value_info": {"value_type": "categorical or object"}}


def _short(row: RowOfValues, look: Any) -> Facts:
    """The values themselves: all of a short row, those needed of a long one."""
    if row.length <= look.limits.values:
        return (
            {"values": {"items": [look.scalar(item) for item in row.again()]}}
            if row.length
            else {}
        )
    asked = {
        str(index): look.scalar(row.at(index))
        for index in _asked_indices(row, look)
    }
    return {"values": {"asked_items": asked}} if asked else {}


def _asked_indices(row: RowOfValues, look: Any) -> list[int]:
    asked = [
        item
        for item in look.asked().items
        if type(item) is int and -row.length <= item < row.length
    ]
    return asked[: look.limits.asked]


def _inner(row: RowOfValues, look: Any) -> Facts:
    # Arrays of several dtypes, images of several modes: what does not stack.
    signs = Counter(
        sign
        for *_, sign in map(sequences.sign_of, row.first(_LOOKED_AT))
        if sign
    )
    told = {"item_kinds": dict(sorted(signs.items()))} if len(signs) > 1 else {}
    labels = dict.fromkeys([*_asked_indices(row, look), *_telling(row, look)])
    items = look.inside_as(
        "items", ((str(index), row.at(index)) for index in labels)
    )
    plus = {"structure": _nesting(row, look), "representation": told}
    return merged(plus, items)


def _nesting(row: RowOfValues, look: Any) -> Facts:
    """The shape through all levels, or where the row is ragged."""
    if not look.affords(row.length * _NS_PER_SHAPE):
        return {"not_computed": f"shapes of {row.length} items"}
    nesting = sequences.nesting_of(row, look)
    if nesting.ragged is not None:
        return {"ragged": nesting.ragged}
    return (
        {"nested_shape": list(nesting.shape)} if len(nesting.shape) > 1 else {}
    )


def _telling(row: RowOfValues, look: Any) -> list[int]:
    """The first items, and the first one of each further type, shape and content: the others are like one of these."""
    # The content of many items is compared only for the first, as it costs most.
    signs = [
        (*sequences.sign_of(item), _content_of(item))
        for item in row.first(_COMPARED)
    ]
    signs += [
        (*sequences.sign_of(item), ())
        for item in islice(row.first(_LOOKED_AT), _COMPARED, None)
    ]
    n_first = look.limits.items if len(set(signs)) > 1 else _EXAMPLES
    # Reversed, so that the first of each sign remains.
    others = {sign: at for at, sign in reversed(list(enumerate(signs)))}
    return [
        *range(min(n_first, row.length)),
        *sorted(others.values())[: look.limits.items],
    ]


def _content_of(item: Any) -> tuple[Any, ...]:
    """What tells containers and objects of one type apart: keys, and the types of what they hold."""
    if is_kind(item, dict):
        return tuple(
            (key if type(key) is str else id(type(key)), id(type(held)))
            for key, held in islice(dict.items(item), _SIGNS)
        )
    if type(item) in ROWS:
        # Types alone, as looking into the values would cost a look at each item.
        return tuple(dict.fromkeys(id(type(held)) for held in item[:_SIGNS]))
    if any(map(is_of_notebook, mro_of(type(item)))):
        first = islice(instance_dict(item).items(), _SIGNS)
        return tuple((name, id(type(held))) for name, held in first)
    is_scalar = type(item) in SCALARS
    found: tuple[Any, ...] = () if is_scalar else answer_of(item, "CONTENT", ())
    return found


def unordered(value: Any, look: Any) -> Facts:
    """A set: its items in their own order, as a set's order is another in each process."""
    base: Any = set if is_kind(value, set) else frozenset
    summary: Facts = {"structure": {"length": base.__len__(value)}}
    # Without an order, the first items would be others in each process.
    if base.__len__(value) > _LONGEST_SORTED:
        return summary
    kinds = counted(lambda: base.__iter__(value))
    plus: Facts = {"representation": sequences.item_types(kinds, look)}
    if not _is_sortable([kind for kind, _ in kinds]):
        return merged(summary, {"plus": plus})
    row = sequences.row_of(sorted(base.__iter__(value)))
    return merged(
        summary,
        {
            "values": _values(row, [kind for kind, _ in kinds], look),
            "plus": merged(plus, _short(row, look)),
        },
    )


def _is_sortable(kinds: Iterable[type]) -> bool:
    return all(kind in NUMBERS for kind in kinds) or all(
        kind is str for kind in kinds
    )


def deque(value: Any, look: Any) -> Facts:
    """A deque: as a list, and its greatest length."""
    kind = collections.deque
    row = RowOfValues(
        kind.__len__(value),
        lambda: kind.__iter__(value),
        lambda at: kind.__getitem__(value, at),
    )
    # Of the class itself: a subclass may hide `maxlen`.
    longest = vars(kind)["maxlen"].__get__(value)
    return merged(
        row_facts(row, look),
        {"plus": {"values": {"maxlen": look.scalar(longest)}}},
    )


# What is not looked into


def iterator(value: Any, look: Any) -> Facts:
    """An iterator of a built-in container: how much is left, not taken."""
    return {
        "plus": {
            "structure": {"left": operator.length_hint(value)},
            "values": {"untouched": True},
        }
    }


def generator(value: Any, look: Any) -> Facts:
    """A generator: whether it can still give anything."""
    prefix = next(prefix for kind, prefix in _PREFIXES if type(value) is kind)
    frame = getattr(value, prefix + "_frame")
    values: Facts = {"exhausted": frame is None, "untouched": True}
    if frame is None:
        return {"plus": {"values": values}}
    # A generator that runs is on the stack of another thread, or of this very look.
    is_running = getattr(value, prefix + "_running")
    # `gi_suspended` exists since Python 3.11.
    is_suspended = getattr(value, prefix + "_suspended", frame.f_lasti >= 0)
    values["stands"] = (
        "running"
        if is_running
        else "suspended"
        if is_suspended
        else "not started"
    )
    held = {} if is_running else _locals_of(frame)
    inside = look.inside_as("locals", islice(held.items(), look.limits.items))
    return {"plus": merged({"values": values}, inside)}


def _locals_of(frame: Any) -> dict[str, Any]:
    """The variables of a generator that waits.

    Up to Python 3.12 asking makes a dict that the frame keeps: code that calls `locals` has the same one, and is not
    asked; another's is emptied, so that it keeps no value alive.
    """
    if not _READS_LOCALS.isdisjoint(frame.f_code.co_names):
        return {}
    told = frame.f_locals
    held = {name: value for name, value in told.items() if type(name) is str}
    if type(told) is dict and sys.getrefcount(told) <= _OWN_REFERENCES:
        told.clear()
    return held


def untouched(value: Any, look: Any) -> Facts:
    """An iterator of which nothing can be said without advancing it."""
    return {"plus": {"values": {"untouched": True}}}


# Objects


def instance(value: Any, look: Any) -> Facts:
    """An object of any other class: the data that it holds itself, those needed first; no property is run."""
    # Attributes with one underscore are the notebook author's own; those of a library are not
    # shown.
    hidden = "__" if any(map(is_of_notebook, mro_of(type(value)))) else "_"
    held = {
        name: item
        for name, item in instance_dict(value).items()
        if _is_shown(name, hidden, look)
    }
    asked = [name for name in look.asked().attributes if name in held]
    shown = list(dict.fromkeys([*asked, *list(held)[: look.limits.items]]))
    plus = look.inside_as("attributes", ((name, held[name]) for name in shown))
    if len(held) > len(shown):
        others = {"other_attributes": list(held)[: look.limits.names]}
        plus = merged(plus, {"values": others})
    methods = stated(methods=_methods(type(value)))
    names = stated(all_names=_all_names(value, look))
    return {"plus": merged(plus, {"representation": dict(methods, **names)})}


def _all_names(value: Any, look: Any) -> list[str]:
    """Every attribute that an object of a class of the notebook has; empty where more may be, or where it has many."""
    kinds = [kind for kind in mro_of(type(value)) if kind is not object]
    if not all(map(is_of_notebook, kinds)) or may_hold_more(value):
        return []
    # `__getattr__` makes names up, and a metaclass may look them up elsewhere.
    if type(type(value)) is not type or any(
        True
        for hook in ("__getattr__", "__getattribute__")
        for kind in overriders(value, hook)
    ):
        return []
    names = dict.fromkeys(instance_dict(value))
    for kind in kinds:
        names.update(dict.fromkeys(class_dict(kind)))
    told = [name for name in names if not name.startswith("__")]
    return told if len(told) <= look.limits.asked else []


def _is_shown(name: Any, hidden: str, look: Any) -> bool:
    return type(name) is str and (
        not name.startswith(hidden) or name in look.asked().attributes
    )


def _methods(kind: type) -> list[str]:
    """Public methods that classes of the notebook define."""
    own = [parent for parent in mro_of(kind) if is_of_notebook(parent)]
    names = [
        name
        for parent in own
        for name, made in class_dict(parent).items()
        if type(made) is types.FunctionType
    ]
    return list(
        dict.fromkeys(
            name
            for name in names
            if not name.startswith("_") or name == "__call__"
        )
    )[:60]


def is_of_notebook(kind: type) -> bool:
    """Whether the class was defined in a cell."""
    # What a class says of itself: `__module__` in its own dict, not one that it inherits.
    return class_dict(kind).get("__module__") == "__main__"


def a_class(value: Any, look: Any) -> Facts:
    """A class: parents, signature, and of a class of the notebook its methods and data."""
    facts: Facts = {
        "name": type_name(value),
        "parents": [type_name(kind) for kind in mro_of(value)[1:-1]][:8],
    }
    facts.update(signature_of(value))
    own = {
        name: made
        for name, made in class_dict(value).items()
        if _is_shown(name, "__", look)
    }
    data = (
        # Functions and properties are told as methods; data of the class is looked into.
        [
            (name, made)
            for name, made in own.items()
            if owner_of(type(made), "__get__") is None
        ]
        if is_of_notebook(value)
        else []
    )
    plus = look.inside_as("attributes", data[: look.limits.items])
    facts.update(stated(methods=_methods(value)))
    return {"plus": merged({"representation": facts}, plus)}


# Following chains


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Items of containers; methods that give their entries; objects that a call makes nothing of."""
    step = steps[0]
    if step.kind == ITEM:
        return _item(value, step.value)
    if (
        step.kind == ATTRIBUTE
        and is_kind(value, dict)
        and step.value in ("keys", "values", "items")
    ):
        # `d.items()` gives an object that is not in the kernel: two steps at once.
        return (
            Resolution(n_steps=2)
            if len(steps) > 1 and steps[1].kind == CALL
            else None
        )
    if step.kind == CALL and type(value) in _NEVER_CALLED:
        return without(value, "__call__")
    return None


def _item(value: Any, item: Any) -> Resolution | None:
    if is_kind(value, dict):
        return _key(value, item)
    if is_kind(value, list) or is_kind(value, tuple) or is_kind(value, str):
        return _index(value, item)
    # These have no __getitem__ in any release.
    if type(value) in _WITHOUT_ITEMS:
        return without(value, "__getitem__")
    # Any other object's __getitem__ is code.
    return Resolution()


def _key(value: Any, key: Any) -> Resolution:
    # Looking up another key would call its __hash__ and __eq__.
    if type(key) not in PLAIN or not dicts.has_plain_keys(value):
        return Resolution()
    if dict.__contains__(value, key):
        # A Bunch of scikit-learn overrides __getitem__ to warn of renamed keys, and gives what is stored.
        getters = [
            kind
            for kind in overriders(value, "__getitem__")
            if kind is not dict and package_of(kind) != "sklearn"
        ]
        return (
            Resolution()
            if getters
            else Resolution(dict.__getitem__(value, key))
        )
    if _may_make_up(value):
        return Resolution()
    return lacking(
        "keys",
        type=name_of(type(value)),
        key=key,
        similar=similar(key, dict.keys(value)),
    )


def _may_make_up(value: Any) -> bool:
    """Whether a dict's own methods may give a value for any key: `__missing__`, or a `__getitem__` of its class."""
    givers = (
        *overriders(value, "__getitem__"),
        *overriders(value, "__missing__"),
    )
    return any(
        kind is not dict and not dicts.gives_nothing(value, kind)
        for kind in givers
    )


def _index(value: Any, index: Any) -> Resolution | None:
    base = (
        list
        if is_kind(value, list)
        else tuple
        if is_kind(value, tuple)
        else str
    )
    # A subclass of list may count from 1.
    if any(kind is not base for kind in overriders(value, "__getitem__")):
        return Resolution()
    length = base.__len__(value)
    if type(index) is int and -length <= index < length:
        return Resolution(base.__getitem__(value, index))
    # A boolean counts as 0 or 1, and a slice always works.
    if type(index) in _UNDECIDED:
        return Resolution()
    shown = index if type(index) in PLAIN else type_name(type(index))
    return lacking(
        "keys", type=name_of(type(value)), index=shown, length=length
    )


FOLLOW = follow
FALLBACK = instance
SUMMARIZERS = {
    **dict.fromkeys(("int", "float", "bool", "complex", "NoneType"), scalar),
    "str": text,
    **dict.fromkeys(("bytes", "bytearray", "memoryview"), octets),
    "range": number_range,
    "slice": part_of_sequence,
    **dict.fromkeys(("list", "tuple"), sequence),
    **dict.fromkeys(("set", "frozenset"), unordered),
    "collections.deque": deque,
    **dicts.SUMMARIZERS,
    **functions.SUMMARIZERS,
    "functools.partial": functions.partial,
    **dict.fromkeys(("generator", "coroutine", "async_generator"), generator),
    "type": a_class,
}
"""By class name; iterators are added below by their types."""

_WITH_HINT: tuple[Any, ...] = (
    # Types of iterators have no names to import: an iterator of each is made for its type.
    [],
    (),
    "",
    range(0),
    {},
    {}.values(),
    {}.items(),
    set(),
    b"",
    bytearray(),
)
# zip, map, filter and enumerate do not tell how much is left.
_WITHOUT_HINT: tuple[Any, ...] = (
    zip(),
    map(str, ()),
    filter(None, ()),
    enumerate(()),
)
SUMMARIZERS.update(
    {name_of(type(iter(example))): iterator for example in _WITH_HINT}
)
SUMMARIZERS.update(
    {name_of(type(example)): untouched for example in _WITHOUT_HINT}
)
SUMMARIZERS.update({name_of(type(reversed([]))): iterator})
