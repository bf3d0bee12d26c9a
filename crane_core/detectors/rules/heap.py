"""Snapshots of what is known, to be restored for another branch of the code, and joins of what branches know.

Knows scopes of names and the abstract values that they lead to. A name that leads to None is certainly not defined.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue

_LARGEST = 5_000
"""Values that are looked through; beyond that nothing is known of any."""
_PLAIN = frozenset(
    [int, float, str, bool, bytes, complex, type(None), type(NOT_KNOWN)]
)
"""Types of values that hold nothing and are never changed."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, function or class body. `outer` is the scope around a function.

    The local names of a function are all there, None if they have no value yet.
    """

    names: dict[str, AbstractValue | None] = field(default_factory=dict)
    outer: Scope | None = None
    is_class: bool = False
    elsewhere: dict[str, Scope | None] = field(default_factory=dict)
    """Names declared global or nonlocal, and the scope that they belong to."""


class ValueFields(NamedTuple):
    """What a value says of itself: a copy that is never changed, shared by all snapshots in which it says the same.

    `held` are the values in it: items, members, attributes, and those in facts.
    """

    type: str
    facts: dict[str, Any]
    literal: Any
    items: list[AbstractValue] | None
    members: dict[Any, AbstractValue] | None
    attributes: dict[str, AbstractValue]
    held: tuple[AbstractValue, ...] = ()


_COPIED = (dict, list, set, tuple, ValueFields)
"""Types of which a copy is compared part by part with another copy."""
_ABSENT = AbstractValue()
"""Marks a name that is not there."""
_JOINED: dict[str, Any] = {
    "path": "",
    "words": "",
    "definition": None,
    "bound_to": None,
    "scope": None,
}
"""Attributes of values beside their fields, and what replaces them where values that are joined differ."""
_NOTHING = ValueFields("", {}, NOT_KNOWN, None, None, {})


class Snapshot(NamedTuple):
    """What was known: the names of each scope, and of each value its fields."""

    names: list[tuple[Scope, dict[str, AbstractValue | None]]]
    values: dict[AbstractValue, ValueFields]


def reachable(roots: Iterable[AbstractValue | None]) -> list[AbstractValue]:
    """The values and what they hold, each once."""
    return list(_fields_by_value([root for root in roots if root is not None]))


def _fields_by_value(
    layer: list[AbstractValue],
) -> dict[AbstractValue, ValueFields]:
    """The values and what they hold, each with its fields; layer by layer, as most hold nothing."""
    found: dict[AbstractValue, ValueFields] = {}
    while layer and len(found) < _LARGEST:
        held: list[AbstractValue] = []
        for value in layer:
            # `a = []; b = [a]; a.append(b)` has no end.
            if value not in found:
                found[value] = fields = value.fields or fields_of(value)
                held += fields.held
                if value.bound_to is not None or value.scope is not None:
                    held += _held_beside(value)
        layer = held
    return found


def _held_beside(value: AbstractValue) -> list[AbstractValue]:
    """What a function holds: the object that it was read from, and what the names around it stand for."""
    names = {} if value.scope is None else value.scope.names
    return [
        held for held in (value.bound_to, *names.values()) if held is not None
    ]


def _values_in(fields: ValueFields) -> tuple[AbstractValue, ...]:
    held = (
        *(fields.items or ()),
        *(fields.members or {}).values(),
        *fields.attributes.values(),
    )
    return (*held, *_values_in_facts(fields.facts))


def _values_in_facts(facts: dict[str, Any]) -> list[AbstractValue]:
    return [
        value
        for fact in facts.values()
        if type(fact) not in _PLAIN
        for value in _values_in_fact(fact)
    ]


def _values_in_fact(fact: Any) -> Iterator[AbstractValue]:
    if isinstance(fact, AbstractValue):
        yield fact
    elif isinstance(fact, (list, tuple)) and len(fact) < 100:
        yield from (part for part in fact if isinstance(part, AbstractValue))
    elif isinstance(fact, dict) and len(fact) < 100:
        yield from (
            part for part in fact.values() if isinstance(part, AbstractValue)
        )


def snapshot(scopes: Sequence[Scope]) -> Snapshot:
    """What is known now."""
    names = [(scope, dict(scope.names)) for scope in scopes]
    return Snapshot(
        names,
        _fields_by_value(
            [
                value
                for _, known in names
                for value in known.values()
                if value is not None
            ]
        ),
    )


def restore(taken: Snapshot) -> None:
    """Go back to what was known when the snapshot was taken."""
    for scope, names in taken.names:
        scope.names = dict(names)
    _set_all(taken.values)


def join(ends: Sequence[Snapshot]) -> None:
    """Only what is known at the end of every branch is known from here on."""
    if len(ends) == 1:
        restore(ends[0])
        return
    first, *others = ends
    known = dict(first.values)
    for end in others:
        for value, fields in end.values.items():
            # What only one branch made is as that branch left it: no other path leads to it.
            if known.setdefault(value, fields) is not fields:
                known[value] = _joined(
                    [
                        answer
                        for each in ends
                        if (answer := each.values.get(value)) is not None
                    ]
                )
    _set_all(known)
    for at, (scope, _) in enumerate(ends[0].names):
        scope.names = _joined_names([end.names[at][1] for end in ends])


class BranchWatch:
    """What changes on a branch after its start: which values say something else at a look, and what names stood for."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self.start = snapshot(scopes)
        self.changed: dict[AbstractValue, dict[AbstractValue, None]] = {}
        self.names: list[
            list[tuple[Scope, dict[str, AbstractValue | None]]]
        ] = [self.start.names]

    def look(self, scopes: Sequence[Scope]) -> None:
        """Note what differs from the start now: values, what they hold, and names."""
        for value, fields in self.start.values.items():
            if value.fields is not fields and (
                value in self.changed or not is_unchanged(value, fields)
            ):
                self.changed.setdefault(value, {}).update(
                    dict.fromkeys(fields_of(value).held)
                )
        if not _are_same_names(self.names[-1], scopes):
            self.names.append([(scope, dict(scope.names)) for scope in scopes])


def _are_same_names(
    before: Sequence[tuple[Scope, dict[str, AbstractValue | None]]],
    scopes: Sequence[Scope],
) -> bool:
    return len(before) == len(scopes) and all(
        scope is known and scope.names == names
        for (known, names), scope in zip(before, scopes, strict=True)
    )


def widen(watch: BranchWatch, names: Iterable[str], scope: Scope) -> None:
    """Go back to a start from which some part of a branch was taken, perhaps: what it changed is not known."""
    restore(watch.start)
    for value, held in watch.changed.items():
        # A list may have got parts on the branch: `for _ in some(): made.append(rows)`.
        held.update(dict.fromkeys(fields_of(value).held))
        value.forget()
        if harmless.is_container(value):
            harmless.link(value, held)
    for later in watch.names[1:]:
        _widen_names(watch.start, later)
    for name in names:
        scope.names[name] = AbstractValue()


def _widen_names(
    start: Snapshot,
    later: Iterable[tuple[Scope, dict[str, AbstractValue | None]]],
) -> None:
    """Names that stand for something else later; those first met on the branch are as changed as their values.

    What a public path or a definition says of a name cannot have changed.
    """
    afterwards = {id(scope): names for scope, names in later}
    for scope, before in start.names:
        for name, value in afterwards.get(id(scope), {}).items():
            held = before.get(name)
            if name in before and _is_same_code(value, held):
                continue
            is_met = (
                name not in before
                and value is not None
                and (value.path or value.definition is not None)
            )
            scope.names[name] = value if is_met else AbstractValue(words=name)


def _is_same_code(
    value: AbstractValue | None, held: AbstractValue | None
) -> bool:
    """Whether two values are one object, or one function, class or module."""
    if value is held or value is None or held is None:
        return value is held
    is_named = bool(value.path) and value.path == held.path
    return (
        is_named
        or value.definition is not None
        and value.definition is held.definition
        and value.type == held.type
    )


def is_unchanged(value: AbstractValue, before: ValueFields) -> bool:
    """Whether an AbstractValue says of itself what it said before."""
    if value.fields is before:
        return True
    # Read past the properties, as reading one of them counts as a change.
    items, members = value._items, value._members
    return (
        value.type == before.type
        and _equal(value._facts, before.facts)
        and items == before.items
        and _are_same_members(members, before.members)
        and (
            items is not None
            or members is not None
            or _equal(value._literal, before.literal)
        )
        and value._attributes == before.attributes
    )


def _joined_names(
    ends: list[dict[str, AbstractValue | None]],
) -> dict[str, AbstractValue | None]:
    first, *others = ends
    if all(end == first for end in others):
        return dict(first)
    joined = dict.fromkeys(name for end in ends for name in end)
    for name in joined:
        value = first.get(name, _ABSENT)
        is_same = value is not _ABSENT and all(
            end.get(name, _ABSENT) is value for end in others
        )
        joined[name] = (
            value
            if is_same
            else _one_of([end.get(name, _ABSENT) for end in ends])
        )
    return joined


def _one_of(values: Sequence[AbstractValue | None]) -> AbstractValue | None:
    # A name that one branch has not met is unknown there. The kernel may have a value for it.
    known = [
        AbstractValue() if value is _ABSENT else value
        for value in values
        if value is not None
    ]
    return join_values(known) if len(known) == len(values) else AbstractValue()


def join_values(values: Sequence[AbstractValue]) -> AbstractValue:
    """An AbstractValue that is one of these: what is true of each of them."""
    first = values[0]
    if all(value is first for value in values):
        return first
    joined = AbstractValue(first.type)
    for name, otherwise in _JOINED.items():
        setattr(joined, name, _agreed(values, name, operator.eq, otherwise))
    joined.is_foreign = all(value.is_foreign for value in values)
    # A change of the joined container is a change of one of these, and nobody knows of which.
    if not any(map(harmless.is_container, values)):
        _set(joined, _joined([fields_of(value) for value in values]))
        return joined
    if any(value.type != first.type for value in values):
        joined.type = ""
    harmless.link(joined, values)
    return joined


def fields_of(value: AbstractValue) -> ValueFields:
    """What an AbstractValue says of itself now; the same object as in the last snapshot where it says the same."""
    known: ValueFields | None = value.fields
    if known is not None:
        return known
    # Snapshots share what has not changed, which makes cells of many branches several times faster.
    made, last = _fields_now(value), value.last_fields
    if last is not None and _is_exactly(made, last):
        made = last
    value.last_fields = made
    if (
        value._literal is NOT_KNOWN
        or made.items is None
        and made.members is None
    ):
        value.fields = made
    return made


def _fields_now(value: AbstractValue) -> ValueFields:
    is_open = value._items is not None or value._members is not None
    made = ValueFields(
        value.type,
        _copied_facts(value._facts) if value._facts else _NOTHING.facts,
        NOT_KNOWN if is_open else _copied_value(value._literal),
        None if value._items is None else list(value._items),
        None if value._members is None else dict(value._members),
        dict(value._attributes) if value._attributes else _NOTHING.attributes,
    )
    return made._replace(held=_values_in(made))


def _is_exactly(left: Any, right: Any) -> bool:
    """Whether two copies hold the very same objects in the same order, not only equal ones."""
    if left is right:
        return True
    if (
        type(left) is not type(right)
        or type(left) not in _COPIED
        or len(left) != len(right)
    ):
        return type(left) is type(right) is str and left == right
    if isinstance(left, dict):
        return all(
            one is other and _is_exactly(left[one], right[other])
            for one, other in zip(left, right, strict=True)
        )
    # A set has no order in which its parts could be compared one by one.
    if isinstance(left, set):
        return False
    return all(map(_is_exactly, left, right))


def _copied_facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: fact if type(fact) in _PLAIN else _copied(fact)
        for name, fact in facts.items()
    }


def _copied_value(value: Any) -> Any:
    # `value.literal.add(2)` changes a set in place, which going back to a snapshot has to undo.
    return value if type(value) in _PLAIN else copy(value)


def _copied(fact: Any) -> Any:
    """The fact, so that changing a part of it in place does not change the copy."""
    if isinstance(fact, dict):
        return {key: _copied(part) for key, part in fact.items()}
    if type(fact) is list:
        return [_copied(part) for part in fact]
    return set(fact) if type(fact) is set else fact


def _set_all(values: dict[AbstractValue, ValueFields]) -> None:
    for value, fields in values.items():
        if value.fields is not fields:
            _set(value, fields)


def _set(value: AbstractValue, fields: ValueFields) -> None:
    value.type = fields.type
    value.facts = _copied_facts(fields.facts)
    value.literal = _copied_value(fields.literal)
    value.items = None if fields.items is None else list(fields.items)
    value.members = None if fields.members is None else dict(fields.members)
    value.attributes = dict(fields.attributes)
    # Last, as every line above counts as a change of the value.
    value.fields = value.last_fields = fields


def _joined(all_fields: Sequence[ValueFields]) -> ValueFields:
    first, *others = all_fields
    if all(other is first for other in others):
        return first
    joined = _NOTHING
    if all(other.type == first.type for other in others):
        joined = ValueFields(
            first.type,
            facts=_common([fields.facts for fields in all_fields]),
            literal=_agreed(all_fields, "literal", _equal, NOT_KNOWN),
            items=_agreed(all_fields, "items", operator.eq, None),
            members=_agreed(all_fields, "members", _are_same_members, None),
            attributes=_common([fields.attributes for fields in all_fields]),
        )
    joined = joined._replace(
        facts=_facts_with_parts(joined, all_fields, first.type)
    )
    return joined._replace(held=_values_in(joined))


def _facts_with_parts(
    joined: ValueFields, all_fields: Sequence[ValueFields], kind: str
) -> dict[str, Any]:
    """Parts that only some branches put in may be there: a change of them changes the container."""
    stand_in = AbstractValue(kind, joined.facts)
    if not harmless.is_container(stand_in):
        return joined.facts
    kept = set(_values_in(joined))
    held = [part for fields in all_fields for part in fields.held]
    harmless.link(stand_in, (part for part in held if part not in kept))
    return stand_in.facts


def _agreed(
    each: Sequence[Any],
    name: str,
    is_same: Callable[[Any, Any], bool],
    otherwise: Any,
) -> Any:
    """The attribute of this name, where all have the same; else `otherwise`."""
    first, *others = (getattr(one, name) for one in each)
    return (
        first if all(is_same(first, other) for other in others) else otherwise
    )


def _common(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The entries that are the same in all."""
    first, *others = parts
    return {
        name: part
        for name, part in first.items()
        if all(name in other and _equal(part, other[name]) for other in others)
    }


def _equal(left: Any, right: Any) -> bool:
    # True, 1 and 1.0 are equal to Python, but `rows[1.0]` raises and `rows[True]` does not.
    return left is right or type(left) is type(right) and bool(left == right)


def _are_same_members(
    left: dict[Any, AbstractValue] | None,
    right: dict[Any, AbstractValue] | None,
) -> bool:
    """The same keys in the same order, with the same objects: two abstract values are equal only if they are one."""
    # Unpacking goes by the order of the keys: `first, second = ordered`.
    return left == right and list(left or ()) == list(right or ())
