"""Splitting data: train_test_split and the folds, what they refuse and how large their parts are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any, Final

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import parameter_error
from crane_core.detectors.rules.families.sklearn_fitting import lengths_agree, refuse_lengths
from crane_core.detectors.rules.families.sklearn_targets import target_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: splitting data")
_OPTIONS: Final = ("test_size", "train_size", "random_state", "shuffle", "stratify")
_FOLDS: Final = (
    *("KFold", "StratifiedKFold", "TimeSeriesSplit", "GroupKFold", "RepeatedKFold", "RepeatedStratifiedKFold"),
)
_KEEP_SHARES: Final = ("StratifiedKFold", "RepeatedStratifiedKFold")


@RULES.function("sklearn.model_selection.train_test_split", "sklearn.cross_validation.train_test_split")
def split(operation: Operation) -> Answer:
    """Two parts of each array given, in the order train, test."""
    _refuse_options(operation)
    arrays = list(operation.arguments.positional)
    if not operation.arguments.is_complete:
        return UNCHANGED
    if not arrays:
        operation.crash(
            "ValueError",
            "At least one array required as input",
            fact=f"{operation.text} passes no data",
            remedy="pass X and y",
        )
    _refuse_numbers(operation, arrays)
    _refuse_lengths(operation, arrays)
    n_all = next((n for n in map(data.n_samples, arrays) if n is not None), None)
    options = {name: operation.arguments.keywords.get(name, literal(None)) for name in _OPTIONS}
    _refuse_sizes(operation, options)
    n_train, n_test = _sizes(operation, n_all, options)
    _refuse_stratify(operation, options, n_all)
    parts = [part for each in arrays for part in (_part(each, n_train), _part(each, n_test))]
    return AbstractValue("list", items=parts, words=operation.result_words)


def _refuse_numbers(operation: Operation, arrays: list[AbstractValue]) -> None:
    """Sizes and seeds are given by name; by position they are taken for data."""
    for value in arrays:
        if value.type in ("int", "float", "bool"):
            operation.crash(
                "TypeError",
                "every positional argument is data to split, and a number is not",
                fact=f"{value.words or value.literal} is a {value.type}",
                remedy="pass it by name: test_size=..., random_state=...",
            )


def _part(whole: AbstractValue, n_rows: int | None) -> AbstractValue:
    part = data.rows_of(whole, n_rows)
    part.words = ""
    return part


def _refuse_options(operation: Operation) -> None:
    unknown = [name for name in operation.arguments.keywords if name not in _OPTIONS]
    if unknown:
        operation.crash(
            "TypeError",
            f"train_test_split() got an unexpected keyword argument '{unknown[0]}'",
            fact=f"it takes {', '.join(_OPTIONS)}",
            remedy="use one of these",
        )


def _refuse_lengths(operation: Operation, arrays: list[AbstractValue]) -> None:
    known = [(each.named("one"), n) for each in arrays if (n := data.n_samples(each)) is not None]
    for left, right in itertools.pairwise(known):
        lengths_agree(operation, "ValueError", left, right)


def _refuse_sizes(operation: Operation, options: dict[str, AbstractValue]) -> None:
    for name in ("test_size", "train_size"):
        size = options[name].literal
        if not _is_size(size):
            operation.crash(
                parameter_error(operation),
                f"{name} must be a float between 0 and 1, or an integer number of samples",
                fact=f"it is {size!r}",
                remedy="use a share such as 0.2",
            )
    test, train = options["test_size"].literal, options["train_size"].literal
    if type(test) is float and type(train) is float and test + train > 1 + 1e-9:
        operation.crash(
            "ValueError",
            "The sum of test_size and train_size should be in the (0, 1) range",
            fact=f"test_size and train_size are {test} and {train}",
            remedy="remove one of them",
        )


def _is_size(size: Any) -> bool:
    """A share or a number of samples; whatever else is not known to be one may be."""
    if type(size) is float:
        return 0 < size < 1
    return size >= 1 if type(size) is int else not isinstance(size, str)


def _sizes(operation: Operation, n_all: int | None, options: dict[str, AbstractValue]) -> tuple[int | None, int | None]:
    """Lengths of the parts, as the library rounds them."""
    test, train = options["test_size"], options["train_size"]
    if n_all is None or not test.is_literal or not train.is_literal:
        return None, None
    n_test, n_train = _test_size(n_all, test.literal, train.literal), _train_size(n_all, test.literal, train.literal)
    if n_test is None or n_train is None:
        return None, None
    if not 0 < n_train <= n_all or n_train + n_test > n_all:
        operation.crash(
            "ValueError",
            f"{n_all} samples cannot be split into {max(n_train, 0)} for training and {n_test} for testing",
            fact=f"{operation.first.named('the first array')} has {n_all} samples",
            remedy="find the step that left so few" if n_all < 2 else "use smaller parts",
        )
    return n_train, n_test


def _test_size(n_all: int, test: Any, train: Any) -> int | None:
    if type(test) is int:
        return test
    if type(test) is float:
        return math.ceil(test * n_all)
    if test is not None:
        return None
    n_train = _train_size(n_all, 0.25, train) if train is not None else None
    return math.ceil(0.25 * n_all) if train is None else None if n_train is None else n_all - n_train


def _train_size(n_all: int, test: Any, train: Any) -> int | None:
    if type(train) is int:
        return train
    if type(train) is float:
        return math.floor(train * n_all)
    n_test = _test_size(n_all, test, None) if train is None else None
    return None if n_test is None else n_all - n_test


def _refuse_stratify(operation: Operation, options: dict[str, AbstractValue], n_all: int | None) -> None:
    stratify = options["stratify"]
    labels = stratify.named("stratify"), data.n_samples(stratify)
    lengths_agree(operation, "ValueError", ("the data", n_all), labels)
    facts = data.values_of(stratify)
    fewest = facts.get("n_of_rarest")
    if fewest == 1 and not target_of(stratify).has_nan and len(data.shape_as_array(stratify) or ()) == 1:
        operation.crash(
            "ValueError",
            "The least populated class in y has only 1 member, which is too few",
            fact=f"a class of {stratify.named('stratify')} has one member",
            remedy="drop classes with one member, or do not stratify",
        )
    if options["shuffle"].is_literal and options["shuffle"].literal is False and stratify.type not in ("", "NoneType"):
        operation.crash(
            "ValueError",
            "Stratified train/test split is not implemented for shuffle=False",
            fact="shuffle is False and stratify is given",
            remedy="remove one of them",
        )


@RULES.function("sklearn.utils.class_weight.compute_class_weight", "sklearn.utils.compute_class_weight")
def class_weights(operation: Operation) -> Answer:
    """Since version 1.0 only the first argument may be positional; known for states that do not tell versions."""
    n_given = len(operation.arguments.positional)
    if n_given > 1:
        operation.crash(
            "TypeError",
            "compute_class_weight takes 1 positional argument, the others by name",
            fact=f"{n_given} are positional",
            remedy="pass the others by name",
        )
    return UNCHANGED


@RULES.function(*[f"sklearn.model_selection.{name}" for name in _FOLDS])
def folds_made(operation: Operation) -> Answer:
    """At least two folds."""
    given = operation.arguments.bound("n_splits=5, **others")
    n_splits = None if given is None else given.get("n_splits", literal(5)).literal
    if type(n_splits) is int and n_splits < 2:
        operation.crash(
            "ValueError",
            "k-fold cross-validation requires at least one train/test split: n_splits=2 or more",
            fact=f"n_splits is {n_splits}",
            remedy="set n_splits to 2 or more",
        )
    name = operation.function_name
    if not name.startswith("Repeated"):
        _refuse_seed(operation, given or {})
    return AbstractValue(f"sklearn.model_selection.{name}", attributes=given or {})


def _refuse_seed(operation: Operation, given: Mapping[str, AbstractValue]) -> None:
    """A seed is for shuffling; said to be useless before version 0.24, refused since."""
    seed, shuffle = given.get("random_state", literal(None)), given.get("shuffle", literal(False))
    if type(seed.literal) is int and shuffle.literal is False:
        operation.crash(
            "ValueError",
            "Setting a random_state has no effect since shuffle is False",
            fact=f"random_state is {seed.literal}, and shuffle is False",
            remedy="pass shuffle=True, or remove random_state",
        )


@RULES.method("sklearn.*", "split")
def folds(operation: Operation) -> Answer:
    """What is wrong with the data is found when the first fold is taken."""
    splitter = operation.receiver
    if splitter.class_name not in _FOLDS:
        return UNKNOWN
    given = operation.arguments.bound("X, y=None, groups=None")
    return AbstractValue("generator", attributes={"splitter": splitter, **(given or {})})


@RULES.element("builtins.generator")
def first_fold(operation: Operation) -> Answer:
    """More folds than samples, other lengths, measurements where classes are kept in proportion."""
    held = operation.receiver.attributes
    splitter, x, y = held.get("splitter"), held.get("X"), held.get("y")
    if splitter is None or x is None:
        return UNKNOWN
    if y is not None:
        refuse_lengths(operation, x, y)
    n_x, n_splits = data.n_samples(x), _n_splits(splitter)
    if n_splits is not None and n_x is not None and n_splits > n_x:
        operation.crash(
            "ValueError",
            f"Cannot have number of splits n_splits={n_splits} greater than the number of samples",
            fact=f"{x.named('X')} has {n_x} samples",
            remedy=f"set n_splits to {n_x} or less",
        )
    if y is not None:
        refuse_shares(operation, splitter, y)
    return UNCHANGED


def refuse_shares(operation: Operation, splitter: AbstractValue, y: AbstractValue) -> None:
    """Raise where folds are to keep the shares of classes in targets that are measurements."""
    if splitter.class_name in _KEEP_SHARES and (target := target_of(y)).kind == "continuous":
        operation.crash(
            "ValueError",
            f"{splitter.class_name} needs classes, not continuous values",
            fact=f"{y.named('y')} holds continuous values{target.example}",
            remedy="use KFold, or convert the values to classes",
        )


def _n_splits(splitter: AbstractValue) -> int | None:
    if splitter.class_name not in ("KFold", "StratifiedKFold"):
        return None
    found = splitter.attributes.get("n_splits", AbstractValue()).literal
    return found if type(found) is int else None
