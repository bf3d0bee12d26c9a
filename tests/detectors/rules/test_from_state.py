"""Abstract values made of states: what is whole becomes items, members and literals; what a limit has cut does not."""

from __future__ import annotations

import pytest

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.from_state import type_of, value_from_state
from crane_core.detectors.rules.paths import public_path
from crane_core.domain import VariableState

SETUP = """
import numpy as np
import pandas as pd
frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
numbered = pd.DataFrame(np.zeros((2, 3)))
mixed = pd.DataFrame([[1, 2]], columns=["a", 1])
double = pd.DataFrame([[1, 2]], columns=["a", "a"])
levels = frame.groupby("b").agg({"a": ["min", "max"]})
class Point:
    def __init__(self):
        self.x = [1, 2]
"""


def captured(predict_here, expression: str) -> AbstractValue:
    """The AbstractValue of a variable with this value."""
    state = predict_here(f"{SETUP}\nvalue = {expression}", "value").state
    return value_from_state("value", state.variables["value"], is_captured=True)


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "5",
            "-1.5",
            "True",
            "None",
            "'text'",
            "''",
            "[1, 'a', None, 2.5]",
            "()",
            "(1, 2)",
            "{'a': 1, 'b': [1, 2]}",
        ),
        *(
            "{}",
            "{1: 'x', None: 2}",
            "[[1, 2], [3]]",
            "{1, 2}",
            "set()",
            "2**62",
            "{True: 1}",
        ),
    ],
)
def test_a_plain_value_is_known_exactly(predict_here, expression):
    value = captured(predict_here, expression)
    assert value.literal == eval(expression)
    assert type(value.literal) is type(eval(expression))


@pytest.mark.parametrize(
    "expression",
    [
        "'x' * 900",
        "list(range(30))",
        "['x' * 900]",
        "[2**70]",
        "{'x' * 900: 1}",
        "{(1, 2): 1, '(1, 2)': 2}",
        "[1j]",
    ],
)
def test_what_a_limit_cuts_or_writes_otherwise_is_not_taken_for_the_value(
    predict_here, expression
):
    assert captured(predict_here, expression).literal is NOT_KNOWN


def test_frames_have_their_columns_where_all_are_told_as_they_are(predict_here):
    assert captured(predict_here, "frame").facts["columns"] == ("a", "b")
    assert captured(predict_here, "numbered").facts["columns"] == (0, 1, 2)
    assert set(captured(predict_here, "numbered").facts["dtypes"]) == {0, 1, 2}
    for expression in ("mixed", "double", "levels"):
        assert "columns" not in captured(predict_here, expression).facts


def test_objects_hold_their_attributes(predict_here):
    assert captured(predict_here, "Point()").attributes["x"].literal == [1, 2]


def test_published_entries_tell_shapes_values_and_columns():
    per_column = {"a": {"num_unique": 2}, "b": {"num_unique": 1}}
    frame = VariableState(
        "pandas.core.frame.DataFrame",
        {"shape": {"$tuple": [3, 2]}},
        {},
        {"per_column": per_column},
    )
    value = value_from_state("frame", frame, is_captured=False)
    assert (value.fact("shape"), value.fact("column_labels")) == (
        (3, 2),
        frozenset("ab"),
    )
    assert "columns" not in value.facts
    number = VariableState("<class 'int'>", values={"value": "12"})
    assert value_from_state("n", number, is_captured=False).literal == 12
    shape = {"$call": ["torch.Size", [10, 3]]}
    assert value_from_state(
        "x", VariableState("t.T", {"batch": shape}), is_captured=False
    ).fact("batch") == (10, 3)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (
            "<class 'pandas.core.frame.DataFrame'>",
            "pandas.core.frame.DataFrame",
        ),
        ("builtins.int", "int"),
        ("<enum 'Color'>", "Color"),
        ("<unknown>", ""),
    ],
)
def test_types_are_dotted_names(written, read):
    assert type_of(written) == read


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.python.keras.models", "keras.models"),
        (
            "sklearn.model_selection._split.train_test_split",
            "sklearn.model_selection.train_test_split",
        ),
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        (
            "torch.utils.data.dataloader.DataLoader",
            "torch.utils.data.DataLoader",
        ),
        ("numpy.random.rand", "numpy.random.rand"),
        ("posixpath.join", "os.path.join"),
    ],
)
def test_paths_have_one_public_spelling(path, public):
    assert public_path(path) == public
