"""Splitting data: train_test_split and the folds, and how large their parts are."""

import math
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

RULES: Final = Family("scikit-learn: splitting data")
_FOLDS: Final = (
    *(
        "KFold",
        "StratifiedKFold",
        "TimeSeriesSplit",
        "GroupKFold",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
    ),
)


@RULES.function(
    "sklearn.model_selection.train_test_split",
    "sklearn.cross_validation.train_test_split",
)
def split(operation: Operation) -> Answer:
    """Two parts of each array given, in the order train, test."""
    arrays = operation.arguments.positional
    if not operation.arguments.is_complete:
        return UNCHANGED
    for value in arrays:
        # train_test_split(X, y, 0.2): the share was meant as test_size.
        if value.type in ("int", "float", "bool"):
            operation.crash(
                "TypeError",
                "every positional argument is data to split, and a number is not",
                fact=f"{value.words or value.literal} is a {value.type}",
                remedy="pass it by name: test_size=..., random_state=...",
            )
    lengths = _lengths(operation)
    parts = [_part(each, n) for each in arrays for n in lengths]
    for part in parts:
        # The parts get their names from the assignment that follows.
        part.words = ""
    return AbstractValue("list", items=parts, words=operation.result_words)


def _part(value: AbstractValue, n_rows: int | None) -> AbstractValue:
    """A part of the rows: of tuples, ranges and texts a list; sparse matrices become csr."""
    if data.is_sparse(value):
        return AbstractValue()
    part = data.rows_of(value, n_rows)
    if value.type in ("tuple", "range", "str"):
        part.type = "list"
    return part


def _lengths(operation: Operation) -> tuple[int | None, int | None]:
    """Those of the parts for training and testing. Raises Crash where one would be empty or too long."""
    arrays, options = (
        operation.arguments.positional,
        operation.arguments.keywords,
    )
    n_all = next(
        (n for n in map(data.n_samples, arrays) if n is not None), None
    )
    sizes = [
        options.get(name, literal(None)).literal
        for name in ("test_size", "train_size")
    ]
    n_train, n_test = _sizes(n_all, *sizes)
    if (
        n_all is not None
        and n_train is not None
        and n_test is not None
        and not 0 < n_train <= n_all - n_test
    ):
        operation.crash(
            "ValueError",
            f"{n_all} samples cannot be split into {max(n_train, 0)} for training and {n_test} for testing",
            fact=f"{operation.first.named('the first array')} has {n_all} samples",
            remedy="find the step that left so few"
            if n_all < 2
            else "use smaller parts",
        )
    return n_train, n_test


def _is_size(size: Any) -> bool:
    # Other sizes are refused by scikit-learn's own constraints.
    return (
        size is None
        or type(size) is int
        or type(size) is float
        and 0 < size < 1
    )


def _sizes(
    n_all: int | None, test: Any, train: Any
) -> tuple[int | None, int | None]:
    """Lengths of the parts for training and testing, as the library rounds them."""
    if n_all is None or not all(map(_is_size, (test, train))):
        return None, None
    # _validate_shuffle_split rounds the test part up and the training part down.
    n_test = math.ceil(test * n_all) if type(test) is float else test
    n_train = math.floor(train * n_all) if type(train) is float else train
    if n_test is None:
        # 0.25 is the default of train_test_split where neither size is given.
        n_test = math.ceil(0.25 * n_all) if n_train is None else n_all - n_train
    return n_all - n_test if n_train is None else n_train, n_test


@RULES.function(
    "sklearn.utils.class_weight.compute_class_weight",
    "sklearn.utils.compute_class_weight",
)
def class_weights(operation: Operation) -> Answer:
    """Since version 1.0 only the first argument may be positional; known for states that do not tell versions."""
    if (n_given := len(operation.arguments.positional)) > 1:
        operation.crash(
            "TypeError",
            "compute_class_weight takes 1 positional argument, the others by name",
            fact=f"{n_given} are positional",
            remedy="pass the others by name",
        )
    return UNCHANGED


@RULES.function(
    *[
        f"sklearn.model_selection.cross_{name}"
        for name in ("val_score", "validate", "val_predict")
    ]
)
def cross_validated(operation: Operation) -> Answer:
    """Copies are fitted to parts of the data; the estimator itself stays as it is."""
    given = operation.arguments.values
    # A scorer or an estimator of the notebook runs with the data, and may change them.
    return (
        UNCHANGED
        if all(value.definition is None for value in given)
        else UNKNOWN
    )


@RULES.function(*[f"sklearn.model_selection.{name}" for name in _FOLDS])
def folds_made(operation: Operation) -> Answer:
    """A splitter that keeps its arguments: it looks at no data before the first fold."""
    given = operation.arguments.bound("n_splits=5, **others")
    return AbstractValue(
        f"sklearn.model_selection.{operation.function_name}",
        attributes=given or {},
    )


@RULES.method("sklearn.*", "split")
def folds(operation: Operation) -> Answer:
    """What is wrong with the data is found when the first fold is taken."""
    given = operation.arguments.bound("X, y=None, groups=None")
    if operation.receiver.class_name not in _FOLDS or given is None:
        return UNKNOWN
    return AbstractValue(
        "generator", attributes={"splitter": operation.receiver, **given}
    )


@RULES.element("builtins.generator")
def first_fold(operation: Operation) -> Answer:
    """More folds than samples, other lengths, measurements where classes are kept in proportion."""
    held = operation.receiver.attributes
    splitter, x, y = (
        held.get("splitter"),
        held.get("X"),
        held.get("y", AbstractValue()),
    )
    if splitter is None or x is None:
        return UNKNOWN
    if why := _why_no_fold(splitter, x, y):
        fact = f"{x.named('X')} has {data.n_samples(x)} samples, and y {data.n_samples(y)}"
        operation.crash(
            "ValueError",
            why,
            fact=fact,
            remedy="use fewer folds, KFold, or data of the same rows",
        )
    return UNCHANGED


def _why_no_fold(
    splitter: AbstractValue, x: AbstractValue, y: AbstractValue
) -> str:
    n_x, n_y = data.n_samples(x), data.n_samples(y)
    # Where it is not given nothing is said: scikit-learn 0.22 made the default
    # 5, which was 3.
    n_splits = splitter.attributes.get("n_splits", AbstractValue()).literal
    is_beyond = type(n_splits) is int and n_x is not None and n_splits > n_x
    # KFold.split compares the lengths before it counts the folds.
    # TimeSeriesSplit does not look at y.
    if differ(n_x, n_y) and splitter.class_name != "TimeSeriesSplit":
        return f"Found input variables with inconsistent numbers of samples: [{n_x}, {n_y}]"
    # TimeSeriesSplit and GroupKFold count otherwise, and have other messages.
    if is_beyond and splitter.class_name in ("KFold", "StratifiedKFold"):
        return f"Cannot have number of splits n_splits={n_splits} greater than the number of samples: n_samples={n_x}"
    if "Stratified" in splitter.class_name and data.is_continuous(y):
        return "Supported target types are: ('binary', 'multiclass'). Got 'continuous' instead"
    most = _most_of_class(y)
    is_too_few = type(n_splits) is int and most is not None and n_splits > most
    if is_too_few and splitter.class_name == "StratifiedKFold":
        return f"n_splits={n_splits} cannot be greater than the number of members in each class."
    return ""


def _most_of_class(y: AbstractValue) -> int | None:
    """The number of rows that no class exceeds, from the number of classes and the rows of the rarest."""
    facts, n_all = data.values_of(y), data.n_samples(y)
    n_classes, rarest = facts.get("num_unique"), facts.get("n_of_rarest")
    if (
        n_all is None
        or type(n_classes) is not int
        or type(rarest) is not int
        # A missing value counts among the rows, and is not a class.
        or facts.get("has_nan") is not False
    ):
        return None
    return n_all - rarest * (n_classes - 1)
