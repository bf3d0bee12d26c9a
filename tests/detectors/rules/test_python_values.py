"""What samples of Python's types conclude of a step beside what it really does to values of these types, at random.

A step that is refused by types is refused for all values, by the same class; an operator gives the type it is said to.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.families.python_functions import _EXACT
from crane_core.detectors.rules.families.python_methods import (
    _PADDING,
    _PURE_ON_TEXT,
)
from crane_core.detectors.rules.families.python_operators import (
    _COMPUTE,
    _SIZED_BY_VALUE,
)
from crane_core.detectors.rules.families.python_values import (
    SAMPLES,
    _outcome,
    by_types,
)
from crane_core.detectors.rules.operation import Operation

N_TRIED = 8
MOST_PAIRS = 250
STEP = Operation(ast.Pass(), "x")
ATOMS = [
    0,
    1,
    -5,
    2.5,
    float("nan"),
    "",
    "abc",
    "12",
    "%d",
    None,
    True,
    (),
    (1, 2),
    b"x",
]
KEYS = [0, 1, "a", None, (1,), 2.5]
PLAIN: dict[str, list[Any]] = {
    "int": [0, 1, -1, 5, 97, -3],
    "float": [0.0, 1.0, float("nan"), float("inf"), -2.7],
    "bool": [False, True],
    "str": ["", "a", "b c", "12", "1.5", "%s", "{}", "nan"],
    "NoneType": [None],
    "complex": [0j, 1 + 2j],
    "bytes": [b"", b"abc", b"12"],
    "range": [range(0), range(5)],
    "slice": [slice(None), slice(0, -1), slice(None, None, -1)],
    "function": [lambda *given: 1],
    "builtin_function_or_method": [len, print],
    "method": [STEP.crash],
}


def any_value(kind: str, chance: random.Random) -> Any:
    """A value of a type."""
    if kind in PLAIN:
        return chance.choice(PLAIN[kind])
    parts = [
        chance.choice([*ATOMS, [1], {"a": 1}])
        for _ in range(chance.randrange(4))
    ]
    keyed = {chance.choice(KEYS): part for part in parts}
    made: dict[str, Callable[[], Any]] = {
        "list": lambda: parts,
        "tuple": lambda: tuple(parts),
        "dict": lambda: keyed,
        "set": lambda: set(keyed),
        "frozenset": lambda: frozenset(keyed),
        "dict_keys": keyed.keys,
        "dict_values": keyed.values,
        "dict_items": keyed.items,
        "zip": lambda: zip(parts, parts, strict=True),
        "enumerate": lambda: enumerate(parts),
        "map": lambda: map(str, parts),
        "filter": lambda: filter(None, parts),
        "reversed": lambda: reversed(tuple(parts)),
        "generator": lambda: (part for part in parts),
        "list_iterator": lambda: iter(parts),
        "tuple_iterator": lambda: iter(tuple(parts)),
        "set_iterator": lambda: iter(set(keyed)),
        "range_iterator": lambda: iter(range(len(parts))),
    }
    return made[kind]()


def steps() -> Iterator[tuple[str, Callable[..., Any], int]]:
    """Names, functions and how many operands they take."""
    for symbol, compute in _COMPUTE.items():
        if symbol not in _SIZED_BY_VALUE:
            yield (
                symbol,
                compute,
                1 if len(symbol) == 2 and symbol[1] == "x" else 2,
            )
    yield "getitem", operator.getitem, 2
    for function in (iter, hash, next):
        yield function.__name__, function, 1
    for name, n_operands in itertools.product(_EXACT.split(), (1, 2)):
        if name != "pow":
            yield name, getattr(builtins, name), n_operands
    for name in sorted(set(_PURE_ON_TEXT) - set(_PADDING)):
        yield f"str.{name}", getattr(str, name), 2
    for name in ("append", "shape", "real", "items", "next", "gi_frame"):
        yield f"get {name}", operator.attrgetter(name), 1


@pytest.mark.parametrize(
    ("name", "compute", "n_operands"),
    [pytest.param(*each, id=each[0]) for each in steps()],
)
def test_what_types_refuse_is_refused_of_all_values(
    name: str, compute: Callable[..., Any], n_operands: int
) -> None:
    chance = random.Random(name)
    pairs = list(itertools.product(SAMPLES, repeat=n_operands))
    for kinds in chance.sample(pairs, min(len(pairs), MOST_PAIRS)):
        if (
            name == "%"
            and kinds[0] in ("str", "bytes")
            or name.startswith("get ")
            and kinds[0] in ("function", "method")
        ):
            continue  # what a text is formatted with, and what a function was given, is not asked by type
        refused = ""
        gives = AbstractValue()
        try:
            answer = by_types(
                STEP, compute, [AbstractValue(kind) for kind in kinds]
            )
            gives = answer if isinstance(answer, AbstractValue) else gives
        except Crash as crash:
            refused = crash.exception
        for _ in range(N_TRIED):
            values = [any_value(kind, chance) for kind in kinds]
            outcome = _outcome(compute, values)
            kind = type(outcome).__name__
            if isinstance(outcome, Exception):
                assert refused in ("", kind), (kinds, values)
            else:
                assert not refused, (kinds, values)
                assert name not in _COMPUTE or gives.type in ("", kind), (
                    kinds,
                    values,
                )
