"""The attributes that an object holds, a word on each: type, shape or length, the value where it is plain.

Knows built-in containers and what the summarizer files call a shape. Looks inside short rows of plain values alone.
"""

from __future__ import annotations

from typing import Any, Iterable

from .anatomy import Names, instance_dict, is_kind, package_of, type_name
from .bounds import Facts
from .dispatch import answer_of
from .kinds import PLAIN, ROWS

_SIZED: tuple[Any, ...] = (list, tuple, dict, set, frozenset)
_SHORT = 8


def attributes_of(
    held: Names, look: Any, *, left_out: Iterable[str] = ()
) -> Facts:
    """{"structure": {"attributes": {name: shape or length}}, "representation": ... type, "values": ... value}.

    Those needed first, then the public ones; each object once, None not at all.
    """
    shown = {name: held[name] for name in _shown(held, look, set(left_out))}
    others = {
        name: value for name, value in shown.items() if not is_plain(value)
    }
    sizes = {name: size_of(value) for name, value in others.items()}
    facts = {
        "structure": {
            name: size for name, size in sizes.items() if size is not None
        },
        "representation": {
            name: type_name(type(value)) for name, value in others.items()
        },
        "values": {
            name: plain(shown[name], look)
            for name in shown
            if name not in others
        },
    }
    return {
        group: {"attributes": found} for group, found in facts.items() if found
    }


def _shown(held: Names, look: Any, left_out: set[str]) -> list[str]:
    names = [
        name
        for name, value in held.items()
        # None says that nothing was set yet, as in an estimator before its fit.
        if type(name) is str and value is not None and name not in left_out
    ]
    # What the target needs is shown even where it is private.
    asked = [name for name in look.asked().attributes if name in names]
    own = [name for name in names if not name.startswith("_")]
    # An object under two names is one fact; plain values are told under each.
    once: dict[Any, str] = {}
    for name in [*asked, *own]:
        is_plain_value = type(held[name]) in PLAIN
        once.setdefault(name if is_plain_value else id(held[name]), name)
    return list(once.values())[: max(2 * look.limits.items, len(asked))]


def size_of(value: Any) -> Any:
    """The shape of an array as a list, the length of a container; None for what has neither."""
    # Built-in containers have no shape, only a length, and are met most often.
    is_builtin = package_of(type(value)) == "builtins"
    found = None if is_builtin else answer_of(value, "SHAPE", None)
    if found is not None:
        return (
            list(found)
            if len(found) > 1 or not is_kind(value, list)
            else found[0]
        )
    base = next((base for base in _SIZED if is_kind(value, base)), None)
    # The base class's own __len__, as a subclass may compute its length.
    return None if base is None else base.__len__(value)


def is_plain(value: Any) -> bool:
    """True for a number, string, boolean or None, and for a short row of them."""
    if type(value) in ROWS:
        # Long rows are counted instead: of weights the shape is what matters.
        return 0 < len(value) <= _SHORT and all(
            type(part) in PLAIN for part in value
        )
    return type(value) in PLAIN


def plain(value: Any, look: Any) -> Any:
    """A plain value as JSON."""
    return (
        [look.scalar(part) for part in value]
        if type(value) in ROWS
        else look.scalar(value)
    )


def attributes_held(
    value: Any, look: Any, *, left_out: Iterable[str] = ()
) -> Facts:
    """The same of an object's own attributes."""
    return attributes_of(instance_dict(value), look, left_out=left_out)
