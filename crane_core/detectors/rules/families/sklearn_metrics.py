"""Metrics: samples that do not match, kinds of targets that do not go together, averages over more than two classes."""

from __future__ import annotations

from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, all_known, literal
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import is_since, refuse_positional
from crane_core.detectors.rules.families.sklearn_fitting import refuse_lengths
from crane_core.detectors.rules.families.sklearn_targets import Target, target_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ, shown

RULES: Final = Family("scikit-learn: metrics")
OF_CLASSES: Final = (
    *("accuracy_score", "precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score", "hamming_loss"),
    *("confusion_matrix", "classification_report", "balanced_accuracy_score", "cohen_kappa_score", "zero_one_loss"),
    *("matthews_corrcoef", "precision_recall_fscore_support"),
)
OF_NUMBERS: Final = (
    *("mean_squared_error", "mean_absolute_error", "r2_score", "mean_absolute_percentage_error", "max_error"),
    *("median_absolute_error", "explained_variance_score", "root_mean_squared_error", "mean_squared_log_error"),
)
_WITH_AVERAGE: Final = ("precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score")
_OF_AVERAGES: Final = frozenset(
    ["y_true", "y_pred", "labels", "pos_label", "average", "sample_weight", "zero_division", "beta"]
)
"""Arguments of the metrics that take an average; another one is refused before the classes are looked at."""
_CURVES: Final = ("roc_curve", "precision_recall_curve")
_OF_SCORES: Final = (*_CURVES, "roc_auc_score", "average_precision_score", "log_loss")
_NEVER_WHOLE: Final = (
    *("LinearRegression", "Ridge", "Lasso", "ElasticNet", "SVR", "LinearSVR", "BayesianRidge", "HuberRegressor"),
    *("GradientBoostingRegressor", "MLPRegressor", "SGDRegressor"),
)
_ENOUGH: Final = 50
"""So many predictions of a model of real numbers are not all whole."""


def _paths(names: tuple[str, ...]) -> list[str]:
    return [f"sklearn.metrics.{name}" for name in names]


@RULES.function(*_paths(OF_CLASSES))
def of_classes(operation: Operation) -> Answer:
    """Metrics that compare classes."""
    name = operation.function_name
    names = ("y1", "y2") if name == "cohen_kappa_score" else ("y_true", "y_pred")
    first, bound = f"{names[0]}=None, {names[1]}=None", operation.arguments.bound
    given = bound(f"{first}, **others") or bound(f"{first}, labels=None, **others")
    refuse_positional(operation, name, 3 if name in ("fbeta_score", "cohen_kappa_score") else 2)
    if given is None:
        return UNCHANGED
    true, said = map(given.get, names)
    if true is None or said is None:
        return UNCHANGED
    _refuse_lengths(operation, true, said)
    targets = target_of(true), target_of(said)
    _refuse_kinds(operation, name, (true, said), targets)
    if name in _WITH_AVERAGE and given.keys() <= _OF_AVERAGES:
        _refuse_average(operation, given, (true, said), targets)
    if name == "classification_report":
        _refuse_names(operation, given, targets)
    return _given(name, targets, operation)


def _refuse_lengths(operation: Operation, true: AbstractValue, said: AbstractValue) -> None:
    refuse_lengths(operation, true, said, names=("y_true", "y_pred"))


def _refuse_kinds(
    operation: Operation, name: str, given: tuple[AbstractValue, AbstractValue], targets: tuple[Target, Target]
) -> None:
    """Classes and continuous values do not mix; tables and single columns do not mix either."""
    _refuse_table(operation, name, given)
    _refuse_continuous(operation, name, given, targets)
    are_texts = [{isinstance(value, str) for value in target.classes or ()} for target in targets]
    if {True} in are_texts and {False} in are_texts and {target.kind for target in targets} <= {"binary", "multiclass"}:
        operation.crash(
            "ValueError",
            "y_true and y_pred have different label types: strings and numbers",
            fact="; ".join(map(_classes_in_words, given, targets)),
            remedy="use the same labels on both sides",
        )


def _refuse_continuous(
    operation: Operation, name: str, given: tuple[AbstractValue, AbstractValue], targets: tuple[Target, Target]
) -> None:
    for abstract, target in zip(given, targets, strict=True):
        kind = target.kind or ("continuous" if _is_never_whole(abstract, target) else "")
        if kind.startswith("continuous"):
            operation.crash(
                "ValueError",
                f"Classification metrics can't handle continuous targets: {name} needs classes",
                fact=f"{abstract.named('the argument')} holds continuous values{target.example}",
                remedy="round or threshold the predictions, use a classifier, or use a regression metric",
            )


def _refuse_table(operation: Operation, name: str, given: tuple[AbstractValue, AbstractValue]) -> None:
    outputs = [_n_outputs(value) for value in given]
    if None not in outputs and 1 in outputs and max(each or 0 for each in outputs) > 1:
        table = given[0] if outputs[1] == 1 else given[1]
        operation.crash(
            "ValueError",
            f"{name} takes two 1d arrays of classes",
            fact=f"{table.named('one side')} has {max(each or 0 for each in outputs)} columns",
            remedy="pass the true classes and the predicted ones",
        )


def _is_never_whole(value: AbstractValue, target: Target) -> bool:
    return value.fact("predicted_by") in _NEVER_WHOLE and (target.n_samples or 0) >= _ENOUGH


def _classes_in_words(value: AbstractValue, target: Target) -> str:
    shown = ", ".join(map(repr, sorted(target.classes or (), key=str)[:8]))
    return f"{value.named('it')} holds {shown}"


def _refuse_average(
    operation: Operation,
    given: dict[str, AbstractValue],
    values: tuple[AbstractValue, AbstractValue],
    targets: tuple[Target, Target],
) -> None:
    average, labels = given.get("average", literal("binary")), given.get("labels", literal(None))
    if average.literal != "binary" or not labels.is_literal:
        return
    multiclass = [(value, target) for value, target in zip(values, targets, strict=True) if target.kind == "multiclass"]
    if multiclass:
        value, target = multiclass[0]
        words = _classes_in_words(value, target) if target.classes else f"{value.named('it')} holds more than two"
        operation.crash(
            "ValueError",
            "Target is multiclass but average='binary' (the default)",
            fact=words,
            remedy="choose an average: average='macro', 'weighted' or 'micro'",
        )
    _refuse_positive(operation, given, targets)


def _refuse_positive(operation: Operation, given: dict[str, AbstractValue], targets: tuple[Target, Target]) -> None:
    """Two classes, neither of them the one that counts as positive."""
    positive = given.get("pos_label", literal(1))
    present = _classes_of_both([target.classes for target in targets])
    if not positive.is_literal or present is None or "labels" in given:
        return
    if len(present) > 2:
        operation.crash(
            "ValueError",
            "Target is multiclass but average='binary' (the default)",
            fact=f"together they hold {', '.join(map(repr, sorted(present, key=str)[:8]))}",
            remedy="choose an average: average='macro', 'weighted' or 'micro'",
        )
    if len(present) == 2 and positive.literal not in present and _is_comparable(positive.literal, present):
        operation.crash(
            "ValueError",
            f"pos_label={positive.literal!r} is not a valid label",
            fact=f"the labels are {', '.join(map(repr, sorted(present, key=str)))}",
            remedy="set pos_label to one of them, or choose an average",
        )


def _classes_of_both(classes: list[frozenset[Any] | None]) -> frozenset[Any] | None:
    """The classes on either side; None if one side is not known."""
    known = all_known(classes)
    return None if known is None else frozenset().union(*known)


def _is_comparable(value: Any, present: frozenset[Any]) -> bool:
    return isinstance(value, (str, int, float)) and len({isinstance(each, str) for each in present}) == 1


def _refuse_names(operation: Operation, given: dict[str, AbstractValue], targets: tuple[Target, Target]) -> None:
    """As many names as classes; labels that are given themselves decide."""
    names = given.get("target_names")
    present = _classes_of_both([target.classes for target in targets])
    n_names = None if names is None else data.n_samples(names)
    if n_names is None or "labels" in given or present is None:
        return
    if len({isinstance(each, str) for each in present}) == 1 and n_names != len(present):
        operation.crash(
            "ValueError",
            f"{n_names} names are given for {len(present)} classes",
            fact=f"the classes are {', '.join(map(repr, sorted(present, key=str)[:8]))}",
            remedy="pass one name per class, or also pass labels",
        )


def _given(name: str, targets: tuple[Target, Target], operation: Operation) -> AbstractValue:
    if name == "confusion_matrix":
        present = _classes_of_both([target.classes_if_whole for target in targets])
        if present is None or "labels" in operation.arguments.keywords:
            return AbstractValue("numpy.ndarray", {"shape": (None, None)})
        shape = (len(present), len(present))
        return AbstractValue("numpy.ndarray", {"shape": shape}, words=operation.result_words)
    return AbstractValue()


@RULES.function(*_paths(OF_NUMBERS))
def of_numbers(operation: Operation) -> Answer:
    """Metrics that compare measurements."""
    name = operation.function_name
    refuse_positional(operation, name, 2)
    given = operation.arguments.bound("y_true=None, y_pred=None, **others")
    if given is None:
        return UNCHANGED
    _refuse_squared(operation, name, given)
    true, said = given.get("y_true"), given.get("y_pred")
    if true is None or said is None:
        return UNCHANGED
    _refuse_lengths(operation, true, said)
    for value in (true, said):
        if data.n_samples(value):
            _refuse_flaws(operation, name, value)
    n_true, n_said = (_n_outputs(each) for each in (true, said))
    if differ(n_true, n_said):
        operation.crash(
            "ValueError",
            f"y_true and y_pred have different number of output ({n_true}!={n_said})",
            fact=f"{true.named('y_true')} has {n_true} columns, {said.named('y_pred')} has {n_said}",
            remedy="pass the same targets on both sides",
        )
    return UNCHANGED


def _refuse_squared(operation: Operation, name: str, given: dict[str, AbstractValue]) -> None:
    is_asked = "squared" in given and name == "mean_squared_error"
    if is_asked and "sklearn" in operation.packages and is_since(operation, 1, 6):
        operation.crash(
            "TypeError",
            "mean_squared_error() got an unexpected keyword argument 'squared' (removed in version 1.6)",
            fact=f"scikit-learn here is {operation.packages['sklearn']}",
            remedy="use root_mean_squared_error",
        )


def _refuse_flaws(operation: Operation, name: str, value: AbstractValue) -> None:
    flaws = {flaw.name: flaw.fact for flaw in data.flaws(value)}
    for flaw in ("text", "nan", "inf"):
        if flaw in flaws:
            operation.crash(
                "ValueError",
                f"Input contains NaN or infinity: {name} needs finite numbers",
                fact=flaws[flaw],
                remedy="drop such rows",
            )


def _n_outputs(value: AbstractValue) -> int | None:
    shape = data.shape_as_array(value)
    return None if shape is None or len(shape) > 2 else 1 if len(shape) == 1 else shape[1]


@RULES.function(*_paths(_OF_SCORES))
def of_scores(operation: Operation) -> Answer:
    """Metrics of scores: two classes by default, one score for each sample."""
    name = operation.function_name
    refuse_positional(operation, name, 2)
    given = operation.arguments.bound("y_true=None, y_score=None, **others")
    true = None if given is None else given.get("y_true")
    if given is None or true is None:
        return UNCHANGED
    scores = next((given[each] for each in ("y_score", "y_pred", "probas_pred") if each in given), None)
    target = target_of(true)
    if scores is not None:
        _refuse_lengths(operation, true, scores)
        _refuse_scores(operation, name, given, (true, scores), target)
    _refuse_texts(operation, name, given, (true, target))
    _refuse_target(operation, name, given, (true, target))
    return UNCHANGED


def _refuse_target(
    operation: Operation, name: str, given: dict[str, AbstractValue], true: tuple[AbstractValue, Target]
) -> None:
    """Classes are wanted; for the log loss at least two, or their names."""
    value, target = true
    if name == "log_loss" and "labels" not in given and len(target.classes or ()) == 1:
        operation.crash(
            "ValueError",
            "y_true contains only one label",
            fact=_classes_in_words(value, target),
            remedy="pass all classes: labels=[...]",
        )
    if target.kind == "continuous":
        operation.crash(
            "ValueError",
            f"continuous format is not supported: {name} needs classes as y_true",
            fact=f"{value.named('y_true')} holds continuous values{target.example}",
            remedy="use a regression metric",
        )


def _refuse_texts(
    operation: Operation, name: str, given: dict[str, AbstractValue], true: tuple[AbstractValue, Target]
) -> None:
    """Of two strings neither is the positive class by itself."""
    classes = true[1].classes or ()
    are_texts = len(classes) == 2 and all(isinstance(value, str) for value in classes)
    if name in (*_CURVES, "average_precision_score") and are_texts and "pos_label" not in given:
        operation.crash(
            "ValueError",
            f"pos_label is not specified: y_true of {name} takes string values",
            fact=_classes_in_words(*true),
            remedy="pass pos_label=...",
        )


def _refuse_scores(
    operation: Operation,
    name: str,
    given: dict[str, AbstractValue],
    values: tuple[AbstractValue, AbstractValue],
    target: Target,
) -> None:
    true, scores = values
    shape = data.shape_as_array(scores)
    if shape is None:
        return
    if target.kind == "binary" and name in (*_CURVES, "roc_auc_score") and (data.n_features(scores) or 0) >= 2:
        operation.crash(
            "ValueError",
            f"y_score should be a 1d array: {name} of two classes takes one score per sample",
            fact=f"{scores.named('y_score')} has the shape {shown(shape)}",
            remedy="select the column of the positive class: scores[:, 1]",
        )
    if target.kind == "multiclass":
        fact = _classes_in_words(true, target) if target.classes else "there are more than two classes"
        _refuse_more_than_two(operation, name, given, len(shape), fact)


def _refuse_more_than_two(
    operation: Operation, name: str, given: dict[str, AbstractValue], n_axes: int, fact: str
) -> None:
    """A curve is of two classes; an area under it needs to be told how more of them are compared."""
    if name in _CURVES and n_axes == 1:
        operation.crash(
            "ValueError",
            f"multiclass format is not supported: {name} is for two classes",
            fact=fact,
            remedy="draw one curve per class against the rest",
        )
    if name == "roc_auc_score" and given.get("multi_class", literal("raise")).literal == "raise":
        operation.crash(
            "ValueError",
            "multi_class must be in ('ovo', 'ovr')",
            fact=fact,
            remedy="set multi_class, and pass the result of predict_proba",
        )


@RULES.function(*_paths(("silhouette_score", "silhouette_samples", "davies_bouldin_score", "calinski_harabasz_score")))
def of_clusters(operation: Operation) -> Answer:
    """Two clusters at least, and fewer than samples."""
    given = operation.arguments.bound("X, labels, **others")
    if given is None:
        return UNCHANGED
    refuse_lengths(operation, given["X"], given["labels"], names=("X", "labels"))
    classes = target_of(given["labels"]).classes
    if classes is not None and len(classes) == 1:
        operation.crash(
            "ValueError",
            f"Number of labels is 1: {operation.function_name} needs at least 2 clusters",
            fact=f"all labels are {next(iter(classes))!r}",
            remedy="use two clusters or more",
        )
    return UNCHANGED


@RULES.function("sklearn.metrics.ConfusionMatrixDisplay")
def display(operation: Operation) -> Answer:
    given = operation.arguments.bound("confusion_matrix, *, display_labels=None")
    if given is None:
        return UNCHANGED
    return AbstractValue("sklearn.metrics.ConfusionMatrixDisplay", attributes=given)


@RULES.method("sklearn.ConfusionMatrixDisplay", "plot")
def plotted(operation: Operation) -> Answer:
    """One label for each row."""
    shown = operation.receiver
    matrix = shown.attributes.get("confusion_matrix")
    labels = shown.attributes.get("display_labels")
    if matrix is None or labels is None:
        return UNCHANGED
    n_rows, n_labels = data.n_samples(matrix), data.n_samples(labels)
    if differ(n_rows, n_labels):
        operation.crash(
            "ValueError",
            f"{n_labels} labels are given for {n_rows} classes",
            fact=f"{matrix.named('the matrix')} has {n_rows} rows",
            remedy="pass one label per class",
        )
    return UNCHANGED
