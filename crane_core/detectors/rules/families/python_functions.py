"""Python's own functions: computed where all they are given is known, judged by types where those alone decide."""

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from crane_core.detectors.rules.abstract_value import (
    AbstractValue,
    all_known,
    known_facts,
    literal,
    restricted,
)
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.python_values import (
    FLOWING,
    SAMPLES,
    by_types,
    elements_of,
    is_own,
    item_like,
    known,
    length_of,
    made,
    tried,
    words_of,
)
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("python: functions")
_EXACT = "abs round min max sum sorted int float str bool ord chr divmod pow hex bin oct repr any all len complex range"
_OF_SEVERAL = ("min", "max", "sum", "sorted", "any", "all")
_DATA = {
    "numpy": (
        "ndarray",
        "float64",
        "float32",
        "int64",
        "int32",
        "bool",
        "bool_",
        "str_",
    ),
    "pandas": ("DataFrame", "Series", "Index", "RangeIndex", "Timestamp"),
    "torch": ("Tensor",),
    "tensorflow": ("EagerTensor",),
}
"""Values of libraries that no one can call."""
_OF_ANY_ORDER = ("sorted", "min", "max")
_MOST_ROWS = 200
_RESULTS = {
    **dict.fromkeys(["len", "ord", "id", "hash"], "int"),
    **{name: name for name in ("int", "float", "str", "bool", "range")},
    "repr": "str",
}


@RULES.function(*(f"builtins.{name}" for name in _EXACT.split()))
def computed(operation: Operation) -> Answer:
    """A function of values that are all known exactly, else what it refuses by their types."""
    name, arguments = operation.function_name, operation.arguments
    function: Callable[..., Any] = getattr(builtins, name)
    operands = arguments.values
    # sum(3) fails when Python iterates it, before the function computes anything.
    if name in _OF_SEVERAL and len(arguments.positional) == 1:
        by_types(operation, iter, [operation.first])
    # key= runs a function of the notebook on each element.
    if (
        not arguments.is_complete
        or "key" in arguments.keywords
        or not _is_computed(name, operands)
    ):
        _forget_returned(name, arguments.positional)
        return _result(name, operation.first)
    n_positional, names = len(arguments.positional), list(arguments.keywords)
    if name in _OF_ANY_ORDER:
        operands = [_in_its_order(value) for value in operands]
    given = tried(
        operation,
        lambda *values: function(
            *values[:n_positional],
            **dict(zip(names, values[n_positional:], strict=True)),
        ),
        operands,
    )
    # Of known values only a codec of the kernel leaves it open, and that may be code of the notebook.
    is_exact = known(operands) is not None
    return given if is_exact else _result(name, operation.first)


def _in_its_order(value: AbstractValue) -> AbstractValue:
    """A set of texts, or of integers, as the list that `sorted` makes of it in every process."""
    held = value.literal
    if isinstance(held, (set, frozenset)) and {*map(type, held)} in (
        {str},
        {int},
    ):
        return literal(sorted(held))
    return value


def _is_computed(name: str, operands: list[AbstractValue]) -> bool:
    """Whether computing it costs little and returns no object that has another name: one of several lists."""
    # pow(9, 10**9) would fill the memory of this process.
    if name == "pow":
        return all(
            isinstance(value.literal, int) and abs(value.literal) < 100
            for value in operands
        )
    parts = [
        *operands,
        *(part for value in operands for part in value.items or ()),
    ]
    return (
        name not in ("min", "max", "sum", "sorted")
        or len(operands) == 1
        and not _hold_others(parts[1:])
    )


def _forget_returned(name: str, given: Sequence[AbstractValue]) -> None:
    """`max(rows)` is one of the rows, and `sorted(rows)` holds them: a change of what it returns changes a row."""
    if name not in ("min", "max", "sorted"):
        return
    returned = given[0].items or () if len(given) == 1 else given
    for value in returned:
        if not value.is_literal or _hold_others([value]):
            value.forget()


def _hold_others(values: list[AbstractValue]) -> bool:
    return any(
        value.type in ("list", "dict", "set", "tuple") for value in values
    )


def _result(name: str, value: AbstractValue) -> Answer:
    if name == "sorted":
        return AbstractValue(
            "list",
            known_facts(
                length=length_of(value), item_types=value.fact("item_types")
            ),
        )
    if name == "len" and value.shape:
        return (
            AbstractValue("int")
            if value.shape[0] is None
            else literal(value.shape[0])
        )
    return AbstractValue(_RESULTS[name]) if name in _RESULTS else UNCHANGED


@RULES.function(
    "builtins.print",
    "builtins.id",
    "builtins.type",
    "builtins.hash",
    "builtins.callable",
)
@RULES.function("builtins.format")
def of_anything(operation: Operation) -> Answer:
    """Functions that only look at a value."""
    name, values = operation.function_name, operation.arguments.positional
    if name == "hash" and values:
        by_types(operation, hash, values[:1])
    return (
        AbstractValue("NoneType", literal=None)
        if name == "print"
        else AbstractValue(_RESULTS.get(name, ""))
    )


@RULES.function("builtins.isinstance")
def is_of_class(operation: Operation) -> Answer:
    """True or False where that is certain; a class of the notebook may have been defined again."""
    value, kind = [
        *operation.arguments.positional,
        AbstractValue(),
        AbstractValue(),
    ][:2]
    if value.package != "__main__" and value.type and value.type == kind.path:
        return literal(True)
    is_builtin = is_own(value) and kind.path.startswith("builtins.")
    wanted = (
        vars(builtins).get(kind.path.removeprefix("builtins."))
        if is_builtin
        else None
    )
    return (
        # isinstance looks at the class, so one sample speaks for all values of
        # it.
        literal(isinstance(SAMPLES[value.type][0], wanted))
        if isinstance(wanted, type)
        else AbstractValue("bool")
    )


@RULES.function(
    "math.sqrt",
    "math.log",
    "math.exp",
    "math.floor",
    "math.ceil",
    "math.log10",
    "math.log2",
    "math.sin",
)
def of_mathematics(operation: Operation) -> Answer:
    """A function of math on known numbers; raises Crash for what math refuses."""
    if not operation.arguments.is_complete or operation.arguments.keywords:
        return UNCHANGED
    found = tried(
        operation,
        getattr(math, operation.function_name),
        operation.arguments.positional,
    )
    return UNCHANGED if found is UNKNOWN else found


@RULES.function(
    "builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset"
)
def container_of(operation: Operation) -> Answer:
    """A list, tuple or set of the elements; raises Crash for what cannot be iterated."""
    name = operation.function_name
    if not operation.arguments.positional:
        return (
            made(getattr(builtins, name)())
            if operation.arguments.is_complete
            else AbstractValue(name)
        )
    value = operation.first
    by_types(operation, iter, [value])
    items: Sequence[AbstractValue] | None = elements_of(value)
    # An object of a library is iterated as the rules of the library say.
    if items is None and value.type not in SAMPLES:
        items = operation.elements(value)
    # list(zip(...)) runs the iterator to its end: nothing is left in it afterwards.
    if value.type in FLOWING:
        items = None if items is None else list(items)
        value.forget()
    if name in ("set", "frozenset"):
        return _set_of(name, items)
    return AbstractValue(
        name,
        _facts_of_items(value) if items is None else None,
        items=None if items is None else list(items),
    )


def _set_of(name: str, items: Sequence[AbstractValue] | None) -> AbstractValue:
    values = None if items is None else known(items)
    # How many elements a set keeps depends on equality, which classes of the notebook may define.
    is_plain = values is not None and all(
        isinstance(each, (str, int, float, bool)) for each in values
    )
    return (
        literal(getattr(builtins, name)(values))
        if is_plain
        else AbstractValue(name)
    )


def _facts_of_items(value: AbstractValue) -> dict[str, Any]:
    """What is known of elements of which not each is."""
    length = (
        length_of(value)
        if value.type in SAMPLES and value.type not in FLOWING
        else None
    )
    kept = (
        ("first_items", "item_types") if value.type in ("list", "tuple") else ()
    )
    return known_facts(length=length) | restricted(value.facts, kept)


@RULES.function("builtins.dict")
def dict_of(operation: Operation) -> Answer:
    """A dict of another dict and of keywords, where both are known by their keys."""
    positional, keywords = (
        operation.arguments.positional,
        operation.arguments.keywords,
    )
    parts = [
        each.members if each.type == "dict" else None for each in positional
    ]
    # dict([("a", 1)]) is left open: only dicts are followed.
    if not operation.arguments.is_complete or None in parts:
        return AbstractValue("dict")
    return AbstractValue(
        "dict", members={**(parts[0] or {} if parts else {}), **keywords}
    )


# Iterators over others


@RULES.function("builtins.zip", "builtins.enumerate", "builtins.reversed")
def flowing(operation: Operation) -> Answer:
    """An iterator over known elements, or one of which only the first element is known."""
    name = operation.function_name
    sources = operation.arguments.positional[: 1 if name != "zip" else None]
    for value in sources:
        by_types(operation, iter, [value])
    if not operation.arguments.is_complete:
        return AbstractValue(name)
    firsts = all_known(operation.element(value) for value in sources)
    rows = [operation.elements(value) for value in sources]
    if (turns := _all_turns(operation, rows)) is not None:
        return AbstractValue(name, items=turns)
    # The first element of reversed is the last of its source, which is unknown here.
    if not firsts or name == "reversed":
        return AbstractValue(name)
    first = AbstractValue(
        "tuple",
        items=[_start(operation), *firsts] if name == "enumerate" else firsts,
    )
    return AbstractValue(name, {"first_items": [first]})


def _start(operation: Operation) -> AbstractValue:
    """The number from which enumerate counts."""
    given = [
        *operation.arguments.positional[1:],
        *operation.arguments.keywords.values(),
        literal(0),
    ]
    # `enumerate(rows, 1)` counts from 1, which was a false alarm before 0.3.
    return given[0] if operation.function_name == "enumerate" else literal(0)


def _all_turns(
    operation: Operation, rows: list[Sequence[AbstractValue] | None]
) -> list[AbstractValue] | None:
    """All its elements; None where not all elements are known, or they are too many."""
    name, start = operation.function_name, _start(operation).literal
    # zip(strict=True) raises after the last common element.
    is_plain = isinstance(start, int) and (
        name != "zip" or not operation.arguments.keywords
    )
    if (
        not is_plain
        or not rows
        or not all(row is not None and len(row) <= _MOST_ROWS for row in rows)
    ):
        return None
    return _turns(name, [list(row or ()) for row in rows], start)


def _turns(
    name: str, rows: list[list[AbstractValue]], start: int
) -> list[AbstractValue]:
    """All its elements, if all are known."""
    if name == "reversed":
        return rows[0][::-1]
    columns = (
        [list(map(literal, range(start, start + len(rows[0])))), *rows]
        if name == "enumerate"
        else rows
    )
    return [
        AbstractValue("tuple", items=parts)
        for parts in zip(*columns, strict=False)
    ]


# Iterating, truth and calls


@RULES.element("*")
def element(operation: Operation) -> Answer:
    """The first element, where there certainly is one."""
    value = operation.receiver
    by_types(operation, iter, [value])
    if value.type not in SAMPLES:
        return UNKNOWN
    items = elements_of(value) or value.fact("first_items") or ()
    return (
        items[0] if items else item_like(value) if length_of(value) else UNKNOWN
    )


@RULES.method("*", "__call__")
def call_of_no_function(operation: Operation) -> Answer:
    """Raises Crash for a call of a plain value, of data or of a module."""
    value = operation.receiver
    # A path means the class itself and not a value of it: numpy.float64(3) is a fine call.
    is_data = (
        value.class_name in _DATA.get(value.package, ()) and not value.path
    )
    is_plain = (
        is_own(value)
        and not value.path
        and not callable(SAMPLES[value.type][0])
    )
    if is_data or is_plain or value.type == "module" and value.facts:
        operation.crash(
            "TypeError",
            f"'{value.type}' object is not callable",
            fact=f"{words_of(value)} is of type {value.type}",
            remedy=_instead(value),
        )
    return UNKNOWN


def _instead(value: AbstractValue) -> str:
    if value.type == "module":
        return f"Call a function of the module: {value.words}.name(...)."
    if value.type in ("list", "dict", "tuple") or value.class_name in (
        "ndarray",
        "DataFrame",
        "Series",
        "Tensor",
    ):
        return "Use square brackets for its items."
    return "The name was reassigned and no longer refers to the function: restart the kernel, or `del` it first."
