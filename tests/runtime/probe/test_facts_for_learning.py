"""Facts that tell whether data can be learnt from: decimals, texts that read as numbers, how rare a class is."""

from __future__ import annotations

from typing import Any

import pytest

from .looks import after

SVC = "from sklearn.svm import SVC\n"


@pytest.mark.parametrize(
    ("value", "fact", "told"),
    [
        ("np.array([1.0, 2.5, 2.5, 3.25])", "n_fractions", 2),
        ("np.array([1.0, 2.5, 2.5, 3.25])", "fraction", 2.5),
        ("pd.Series([1.0, np.nan, np.inf, 0.5])", "n_fractions", 1),
        ("pd.Series([1.0, np.nan, np.inf, 0.5])", "fraction", 0.5),
        ("pd.Series([1.0, 2.0, np.nan])", "n_fractions", None),
        ("np.array([1, 2, 3])", "n_fractions", None),
        ("pd.Series([0, 0, 1, 1, 1])", "n_of_rarest", 2),
        ("pd.Series(['a', 'b', 'a', None])", "n_of_rarest", 1),
        ("pd.Series([1.0, 1.0, np.nan])", "n_of_rarest", 2),
        ("pd.Series([True, False, True], dtype='category')", "n_of_rarest", 1),
        ("pd.Series(range(60))", "n_of_rarest", None),
        ("SVC(C=2, kernel=lambda a, b: a @ b.T)", "n_parameters_set", 2),
        *(
            (f"pd.Series({texts}, dtype={dtype!r})", "n_read_as_numbers", n)
            for dtype in ("object", "str")
            for texts, n in (
                (["a", "b", "c"], 0),
                (["1", "x", "2.5", "nan"], 3),
                (["", "7 "], 1),
            )
        ),
    ],
)
def test_what_a_model_may_stumble_on_is_counted(
    value: str, fact: str, told: Any
) -> None:
    code = f"import numpy as np, pandas as pd\n{SVC}y = {value}"
    entry = after(code, "print(y)")["variables"]["y"]
    assert entry["plus"].get("values", {}).get(fact) == told
