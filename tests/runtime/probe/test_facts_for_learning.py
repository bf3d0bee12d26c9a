"""Facts that tell whether data can be learnt from: decimals, texts that read as numbers, how rare a class is."""

from __future__ import annotations

from typing import Any

import pytest

from .looks import after


def values(code: str, target: str) -> dict[str, Any]:
    entry = after("import numpy as np, pandas as pd\n" + code, target)["variables"]["y"]
    found: dict[str, Any] = entry["plus"].get("values", {})
    return found


@pytest.mark.parametrize(
    ("code", "n_fractions", "fraction"),
    [
        ("y = np.array([1.0, 2.5, 2.5, 3.25])", 2, 2.5),
        ("y = pd.Series([1.0, np.nan, np.inf, 0.5])", 1, 0.5),
        ("y = pd.Series([1.0, 2.0, np.nan])", None, None),
        ("y = np.array([1, 2, 3])", None, None),
    ],
)
def test_distinct_decimals_are_counted(
    code: str,
    n_fractions: int | None,
    fraction: float | None,
) -> None:
    found = values(after, code, "print(y)")
    assert (found.get("n_fractions"), found.get("fraction")) == (n_fractions, fraction)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [(["a", "b", "c"], 0), (["1", "x", "2.5", "nan"], 3), (["", "7 "], 1)],
)
@pytest.mark.parametrize("dtype", ["object", "str"])
def test_texts_that_read_as_numbers_are_counted(
    texts: list[str],
    expected: int,
    dtype: str,
) -> None:
    assert (
        values(after, f"y = pd.Series({texts!r}, dtype={dtype!r})", "print(y)")[
            "n_read_as_numbers"
        ]
        == expected
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = pd.Series([0, 0, 1, 1, 1])", 2),
        ("y = pd.Series(['a', 'b', 'a', None])", 1),
        ("y = pd.Series([1.0, 1.0, np.nan])", 2),
        ("y = pd.Series([True, False, True], dtype='category')", 1),
        ("y = pd.Series(range(60))", None),
    ],
)
def test_members_of_the_rarest_class_are_counted(
    code: str,
    expected: int | None,
) -> None:
    assert values(after, code, "print(y)").get("n_of_rarest") == expected


def test_parameters_that_differ_from_the_defaults_are_counted() -> None:
    code = "from sklearn.svm import SVC\ny = SVC(C=2, kernel=lambda a, b: a @ b.T)"
    assert values(after, code, "y.fit")["n_parameters_set"] == 2
