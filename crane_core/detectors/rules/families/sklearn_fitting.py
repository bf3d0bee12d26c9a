"""What fitting an estimator to data, or asking a fitted one, refuses for certain: one function for each, for any step.

Used by the rules of fit and predict, and by those of estimators that pass data on to their parts. Speaks of exact
classes, of flaws that the table of classes says they refuse, and of parts whose data are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.evidence import enumerated
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_of_table, is_since
from crane_core.detectors.rules.families.sklearn_estimators import (
    accepts_as_by_default,
    features_fitted,
    fit_to,
    is_fitted,
    names_fitted,
    value_of,
)
from crane_core.detectors.rules.families.sklearn_targets import Target, target_of
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import differ

_OF_VALUES = ("text", "nan", "nan?", "inf", "dates", "negative")
_TAKE_ROWS_OF_ANY_LENGTH = ("MultiLabelBinarizer",)
"""Classes that take any iterable of iterables, texts too."""
_HAND_ON: Final = {"CalibratedClassifierCV": "estimator", "TransformedTargetRegressor": "regressor"}
"""Classes that look at no feature themselves, and the parameter that holds the estimator which does."""
_REMEDIES = {
    "text": "encode the strings as numbers first (OneHotEncoder, pandas.get_dummies), or drop these columns",
    "nan": "fill or drop the missing values first",
    "inf": "replace or drop the infinite values first",
    "dates": "convert the datetimes to numbers, or drop the column",
    "1d": "reshape it: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample",
    "series": "pass a table: frame[[column]] instead of frame[column]",
    "3d": "reshape it to one row per sample: X.reshape(len(X), -1)",
    "empty": "find the step that left no rows",
    "no_columns": "find the step that left no columns",
    "negative": "scale the values to 0 or more, or use an estimator that accepts negative ones",
    "mixed_names": "convert all column names to strings: X.columns = X.columns.astype(str)",
}
_WHY = {
    "text": "{name} could not convert string to float",
    "nan": "Input X contains NaN: {name} does not accept missing values",
    "inf": "Input X contains infinity: {name} does not accept infinite values",
    "dates": "The DType could not be promoted: {name} needs one numeric dtype",
    "1d": "{name} expected a 2D array",
    "series": "{name} expected a 2D array",
    "3d": "{name} expected a 2D array",
    "empty": "Found array with 0 sample(s): {name} needs at least one",
    "no_columns": "Found array with 0 feature(s): {name} needs at least one",
    "negative": "Negative values in data passed to {name}",
    "mixed_names": "Feature names are only supported if all input features have string names",
}


def _hands_on(estimator: AbstractValue, known: KnownClass) -> bool:
    """Whether it gives its data, as they are, to an estimator of which its table of refusals does not speak."""
    inner = _HAND_ON.get(known.name)
    return inner is not None and value_of(estimator, inner) is not None


def refuse_x(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue) -> None:
    """Raise where these data have a flaw that the class refuses in this method."""
    if _hands_on(estimator, known):
        return
    is_usual = accepts_as_by_default(estimator, known)
    for flaw in data.flaws(x):
        if flaw.name in _OF_VALUES and not is_usual:
            continue
        if flaw.name == "mixed_names" and not is_since(operation, 1, 2):
            continue  # versions 1.0 and 1.1 only warned
        if (exception := _refusal(known, method, flaw.name)) is not None:
            cause = flaw.name.rstrip("?")
            operation.crash(exception, _WHY[cause].format(name=known.name), fact=flaw.fact, remedy=_REMEDIES[cause])


def _refusal(known: KnownClass, method: str, flaw: str) -> str | None:
    """The exception; of missing values of which the kind is not known, one that it raises for each kind.

    What is refused only once fitted was refused for being other than the data of the fit.
    """
    if known.name in _TAKE_ROWS_OF_ANY_LENGTH:
        return None
    if flaw == "nan?":
        kinds = {f"{step}:{kind}" for step in ("fit", method) for kind in ("nan", "none")}
        return known.raises[f"{method}:nan"] if kinds <= known.raises.keys() else None
    if flaw == "text" and f"{method}:text_column" not in known.raises:
        return None
    if flaw == "negative" and known.name not in ("MultinomialNB", "ComplementNB", "CategoricalNB", "NMF"):
        return None
    if flaw in _OF_VALUES and f"fit:{flaw}" not in known.raises:
        return None
    return known.raises.get(f"{method}:{flaw}")


def fit(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue, y: AbstractValue | None
) -> None:
    """Raise where fitting certainly fails; else note that the estimator is fitted to X."""
    refuse_x(operation, estimator, known, "fit", x)
    refuse_y(operation, estimator, known, x, y)
    fit_to(estimator, x)
    if y is None:
        return
    if (shape := data.shape_as_array(y)) is not None and len(shape) == 1:
        estimator.facts["n_targets_fit"] = 1
    if known.kind == "classifier" and (target := target_of(y)).classes is not None:
        estimator.facts["classes_"] = sorted(target.classes, key=str)


def refuse_y(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue, y: AbstractValue | None
) -> None:
    if y is None or y.is_literal and y.literal is None:
        if known.learns_from_y and (exception := known.raises.get("y:missing")) is not None:
            is_bound = y is not None or operation.receiver.class_name == "Pipeline"  # which hands on a None
            operation.crash(
                "ValueError" if is_bound else exception,
                f"{known.name} requires y to be passed, but the target y is None",
                fact=f"{operation.text} passes no y",
                remedy="pass the targets as second argument",
            )
        return
    if known.learns_from_y is not True:
        return
    refuse_lengths(operation, x, y, known.raises.get("y:short"))
    for flaw, fact, why, remedy in _flaws_of_y(known, target_of(y), y.named("y")):
        if flaw in known.raises:
            operation.crash(known.raises[flaw], why, fact=fact, remedy=remedy)


def refuse_lengths(
    operation: Operation,
    x: AbstractValue,
    y: AbstractValue,
    exception: str | None = "ValueError",
    *,
    names: tuple[str, str] = ("X", "y"),
) -> None:
    """Raise where both certainly have other numbers of samples; without an exception nothing is refused."""
    if exception is not None:
        lengths_agree(
            operation, exception, (x.named(names[0]), data.n_samples(x)), (y.named(names[1]), data.n_samples(y))
        )


def lengths_agree(
    operation: Operation, exception: str, left: tuple[str, int | None], right: tuple[str, int | None]
) -> None:
    if differ(left[1], right[1]):
        operation.crash(
            exception,
            f"Found input variables with inconsistent numbers of samples: [{left[1]}, {right[1]}]",
            fact=f"{left[0]} has {left[1]} samples, {right[0]} has {right[1]}",
            remedy="select both from the same rows",
        )


def _flaws_of_y(known: KnownClass, target: Target, words: str) -> Iterator[tuple[str, str, str, str]]:
    """Name in the table, fact, reason, remedy of what is wrong with a target."""
    name = known.name
    if target.has_nan:
        yield (
            "y:nan",
            f"{words} holds missing values",
            f"Input y contains NaN: {name} needs a target for every sample",
            "drop these rows",
        )
    if target.has_inf:
        yield (
            "y:inf",
            f"{words} holds infinity",
            f"Input y contains infinity: {name} needs finite targets",
            "drop these rows",
        )
    if known.kind == "classifier":
        yield from _flaws_of_classes(name, target, words)
    if known.kind == "regressor":
        yield from _flaws_of_numbers(known, target, words)


def _flaws_of_classes(name: str, target: Target, words: str) -> Iterator[tuple[str, str, str, str]]:
    if target.kind == "continuous":
        yield (
            "y:continuous",
            f"{words} holds continuous values{target.example}",
            f"Unknown label type: {name} needs classes, not continuous values",
            "use a regressor, or convert the values to classes",
        )
    if target.kind == "continuous-multioutput":
        yield (
            "y:two_continuous",
            f"{words} has several columns of continuous values",
            f"Unknown label type: {name} needs classes, not continuous values",
            "use a regressor, or one column of classes",
        )
    if target.classes is not None and len(target.classes) == 1 and target.n_samples:
        yield (
            "y:one_class",
            f"all of {words} is {next(iter(target.classes))!r}",
            f"{name} needs samples of at least 2 classes",
            "find the step that left one class",
        )


def _flaws_of_numbers(known: KnownClass, target: Target, words: str) -> Iterator[tuple[str, str, str, str]]:
    if target.text is not None:
        yield (
            "y:text",
            f"{words} holds the string {target.text!r}",
            f"could not convert string to float: {known.name} needs numeric targets",
            "use a classifier",
        )
    takes_one = {"y:two_columns", "y:two_continuous"} <= known.raises.keys()
    if takes_one and (target.n_columns or 0) > 1 and target.has_numbers:
        yield (
            "y:two_columns",
            f"{words} has {target.n_columns} columns",
            f"y should be a 1d array: {known.name} takes one target",
            "pass one column",
        )


def ask(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue) -> None:
    """Raise where asking the estimator about X certainly fails: not fitted, flawed data, other features."""
    refuse_unfitted(operation, estimator, known, method)
    refuse_probabilities(operation, estimator, known, method)
    if _hands_on(estimator, known):
        return
    _refuse_names(operation, estimator, known, method, x)
    refuse_x(operation, estimator, known, method, x)
    _refuse_count(operation, estimator, known, method, x)


def refuse_unfitted(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str) -> None:
    exception = _unfitted(operation, estimator, known, method)
    if is_fitted(estimator) is False and exception is not None and not _is_ready(estimator, known):
        operation.crash(
            exception,
            f"This {known.name} instance is not fitted yet",
            fact=f"{estimator.named('it')} has not been fitted",
            remedy="call fit first, or use the object that was fitted",
        )


_OFFERED_BY: Final[Mapping[str, tuple[str, tuple[object, ...]]]] = {
    "SVC": ("probability", (True,)),
    "NuSVC": ("probability", (True,)),
    "SGDClassifier": ("loss", ("log_loss", "modified_huber")),
    "LocalOutlierFactor": ("novelty", (True,)),
}
"""Classes of which a parameter decides whether they have a method, and the values with which they do."""


def refuse_probabilities(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str) -> None:
    """Support vectors give probabilities where they were told to before fitting."""
    is_asked = method in ("predict_proba", "predict_log_proba") and known.name in ("SVC", "NuSVC")
    if is_asked and not gives_probabilities(estimator, known):
        operation.crash(
            "AttributeError",
            f"{known.name} has predict_proba only with probability=True",
            fact=f"{estimator.named('it')} was created without it",
            remedy="use decision_function, or create it with probability=True",
        )


def gives_probabilities(estimator: AbstractValue, known: KnownClass) -> bool:
    """Whether a classifier may have predict_proba: False only where it certainly has not."""
    if known.kind == "classifier" and "predict_proba" not in known.public:
        return False
    if known.name not in ("SVC", "NuSVC"):
        return True
    return value_of(estimator, "probability") not in (False, "deprecated")


def _unfitted(operation: Operation, estimator: AbstractValue, known: KnownClass, method: str) -> str | None:
    """The exception of a method before fitting; other ones than NotFittedError are those of the table's version."""
    exception = known.unfitted.get(method)
    if exception in (None, "NotFittedError"):
        return exception
    if known.name in _OFFERED_BY:
        name, values = _OFFERED_BY[known.name]
        value = value_of(estimator, name)
        if value is NOT_KNOWN:
            return None
        return "NotFittedError" if value in values else exception
    return exception if is_of_table(operation) else None


def _is_ready(estimator: AbstractValue, known: KnownClass) -> bool:
    """Whether parameters may make fitting needless: a given vocabulary, parts that were fitted before."""
    ready = [
        name
        for name in ("vocabulary", "prefit", "cv", "estimator", "estimators", "dictionary")
        if name in known.parameters
    ]
    return any(value_of(estimator, name) != known.parameters[name] for name in ready)


def _refuse_names(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> None:
    fitted, given = names_fitted(estimator), data.names_of(x)
    if fitted is None or given is None or fitted == given or not is_since(operation, 1, 2):
        return  # versions 1.0 and 1.1 only warned
    if (exception := known.raises.get(f"{method}:other_names")) is None:
        return
    unseen = [name for name in given if name not in fitted]
    missing = [name for name in fitted if name not in given]
    parts = [f"unseen at fit time: {_some(unseen)}"] * bool(unseen) + [f"missing now: {_some(missing)}"] * bool(missing)
    words = x.named("X")
    operation.crash(
        exception,
        "The feature names should match those that were passed during fit",
        fact="; ".join(parts) or f"{words} has the columns in a different order, {_some(given)}",
        remedy="pass the columns in the order of fit (feature_names_in_), or encode both in the same way",
    )


def _some(names: Iterable[str]) -> str:
    return enumerated([name[:60] for name in names], 8)


def _refuse_count(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> None:
    fitted, given = features_fitted(estimator), data.n_features(x)
    if fitted is None or given is None or fitted == given:
        return
    flaw = f"{method}:fewer" if given < fitted else f"{method}:more"
    if flaw in known.raises:
        operation.crash(
            known.raises[flaw],
            f"X has {given} features, but {known.name} is expecting {fitted} features as input",
            fact=f"{x.named('X')} has {given} columns, {estimator.named('the estimator')} expects {fitted}",
            remedy="pass the same features as in fit",
        )
