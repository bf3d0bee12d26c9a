"""What is certain of one value that the target cell meets: its type, facts about it, perhaps the value itself.

Knows nothing of libraries. Two names of one object share one abstract value: what changes the object changes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final, Generic, TypeVar

_T = TypeVar("_T")


class _NotKnown:
    """Represents a value that is not known; None is a value."""

    def __repr__(self) -> str:
        return "NOT_KNOWN"

    def __bool__(self) -> bool:
        return False


NOT_KNOWN: Final = _NotKnown()
_SEQUENCES: Final = {"list": list, "tuple": tuple}
_CHANGEABLE: Final = frozenset([list, dict, set])
_BEING_READ: Final[set[AbstractValue]] = set()
"""Objects whose literal is being put together; one that meets itself among them has none."""
_N_READ: Final = [0]
"""How many parts that literal has so far: objects that hold one other many times have more than memory has room."""
# `a = [0] * 1000; b = [a] * 1000; c = [b] * 1000` is small, and its literal is not.
_MOST_READ = 20_000
# `x += x` forty times would fill the memory of the process.
_MOST_ITEMS = 10_000


class _ChangeablePart(Generic[_T]):
    """A dict or list that code which reads it may change in place: the value counts as changed from then on.

    It is to be read again for each change, as what is known may be copied in between. A list that is too long to be
    followed is not known.
    """

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __get__(self, value: AbstractValue, kind: type | None = None) -> _T:
        part: _T = getattr(value, self._slot)
        if part is not None:
            value.fields = None
        return part

    def __set__(self, value: AbstractValue, part: _T) -> None:
        value.fields = None
        setattr(
            value,
            self._slot,
            None
            if isinstance(part, list) and len(part) > _MOST_ITEMS
            else part,
        )


class AbstractValue:
    """One object, as far as it is known. An AbstractValue() of which nothing is known is the rule, not the exception.

    `type` is the dotted type ("pandas.DataFrame", "int"), "" where it is not known; it is the exact type, no parent.
    `facts` are named and formed as in the state (design, section 4), its groups merged, with shapes as tuples in which
    None is a length that is not known; a fact that is not there is not known. `literal` is the value itself where it
    is a number, string, boolean, None, or a tuple, list, set or dict of such. `items` are the elements of a list or
    tuple, or None if they are not all known; `members` the values of a dict by key, complete, or None. `path` is
    the public dotted name of a module, class or function ("numpy.concatenate"). `definition` is the syntax tree of a
    function or class of the notebook (of an object: of its class), `bound_to` the object that a method was read from.
    `attributes` are those of the object that are known, never said to be all. `scope` is what a definition sees of the
    names around it; only the interpreter asks for it. `words` say in evidence what it is: "harvest", "the result of
    harvest.groupby(...)". The literal of a list, tuple or dict follows its items and members.
    """

    __slots__ = (
        "_attributes",
        "_facts",
        "_items",
        "_literal",
        "_members",
        "_type",
        "bound_to",
        "definition",
        "fields",
        "is_foreign",
        "last_fields",
        "path",
        "scope",
        "words",
    )

    def __init__(
        self,
        type: str = "",
        facts: Mapping[str, Any] | None = None,
        *,
        literal: Any = NOT_KNOWN,
        items: Iterable[AbstractValue] | None = None,
        members: Mapping[Any, AbstractValue] | None = None,
        path: str = "",
        definition: Any = None,
        bound_to: AbstractValue | None = None,
        attributes: Mapping[str, AbstractValue] | None = None,
        scope: Any = None,
        words: str = "",
    ) -> None:
        self.fields: Any = None
        """What it says of itself, as the heap has copied it; None once code may have changed it since."""
        self.last_fields: Any = None
        self._type = type
        self._facts: dict[str, Any] = dict(facts) if facts else {}
        self._literal = literal
        self._items: list[AbstractValue] | None = None
        self.items = None if items is None else list(items)
        self._members: dict[Any, AbstractValue] | None = (
            None if members is None else dict(members)
        )
        self.path = path
        self.definition = definition
        self.bound_to = bound_to
        self._attributes: dict[str, AbstractValue] = (
            dict(attributes) if attributes else {}
        )
        self.scope = scope
        self.words = words
        self.is_foreign = False
        """Made by a library that was given no code of the notebook: calling it runs none."""

    @property
    def type(self) -> str:
        """The dotted exact type, "" where it is not known."""
        return self._type

    @type.setter
    def type(self, value: str) -> None:
        self.fields = None
        self._type = value

    facts = _ChangeablePart[dict[str, Any]]("_facts")
    items = _ChangeablePart["list[AbstractValue] | None"]("_items")
    members = _ChangeablePart["dict[Any, AbstractValue] | None"]("_members")
    attributes = _ChangeablePart["dict[str, AbstractValue]"]("_attributes")

    @property
    def literal(self) -> Any:
        """The value itself, or NOT_KNOWN; that of a list, tuple or dict is put together from its parts."""
        if self._items is not None and self._type in _SEQUENCES:
            values = self._literals(self._items)
            return (
                NOT_KNOWN if values is None else _SEQUENCES[self._type](values)
            )
        if self._members is not None and self._type == "dict":
            values = self._literals(self._members.values())
            return (
                NOT_KNOWN
                if values is None
                else dict(zip(self._members, values, strict=True))
            )
        # A reader may change the set or dict in place, so it counts as changed from here on.
        if type(self._literal) in _CHANGEABLE:
            self.fields = None
        return self._literal

    @literal.setter
    def literal(self, value: Any) -> None:
        self.fields = None
        self._literal = value

    def _literals(self, parts: Iterable[AbstractValue]) -> list[Any] | None:
        """The literal of each; None if one is not known, where the object holds itself, or where it holds too many."""
        # `rows.append(rows)` and `d['d'] = d` have no end.
        if self in _BEING_READ:
            return None
        if not _BEING_READ:
            _N_READ[0] = 0
        _BEING_READ.add(self)
        values: list[Any] = []
        try:
            for part in parts:
                _N_READ[0] += 1
                if (
                    _N_READ[0] > _MOST_READ
                    or (value := part.literal) is NOT_KNOWN
                ):
                    return None
                values.append(value)
        finally:
            _BEING_READ.discard(self)
        return values

    @property
    def package(self) -> str:
        """Top-level package of the type; "builtins" for Python's own, "" where the type is not known."""
        head, dot, _ = self.type.partition(".")
        # States write Python's own types without a package: "int", "list".
        return head if dot else "builtins" if head else ""

    @property
    def class_name(self) -> str:
        """The last part of the type, "" where the type is not known."""
        return self.type.rpartition(".")[2]

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The fact "shape", in which None is a length that is not known; None if not even their number is."""
        shape = self.fact("shape")
        return tuple(shape) if isinstance(shape, (tuple, list)) else None

    def is_a(self, package: str, *class_names: str) -> bool:
        """Whether the type is certainly one of these classes of a package, wherever in it they are defined."""
        # A state says `pandas.core.frame.DataFrame`, and a rule `pandas.DataFrame`.
        return self.package == package and (
            not class_names or self.class_name in class_names
        )

    @property
    def is_literal(self) -> bool:
        """Whether the value itself is known."""
        return self.literal is not NOT_KNOWN

    def fact(self, name: str, default: Any = None) -> Any:
        """The fact of this name, `default` where it is not known."""
        known = self._facts.get(name, default)
        if type(known) in _CHANGEABLE:
            self.fields = None
        return known

    def mapping(self, name: str) -> Mapping[Any, Any]:
        """The fact of this name; nothing is in it where it is not known, or no mapping."""
        known = self.fact(name)
        return known if isinstance(known, Mapping) else {}

    @property
    def item_types(self) -> Set[str]:
        """The types of all items; none where they are not known."""
        return self.mapping("item_types").keys()

    def named(self, otherwise: str) -> str:
        """What evidence calls it; `otherwise` where it has no words."""
        return self.words or otherwise

    def drop(self, names: Set[str]) -> None:
        """These facts are no longer known."""
        # Setting facts counts as a change, so it is left out where none goes.
        if not names.isdisjoint(self._facts):
            self.facts = {
                name: fact
                for name, fact in self._facts.items()
                if name not in names
            }

    def forget(self) -> None:
        """The object may have been changed: its type stays, and what may be in it; what was known of it does not."""
        is_known = (
            self._facts
            or self._attributes
            or self._items is not None
            or self._members is not None
        )
        if is_known or self._literal is not NOT_KNOWN:
            self.fields = None
            # What it may hold stays: a change of it later may still reach a list with another name.
            self._facts, self._attributes = (
                restricted(self._facts, ("part_of",)),
                {},
            )
            self._literal = NOT_KNOWN
            self._items = self._members = None


def known_facts(**facts: Any) -> dict[str, Any]:
    """The facts that are known: those that are not None."""
    return {name: fact for name, fact in facts.items() if fact is not None}


def all_known(values: Iterable[_T | None]) -> list[_T] | None:
    """The values; None where one of them is not known."""
    held = list(values)
    known = [value for value in held if value is not None]
    return known if len(known) == len(held) else None


def restricted(known: Mapping[Any, Any], keys: Iterable[Any]) -> dict[Any, Any]:
    """What a mapping says of these keys, in their order; keys that it lacks are left out."""
    return {key: known[key] for key in keys if key in known}


def number_of(n: int, noun: str) -> str:
    """For evidence and remedies: "1 element", "2 elements"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def integer(value: int | None) -> AbstractValue:
    """The integer; one of which the value is not known where it is None."""
    return AbstractValue("int") if value is None else literal(value)


def literal(value: Any, words: str = "") -> AbstractValue:
    """The AbstractValue of a Python value: a number, string, boolean, None, or a tuple, list, set or dict of such."""
    items = (
        [literal(item) for item in value]
        if isinstance(value, (tuple, list))
        else None
    )
    members = (
        {key: literal(item) for key, item in value.items()}
        if isinstance(value, dict)
        else None
    )
    return AbstractValue(
        type(value).__name__,
        literal=value,
        items=items,
        members=members,
        words=words,
    )
