"""26 facts about objects of libraries without rules on which a crash may depend: each is in the state of its object."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from .looks import after


class FactCase(NamedTuple):
    """An object `it` of a library, and a value that its state must hold under a name of the groups."""

    library: str
    code: str
    fact: str
    value: Any


POLARS = "import polars as pl\nit = pl.DataFrame({'a': [1, 2, 3], 'b': ['x', None, 'z']})"
ROWS = "import datasets\nit = datasets.Dataset.from_dict({'a': [1, 2, 3], 't': ['x', 'y', 'z']})"
ARROW = "import pyarrow as pa\nit = pa.table({'a': [1, None], 'b': ['x', 'y']})"
PICTURE = "from PIL import Image\nit = Image.new('RGBA', (4, 3))"
WAYS = "import networkx as nx\nit = nx.DiGraph([('a', 'b'), ('b', 'c')])"
SPARSE = (
    "import numpy as np, scipy.sparse as sp\nit = sp.csr_matrix(np.eye(3, 4))"
)
DMATRIX = "import numpy as np, xgboost\nit = xgboost.DMatrix(np.ones((3, 2)), label=[0, 1, 0])"
WORDS = (
    "from tokenizers import Tokenizer, models\n"
    "it = Tokenizer(models.WordLevel({'a': 0, 'b': 1}, unk_token='a'))"
)
TEXT = "import spacy\nit = spacy.blank('en')('a b c')"
CASES = [
    FactCase("polars", POLARS, "shape", [3, 2]),
    FactCase("polars", POLARS, "columns", ["a", "b"]),
    FactCase("polars", POLARS, "dtypes", {"a": "Int64", "b": "String"}),
    FactCase("polars", POLARS, "n_nan", {"b": 1}),
    FactCase("polars", f"{POLARS}\nit = it['a']", "length", 3),
    FactCase("polars", f"{POLARS}\nit = it['b']", "dtype", "String"),
    FactCase("datasets", ROWS, "shape", [3, 2]),
    FactCase("datasets", ROWS, "columns", ["a", "t"]),
    FactCase("datasets", ROWS, "dtypes", {"a": "int64", "t": "string"}),
    FactCase("datasets", f"{ROWS}\nit = it.select([0])", "shape", [1, 2]),
    FactCase("pyarrow", ARROW, "shape", [2, 2]),
    FactCase("pyarrow", ARROW, "columns", ["a", "b"]),
    FactCase("pyarrow", ARROW, "n_nan", {"a": 1}),
    FactCase("pyarrow", f"{ARROW}\nit = it['b']", "dtype", "string"),
    FactCase("PIL", PICTURE, "size", [4, 3]),
    FactCase("PIL", PICTURE, "mode", "RGBA"),
    FactCase("PIL", PICTURE, "array_shape", [3, 4, 4]),
    FactCase("networkx", WAYS, "n_nodes", 3),
    FactCase("networkx", WAYS, "n_edges", 2),
    FactCase("networkx", WAYS, "directed", True),
    FactCase("scipy", SPARSE, "shape", [3, 4]),
    FactCase("scipy", SPARSE, "dtype", "float64"),
    FactCase("xgboost", DMATRIX, "shape", [3, 2]),
    FactCase("xgboost", DMATRIX, "n_labels", 3),
    FactCase("tokenizers", WORDS, "n_words", 2),
    FactCase("spacy", TEXT, "length", 3),
]


def held(part: Any, fact: str) -> Iterator[Any]:
    """What the groups of a state hold under a name."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == fact:
                yield value
            else:
                yield from held(value, fact)


def test_there_are_as_many_facts_as_the_first_count_had() -> None:
    assert len({(case.library, case.code, case.fact) for case in CASES}) == 26


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.library}: {case.fact}"
)
def test_the_state_holds_the_fact(case: FactCase) -> None:
    if find_spec(case.library) is None:
        pytest.skip(f"{case.library} is not installed")
    state = after(case.code, "it")["variables"]["it"]
    assert case.value in list(held(state, case.fact)), state
