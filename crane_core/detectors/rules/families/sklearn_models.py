"""Methods of estimators: fit, predict, transform and what goes with them, one after the other as a notebook calls them.

Pipelines pass data on step by step, searches fit copies; what they pass is judged as if the part were called itself.
"""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import sklearn_data as data
from crane_core.detectors.rules.families.sklearn_classes import KnownClass, is_since, known_class, parameter_error
from crane_core.detectors.rules.families.sklearn_columns import fit_columns, transform_columns
from crane_core.detectors.rules.families.sklearn_encoders import fit_encoder, transform_encoder
from crane_core.detectors.rules.families.sklearn_estimators import (
    fit_to,
    forget_namesakes,
    is_fitted,
    not_fitted,
    steps,
    value_of,
    voters,
)
from crane_core.detectors.rules.families.sklearn_fitting import (
    ask,
    fit,
    gives_probabilities,
    refuse_lengths,
    refuse_unfitted,
)
from crane_core.detectors.rules.families.sklearn_limits import refuse_neighbors, refuse_settings
from crane_core.detectors.rules.families.sklearn_results import as_many_rows, predicted, transformed
from crane_core.detectors.rules.families.sklearn_searches import fit_copy, refuse_search
from crane_core.detectors.rules.families.sklearn_selection import refuse_shares
from crane_core.detectors.rules.families.sklearn_targets import target_of
from crane_core.detectors.rules.families.sklearn_texts import TEXTS, fit_texts
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.heap import reachable
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: fit, predict and score")
SEARCHES: Final = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
_ENCODERS: Final = ("LabelEncoder", "LabelBinarizer", "OneHotEncoder", "OrdinalEncoder")
_FITS_ITS_PARTS: Final = ("FeatureUnion", "FrozenEstimator")
_RUNS_OTHERS: Final = ("FunctionTransformer",)
_ASKS: Final = (
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples", "apply"),
    *("kneighbors",),
)
_NOTHING: Final = AbstractValue("NoneType", literal=None)


@RULES.method("sklearn.*", "fit", "partial_fit")
def fitting(operation: Operation) -> Answer:
    """fit gives the estimator itself, fitted."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X=None, y=None, sample_weight=None, **others")
    if known is None or not given or not (given.keys() & {"X", "y"}):
        return UNKNOWN
    _fit_to(operation, known, given)
    return estimator if known.name not in _RUNS_OTHERS and not _runs_notebook(estimator) else UNKNOWN


def _fit_to(operation: Operation, known: KnownClass, given: dict[str, AbstractValue]) -> AbstractValue:
    """Fits the receiver to X and y, or to y alone; the data that it learns from."""
    x = given.get("X", given.get("y", _NOTHING))
    _forget_namesakes(operation, operation.receiver)
    fit_any(operation, operation.receiver, known, x, given.get("y") if "X" in given else None)
    return x


def _runs_notebook(estimator: AbstractValue) -> bool:
    """Whether a function of the notebook is among the parameters, a scorer or tokenizer: it may change anything."""
    return any(given.definition is not None for given in estimator.attributes.values())


def _forget_namesakes(operation: Operation, estimator: AbstractValue) -> None:
    """Steps of a pipeline of which a state tells are fitted with it, under whatever other name they are known."""
    if "steps" in estimator.facts and (parts := steps(estimator)) is not None:
        forget_namesakes(operation, [part for _, part in parts])


def fit_any(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue, y: AbstractValue | None
) -> None:
    """Fit an estimator of any class, one that is made of others as well."""
    if known.name == "Pipeline":
        _fit_pipeline(operation, estimator, x, y)
    elif known.name == "ColumnTransformer":
        fit_columns(operation, estimator, x, y, fit_transform_any)
    elif known.name in _FITS_ITS_PARTS:
        for part in list(reachable(estimator.attributes.values())):
            part.forget()
        fit_to(estimator, x)
    elif known.name in SEARCHES:
        refuse_search(operation, estimator, x, y, fit_any)
        fit_to(estimator, x)
    elif known.name in TEXTS:
        fit_texts(operation, estimator, known, x)
    elif known.name in _ENCODERS:
        fit_encoder(operation, estimator, known, x)
    else:
        refuse_settings(operation, estimator, known, x, y)
        fit(operation, estimator, known, x, y)


def _fit_pipeline(operation: Operation, pipeline: AbstractValue, x: AbstractValue, y: AbstractValue | None) -> None:
    parts = steps(pipeline)
    if parts is None:
        pipeline.forget()
        return
    for at, (_, part) in enumerate(parts):
        known = known_class(part)
        if part.is_literal and part.literal in (None, "passthrough"):
            continue
        if known is None:
            x = AbstractValue()
            part.forget()
        elif at == len(parts) - 1:
            fit_any(operation, part, known, x, y)
        else:
            _refuse_step(operation, known)
            x = fit_transform_any(operation, part, known, x, y)
    pipeline.facts["is_fitted"] = True


def _refuse_step(operation: Operation, known: KnownClass) -> None:
    if known.public and "transform" not in known.public and "fit_transform" not in known.public:
        operation.crash(
            "TypeError",
            "All intermediate steps of a pipeline should be transformers",
            fact=f"{known.name} is not the last step and has no transform",
            remedy="make it the last step, or remove it",
        )


def fit_transform_any(
    operation: Operation, estimator: AbstractValue, known: KnownClass, x: AbstractValue, y: AbstractValue | None
) -> AbstractValue:
    fit_any(operation, estimator, known, x, y)
    return ask_any(operation, estimator, known, "transform", x)


@RULES.method("sklearn.*", "fit_transform", "fit_predict", "fit_resample")
def fitting_at_once(operation: Operation) -> Answer:
    """fit, and what transform or predict give of the same data."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X=None, y=None, **others")
    if known is None or not given or not (given.keys() & {"X", "y"}):
        return UNKNOWN
    if operation.name not in known.public and known.name not in ("Pipeline", *SEARCHES):
        _refuse_method(operation, estimator, known)
        return UNKNOWN
    x = _fit_to(operation, known, given)
    if known.name in _RUNS_OTHERS or value_of(estimator, "copy") is False or _runs_notebook(estimator):
        return UNKNOWN
    method = "transform" if operation.name == "fit_transform" else "predict"
    return ask_any(operation, estimator, known, method, x)


def _refuse_method(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    """`fit_transform` of what does not transform."""
    if (
        known.kind in ("classifier", "regressor")
        and operation.name == "fit_transform"
        and "transform" not in known.public
    ):
        operation.crash(
            "AttributeError",
            f"{known.name} has no {operation.name}",
            fact=f"{estimator.named('it')} is a {known.kind}",
            remedy="call fit, then predict",
        )


@RULES.method("sklearn.*", *_ASKS)
def asking(operation: Operation) -> Answer:
    """predict, transform and others with data."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X=None, **others")
    if known is None or given is None:
        return UNKNOWN
    x = given.get("X")
    if x is None:
        x = next((given[name] for name in ("raw_documents", "y", "T") if name in given), AbstractValue())
    return ask_any(operation, estimator, known, operation.name, x)


def ask_any(
    operation: Operation, estimator: AbstractValue, known: KnownClass, method: str, x: AbstractValue
) -> AbstractValue:
    if known.name == "Pipeline":
        return _ask_pipeline(operation, estimator, method, x)
    if known.name == "ColumnTransformer":
        return transform_columns(operation, estimator, known, x)
    if known.name in _ENCODERS and method == "transform":
        return transform_encoder(operation, estimator, known, x)
    if known.name in TEXTS:
        refuse_unfitted(operation, estimator, known, method)
        return as_many_rows(operation, x)
    if known.name in SEARCHES:
        _refuse_unfitted_search(operation, estimator, known)
        return AbstractValue()
    ask(operation, estimator, known, method, x)
    _refuse_soft_votes(operation, estimator, method)
    if method in ("predict", "predict_proba"):
        refuse_neighbors(operation, estimator, known, value_of(estimator, "n_neighbors"))
    if method == "transform":
        return transformed(operation, estimator, known, x) if known.name not in _RUNS_OTHERS else AbstractValue()
    return predicted(operation, estimator, known, method, x)


def _refuse_soft_votes(operation: Operation, voting: AbstractValue, method: str) -> None:
    """A soft vote asks every part for probabilities, found missing only when it is asked."""
    if method not in ("predict", "predict_proba") or value_of(voting, "voting") != "soft":
        return
    for part in voters(voting):
        known = known_class(part)
        if known is not None and not gives_probabilities(part, known):
            operation.crash(
                "AttributeError",
                f"{known.name} has no predict_proba, which voting='soft' needs",
                fact=f"{voting.named('it')} was created with voting='soft'",
                remedy="use voting='hard', or classifiers with predict_proba (SVC with probability=True)",
            )


def _refuse_unfitted_search(operation: Operation, estimator: AbstractValue, known: KnownClass) -> None:
    names = ("predict", "predict_proba", "score", "transform", "decision_function")
    if is_fitted(estimator) is False and operation.name in names:
        inner = known_class(estimator.attributes.get("estimator"))
        if inner is None or operation.name in inner.public:
            not_fitted(operation, estimator, known.name)


def _ask_pipeline(operation: Operation, pipeline: AbstractValue, method: str, x: AbstractValue) -> AbstractValue:
    parts = steps(pipeline)
    if parts is None:
        return AbstractValue()
    _refuse_unfitted_pipeline(operation, pipeline, parts, method)
    for at, (_, part) in enumerate(parts):
        known = known_class(part)
        if _is_passed(part):
            continue
        if known is None:
            return AbstractValue()
        if at == len(parts) - 1:
            return ask_any(operation, part, known, method, x)
        x = ask_any(operation, part, known, "transform", x)
    return AbstractValue() if method != "transform" else x


def _is_passed(part: AbstractValue) -> bool:
    return part.is_literal and part.literal in (None, "passthrough")


def _refuse_unfitted_pipeline(
    operation: Operation, pipeline: AbstractValue, parts: list[tuple[str, AbstractValue]], method: str
) -> None:
    """None of the steps that are asked is fitted."""
    asked = [(part, known_class(part)) for _, part in parts if not _is_passed(part)]
    needing = [known for part, known in asked if known is not None and is_fitted(part) is False and known.unfitted]
    if not asked or len(needing) < len(asked):
        return
    first = needing[0]
    if first.unfitted.get("transform" if len(asked) > 1 else method):
        operation.crash(
            "NotFittedError",
            "This Pipeline instance is not fitted yet",
            fact=f"no step of {pipeline.named('it')} has been fitted",
            remedy="call fit first; cross_val_score and searches fit only copies",
        )


@RULES.method("sklearn.*", "score")
def scoring(operation: Operation) -> Answer:
    """score(X, y): predict, and compare."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    given = operation.arguments.bound("X, y=None, **others")
    if known is None or given is None:
        return UNKNOWN
    x, y = given["X"], given.get("y")
    if known.name in ("Pipeline", "ColumnTransformer", *SEARCHES, *TEXTS, *_ENCODERS):
        ask_any(operation, estimator, known, "predict" if known.name == "Pipeline" else "score", x)
        return AbstractValue("float") if known.name == "Pipeline" else UNCHANGED
    ask(operation, estimator, known, "score", x)
    if y is not None and known.kind in ("classifier", "regressor"):
        _refuse_score(operation, known, x, y)
    return UNCHANGED


def _refuse_score(operation: Operation, known: KnownClass, x: AbstractValue, y: AbstractValue) -> None:
    refuse_lengths(operation, x, y, known.raises.get("score:short"))
    target = target_of(y)
    if known.kind == "classifier" and target.kind == "continuous" and "y:continuous" in known.raises:
        operation.crash(
            "ValueError",
            "Classification metrics can't handle continuous targets",
            fact=f"{y.named('y')} holds continuous values{target.example}",
            remedy="use a regressor, or convert the values to classes",
        )


@RULES.method("sklearn.*", "inverse_transform", "get_feature_names_out", "get_support", "sample", "decision_path")
def learnt_answers(operation: Operation) -> Answer:
    """Other methods that need what fitting learns."""
    estimator, known = operation.receiver, known_class(operation.receiver)
    if known is None:
        return UNKNOWN
    # Its inverse_transform looks at the data, and may refuse those, before it misses what it has not learnt.
    if known.name != "TruncatedSVD":
        refuse_unfitted(operation, estimator, known, operation.name)
    return UNCHANGED


@RULES.method("sklearn.*", "get_feature_names")
def old_names(operation: Operation) -> Answer:
    """Taken away in version 1.2."""
    known = known_class(operation.receiver)
    if known is None or "get_feature_names" in known.public or "sklearn" not in operation.packages:
        return UNKNOWN
    if "get_feature_names_out" in known.public and is_since(operation, 1, 2):
        operation.crash(
            "AttributeError",
            f"{known.name} has no get_feature_names since version 1.2",
            fact=f"scikit-learn here is {operation.packages['sklearn']}",
            remedy="use get_feature_names_out",
        )
    return UNCHANGED


@RULES.method("sklearn.*", "get_params", "get_feature_names_out", "set_output", "staged_predict", "get_n_splits")
def other_methods(operation: Operation) -> Answer:
    """They change nothing that is kept here."""
    if known_class(operation.receiver) is None:
        return UNKNOWN
    return operation.receiver if operation.name == "set_output" else UNCHANGED


@RULES.function("sklearn.pipeline.make_pipeline")
def pipeline_made(operation: Operation) -> Answer:
    """A pipeline whose steps are called as their classes, with numbers where one comes twice."""
    parts = list(operation.arguments.positional)
    if not operation.arguments.is_complete or not parts:
        return UNCHANGED
    names = [part.class_name.lower() for part in parts]
    if not all(names) or len(set(names)) < len(names):
        names = [f"step {at}" if not name or names.count(name) > 1 else name for at, name in enumerate(names)]
    held = AbstractValue(
        "list",
        items=[AbstractValue("tuple", items=[literal(name), part]) for name, part in zip(names, parts, strict=True)],
    )
    facts = {"class_name": "Pipeline", "is_fitted": False, "parameters_set": {}, "n_parameters_set": 0}
    return AbstractValue("sklearn.pipeline.Pipeline", facts, attributes={"steps": held})


@RULES.function(
    "sklearn.model_selection.cross_val_score",
    "sklearn.model_selection.cross_validate",
    "sklearn.model_selection.cross_val_predict",
)
def cross_validated(operation: Operation) -> Answer:
    """Copies are fitted to parts of the data; the estimator itself stays as it is."""
    given = operation.arguments.bound("estimator, X, y=None, **others")
    if given is None:
        return UNCHANGED
    estimator, x, y = given["estimator"], given["X"], given.get("y")
    _refuse_folds(operation, given, x, y)
    known = known_class(estimator)
    n_rows = data.n_samples(x)
    if known is not None and known.name not in SEARCHES and n_rows and not _are_folds_odd(given):
        fit_copy(operation, estimator, known, x, y, fit_any)
    return UNCHANGED if all(value.definition is None for value in given.values()) else UNKNOWN


def _are_folds_odd(given: dict[str, AbstractValue]) -> bool:
    """Whether folds may hold fewer rows than half, or be of another kind."""
    folds = given.get("cv", literal(None))
    return not folds.is_literal or folds.literal is not None and (type(folds.literal) is not int or folds.literal < 2)


def _refuse_folds(
    operation: Operation, given: dict[str, AbstractValue], x: AbstractValue, y: AbstractValue | None
) -> None:
    n_x = data.n_samples(x)
    if y is not None:
        refuse_lengths(operation, x, y)
        refuse_shares(operation, given.get("cv", AbstractValue()), y)
    folds = given.get("cv", literal(5)).literal
    n_folds = folds if type(folds) is int else 5 if folds is None else None
    if n_folds is not None and n_folds < 2:
        operation.crash(
            parameter_error(operation),
            "k-fold cross-validation requires at least one train/test split: n_splits=2 or more",
            fact=f"cv is {folds}",
            remedy="set cv to 2 or more",
        )
    if n_folds is not None and n_x is not None and 0 < n_x < n_folds:
        operation.crash(
            "ValueError",
            f"Cannot have number of splits n_splits={n_folds} greater than the number of samples",
            fact=f"{x.named('X')} has {n_x} samples",
            remedy=f"set cv to {n_x} or less",
        )
