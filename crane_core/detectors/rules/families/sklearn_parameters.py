"""Functions of scikit-learn that check their parameters: values that they refuse, whatever the data.

Where the library here is the kernel's version, its own constraints are asked about plain values.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.sklearn_classes import is_of_table
from crane_core.detectors.rules.families.sklearn_limits import of_ours, refuse_by_constraints
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: parameters of functions")
_FUNCTIONS: Final = {
    "model_selection": (
        *("cross_val_score", "cross_validate", "cross_val_predict", "learning_curve", "validation_curve"),
        *("permutation_test_score", "train_test_split"),
    ),
    "metrics": (
        *("accuracy_score", "precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score"),
        *("confusion_matrix", "classification_report", "balanced_accuracy_score", "cohen_kappa_score"),
        *("matthews_corrcoef", "precision_recall_fscore_support", "roc_auc_score", "roc_curve", "log_loss"),
        *("precision_recall_curve", "average_precision_score", "mean_squared_error", "mean_absolute_error"),
        *("r2_score", "explained_variance_score", "root_mean_squared_error", "mean_absolute_percentage_error"),
        *("silhouette_score", "pairwise_distances", "make_scorer", "brier_score_loss", "hamming_loss", "zero_one_loss"),
    ),
    "datasets": (
        *("make_classification", "make_regression", "make_blobs", "make_moons", "make_circles", "load_digits"),
        *("load_iris", "load_wine", "load_breast_cancer", "load_diabetes", "fetch_openml", "fetch_california_housing"),
    ),
    "preprocessing": ("scale", "minmax_scale", "normalize", "binarize", "label_binarize"),
    "feature_selection": ("mutual_info_classif", "mutual_info_regression", "f_regression"),
    "inspection": ("permutation_importance", "partial_dependence"),
    "utils": ("resample",),
    "cluster": ("k_means", "dbscan"),
}


@RULES.function(*(f"sklearn.{module}.{name}" for module, names in _FUNCTIONS.items() for name in names))
def checked(operation: Operation) -> Answer:
    """The first value that is refused."""
    path = operation.receiver.path
    if not is_of_table(operation) or not operation.arguments.is_complete:
        return UNKNOWN
    constraints = of_ours(path, "_skl_parameter_constraints", operation.packages.get("sklearn", ""))
    for name, value in operation.arguments.keywords.items():
        if name in constraints and _is_plain(value):
            refuse_by_constraints(operation, path.rpartition(".")[2], name, value.literal, constraints[name])
    return UNKNOWN


def _is_plain(value: AbstractValue) -> bool:
    return value.literal is not NOT_KNOWN and (value.literal is None or type(value.literal) in (bool, int, float, str))
