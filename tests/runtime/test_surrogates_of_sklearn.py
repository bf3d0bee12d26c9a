"""Surrogates for scikit-learn hold what is certain of data; what it refuses of every fill is told, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crane_core.runtime.kernel_side.crane_surrogates import for_sklearn
from crane_core.runtime.kernel_side.crane_surrogates.made import (
    FILLS,
    NotMadeError,
)
from tests.runtime.surrogate_orders import answered


def holding(
    *some: tuple[Any, int],
    known: list[Any] | None = None,
    may_miss: bool = False,
) -> dict[str, Any]:
    told = {"all": known or [], "is_whole": known is not None, "rarest": None}
    return {**told, "some": [list(each) for each in some], "may_miss": may_miss}


def column(
    dtype: str = "int64", n_rows: int = 12, **holds: Any
) -> dict[str, Any]:
    held = holds.get("holds", holding())
    return {
        "facts": {
            "type": "sklearn.column",
            "n_rows": n_rows,
            "dtype": dtype,
            "name": "y",
            "holds": held,
        }
    }


def table(
    *columns: tuple[str, str, dict[str, Any]], n_rows: int = 12
) -> dict[str, Any]:
    return {
        "facts": {
            "type": "sklearn.table",
            "n_rows": n_rows,
            "columns": [list(each) for each in columns],
        }
    }


def estimator(
    path: str, fit_on: list[Any] | None = None, **given: Any
) -> dict[str, Any]:
    held = {name: {"is": value} for name, value in given.items()}
    return {
        "facts": {
            "type": "sklearn.estimator",
            "path": path,
            "given": held,
            "fit_on": fit_on,
        }
    }


def asked(
    of: str, name: str, *operands: dict[str, Any], is_whole: bool = True
) -> dict[str, Any]:
    order = {
        "step": "learns",
        "of": of,
        "name": name,
        "operands": operands,
        "keywords": {},
        "is_whole": is_whole,
    }
    return answered(order)


NUMBERS = table(("a", "float64", holding()), ("b", "int64", holding()))
LOGISTIC, TREE = (
    "sklearn.linear_model.LogisticRegression",
    "sklearn.tree.DecisionTreeClassifier",
)
ACCURACY = "sklearn.metrics.accuracy_score"


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(
    "dtype",
    [
        "int64",
        "float64",
        "bool",
        "str",
        "object",
        "category",
        "Int64",
        "datetime64[ns]",
        "",
    ],
)
def test_a_column_has_its_dtype_and_length(dtype: str, fill: int) -> None:
    made = for_sklearn.make(column(dtype)["facts"], fill)
    assert len(made) == 12
    assert str(made.dtype) == dtype or not dtype


@pytest.mark.parametrize("fill", FILLS)
def test_what_is_certain_is_in_every_fill(fill: int) -> None:
    holds = holding((float("nan"), 3), (-2.0, 1), may_miss=True)
    made = for_sklearn.make(column("float64", holds=holds)["facts"], fill)
    assert made.isna().sum() >= 3
    assert made.min() == -2
    known = for_sklearn.make(
        column("str", holds=holding(known=["x", "y"]))["facts"], fill
    )
    assert set(known) == {"x", "y"}


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (
            ("", "fit", estimator(LOGISTIC), NUMBERS, column(n_rows=5)),
            "inconsistent numbers of samples: [12, 5]",
        ),
        (
            (
                "",
                "fit",
                estimator(LOGISTIC),
                table(("a", "object", holding(("x", 1)))),
                column(),
            ),
            "could not convert",
        ),
        (
            (
                "",
                "fit",
                estimator(LOGISTIC),
                table(("a", "float64", holding((float("nan"), 1)))),
                column(),
            ),
            "NaN",
        ),
        (
            (
                "",
                "fit",
                estimator(LOGISTIC),
                NUMBERS,
                column("float64", holds=holding((0.5, 1))),
            ),
            "Unknown label type",
        ),
        (("", "predict", estimator(TREE), NUMBERS), "not fitted yet"),
        (
            (
                "",
                "predict",
                estimator(TREE, [NUMBERS, column()]),
                table(("a", "float64", holding())),
            ),
            "feature names",
        ),
        (
            ("", "predict_log_odds", estimator(TREE), NUMBERS),
            "has no attribute",
        ),
        (
            (ACCURACY, "", column("str", holds=holding(known=["x"])), column()),
            "Mix of",
        ),
    ],
)
def test_what_no_fill_is_accepted_with_is_refused(
    order: Any, message: str
) -> None:
    assert message in asked(*order).get("message", "")


@pytest.mark.parametrize(
    "order",
    [
        (
            "",
            "fit",
            estimator(LOGISTIC),
            table(("a", "object", holding())),
            column(),
        ),
        (
            "",
            "fit",
            estimator(LOGISTIC),
            table(("a", "str", holding(may_miss=True))),
            column(),
        ),
        ("", "fit", estimator(LOGISTIC), NUMBERS, column("float64")),
        (
            "",
            "fit",
            estimator(TREE),
            table(("a", "float64", holding((float("nan"), 1)))),
            column(),
        ),
        (ACCURACY, "", column("float64"), column()),
        (ACCURACY, "", column(""), column("")),
    ],
)
def test_what_values_decide_is_not_refused(order: Any) -> None:
    assert "raised" not in asked(*order)


def test_what_a_method_gives_is_told() -> None:
    gave = asked(
        "",
        "predict_proba",
        estimator(TREE, [NUMBERS, column(holds=holding(known=[0, 1]))]),
        NUMBERS,
    )["gave"]
    assert (gave["type"], gave["shape"]) == ("numpy.ndarray", [12, 2])


def test_limits_of_rows_count_only_where_all_are_sent() -> None:
    clusters = estimator("sklearn.cluster.KMeans", n_clusters=40)
    assert asked("", "fit", clusters, NUMBERS)["raised"] == "ValueError"
    assert "raised" not in asked("", "fit", clusters, NUMBERS, is_whole=False)


@pytest.mark.parametrize(
    "path",
    [
        "sklearn.datasets.load_iris",
        "sklearn.utils.check_array",
        "os.system",
        "sklearn.externals.x",
        "sklearn.svm",
    ],
)
def test_nothing_else_is_made(path: str) -> None:
    with pytest.raises(NotMadeError):
        for_sklearn.make(estimator(path)["facts"], 0)


def test_no_files_are_read_or_written() -> None:
    for given in ({"memory": "folder"}, {"input": "filename"}):
        path = (
            "sklearn.pipeline.Pipeline"
            if "memory" in given
            else "sklearn.feature_extraction.text.CountVectorizer"
        )
        with pytest.raises(NotMadeError):
            for_sklearn.make(estimator(path, **given)["facts"], 0)


def test_an_array_has_its_shape() -> None:
    facts = {
        "type": "sklearn.array",
        "shape": [3, 4],
        "dtype": "float32",
        "holds": holding(),
    }
    made = for_sklearn.make(facts, 2)
    assert (made.shape, made.dtype) == ((3, 4), np.dtype("float32"))
