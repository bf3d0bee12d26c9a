"""Making estimators, and reading their attributes: parameters, and what only fitting adds."""

from typing import Final

from crane_core.detectors.rules import abstract_value
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families import (
    sklearn_classes,
    sklearn_estimators,
)
from crane_core.detectors.rules.families.sklearn_limits import refuse_parameters
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("scikit-learn: making estimators")
_INSTEAD: Final = {
    "feature_importances_": "use coef_ of a linear model, or sklearn.inspection.permutation_importance",
    "coef_": "use feature_importances_ of trees, or sklearn.inspection.permutation_importance",
    "predict_proba": "use predict, or a classifier with predict_proba",
}
"""What people ask classes for that do not have it."""


@RULES.function("sklearn.*")
def called(operation: Operation) -> Answer:
    """A class makes an estimator of its arguments; a function refuses plain values of its parameters."""
    known, given = (
        sklearn_classes.classes().get(operation.function_name),
        operation.arguments,
    )
    if known is None or known.path != operation.receiver.path:
        if given.is_complete:
            # Functions check at the call; an estimator only when it is fitted,
            # so `Ridge(alpha="three")` runs.
            refuse_parameters(
                operation, operation.receiver.path, "call", given.keywords
            )
        return UNKNOWN
    # How many may be positional differs by release, so that is left to scikit-learn.
    if not given.is_complete or len(given.positional) > known.n_positional:
        return UNCHANGED
    return sklearn_estimators.new_estimator(
        known.path,
        {
            **dict(zip(known.parameters, given.positional, strict=False)),
            **given.keywords,
        },
    )


@RULES.function("sklearn.pipeline.make_pipeline")
def pipeline_made(operation: Operation) -> Answer:
    """A pipeline whose steps are called as their classes, with numbers where one comes twice."""
    parts = list(operation.arguments.positional)
    # "passthrough" is its own name.
    names = [
        part.literal
        if isinstance(part.literal, str)
        else ""
        if part.type == "str"
        else part.class_name.lower()
        for part in parts
    ]
    if not operation.arguments.is_complete or not all(names) or not parts:
        return UNCHANGED
    # As _name_estimators of scikit-learn does: "pca-1" and "pca-2" where a class comes twice.
    numbered = [
        f"{name}-{names[: at + 1].count(name)}"
        if names.count(name) > 1
        else name
        for at, name in enumerate(names)
    ]
    held = {
        "steps": sklearn_estimators.pairs(zip(numbered, parts, strict=True)),
        **operation.arguments.keywords,
    }
    return sklearn_estimators.new_estimator("sklearn.pipeline.Pipeline", held)


@RULES.function("sklearn.base.clone")
def cloned(operation: Operation) -> Answer:
    """An unfitted copy."""
    return (
        # A subclass may define __sklearn_clone__.
        sklearn_estimators.unfitted_copy(operation.first)
        if sklearn_classes.known_class(operation.first) is not None
        else UNKNOWN
    )


@RULES.method("sklearn.*", "set_params")
def set_parameters(operation: Operation) -> Answer:
    """New parameters."""
    estimator, known, given = (
        operation.receiver,
        sklearn_classes.known_class(operation.receiver),
        operation.arguments,
    )
    if (
        known is None
        or not given.is_complete
        # Names with two underscores go to a part: set_params(svc__C=1).
        or not given.keywords.keys() <= known.parameters.keys()
    ):
        return UNKNOWN
    estimator.attributes.update(given.keywords)
    return estimator


@RULES.attribute("sklearn.*")
def attribute(operation: Operation) -> Answer:
    """A parameter; what fitting learns, of an estimator that is not fitted."""
    estimator, name, known = (
        operation.receiver,
        operation.name,
        sklearn_classes.known_class(operation.receiver),
    )
    if known is None or name in estimator.attributes:
        return UNKNOWN
    # `Ridge.coef_ = 3` and `bare.__dict__.update(...)` give what only fitting gives otherwise.
    is_given = operation.may_give_attribute(name)
    if (
        not is_given
        and sklearn_estimators.is_fitted(estimator) is False
        and name in known.learnt - known.readable_unfitted
    ):
        operation.crash(
            # feature_importances_ of trees and forests is a property that
            # raises NotFittedError.
            known.unfitted_attributes.get(name, "AttributeError"),
            f"{name} exists only after fitting",
            fact=f"{estimator.named('it')}, of class {known.name}, has not been fitted",
            remedy="call fit first, or use the object that was fitted",
        )
    if not is_given and _lacks(estimator, known, name):
        operation.crash(
            "AttributeError",
            f"{known.name} has no {name}",
            fact=f"{estimator.named('it')} is of class {known.name}",
            remedy=_INSTEAD[name],
        )
    if (
        name == "feature_importances_"
        and (n_features := sklearn_estimators.features_fitted(estimator))
        is not None
    ):
        return abstract_value.AbstractValue(
            "numpy.ndarray", {"shape": (n_features,), "dtype": "float64"}
        )
    if (
        name in known.parameters
        and (value := sklearn_estimators.parameter(estimator, name)).literal
        is not abstract_value.NOT_KNOWN
    ):
        return abstract_value.literal(value.literal)
    return UNKNOWN


def _lacks(
    estimator: abstract_value.AbstractValue,
    known: sklearn_classes.KnownClass,
    name: str,
) -> bool:
    """Whether it has none of those that people ask for, whatever it was fitted to.

    Support vectors have probabilities on request.
    """
    # "deprecated" is the default since scikit-learn 1.9, and means False.
    if name == "predict_proba" and known.name in ("SVC", "NuSVC"):
        return sklearn_estimators.value_of(estimator, "probability") in (
            False,
            "deprecated",
        )
    return (
        name in _INSTEAD
        # Classes that need arguments have no learnt names in the table: they may have any.
        and bool(known.learnt)
        and bool(known.kind)
        and name not in known.learnt | known.public
    )
