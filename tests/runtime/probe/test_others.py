"""Libraries of which no rules are written: what a state says of their tables, graphs and texts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from .looks import after

SETS = """
import datasets, pyarrow as pa
whole = datasets.Dataset.from_dict({"a": [1, 2, 3], "t": ["x", "y", "z"]})
part = whole.select([0, 1]).with_format("numpy")
both = datasets.DatasetDict({"train": whole})
table = pa.table({"a": [1, None], "b": ["x", "y"]})
column = table["a"]
"""
OTHERS = [
    (
        "import polars as pl\nit = pl.DataFrame({'a': [1, 2], 'b': ['x', None]})",
        {"structure": {"shape": [2, 2]}, "values": {"n_nan": {"b": 1}}},
    ),
    (
        "import polars as pl\nit = pl.DataFrame({'a': [1]}).lazy()",
        {"values": {"not_computed": "a lazy frame: call collect() first"}},
    ),
    (
        "import networkx as nx\nit = nx.Graph([(1, 2), (2, 2)])",
        {"structure": {"n_nodes": 2, "n_edges": 2}},
    ),
    (
        "import xgboost, numpy as np\nit = xgboost.DMatrix(np.ones((3, 2)))",
        {"structure": {"shape": [3, 2], "n_labels": 0}},
    ),
    (
        "import spacy\nit = spacy.blank('en')('a b c')",
        {"structure": {"length": 3}, "values": {"text": "a b c"}},
    ),
]


def told(name: str) -> dict[str, Any]:
    plus: dict[str, Any] = after(SETS, name)["variables"][name]["plus"]
    return plus


def test_a_dataset_is_told_as_the_rows_that_it_shows() -> None:
    assert told("whole") == {
        "structure": {"shape": [3, 2]},
        "representation": {
            "columns": ["a", "t"],
            "dtypes": {"a": "int64", "t": "string"},
        },
    }
    assert told("part")["structure"] == {"shape": [2, 2]}
    assert told("part")["representation"]["format"] == "numpy"
    assert told("both")["structure"]["items"] == {"train": {"shape": [3, 2]}}


def test_an_arrow_table_is_told_with_its_missing_values() -> None:
    assert told("table")["values"] == {"n_nan": {"a": 1}}
    assert told("column")["structure"] == {"length": 2}


@pytest.mark.parametrize(("code", "facts"), OTHERS)
def test_others_are_told_by_their_sizes(
    code: str, facts: dict[str, Any]
) -> None:
    # None of these is among the libraries of the checks: each is tried where somebody has it.
    library = code.split()[1].rstrip(",")
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    plus = after(code, "it")["variables"]["it"]["plus"]
    assert {group: plus[group] for group in facts} == facts
