"""What is known at one moment, to be restored for another way through the code, and what is known on every way.

Knows scopes of names and the Things that they lead to. A name that stands for None is certainly not defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crane_core.detectors.rules.thing import NOT_KNOWN, Thing

_LARGEST = 5_000
"""Things that are looked through; beyond that nothing is known of any."""
_PLAIN = frozenset([int, float, str, bool, bytes, complex, type(None), type(NOT_KNOWN)])
"""Types of values that hold nothing and are never changed."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, function or class body. `outer` is the scope around a function.

    The local names of a function are all there, None if they have no value yet.
    """

    names: dict[str, Thing | None] = field(default_factory=dict)
    outer: Scope | None = None
    is_class: bool = False
    elsewhere: dict[str, Scope | None] = field(default_factory=dict)
    """Names declared global or nonlocal, and the scope that they belong to."""


class Content(NamedTuple):
    """What a Thing says of itself: a copy that is never changed, shared by all moments at which it says the same.

    `held` are the Things in it: items, members, attributes, and those in facts.
    """

    type: str
    facts: dict[str, Any]
    literal: Any
    items: list[Thing] | None
    members: dict[Any, Thing] | None
    attributes: dict[str, Thing]
    held: tuple[Thing, ...] = ()


_COPIED = (dict, list, set, tuple, Content)
"""Types of which a copy is compared part by part with another copy."""
_ABSENT = Thing()
"""Stands for a name that is not there."""
_NOTHING = Content("", {}, NOT_KNOWN, None, None, {})


class Moment(NamedTuple):
    """What was known: the names of each scope, and of each Thing its content."""

    names: list[tuple[Scope, dict[str, Thing | None]]]
    things: dict[Thing, Content]


def reachable(roots: Iterable[Thing | None]) -> Iterator[Thing]:
    """The Things and what they hold, each once."""
    seen: set[Thing] = set()
    waiting = [root for root in roots if root is not None]
    while waiting and len(seen) < _LARGEST:
        thing = waiting.pop()
        if thing in seen:
            continue
        seen.add(thing)
        yield thing
        waiting += held_by(thing)


def every(roots: Iterable[Thing | None]) -> list[Thing]:
    """The same as a list, in less time."""
    return list(_contents([root for root in roots if root is not None]))


def _contents(layer: list[Thing]) -> dict[Thing, Content]:
    """The Things and what they hold, each with its content; layer by layer, as most hold nothing."""
    found: dict[Thing, Content] = {}
    while layer and len(found) < _LARGEST:
        held: list[Thing] = []
        for thing in layer:
            if thing not in found:
                found[thing] = content = thing.content or content_of(thing)
                if content.held:
                    held += content.held
                if thing.bound_to is not None:
                    held.append(thing.bound_to)
                if thing.scope is not None:
                    held += [seen for seen in thing.scope.names.values() if seen is not None]
        layer = held
    return found


def held_by(thing: Thing) -> list[Thing]:
    """What a Thing holds itself; facts may be Things too."""
    held = list(content_of(thing).held)
    if thing.bound_to is not None:
        held.append(thing.bound_to)
    if thing.scope is not None:
        held += (seen for seen in thing.scope.names.values() if seen is not None)
    return held


def _held_in(thing: Thing) -> list[Thing]:
    found: list[Thing] = []
    if thing._items:
        found += thing._items
    if thing._members:
        found += thing._members.values()
    if thing._attributes:
        found += thing._attributes.values()
    return found + _things_of(thing._facts)


def _held_in_content(content: Content) -> tuple[Thing, ...]:
    held = (*(content.items or ()), *(content.members or {}).values(), *content.attributes.values())
    return (*held, *_things_of(content.facts))


def _things_of(facts: dict[str, Any]) -> list[Thing]:
    return [thing for fact in facts.values() if type(fact) not in _PLAIN for thing in _things_in(fact)]


def _things_in(fact: Any) -> Iterator[Thing]:
    if isinstance(fact, Thing):
        yield fact
    elif isinstance(fact, (list, tuple)) and len(fact) < 100:
        yield from (part for part in fact if isinstance(part, Thing))
    elif isinstance(fact, dict) and len(fact) < 100:
        yield from (part for part in fact.values() if isinstance(part, Thing))


def moment(scopes: Sequence[Scope]) -> Moment:
    """What is known now."""
    names = [(scope, dict(scope.names)) for scope in scopes]
    return Moment(names, _contents([thing for _, known in names for thing in known.values() if thing is not None]))


def restore(taken: Moment) -> None:
    for scope, names in taken.names:
        scope.names = dict(names)
    _set_all(taken.things)


def join(ends: Sequence[Moment]) -> None:
    """Only what is known at the end of every way is known from here on."""
    if len(ends) == 1:
        restore(ends[0])
        return
    first, *others = ends
    known = dict(first.things)
    for end in others:
        for thing, content in end.things.items():
            if known.setdefault(thing, content) is not content:
                known[thing] = _joined([told for each in ends if (told := each.things.get(thing)) is not None])
    _set_all(known)
    for at, (scope, _) in enumerate(ends[0].names):
        scope.names = _joined_names([end.names[at][1] for end in ends])


class Watch:
    """What changes on a way after its start: which Things say something else at some look, and what names stood for."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self.start = moment(scopes)
        self.changed: dict[Thing, None] = {}
        self.names: list[list[tuple[Scope, dict[str, Thing | None]]]] = [self.start.names]

    def look(self, scopes: Sequence[Scope]) -> None:
        for thing, content in self.start.things.items():
            if thing.content is not content and thing not in self.changed and not is_unchanged(thing, content):
                self.changed[thing] = None
        if not _are_same_names(self.names[-1], scopes):
            self.names.append([(scope, dict(scope.names)) for scope in scopes])


def _are_same_names(before: Sequence[tuple[Scope, dict[str, Thing | None]]], scopes: Sequence[Scope]) -> bool:
    return len(before) == len(scopes) and all(
        scope is known and scope.names == names for (known, names), scope in zip(before, scopes, strict=True)
    )


def blur(watch: Watch, names: Iterable[str], scope: Scope) -> None:
    """Go back to a start from which some part of a way was taken, perhaps: what the way changed is not known."""
    restore(watch.start)
    for thing in watch.changed:
        thing.forget()
    for later in watch.names[1:]:
        _blur_names(watch.start, later)
    for name in names:
        scope.names[name] = Thing()


def _blur_names(start: Moment, later: Iterable[tuple[Scope, dict[str, Thing | None]]]) -> None:
    """Names that stand for something else later; those that were first met on the way are as changed as their things.

    What a public path or a definition says of a name cannot have changed.
    """
    afterwards = {id(scope): names for scope, names in later}
    for scope, before in start.names:
        for name, thing in afterwards.get(id(scope), {}).items():
            held = before.get(name)
            if name in before and (thing is held or _is_same_code(thing, held)):
                continue
            is_met = name not in before and thing is not None and (thing.path or thing.definition is not None)
            scope.names[name] = thing if is_met else Thing(words=name)


def _is_same_code(thing: Thing | None, held: Thing | None) -> bool:
    """Whether two Things are one function, class or module."""
    if thing is None or held is None:
        return False
    is_named = bool(thing.path) and thing.path == held.path
    return is_named or thing.definition is not None and thing.definition is held.definition and thing.type == held.type


def is_unchanged(thing: Thing, before: Content) -> bool:
    """Whether a Thing says of itself what it said before."""
    if thing.content is before:
        return True
    items, members = thing._items, thing._members
    return (
        thing.type == before.type
        and _equal(thing._facts, before.facts)
        and (items is before.items is None or _same_items(items, before.items))
        and (members is before.members is None or _same_members(members, before.members))
        and (items is not None or members is not None or _equal(thing._literal, before.literal))
        and thing._attributes.keys() == before.attributes.keys()
        and all(before.attributes[name] is held for name, held in thing._attributes.items())
    )


def _joined_names(ends: list[dict[str, Thing | None]]) -> dict[str, Thing | None]:
    first, *others = ends
    if all(end == first for end in others):
        return dict(first)
    joined = dict.fromkeys(name for end in ends for name in end)
    for name in joined:
        thing = first.get(name, _ABSENT)
        is_same = thing is not _ABSENT and all(end.get(name, _ABSENT) is thing for end in others)
        joined[name] = thing if is_same else _one_of([end.get(name, _ABSENT) for end in ends])
    return joined


def _one_of(things: Sequence[Thing | None]) -> Thing | None:
    known = [Thing() if thing is _ABSENT else thing for thing in things if thing is not None]
    return either(known) if len(known) == len(things) else Thing()


def either(things: Sequence[Thing]) -> Thing:
    """A Thing that is one of these: what is true of each of them."""
    first = things[0]
    if all(thing is first for thing in things):
        return first
    joined = Thing(first.type, definition=first.definition, bound_to=first.bound_to, scope=first.scope)
    joined.path = first.path if all(thing.path == first.path for thing in things) else ""
    joined.words = first.words if all(thing.words == first.words for thing in things) else ""
    for name in ("definition", "bound_to", "scope"):
        if any(getattr(thing, name) is not getattr(first, name) for thing in things):
            setattr(joined, name, None)
    joined.is_foreign = all(thing.is_foreign for thing in things)
    _set(joined, _joined([content_of(thing) for thing in things]))
    return joined


def content_of(thing: Thing) -> Content:
    """What a Thing says of itself now; the same object as at the last moment where it says the same."""
    known: Content | None = thing.content
    if known is not None:
        return known
    is_open = thing._items is not None or thing._members is not None
    made = Content(
        thing.type,
        _copied_facts(thing._facts) if thing._facts else _NOTHING.facts,
        NOT_KNOWN if is_open else _copied_value(thing._literal),
        None if thing._items is None else list(thing._items),
        None if thing._members is None else dict(thing._members),
        dict(thing._attributes) if thing._attributes else _NOTHING.attributes,
        tuple(_held_in(thing)),
    )
    last: Content | None = thing.last_content
    if last is not None and _is_exactly(made, last):
        made = last
    thing.last_content = made
    if not is_open or thing._literal is NOT_KNOWN:
        thing.content = made
    return made


def _is_exactly(left: Any, right: Any) -> bool:
    """Whether two copies hold the very same objects in the same order, not only equal ones."""
    if left is right:
        return True
    if type(left) is not type(right) or type(left) not in _COPIED or len(left) != len(right):
        return type(left) is type(right) is str and left == right
    if isinstance(left, dict):
        return all(
            one is other and _is_exactly(left[one], right[other]) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, set):
        return False
    return all(map(_is_exactly, left, right))


def _copied_facts(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact if type(fact) in _PLAIN else _copied(fact) for name, fact in facts.items()}


def _copied_value(value: Any) -> Any:
    return value if type(value) in _PLAIN else copy(value)


def _copied(fact: Any) -> Any:
    """The fact, so that changing a part of it in place does not change the copy."""
    if isinstance(fact, dict):
        return {key: _copied(part) for key, part in fact.items()}
    if type(fact) is list:
        return [_copied(part) for part in fact]
    return set(fact) if type(fact) is set else fact


def _set_all(things: dict[Thing, Content]) -> None:
    for thing, content in things.items():
        if thing.content is not content:
            _set(thing, content)


def _set(thing: Thing, content: Content) -> None:
    thing.type = content.type
    thing.facts = _copied_facts(content.facts)
    thing.literal = _copied_value(content.literal)
    thing.items = None if content.items is None else list(content.items)
    thing.members = None if content.members is None else dict(content.members)
    thing.attributes = dict(content.attributes)
    thing.content = thing.last_content = content


def _joined(contents: Sequence[Content]) -> Content:
    first, *others = contents
    if all(other is first for other in others):
        return first
    if any(other.type != first.type for other in others):
        return _NOTHING
    joined = Content(
        first.type,
        {name: fact for name, fact in first.facts.items() if all(_is_same(name, fact, other) for other in others)},
        first.literal if all(_equal(first.literal, other.literal) for other in others) else NOT_KNOWN,
        first.items if all(_same_items(first.items, other.items) for other in others) else None,
        first.members if all(_same_members(first.members, other.members) for other in others) else None,
        {
            name: thing
            for name, thing in first.attributes.items()
            if all(other.attributes.get(name) is thing for other in others)
        },
    )
    return joined._replace(held=_held_in_content(joined))


def _is_same(name: str, fact: Any, other: Content) -> bool:
    return name in other.facts and _equal(fact, other.facts[name])


def _equal(left: Any, right: Any) -> bool:
    return left is right or type(left) is type(right) and bool(left == right)


def _same_items(left: list[Thing] | None, right: list[Thing] | None) -> bool:
    if left is None or right is None:
        return False
    return len(left) == len(right) and all(one is other for one, other in zip(left, right, strict=True))


def _same_members(left: dict[Any, Thing] | None, right: dict[Any, Thing] | None) -> bool:
    if left is None or right is None:
        return False
    return list(left) == list(right) and all(left[key] is right[key] for key in left)


_OF_THINGS = [name for name in Thing.__slots__ if name not in ("content", "last_content")]


class Copy:
    """A copy of Things and scopes with all that they lead to: what is one object stays one, code stays as it is."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}
        self._waiting: list[tuple[Any, Any]] = []

    def scope(self, old: Scope) -> Scope:
        made: Scope = self._all(self._of(old))
        return made

    def thing(self, old: Thing) -> Thing:
        made: Thing = self._all(self._of(old))
        return made

    def has(self, old: Thing) -> bool:
        """Whether something that has been copied leads to it."""
        return id(old) in self._made

    def _all(self, made: Any) -> Any:
        """Fills what has been begun; one by one, as Things lead to Things without an end."""
        while self._waiting:
            old, new = self._waiting.pop()
            for name in _OF_THINGS if type(old) is Thing else Scope.__slots__:
                setattr(new, name, self._of(getattr(old, name)))
            if type(old) is Thing:
                new.content = new.last_content = None
        return made

    def _of(self, old: Any) -> Any:
        kind = type(old)
        if kind is Thing or kind is Scope:
            if id(old) not in self._made:
                self._made[id(old)] = old, object.__new__(kind)
                self._waiting.append(self._made[id(old)])
            return self._made[id(old)][1]
        if kind is dict:
            return {key: self._of(part) for key, part in old.items()} if old else {}
        if kind is list or kind is tuple or kind is set:
            return kind([self._of(part) for part in old]) if old else kind()
        return old
