"""What is concluded of steps on tables and columns known in part, beside what they do to real ones of many kinds."""

from __future__ import annotations

import json
import platform
import warnings
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answers import LibraryAnswer
from crane_core.detectors.rules.asking import Asker
from crane_core.detectors.rules.from_state import value_from_state
from crane_core.detectors.rules.operation import Arguments
from crane_core.domain import KernelState, Setting
from crane_core.runtime.kernel_side.crane_probe.look import look
from crane_core.runtime.kernel_side.crane_surrogates import operations
from crane_core.runtime.kernel_side.crane_surrogates.asked import of_pandas

N_STEPS = 40
LABELS = ["a", "b", "zz", 0, "k"]
KEYS: list[Any] = [
    *("a", "b", "zz", 0, 1, -1, 3, None, True, "k", "x"),
    *(["a"], ["a", "b"], ["zz"], [0], [True, False], [], ["a", "zz"]),
    *(
        {"a": "k"},
        {"a": 1},
        {"zz": "a"},
        {},
        "mean",
        "sum",
        "int",
        "left",
        2,
        0.5,
        "2020",
        "columns",
        "index",
        "first",
    ),
]
NAMES = [
    *(
        "axis",
        "columns",
        "index",
        "by",
        "on",
        "how",
        "subset",
        "drop",
        "inplace",
        "level",
        "ignore_index",
        "n",
        "value",
    ),
    *(
        "ascending",
        "as_index",
        "dropna",
        "numeric_only",
        "name",
        "names",
        "key",
        "id_vars",
        "include",
        "ddof",
        "other",
    ),
]


def elements(draw: Random, n: int) -> Any:
    kinds = [
        lambda: [draw.randint(-3, 3) for _ in range(n)],
        lambda: [draw.choice([1.5, 2.0, np.nan]) for _ in range(n)],
        lambda: [draw.random() < 0.5 for _ in range(n)],
        lambda: [draw.choice(["x", "y", "12"]) for _ in range(n)],
        lambda: pd.array(
            [draw.choice([1, 2, None]) for _ in range(n)], dtype="Int64"
        ),
        lambda: pd.Categorical([draw.choice(["u", "v"]) for _ in range(n)]),
        lambda: pd.date_range("2020", periods=n),
        lambda: pd.date_range("2020", periods=n, tz="UTC"),
        lambda: np.array(
            [
                draw.choice([1, "x", None, 2.5, (1,), pd.Timestamp(2020, 1, 1)])
                for _ in range(n)
            ]
            + [0],
            "O",
        )[:n],
        lambda: np.array([draw.choice([1, 2]) for _ in range(n)], "O"),
        lambda: np.array([draw.choice(["p", "q"]) for _ in range(n)], "O"),
    ]
    return draw.choice(kinds)()


def index(draw: Random, n: int) -> Any:
    name = draw.choice([None, None, "a", "k"])
    kinds = [
        lambda: pd.RangeIndex(n, name=name),
        lambda: pd.RangeIndex(n, name=name),
        lambda: pd.RangeIndex(2, 2 + n, name=name),
        lambda: pd.Index([draw.choice("abcde") for _ in range(n)], name=name),
        lambda: pd.Index(
            [draw.randint(0, 9) for _ in range(n)], name=name, dtype="int64"
        ),
        lambda: pd.date_range("2021", periods=n, name=name),
        lambda: pd.MultiIndex.from_arrays(
            [list(range(n)), ["k"] * n], names=[name, "j"]
        ),
    ]
    return draw.choice(kinds)()


def thing(draw: Random) -> Any:
    n = draw.choice([0, 1, 2, 3, 4, 6])
    rows = index(draw, n)
    if draw.random() < 0.4:
        return pd.Series(
            elements(draw, n), index=rows, name=draw.choice([None, "a", "k"])
        )
    labels = draw.sample(LABELS, draw.randint(0, 4))
    table = pd.DataFrame(
        {
            at: pd.Series(elements(draw, n), index=rows)
            for at in range(len(labels))
        },
        index=rows,
    )
    table.columns = pd.Index(labels) if labels else table.columns
    return table


def known(value: Any, words: str, draw: Random) -> AbstractValue:
    """As the probe tells it, perhaps with a part of it forgotten."""
    if not isinstance(value, (pd.DataFrame, pd.Series)):
        return literal(value)
    told = json.loads(
        look({words: value}, {"target": words, "cells": [], "limits": {}})
    )
    state = KernelState.from_json(
        told,
        benchmark="t",
        instance_id="t_1",
        setting=Setting.RUNTIME_PLUS,
        origin="t",
    )
    found = value_from_state(words, state.variables[words], is_captured=True)
    if draw.random() < 0.4:
        names = value.index.names
        found.drop(
            {
                "index",
                *draw.choice(
                    [(), ("length",), ("dtypes",), ("dtype", "length")]
                ),
            }
        )
        if "shape" in found.facts and draw.random() < 0.7:
            found.facts["shape"] = (None, found.facts["shape"][1])
        if draw.random() < 0.5:
            found.facts["index_names"] = (
                tuple(names) if any(name is not None for name in names) else ()
            )
    return found


def steps_of(kind: str) -> list[tuple[str, str]]:
    methods = [("method", name) for name in operations.METHODS[kind]]
    others = [
        ("item", ""),
        ("truth", ""),
        ("located", "loc"),
        ("located", "iloc"),
        ("set_item", ""),
        ("del_item", ""),
    ]
    return [
        *methods,
        *others * 4,
        *[("operator", symbol) for symbol in ("+", "<", "&", "==")],
    ]


def key_of(draw: Random, step: str) -> Any:
    if step != "located":
        return draw.choice(KEYS)
    rows: Any = draw.choice(
        [slice(None), slice(None), slice(1, 3), 0, 1, 7, "a", [0, 1]]
    )
    return rows if draw.random() < 0.3 else (rows, draw.choice(KEYS[:19]))


def abstract_key(key: Any) -> AbstractValue:
    if isinstance(key, slice):
        return AbstractValue(
            "slice",
            items=[literal(key.start), literal(key.stop), literal(key.step)],
        )
    if isinstance(key, tuple):
        return AbstractValue(
            "tuple", items=[abstract_key(part) for part in key]
        )
    return literal(key)


def performed(
    step: str, name: str, held: Any, given: list[Any], named: dict[str, Any]
) -> Any:
    match step:
        case "method":
            return getattr(held, name)(*given, **named)
        case "item":
            return held[given[0]]
        case "located":
            return getattr(held, name)[given[0]]
        case "set_item":
            held[given[0]] = given[1]
        case "del_item":
            del held[given[0]]
        case "truth":
            return bool(held)
        case _:
            return {
                "+": held.__add__,
                "<": held.__lt__,
                "&": held.__and__,
                "==": held.__eq__,
            }[name](given[0])
    return None


def disagreements(given: AbstractValue, real: Any) -> list[str]:
    """Facts of what was concluded that the real result does not have."""
    if isinstance(real, pd.DataFrame):
        width, length = real.shape[1], real.shape[0]
        labels = [
            label if type(label) in (str, int) else repr(label)
            for label in real.columns
        ]
        dtypes = [str(dtype) for dtype in real.dtypes]
    elif isinstance(real, pd.Series):
        width, length, labels, dtypes = None, len(real), [], [str(real.dtype)]
    else:
        kind = f"{type(real).__module__}.{type(real).__name__}".removeprefix(
            "builtins."
        )
        is_same = (
            not given.type
            or given.type.rpartition(".")[2] == kind.rpartition(".")[2]
        )
        return [] if is_same else [f"type {given.type}, not {kind}"]
    found = []
    if given.type and given.class_name != type(real).__name__:
        found.append(f"type {given.type}, not {type(real).__name__}")
    rows, columns = given.shape or (given.fact("length"), None)
    if (
        rows is not None
        and rows != length
        or columns is not None
        and columns != width
    ):
        found.append(f"shape {rows, columns}, not {length, width}")
    if (
        given.fact("columns") is not None
        and list(given.fact("columns")) != labels
    ):
        found.append(f"columns {given.fact('columns')}, not {labels}")
    told = (
        [given.mapping("dtypes").get(label) for label in labels]
        if labels
        else [given.fact("dtype")]
    )
    if any(
        one is not None and one != other
        for one, other in zip(told, dtypes, strict=False)
    ):
        found.append(f"dtypes {told}, not {dtypes}")
    names = given.fact("index_names")
    if names is not None and names != (
        tuple(real.index.names)
        if any(n is not None for n in real.index.names)
        else ()
    ):
        found.append(f"names {names}, not {real.index.names}")
    index_ = given.mapping("index")
    if "range" in index_ and list(range(*index_["range"])) != list(real.index):
        found.append(f"rows {index_['range']}, not {list(real.index)}")
    if (
        "first" in index_
        and index_.get("length", 0) <= 3
        and [str(x) for x in index_["first"]] != [str(x) for x in real.index]
    ):
        found.append(f"rows {index_['first']}, not {list(real.index)}")
    return found


def asked(
    asker: Asker, step: str, name: str, of: AbstractValue, arguments: Arguments
) -> LibraryAnswer | None:
    receiver = of
    if step == "located":
        holders = {
            attribute: kind for kind, attribute in of_pandas.INDEXERS.items()
        }
        receiver, step, name = (
            AbstractValue(holders[name], bound_to=of),
            "item",
            "",
        )
    question = asker.question(step, receiver, name, receiver, arguments)
    return None if question is None else asker.about(question)


@pytest.mark.parametrize(
    ("seed", "n_tables"),
    [
        (0, 8),
        *(pytest.param(seed, 25, marks=pytest.mark.slow) for seed in range(4)),
    ],
)
def test_what_is_concluded_of_tables_is_what_comes(
    seed: int, n_tables: int
) -> None:
    draw, wrong, n_said = Random(seed), [], 0
    packages = {
        "pandas": pd.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_tables):
            real = thing(draw)
            kind = f"pandas.{type(real).__name__}"
            for _ in range(N_STEPS):
                asker = Asker(packages, lambda text: False)
                held = real.copy()
                step, name = draw.choice(steps_of(kind))
                n_given = (
                    2
                    if step == "set_item"
                    else 0
                    if step == "truth"
                    else 1
                    if step != "method"
                    else draw.randint(0, 2)
                )
                given = [key_of(draw, step) for _ in range(n_given)]
                if step == "method" and given and draw.random() < 0.2:
                    given[0] = thing(draw)
                named = (
                    {
                        draw.choice(NAMES): draw.choice(KEYS)
                        for _ in range(draw.randint(0, 2))
                    }
                    if step == "method"
                    else {}
                )
                abstract = [
                    abstract_key(each)
                    if not isinstance(each, (pd.DataFrame, pd.Series))
                    else known(each, "u", draw)
                    for each in given
                ]
                of = known(held, "t", draw)
                said = asked(
                    asker,
                    step,
                    name,
                    of,
                    Arguments(
                        tuple(abstract),
                        {key: literal(each) for key, each in named.items()},
                    ),
                )
                if said is None:
                    continue
                n_said += 1
                try:
                    result = performed(step, name, held, given, named)
                except Exception as error:  # noqa: BLE001 - what it raises is compared
                    raised, result = type(error).__name__, None
                else:
                    raised = None
                held_in = (
                    of.shape or of.fact("length"),
                    of.mapping("dtypes") or of.fact("dtype"),
                    of.fact("index"),
                )
                line = f"{type(real).__name__}.{step} {name} {given!r:.80} {named!r:.80} of {held_in}"
                if said.crash is not None and said.crash.exception != raised:
                    wrong.append(
                        f"{line}: {said.crash.exception} ({said.crash.why}), came {raised}"
                    )
                elif said.crash is None and raised is None:
                    wrong += [
                        f"{line}: {each}"
                        for each in disagreements(said.gives, result)
                    ]
                    wrong += (
                        [
                            f"{line}: left {each}"
                            for each in disagreements(said.left, held)
                        ]
                        if said.left
                        else []
                    )
    assert not wrong, "\n".join(wrong[:60])
    assert n_said > n_tables * N_STEPS // 10
