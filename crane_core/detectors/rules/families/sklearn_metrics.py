"""Metrics and their displays: what holds in every version. The library says the rest where it is the kernel's."""

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("scikit-learn: metrics")
# Each calls _check_targets of sklearn.metrics, some through another metric.
_OF_CLASSES: Final = (
    *(
        "accuracy_score",
        "precision_score",
        "recall_score",
        "f1_score",
        "fbeta_score",
        "jaccard_score",
        "hamming_loss",
    ),
    *(
        "confusion_matrix",
        "classification_report",
        "balanced_accuracy_score",
        "cohen_kappa_score",
        "zero_one_loss",
    ),
    *("matthews_corrcoef", "precision_recall_fscore_support"),
)
_SIDES: Final = ("y_true", "y_pred")


@RULES.function(*[f"sklearn.metrics.{name}" for name in _OF_CLASSES])
def of_classes(operation: Operation) -> Answer:
    """Metrics that compare classes: one column of them on each side."""
    given = operation.arguments.bound("y_true, y_pred, **others")
    if given is None:
        return UNCHANGED
    sides = [given[name] for name in _SIDES]
    _refuse_sides(operation, sides)
    found = [data.all_values(data.values_of(side)) for side in sides]
    if (
        operation.function_name == "confusion_matrix"
        and None not in found
        # labels= chooses the classes, and so the size.
        and not given.keys() - set(_SIDES)
    ):
        n_classes = len({value for values in found for value in values or ()})
        return AbstractValue(
            "numpy.ndarray",
            {"shape": (n_classes, n_classes)},
            words=operation.result_words,
        )
    return UNCHANGED


def _refuse_sides(operation: Operation, sides: list[AbstractValue]) -> None:
    """Measurements, and one column beside several."""
    widths = [
        data.n_features(side) or len(data.shape_as_array(side) or ())
        for side in sides
    ]
    for side, width in zip(sides, widths, strict=True):
        # type_of_target calls any number with a fraction continuous.
        if data.is_continuous(side):
            operation.crash(
                "ValueError",
                "Classification metrics can't handle continuous targets",
                fact=f"{side.named('the argument')} holds {data.fraction_in(data.values_of(side))}",
                remedy="round or threshold the predictions, use a classifier, or use a regression metric",
            )
        # A table with one column counts as one column.
        if width > 1 and 1 in widths:
            operation.crash(
                "ValueError",
                "Classification metrics can't handle a mix of one column of classes and several",
                fact=f"{side.named('one side')} has {width} columns",
                remedy="pass the true classes and the predicted ones",
            )


@RULES.function("sklearn.metrics.ConfusionMatrixDisplay")
def display(operation: Operation) -> Answer:
    """A display that keeps its arguments: they are compared when it is drawn."""
    given = operation.arguments.bound(
        "confusion_matrix, *, display_labels=None"
    )
    return (
        UNCHANGED
        if given is None
        else AbstractValue(
            "sklearn.metrics.ConfusionMatrixDisplay", attributes=given
        )
    )


@RULES.method("sklearn.ConfusionMatrixDisplay", "plot")
def plotted(operation: Operation) -> Answer:
    """One label for each row."""
    held = operation.receiver.attributes
    matrix, labels = held.get("confusion_matrix"), held.get("display_labels")
    n_rows, n_labels = (
        None if each is None else data.n_samples(each)
        for each in (matrix, labels)
    )
    # plot() hands display_labels to Matplotlib as labels of its ticks, which
    # refuses another number of them.
    if matrix is not None and differ(n_rows, n_labels):
        operation.crash(
            "ValueError",
            f"{n_labels} labels are given for {n_rows} classes",
            fact=f"{matrix.named('the matrix')} has {n_rows} rows",
            remedy="pass one label per class",
        )
    return UNCHANGED
