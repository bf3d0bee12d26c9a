"""Surrogates of pandas have the schema that they were made with; what they refuse, real tables refuse too."""

from __future__ import annotations

import inspect
import json
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_surrogates import (
    for_pandas,
    operations,
    worker,
)
from crane_core.runtime.kernel_side.crane_surrogates.made import (
    FILLS,
    NotMadeError,
)
from tests.examples import examples

DTYPES = st.sampled_from(
    [
        *(
            "int64",
            "int32",
            "uint8",
            "float64",
            "float32",
            "bool",
            "str",
            "datetime64[ns]",
            "datetime64[us]",
        ),
        *(
            "object",
            "category",
            "Int64",
            "Float32",
            "boolean",
            "datetime64[us, UTC]",
        ),
    ]
)
LABELS = st.lists(
    st.sampled_from(["a", "b", "pay", 0, 7]), max_size=4, unique=True
)


def counted(length: int) -> dict[str, Any]:
    return {
        "type": "RangeIndex",
        "length": length,
        "range": [0, length, 1],
        "unique": True,
    }


COLUMNS = st.builds(
    lambda length, dtype, name: {
        "type": "pandas.Series",
        "length": length,
        "dtype": dtype,
        "index": counted(length),
        "index_names": [None],
        "name": name,
    },
    st.integers(0, 300),
    DTYPES,
    st.sampled_from(["a", "pay"]),
)
TABLES = st.builds(
    lambda length, labels, data: {
        "type": "pandas.DataFrame",
        "shape": [length, len(labels)],
        "index": counted(length),
        "index_names": [None],
        "columns": labels,
        "dtypes": [data.draw(DTYPES) for _ in labels],
    },
    st.integers(0, 300),
    LABELS,
    st.data(),
)


@examples(120)
@given(COLUMNS | TABLES, st.sampled_from(FILLS))
def test_the_probe_reads_the_facts_that_a_pandas_surrogate_was_made_with(
    facts: dict[str, Any], fill: int
) -> None:
    assert for_pandas.read(for_pandas.make(facts, fill)) == facts


@pytest.mark.parametrize(
    "facts",
    [
        {
            "type": "pandas.Series",
            "length": 2,
            "dtype": "period[M]",
            "index": counted(2),
        },
        {
            "type": "pandas.Series",
            "length": 2,
            "dtype": "interval[int64, right]",
            "index": counted(2),
        },
        {
            "type": "pandas.Series",
            "length": 2,
            "dtype": "int64",
            "index": counted(3),
        },
        {
            "type": "pandas.Series",
            "length": 10**9,
            "dtype": "int64",
            "index": counted(10**9),
        },
        {"type": "pandas.DataFrameGroupBy"},
    ],
)
def test_what_has_no_surrogate_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(NotMadeError):
        for_pandas.make(facts, 0)


# What real tables, columns and values of many kinds do

N_TRIES = 250
PLAIN: list[Any] = [
    None,
    0,
    1,
    -1,
    2.5,
    True,
    "a",
    "b",
    "x",
    "mean",
    "three",
    "D",
    "int",
    "str",
    "left",
    "2020-01-01",
    "",
]
PLAIN += [
    ["a"],
    ["a", "z"],
    [0, 1],
    [True, False],
    {"a": "int"},
    {"a": 1},
    [],
    {},
    10**6,
    "category",
    "float64",
]


def column(draw: Random, length: int) -> pd.Series:
    made = {
        "int": lambda: [draw.randint(-50, 50) for _ in range(length)],
        "float": lambda: [
            draw.choice([draw.gauss(0, 1), np.nan]) for _ in range(length)
        ],
        "bool": lambda: [draw.random() < 0.5 for _ in range(length)],
        "str": lambda: [
            draw.choice(["foo", "12", "2021-03-04", "", None])
            for _ in range(length)
        ],
        "datetime64[ns]": lambda: [
            draw.choice([pd.Timestamp(2021, 3, 4), pd.NaT])
            for _ in range(length)
        ],
    }
    dtype = draw.choice(list(made))
    return pd.Series(made[dtype](), dtype=dtype)


def thing(draw: Random) -> pd.DataFrame | pd.Series:
    length = draw.choice([0, 1, 2, 3, 8, 40])
    if draw.random() < 0.5:
        return column(draw, length).rename(draw.choice([None, "a"]))
    labels = draw.sample(["a", "b", "x", 0], draw.randint(0, 3))
    table = pd.DataFrame(
        {at: column(draw, length) for at in range(len(labels))},
        index=pd.RangeIndex(length),
    )
    table.columns = pd.Index(labels)
    return table


def operands(
    draw: Random, step: str, name: str, held: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Operands of a step, and of a method some of its own keywords."""
    if step in ("truth", "element", "attribute"):
        return [held], {}
    others = [
        draw.choice(PLAIN) if draw.random() < 0.85 else thing(draw)
        for _ in range(1 + (step == "set_item"))
    ]
    if step == "operator":
        return [held, *others] if not name.endswith("x") else [held], {}
    if step != "method":
        return [held, *others], {}
    named = [
        each
        for each in inspect.signature(getattr(type(held), name)).parameters
        if each not in ("self", "kwargs")
    ]
    keywords = (
        {draw.choice(named): draw.choice(PLAIN)}
        if named and draw.random() < 0.6
        else {}
    )
    return [
        held,
        *others[: draw.randint(0, 1)],
        *draw.choices(PLAIN, k=draw.randint(0, 2)),
    ], keywords


def sent(value: Any) -> dict[str, Any]:
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return {"facts": for_pandas.read(value)}
    if isinstance(value, list):
        return {"list": [sent(part) for part in value]}
    return (
        {"dict": [[sent(key), sent(part)] for key, part in value.items()]}
        if isinstance(value, dict)
        else {"is": value}
    )


def _raised(
    operation: Any, given_: list[Any], keywords: dict[str, Any]
) -> str | None:
    """The class of what an operation raises."""
    try:
        operation(*given_, **keywords)
    except Exception as error:  # noqa: BLE001 - whatever it is
        return type(error).__name__
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed",
    [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))],
)
def test_what_surrogates_refuse_real_tables_refuse_too(seed: int) -> None:
    draw = Random(seed)
    refused = 0
    for _ in range(N_TRIES):
        held = thing(draw)
        of = f"pandas.{type(held).__name__}"
        step = draw.choice(
            ["method"] * 6
            + ["operator", "item", "set_item", "attribute", "truth", "element"]
        )
        names = {
            "method": sorted(operations.METHODS[of]),
            "operator": list(worker._OPERATORS),
            "attribute": ["str", "dt"],
        }
        name = draw.choice(names.get(step, [""]))
        given_, keywords = operands(draw, step, name, held)
        order = {
            "step": step,
            "of": of,
            "name": name,
            "operands": [sent(each) for each in given_],
        }
        order["keywords"] = {key: sent(each) for key, each in keywords.items()}
        answer = worker.answer(json.dumps(order).encode())
        if "raised" not in answer:
            continue
        refused += 1
        copies = [
            each.copy() if hasattr(each, "copy") else each for each in given_
        ]
        assert (
            _raised(worker._operation(step, of, name), copies, keywords)
            == answer["raised"]
        ), order
    assert refused > N_TRIES / 4
