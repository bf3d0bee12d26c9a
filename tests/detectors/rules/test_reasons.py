"""What rules say is filled in: a field in braces that no f-string fills would be shown as it is written."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from crane_core.detectors.rules import families
from crane_core.detectors.rules_detector import described

from .conftest import Predict

FILES = sorted(Path(next(iter(families.__path__))).glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_text_holds_a_field_that_nothing_fills(file: Path) -> None:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    filled = {
        id(part)
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    texts = [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and id(node) not in filled
    ]
    assert [
        text
        for text in texts
        if isinstance(text, str) and re.search(r"\{[a-z_]+\.[a-z_]+\}", text)
    ] == []


def test_the_reason_of_a_read_only_array_is_numpys_own_message(
    check: Predict,
) -> None:
    seen = check(
        "import numpy as np\nwide = np.broadcast_to(0.0, 3)", "wide[:] = 1"
    )
    assert seen.findings[0].why == str(seen.error)


def test_of_a_label_that_is_not_there_another_is_advised(
    check: Predict,
) -> None:
    table = "pd.DataFrame({'k': list('abab'), 'v': [1., 2., 3., 4.]})"
    setup = f"import pandas as pd\nmeans = {table}.groupby('k').v.mean()"
    assert "label" in check(setup, "means['v'].round(1)").findings[0].remedy


WIDE = """
import numpy as np, pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import MultinomialNB
wide = pd.DataFrame({f"c{at}": np.arange(9.0) for at in range(30)})
wide.loc[4, "c28"] = np.nan
texts = pd.DataFrame({"n": [1, 2, 3], "a": ["v", "u", "a"], "b": ["b", "a", "c"]})
late = pd.Series(["7", "zz", "aa"])
y = np.arange(9)
below = pd.DataFrame({"p": [1.0, -2.0]})
rare = pd.DataFrame({"x": range(9), "kind": ["a"] * 8 + ["b"]})
from sklearn.model_selection import train_test_split
"""


@pytest.mark.parametrize(
    ("target", "why", "fact"),
    [
        ("LinearRegression().fit(wide, y)", "Input X contains NaN", "'c28'"),
        ("LinearRegression().fit(texts, y[:3])", "float: 'v'", "'a'"),
        ("MultinomialNB().fit(below, [0, 1])", "Negative", "holds -2"),
        ("late.astype(float)", "float: 'zz'", "'zz'"),
        ("late.map(int)", "base 10: 'zz'", "'zz'"),
        ("late.apply(float)", "float: 'zz'", "'zz'"),
    ],
)
def test_the_reason_is_the_one_that_the_crash_gives(
    predict_here: Predict, target: str, why: str, fact: str
) -> None:
    seen = predict_here(WIDE, target)
    assert why in str(seen.error)
    assert why in seen.findings[0].why
    assert fact in seen.findings[0].fact


def test_a_stand_ins_class_is_not_quoted(check: Predict) -> None:
    target = "train_test_split(rare, stratify=rare['kind'])"
    why = check(WIDE, target).findings[0].why
    assert "least populated class" in why and "[" not in why


def test_who_replaced_what_is_called_is_named(check: Predict) -> None:
    setup = "import math\nmath.sqrt_of = math.sqrt\nlen = 5"
    assert "code cell 0" in check(setup, "len('a')").findings[0].fact


def test_a_remedy_of_a_refusal_without_a_rule_names_the_documentation(
    check: Predict,
) -> None:
    target = "texts.merge(texts, on='n', how='sideways')"
    found = check(WIDE, target).findings[0]
    assert "pandas.DataFrame.merge" in found.remedy
    assert "refuses this" not in found.fact


def test_a_message_that_ends_with_a_full_stop_gets_no_second(
    check: Predict,
) -> None:
    seen = check(WIDE, "LinearRegression().fit(y, y)")
    found = seen.findings[0]
    assert found.why.endswith(".")
    assert ".." not in described(found)
