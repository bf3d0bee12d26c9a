"""scikit-learn: which estimators' methods and functions are tried on data, and which folds are made."""

from __future__ import annotations

import re

from .places import NONE, listed, prefixed, words

_FOLDS = (
    "KFold StratifiedKFold GroupKFold StratifiedGroupKFold TimeSeriesSplit RepeatedKFold RepeatedStratifiedKFold"
    " ShuffleSplit StratifiedShuffleSplit"
)
_METRICS = (
    "accuracy_score average_precision_score balanced_accuracy_score brier_score_loss calinski_harabasz_score"
    " classification_report cohen_kappa_score confusion_matrix d2_absolute_error_score davies_bouldin_score"
    " explained_variance_score f1_score fbeta_score hamming_loss hinge_loss jaccard_score log_loss matthews_corrcoef"
    " max_error mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_log_error"
    " median_absolute_error precision_recall_curve precision_recall_fscore_support precision_score r2_score"
    " recall_score roc_auc_score roc_curve root_mean_squared_error silhouette_samples silhouette_score"
    " top_k_accuracy_score zero_one_loss adjusted_rand_score rand_score v_measure_score"
)
_SPLITS = "train_test_split cross_val_score cross_validate cross_val_predict"
# Folds check their settings as they are made, unlike estimators.
CALLS = listed((NONE, prefixed("model_selection.", _FOLDS)))
LEARNING = {
    "method": words(
        "fit fit_transform fit_predict fit_resample predict predict_proba predict_log_proba decision_function transform"
        " score score_samples inverse_transform get_feature_names_out get_support kneighbors apply decision_path"
        " set_params"
    ),
    "call": words(
        prefixed("sklearn.metrics.", _METRICS)
        + " "
        + prefixed("sklearn.model_selection.", _SPLITS)
    ),
}
"""Methods of estimators, and functions, that are tried on data with the values that are certain."""
OUTPUT_SETTINGS = ("set_output", "transform_output")
"""What a notebook spells that lets transformers give tables."""
DISTRIBUTIONS = ("scikit-learn",)
# Settings that turn checks off, or hand arrays to other libraries.
UNLESS_MENTIONED = (
    "skip_parameter_validation",
    "assume_finite",
    "array_api",
    "metadata_routing",
    "cuml",
)
ALWAYS_REFUSED = re.compile(
    r"inconsistent numbers of samples|could not convert string|contains (?:NaN|infinity)|X has \d+ features?, but"
    r"|not fitted yet|Expected 2D array|Unknown label type|Classification metrics can't|continuous is not supported"
)
"""What it has always refused of data, with one class of exceptions; releases have accepted more, not less."""
IS_LATE = True
IS_OF_ANY_VERSION = True
HIDES_RESULTS = True
