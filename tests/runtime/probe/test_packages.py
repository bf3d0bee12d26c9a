"""scikit-learn, scipy.sparse, Pillow, matplotlib; what frames cost beside themselves: facts against the libraries."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from PIL import Image
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from .looks import entry, more

ROWS = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "z"]})
LABELS = np.array([0, 1, 0, 1])


def pipeline() -> Pipeline:
    parts = [
        ("num", StandardScaler(), ["a"]),
        ("cat", OneHotEncoder(handle_unknown="ignore"), ["b"]),
    ]
    return Pipeline(
        [
            ("prepare", ColumnTransformer(parts)),
            ("model", LogisticRegression(C=2.0)),
        ]
    )


ESTIMATORS = [
    LinearRegression(),
    LinearRegression().fit(ROWS[["a"]], LABELS),
    RandomForestClassifier(2, random_state=0).fit(ROWS[["a"]], LABELS),
    StandardScaler(),
    StandardScaler().fit(ROWS[["a"]]),
    LabelEncoder().fit(["u", "v"]),
    OneHotEncoder().fit(ROWS[["b"]]),
    pipeline(),
    pipeline().fit(ROWS, LABELS),
    GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}, cv=2),
    GridSearchCV(
        LinearRegression(), {"fit_intercept": [True, False]}, cv=2
    ).fit(ROWS[["a"]], LABELS),
    FeatureUnion(
        [("n", StandardScaler()), ("same", "passthrough"), ("no", "drop")]
    ).fit(ROWS[["a"]]),
    FeatureUnion([("n", StandardScaler()), ("m", StandardScaler())]),
    Pipeline([("n", StandardScaler()), ("model", LinearRegression())]).fit(
        ROWS[["a"]], LABELS
    ),
    Pipeline([("n", StandardScaler()), ("same", "passthrough")]),
    Pipeline([("n", StandardScaler()), ("same", "passthrough")]).fit(
        ROWS[["a"]]
    ),
    VotingClassifier(
        [("forest", RandomForestClassifier(2, random_state=0))]
    ).fit(ROWS[["a"]], LABELS),
    TransformedTargetRegressor(LinearRegression()).fit(ROWS[["a"]], LABELS),
]


@pytest.mark.parametrize(
    "model", ESTIMATORS, ids=lambda model: type(model).__name__
)
def test_fitted_is_what_scikit_learn_calls_fitted(model: BaseEstimator) -> None:
    try:
        check_is_fitted(model)
        fitted = True
    except NotFittedError:
        fitted = False
    values = entry(model)["values"]
    assert values["is_fitted"] is fitted
    assert values["class_name"] == type(model).__name__
    assert values["fitted_attributes"]["n_features_in_"] == getattr(
        model, "n_features_in_", None
    )


def test_features_classes_and_categories_are_listed() -> None:
    forest = more(ESTIMATORS[2], "values")
    assert forest["feature_names_in_"] == ["a"]
    assert forest["classes_"] == [0, 1]
    assert more(ESTIMATORS[6], "values")["categories_"] == [["x", "y", "z"]]
    encoder = entry(ESTIMATORS[5])
    assert encoder["values"]["n_classes"] == 2
    assert encoder["representation"]["classes_dtype"] == "<U1"
    assert encoder["plus"]["values"]["classes_"] == ["u", "v"]


def test_parameters_that_are_not_the_defaults() -> None:
    assert more(SVC(C=3, kernel="linear"), "values")["parameters_set"] == {
        "C": 3,
        "kernel": "linear",
    }
    assert entry(SVC())["plus"] == {"values": {"n_parameters_set": 0}}
    assert (
        entry(FunctionTransformer(np.log1p))["values"]["is_fitted"]
        == "needs no fit"
    )


def test_pipelines_step_by_step() -> None:
    plus = entry(pipeline().fit(ROWS, LABELS))["plus"]
    assert plus["structure"]["step_order"] == ["prepare", "model"]
    prepare = plus["values"]["steps"]["prepare"]
    assert prepare["columns_of_steps"] == {"num": ["a"], "cat": ["b"]}
    assert prepare["steps"]["cat"]["categories_"] == [["x", "y", "z"]]
    assert prepare["steps"]["num"]["fitted_attributes"]["n_features_in_"] == 1
    assert plus["values"]["steps"]["model"]["parameters_set"] == {"C": 2.0}
    assert plus["representation"]["steps"]["model"]["type"].endswith(
        "LogisticRegression"
    )


@pytest.mark.parametrize(
    "form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
)
def test_sparse_matrices(form: str) -> None:
    matrix = sp.csr_matrix(np.array([[0, 2.5, 0], [0, 0, -1]])).asformat(form)
    plus = entry(matrix)["plus"]
    assert plus["structure"]["shape"] == [2, 3]
    assert plus["representation"] == {"format": form, "dtype": "float64"}
    if form in ("csr", "csc", "coo", "bsr"):
        assert plus["structure"]["n_stored"] == matrix.data.size
        low, high = plus["values"]["stored"]["value_range"]
        assert (low, high) == (matrix.data.min(), matrix.data.max())
    if form == "dok":
        assert plus["structure"]["n_stored"] == matrix.nnz


@pytest.mark.parametrize(
    "mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "F", "I;16"]
)
def test_pictures_tell_the_shape_of_their_array(mode: str) -> None:
    picture = Image.new(mode, (4, 5))
    plus = entry(picture)["plus"]
    assert plus["representation"]["mode"] == mode
    assert plus["structure"]["size"] == [4, 5]
    assert plus["structure"]["array_shape"] == list(np.asarray(picture).shape)


def test_pictures_of_several_modes_are_told_apart() -> None:
    scans = [Image.new("RGB", (2, 2)) for _ in range(30)] + [
        Image.new("RGBA", (2, 2))
    ]
    plus = entry(scans)["plus"]
    assert plus["representation"]["item_kinds"] == {"RGB": 30, "RGBA": 1}
    assert plus["representation"]["items"]["30"] == {
        "type": "PIL.Image.Image",
        "mode": "RGBA",
    }


def test_a_picture_of_a_file_is_not_loaded(tmp_path: Any) -> None:
    Image.new("L", (2, 2)).save(tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        place = picture.fp.tell()
        assert more(picture, "values") == {"format": "PNG"}
        assert picture.fp.tell() == place


def test_figures_and_axes() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.plot([1, 2])
    left.bar([1, 2], [3, 4])
    right.set_title("words")
    right.set_xlabel("time")
    plus = entry(figure)["plus"]
    assert plus["structure"]["n_axes"] == 2
    assert plus["structure"]["axes"]["0"]["n_artists"] == {
        "Line2D": 1,
        "Rectangle": 2,
    }
    assert plus["values"]["axes"]["1"] == {"title": "words", "x_label": "time"}
    assert more(np.array([left, right]), "representation")["item_types"] == {
        "matplotlib.axes._axes.Axes": 2
    }


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_frame_needs_little_besides_itself(order: str) -> None:
    values = np.asarray(
        np.random.default_rng(0).random((100_000, 20)), order=order
    )
    values[::100, 3] = np.nan
    frame = pd.DataFrame(values, copy=False)
    entry(frame)
    tracemalloc.start()
    try:
        entry(frame)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * values.nbytes


def test_a_model_of_statsmodels_tells_the_columns_that_it_predicts_from() -> (
    None
):
    sm = pytest.importorskip(
        "statsmodels.api", reason="statsmodels is not installed: make ml"
    )
    model = sm.OLS(
        pd.Series(LABELS, name="bought"), sm.add_constant(ROWS[["a"]])
    )
    fitted = model.fit()
    expected = {"model": "OLS", "target": "bought", "columns": ["const", "a"]}
    for value, is_fitted in ((model, None), (fitted, True)):
        plus = entry(value)["plus"]
        assert plus["representation"] == expected
        assert plus["structure"] == {
            "n_rows": model.exog.shape[0],
            "n_columns": len(fitted.params),
        }
        assert plus.get("values", {}).get("is_fitted") is is_fitted
    by_formula = sm.OLS.from_formula(
        "b_is_x ~ a", ROWS.assign(b_is_x=LABELS)
    ).fit()
    assert more(by_formula, "representation")["formula"] == "b_is_x ~ a"
