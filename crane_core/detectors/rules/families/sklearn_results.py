"""What steps of scikit-learn give: arrays of predictions and of transformed data, as far as they are certain."""

from __future__ import annotations

from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, known_facts
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.pandas_frames import is_frame
from crane_core.detectors.rules.families.sklearn_classes import KnownClass
from crane_core.detectors.rules.families.sklearn_estimators import classes_fitted, is_fitted, value_of
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Shape

ARRAY: Final = "numpy.ndarray"
SAME_COLUMNS: Final = (
    *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer", "PowerTransformer"),
    *("QuantileTransformer",),
)
_KEEPS_MISSING: Final = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer")
_N_COMPONENTS: Final = ("PCA", "TruncatedSVD", "NMF", "FastICA", "KernelPCA", "FactorAnalysis", "TSNE", "MDS", "Isomap")


def array(shape: Shape, words: str, **facts: Any) -> AbstractValue:
    return AbstractValue(ARRAY, {"shape": shape, **facts}, words=words)


def gives_arrays(operation: Operation) -> bool:
    """Whether transformers give what they give by default: nobody has asked for frames."""
    return not operation.mentions("set_output") and not operation.mentions("transform_output")


_OF_ANY_WIDTH = (
    *("OneHotEncoder", "FunctionTransformer", "PolynomialFeatures", "KBinsDiscretizer", "SplineTransformer"),
)
"""Transformers that may give sparse matrices, or any number of columns."""


def as_many_rows(operation: Operation, x: AbstractValue) -> AbstractValue:
    """A result of which nothing more is known: an array, or a sparse matrix."""
    return AbstractValue("", {"shape": (data.n_samples(x), None)}, words=operation.result_words)


def transformed(operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue) -> AbstractValue:
    """What `transform` gives for X."""
    kind, _ = known.gives.get("transform", ("", ()))
    words = operation.result_words
    if kind not in (ARRAY, "scipy.csr_matrix", "scipy.csr_array") or not gives_arrays(operation) or data.is_sparse(x):
        return AbstractValue(words=words)
    if kind != ARRAY or known.name in _OF_ANY_WIDTH:
        return as_many_rows(operation, x)
    return array((data.n_samples(x), _columns(estimator, known, x)), words, **_facts_of_values(known, x))


def _facts_of_values(known: KnownClass, x: AbstractValue) -> dict[str, Any]:
    keeps_missing = known.name in _KEEPS_MISSING
    if keeps_missing and any(flaw.name == "nan" for flaw in data.flaws(x)):
        return {"has_nan": True, "dtype": "float64"}
    is_whole = x.fact("has_nan") is False or not keeps_missing and "transform:nan" in known.raises
    has_floats = known.name == "StandardScaler" and _is_double(x)
    return known_facts(has_nan=False if is_whole else None, dtype="float64" if has_floats else None)


def _is_double(x: AbstractValue) -> bool:
    dtypes = {str(dtype) for dtype in data.dtypes_of(x).values()} if is_frame(x) else {str(x.fact("dtype", ""))}
    is_whole = not is_frame(x) or len(data.dtypes_of(x)) == data.n_features(x)
    return is_whole and bool(dtypes) and dtypes <= {"float64", "int64"}


def _columns(estimator: AbstractValue, known: KnownClass, x: AbstractValue) -> int | None:
    if known.name in SAME_COLUMNS:
        return data.n_features(x)
    if known.name in _N_COMPONENTS:
        wanted = value_of(estimator, "n_components")
        return wanted if type(wanted) is int else None
    return None


def predicted(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> AbstractValue:
    """What predict and the like give."""
    words = operation.result_words
    kind, shape = known.gives.get(method, ("", ()))
    if kind != ARRAY or data.n_samples(x) is None and data.shape_as_array(x) is None:
        return AbstractValue(words=words)
    if method == "predict" and len(shape) == 1 and _has_one_target(estimator, known):
        return array((data.n_samples(x),), words, **_facts_of_predictions(estimator, known))
    if method == "predict_proba" and _has_one_target(estimator, known):
        classes = classes_fitted(estimator)
        return array((data.n_samples(x), len(classes) if classes else None), words)
    return AbstractValue(words=words)


def _facts_of_predictions(estimator: AbstractValue, known: KnownClass) -> dict[str, Any]:
    classes = classes_fitted(estimator)
    if known.kind == "classifier" and classes:
        return {"value_info": {"among_values": classes}}
    if known.kind == "cluster" and value_of(estimator, "n_clusters") == 1:
        return {"has_nan": False, "dtype": "int32", "value_info": {"unique_values": [0], "num_unique": 1}}
    return {"predicted_by": known.name} if known.kind == "regressor" else {}


def _has_one_target(estimator: AbstractValue, known: KnownClass) -> bool:
    """Whether the estimator was certainly fitted to one column of targets."""
    if known.kind in ("cluster", "outlier"):
        return True
    if is_fitted(estimator) is not True:
        return False
    return estimator.fact("n_targets_fit") == 1 or known.kind == "classifier" and bool(classes_fitted(estimator))
