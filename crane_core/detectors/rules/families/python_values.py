"""Python's own values as rules see them: what Python answers to a step on them, and how containers change.

Pure. A step is tried with the very values where all are known and small, else with samples of each type: what every
sample refuses in the same way, the types refuse.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from types import MethodType, NoneType
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    literal,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.operation import Operation


def _no_elements() -> Iterator[Any]:
    yield from ()


SCALARS: Final = ("int", "float", "bool", "str", "NoneType", "complex", "bytes")
_CONTAINERS: Final = ("list", "tuple", "dict", "set", "frozenset")
FLOWING: Final = ("zip", "enumerate", "map", "filter", "reversed", "generator")
_VIEWS: Final = ("dict_keys", "dict_values", "dict_items")
ITERATORS: Final = {
    "list": "list_iterator",
    "tuple": "tuple_iterator",
    "str": "str_iterator",
    "set": "set_iterator",
    # Python has one class of iterators for both kinds of sets.
    "frozenset": "set_iterator",
    "dict": "dict_keyiterator",
    "dict_keys": "dict_keyiterator",
    "dict_values": "dict_valueiterator",
    "dict_items": "dict_itemiterator",
    "range": "range_iterator",
}
"""The result of `iter` on each type."""
SAMPLES: Final[Mapping[str, Sequence[Any]]] = {
    # 0 fails as a divisor and -2 as a length; 1 passes as both.
    "int": (0, 1, -2),
    "float": (0.0, 1.5, -2.0),
    "bool": (False, True),
    # int("1") works, so a string with unknown content is not refused as a number.
    "str": ("", "a", "1"),
    "NoneType": (None,),
    "complex": (0j, 1j),
    "bytes": (b"", b"a", b"1"),
    # max([]) fails, and so does sum(["a"]): what lists hold must not decide.
    "list": ([], [1], ["a"], [None]),
    "tuple": ((), (1,), ("a",), (None,)),
    "dict": ({}, {0: 1}, {"a": "b"}),
    "set": (set(), {1}, {"a"}),
    "frozenset": (frozenset(), frozenset([1]), frozenset(["a"])),
    "range": (range(0), range(2)),
    "slice": (slice(1),),
    "function": (lambda: None,),
    "builtin_function_or_method": (len,),
    "method": (MethodType(len, ""),),
    "dict_keys": ({}.keys(), {"a": 1}.keys()),
    "dict_values": ({}.values(), {"a": 1}.values()),
    "dict_items": ({}.items(), {"a": 1}.items()),
    "list_iterator": (iter([]),),
    "tuple_iterator": (iter(()),),
    "set_iterator": (iter(set()),),
    "range_iterator": (iter(range(0)),),
    "zip": (zip(),),
    "enumerate": (enumerate(()),),
    "map": (map(len, ()),),
    "filter": (filter(len, ()),),
    "reversed": (reversed(()),),
    "generator": (_no_elements(),),
}
"""Values of each type: what all of them refuse, every value of the type refuses."""
ANYTHING: Final = (0, True, "a", None, (), slice(None))
"""Samples of an unknown value: where the other operand alone decides, all of them are refused."""

LONG_NUMBER: Final = re.compile(r"\d{4}")
"""In a format: a width that makes a text long."""
_RAISED: Final = (
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
)
_WITHOUT_ORDER: Final = (bool, int, NoneType, set, frozenset)
"""What the order of a set's elements does not change, as it does a text, a list or a sum of floats."""
_OF_TYPES: Final = (TypeError, AttributeError, ZeroDivisionError)
"""What may follow from types alone, or from a divisor that is known."""
# Steps are tried in this process: a literal in a notebook must not cost it time or memory.
_LARGEST_INT = 10**12
_LONGEST = 2_000
_REMEDIES: Final = {
    "division|modulo": "Handle zero before dividing.",
    "not iterable": "Use a list, range(...) for a number, or append for one element.",
    "not subscriptable": "Use another object here, call it first, or convert it with list(...).",
    "indices must be": "Use // or int(...) for a number; for names, a dict or table.",
    "as an integer": "Use int(...), // or len(...).",
    "unhashable": "Use a tuple, a string or a number.",
    "has no len": "Convert it to a list first, or remove len.",
    "item assignment|item deletion|no setter|attributes of": "Create a new object, or convert it to a list first.",
    "has no attribute": "Use an attribute of this type, or assign the intended value.",
    "out of range|empty": "Use an index below its length; check first that it is not empty.",
    "is not in|not found": "Check with `in` first.",
    "format": "Use a format for that type, and as many values as it has placeholders.",
}
_OTHERWISE: Final = "Convert the values first, for example with str(...), int(...) or float(...)."


def words_of(value: AbstractValue, otherwise: str = "the value") -> str:
    """How evidence names a value."""
    if value.words or not value.is_literal:
        return value.words or otherwise
    text = repr(value.literal)
    return text if len(text) <= 60 else text[:59] + "\u2026"


def is_own(value: AbstractValue) -> bool:
    """Whether it is a value of one of Python's own types, no name of a library."""
    return value.type in SAMPLES and (not value.path or value.is_literal)


def is_small(value: Any) -> bool:
    """Whether computing with a value costs nothing to speak of."""
    if isinstance(value, (bool, float, complex, NoneType)):
        return True
    if isinstance(value, int):
        return abs(value) <= _LARGEST_INT
    if isinstance(value, (str, bytes)):
        return len(value) <= _LONGEST
    parts = (
        (part for pair in value.items() for part in pair)
        if isinstance(value, dict)
        else value
    )
    return len(value) <= _LONGEST and all(map(is_small, parts))


def known(abstract_values: Iterable[AbstractValue]) -> list[Any] | None:
    """The Python values where each is known exactly and small, else None."""
    values = [abstract.literal for abstract in abstract_values]
    return (
        values
        if all(value is not NOT_KNOWN and is_small(value) for value in values)
        else None
    )


# What Python says


def tried(
    operation: Operation,
    compute: Callable[..., Any],
    operands: Sequence[AbstractValue],
) -> Answer:
    """The result of a step on values that are all known, else what `by_types` says. Raises Crash."""
    values = known(operands)
    if values is None:
        return by_types(operation, compute, operands)
    try:
        result = compute(*values)
    except _RAISED as error:
        # The kernel may have codecs and error handlers that this process has not: codecs.register_error.
        if type(error) is LookupError:
            return UNKNOWN
        return refuse(operation, error, operands)
    # ", ".join({"a", "b"}) is "b, a" in another process: hashes of texts begin with a number drawn there.
    if any(map(_has_sets, values)) and not isinstance(result, _WITHOUT_ORDER):
        return AbstractValue(type(result).__name__)
    return made(result)


def _has_sets(value: Any) -> bool:
    """Whether it is a set of several elements, or holds one."""
    if isinstance(value, (set, frozenset)):
        return len(value) > 1 or any(map(_has_sets, value))
    if isinstance(value, dict):
        return any(map(_has_sets, (*value, *value.values())))
    return isinstance(value, (list, tuple)) and any(map(_has_sets, value))


def by_types(
    operation: Operation,
    compute: Callable[..., Any],
    operands: Sequence[AbstractValue],
    *,
    unknown: Sequence[Any] = (),
    refusals: tuple[type[Exception], ...] = _OF_TYPES,
) -> Answer:
    """What Python says of a step whatever the values are that are not known: the type of its result. Raises Crash.

    `unknown` are the samples of an operand of which not even the type is known; without any nothing is said.
    """
    samples = [_samples(value) or unknown for value in operands]
    if not all(samples):
        return UNKNOWN
    outcomes = [_outcome(compute, row) for row in product(*samples)]
    first, kinds = outcomes[0], set(map(type, outcomes))
    # One class for all samples: else another value might raise something else, or nothing.
    if isinstance(first, refusals) and len(kinds) == 1:
        return refuse(operation, first, operands)
    # `5 // 0` raises, and any other integer gives an int.
    kinds = {kind for kind in kinds if not issubclass(kind, Exception)}
    return AbstractValue(kinds.pop().__name__) if len(kinds) == 1 else UNCHANGED


def _samples(value: AbstractValue) -> Sequence[Any]:
    if not is_own(value):
        return ()
    # rows[1.5:] fails for every list: the types of the bounds decide.
    if value.type == "slice" and value.items is not None:
        return [
            slice(*row)
            for row in product(
                *(_samples(part) or (None,) for part in value.items)
            )
        ]
    exact = known([value])
    return SAMPLES[value.type] if exact is None else exact


def _outcome(compute: Callable[..., Any], operands: Sequence[Any]) -> Any:
    try:
        return compute(*operands)
    except Exception as error:  # noqa: BLE001 - what it raises is the answer
        return error


def refuse(
    operation: Operation, error: Exception, operands: Sequence[AbstractValue]
) -> AbstractValue:
    """Python refuses the step, in its own words."""
    said = str(error)
    facts = dict.fromkeys(
        f"{words_of(value)} is {_described(value)}"
        for value in operands
        if value.type
    )
    remedy = next(
        (words for text, words in _REMEDIES.items() if re.search(text, said)),
        _OTHERWISE,
    )
    remedy = (
        "Use an existing key, or .get()."
        if isinstance(error, KeyError)
        else remedy
    )
    return operation.crash(
        type(error).__name__, said, fact="; ".join(facts) or said, remedy=remedy
    )


def _described(value: AbstractValue) -> str:
    length = length_of(value)
    if value.type == "dict" and value.members is not None:
        return f"a dict with the keys {', '.join(map(repr, [*value.members][:8])) or '(none)'}"
    return f"of type {value.type}" + (
        f" and length {length}" if length is not None and value.words else ""
    )


def made(value: Any) -> AbstractValue:
    """The AbstractValue of a computed value; a sequence that is not a list or tuple by its type alone."""
    if type(value).__name__ in (*SCALARS, *_CONTAINERS) and is_small(value):
        return literal(value)
    if isinstance(value, range):
        items = (
            # `range(10**18)` would fill the memory of this process.
            [literal(number) for number in value] if len(value) <= 200 else None
        )
        facts = {
            "length": len(value),
            "start": value.start,
            "stop": value.stop,
            "step": value.step,
        }
        return AbstractValue("range", facts, items=items, words=repr(value))
    return AbstractValue(type(value).__name__)


# Containers


def length_of(value: AbstractValue) -> int | None:
    """The length of one of Python's own containers or texts, None if it is not known."""
    if value.items is not None:
        return len(value.items)
    if value.members is not None:
        return len(value.members)
    if value.is_literal and isinstance(
        value.literal, (str, bytes, set, frozenset)
    ):
        return len(value.literal)
    length = value.fact("length")
    return length if isinstance(length, int) else None


def elements_of(value: AbstractValue) -> list[AbstractValue] | None:
    """The elements of one of Python's own values, where all is known."""
    if value.items is not None:
        return value.items
    if value.members is not None:
        return [literal(key) for key in value.members]
    if (
        value.is_literal
        and isinstance(value.literal, (str, bytes))
        and len(value.literal) <= _LONGEST
    ):
        return [literal(part) for part in value.literal]
    return None


def item_like(value: AbstractValue) -> AbstractValue:
    """Any item of a container of which only the items' common type is known."""
    [only, *others] = [*value.item_types] or [""]
    kind = (
        "str"
        if value.type == "str"
        else ""
        if others or only not in SCALARS[:5]
        else only
    )
    return (
        AbstractValue(kind, literal=None)
        if kind == "NoneType"
        else AbstractValue(kind)
    )


def forget_views(operation: Operation) -> None:
    """A container changes: views of it and iterators over it that have a name give other elements from now on."""
    for value in operation.variables():
        if value.type in FLOWING or value.type in _VIEWS:
            value.forget()


def changed(
    value: AbstractValue,
    items: list[AbstractValue] | None = None,
    length: int | None = None,
) -> AbstractValue:
    """A list after it was changed in place: its items, else its length."""
    value.forget()
    if items is not None:
        value.items = items
    elif length is not None:
        value.facts["length"] = length
    return AbstractValue("NoneType", literal=None)
