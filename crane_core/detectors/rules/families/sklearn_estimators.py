"""Estimators as abstract values: parameters, whether they are fitted and to what, and their parts.

Knows exact classes of scikit-learn. Parameters that were given stand in `attributes`; what fitting left behind is
in the facts that a state uses: is_fitted, fitted_attributes, feature_names_in_, classes_, categories_.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

from crane_core.detectors.rules.abstract_value import AbstractValue, literal
from crane_core.detectors.rules.families.sklearn_classes import known_class
from crane_core.detectors.rules.families.sklearn_data import (
    n_features,
    names_of,
)
from crane_core.detectors.rules.operation import Operation

_MOST_CLASSES = 50
"""A state lists no more."""
_MOST_TOLD = 8
"""A state may have cut rows of so many columns."""
_LEARNT_FACTS = (
    *(
        "fitted_attributes",
        "feature_names_in_",
        "classes_",
        "categories_",
        "learnt",
        "n_classes",
    ),
    "fit_on",
)


def new_estimator(
    path: str, given: Mapping[str, AbstractValue]
) -> AbstractValue:
    """An estimator that was made with these parameters."""
    facts = {
        "class_name": path.rpartition(".")[2],
        "is_fitted": False,
        "parameters_set": {},
        "n_parameters_set": 0,
    }
    return AbstractValue(path, facts, attributes=given)


def parameter(estimator: AbstractValue, name: str) -> AbstractValue:
    """The value of a parameter; AbstractValue() where it is not known."""
    if name in estimator.attributes:
        return estimator.attributes[name]
    given, known = estimator.mapping("parameters_set"), known_class(estimator)
    if name in given:
        value = given[name]
        return (
            literal(value)
            # A state cuts long strings, and one that is cut is another value.
            if isinstance(value, (int, float, NoneType)) or _is_whole(value)
            else AbstractValue()
        )
    if (
        known is None
        or name not in known.parameters
        or not are_parameters_told(estimator)
    ):
        return AbstractValue()
    default = known.parameters[name]
    # A parameter that is an object is in the state by its facts, and has no literal.
    is_object = name in estimator.mapping("parameters") or isinstance(
        default, Mapping
    )
    return AbstractValue() if is_object else literal(default)


def value_of(estimator: AbstractValue, name: str) -> Any:
    """The value of a parameter where it is a plain one, else NOT_KNOWN."""
    return parameter(estimator, name).literal


def _is_whole(value: Any) -> bool:
    return isinstance(value, str) and len(value) < 100 and "\u2026" not in value


def are_plain(values: Iterable[Any]) -> bool:
    """Whether each is a number, or a string that no limit has cut."""
    return all(
        isinstance(value, (int, float)) or _is_whole(value) for value in values
    )


def are_parameters_told(value: AbstractValue, n_others: int = 0) -> bool:
    """Whether parameters that are not stated have their defaults, but for so many that are known otherwise."""
    n_told = len(value.fact("parameters_set") or ()) + len(
        value.fact("parameters") or ()
    )
    return bool(
        n_told <= value.fact("n_parameters_set", -1) <= n_told + n_others
    )


def is_fitted(value: AbstractValue) -> bool | None:
    """Whether it has been fitted; None if that is not known."""
    known = value.fact("is_fitted")
    return known if isinstance(known, bool) else None


def features_fitted(value: AbstractValue) -> int | None:
    """How many features it was fitted with."""
    found = value.mapping("fitted_attributes").get("n_features_in_")
    return (
        found if isinstance(found, int) and is_fitted(value) is True else None
    )


def names_fitted(value: AbstractValue) -> tuple[str, ...] | None:
    """The names of the features it was fitted with; None if there were none, or they are not known."""
    known = value.fact("feature_names_in_")
    if is_fitted(value) is not True or not isinstance(known, (list, tuple)):
        return None
    # A state lists the first names of many.
    is_whole = features_fitted(value) == len(known) and all(
        map(_is_whole, known)
    )
    return tuple(known) if is_whole else None


def classes_fitted(value: AbstractValue) -> list[Any] | None:
    """All classes that it learnt, in order; None if they are not all known."""
    known = value.fact("classes_")
    if (
        is_fitted(value) is not True
        or not isinstance(known, list)
        # Of more classes a state lists the first, which look like all.
        or len(known) >= _MOST_CLASSES
    ):
        return None
    return known if are_plain(known) else None


def fit_to(value: AbstractValue, x: AbstractValue, fit_on: Any = None) -> None:
    """Note that the estimator has been fitted to X; `fit_on` are the data as scikit-learn receives them."""
    for name in _LEARNT_FACTS:
        value.facts.pop(name, None)
    # Parameters survive a second fit; what fitting learnt ends in an underscore.
    value.attributes = {
        name: given
        for name, given in value.attributes.items()
        if not name.endswith("_")
    }
    value.facts["is_fitted"] = True
    known = known_class(value)
    # Vectorizers of texts count no features.
    if known is not None and "n_features_in_" in known.learnt:
        value.facts["fitted_attributes"] = {
            "n_features_in_": n_features(x),
            "n_outputs_": None,
        }
        if (names := names_of(x)) is not None:
            value.facts["feature_names_in_"] = list(names)
    if fit_on is not None:
        value.facts["fit_on"] = fit_on


def unfitted_copy(estimator: AbstractValue) -> AbstractValue:
    """The result of `clone`: the same plain parameters, others of which nothing is known, nothing learnt."""
    facts = {
        name: fact
        for name, fact in estimator.facts.items()
        if name not in (*_LEARNT_FACTS, "steps")
    }
    given = {
        name: each
        for name, each in estimator.attributes.items()
        if not name.endswith("_")
    }
    # clone copies objects, too: what the notebook does to the original does not reach the copy.
    given = {
        name: each if each.is_literal else AbstractValue()
        for name, each in given.items()
    }
    return AbstractValue(
        estimator.type,
        facts | {"is_fitted": False},
        attributes=given,
        words=estimator.words,
    )


# Made of others


def pairs(
    parts: Iterable[tuple[str, AbstractValue]], words: str = ""
) -> AbstractValue:
    """The list of pairs that a pipeline is made of."""
    held = [
        AbstractValue("tuple", items=[literal(name), part])
        for name, part in parts
    ]
    return AbstractValue("list", items=held, words=words)


def steps(pipeline: AbstractValue) -> list[tuple[str, AbstractValue]] | None:
    """Names and estimators of a pipeline in order; None if they are not all known. One value each, for good."""
    held = pipeline.attributes.get("steps")
    if held is None:
        held = _steps_told(pipeline)
        if held is not None:
            pipeline.attributes["steps"] = held
    if held is None or held.items is None:
        return None
    parts = [item.items or [] for item in held.items]
    are_named = all(
        len(part) >= 2 and isinstance(part[0].literal, str) for part in parts
    )
    return (
        [(str(part[0].literal), part[1]) for part in parts]
        if are_named
        else None
    )


def columns_of_parts(
    columns: AbstractValue,
) -> list[tuple[str, AbstractValue, Any]] | None:
    """Name, estimator and columns of each part of a column transformer that a state tells; None if one is not whole."""
    order, chosen, parts = (
        columns.fact("step_order"),
        columns.mapping("columns_of_steps"),
        columns.mapping("steps"),
    )
    if not isinstance(order, list) or "transformers" in columns.attributes:
        return None
    found = [
        (name, _part(parts.get(name), f"{name!r}"), chosen.get(name))
        for name in order
        # The remainder takes what columns are left, so it can lack none.
        if name != "remainder"
    ]
    is_whole = [
        isinstance(given, str)
        or isinstance(given, list)
        and 0 < len(given) < _MOST_TOLD
        for *_, given in found
    ]
    return found if all(is_whole) else None


def _steps_told(pipeline: AbstractValue) -> AbstractValue | None:
    """Of a state: the order of the steps, and the facts of each."""
    order, known = pipeline.fact("step_order"), pipeline.fact("steps")
    if (
        not isinstance(order, list)
        or not isinstance(known, Mapping)
        # The facts of steps are found by name: of two with one name, one is lost.
        or len(set(order)) != len(order)
    ):
        return None
    return pairs(
        [(name, _part(known.get(name), f"step {name!r}")) for name in order]
    )


def _part(facts: Any, words: str) -> AbstractValue:
    if not isinstance(facts, Mapping) or not isinstance(facts.get("type"), str):
        return AbstractValue()
    rest = {name: fact for name, fact in facts.items() if name != "type"}
    # "passthrough" and "drop" may take the place of an estimator.
    if facts["type"] in ("str", "NoneType"):
        return literal(rest.get("value"))
    return AbstractValue(facts["type"], rest, words=words)


def forget_namesakes(
    operation: Operation, parts: Sequence[AbstractValue]
) -> None:
    """Variables that may be the very objects which a step has just changed inside another: their state is forgotten."""
    names, mine = {part.type for part in parts}, {id(part) for part in parts}
    for value in operation.variables():
        if (
            value.type in names
            and id(value) not in mine
            and value is not operation.receiver
        ):
            value.forget()
