"""Estimators as Things: parameters, whether they are fitted and to what, the parts of those that are made of others.

Knows exact classes of scikit-learn. Parameters that were given stand in `attributes`; what fitting left behind stands
in the facts that a state uses: is_fitted, fitted_attributes, feature_names_in_, classes_, categories_.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crane_core.detectors.rules.families.sklearn_classes import KnownClass, known_class
from crane_core.detectors.rules.families.sklearn_data import n_features, n_samples, names_of
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing, literal

_MOST_CLASSES = 50
"""A state lists no more."""
_LEARNT_FACTS = (
    *("fitted_attributes", "feature_names_in_", "classes_", "categories_", "learnt", "n_classes"),
    *("n_samples_fit", "n_targets_fit"),
)
DATA_DEPENDS_ON = (
    "metric",
    "kernel",
    "affinity",
    "missing_values",
    "strategy",
    "validate",
    "categorical_features",
    "estimator",
    "base_estimator",
    "initial_strategy",
    "handle_unknown",
    "encode",
    "criterion",
    "splitter",
    "accept_sparse",
    "n_features_to_select",
)
"""Parameters that may change which data an estimator accepts."""
_USUAL = {
    "metric": ("minkowski", "euclidean", "manhattan", "cosine", "l1", "l2"),
    "kernel": ("rbf", "linear", "poly", "sigmoid"),
    "affinity": ("rbf", "nearest_neighbors"),
    "criterion": ("gini", "entropy", "log_loss", "squared_error", "friedman_mse"),
    "splitter": ("best",),
}
"""Settings with which it accepts what it accepts by default."""


def parameter(thing: Thing, name: str) -> Thing:
    """The value of a parameter; Thing() where it is not known."""
    if name in thing.attributes:
        return thing.attributes[name]
    told = thing.fact("parameters_set")
    if isinstance(told, Mapping) and name in told:
        value = told[name]
        return literal(value) if value is None or isinstance(value, (bool, int, float)) or _is_whole(value) else Thing()
    known = known_class(thing)
    if known is None or name not in known.parameters or not are_parameters_told(thing):
        return Thing()
    if isinstance(objects := thing.fact("parameters"), Mapping) and name in objects:
        return Thing()
    default = known.parameters[name]
    return Thing() if isinstance(default, Mapping) else literal(default)


def _is_whole(value: Any) -> bool:
    return isinstance(value, str) and len(value) < 100 and "\u2026" not in value


def are_parameters_told(thing: Thing) -> bool:
    """Whether parameters that are not told have their defaults."""
    n_told = len(thing.fact("parameters_set") or ()) + len(thing.fact("parameters") or ())
    return bool(thing.fact("n_parameters_set", -1) == n_told)


def value_of(thing: Thing, name: str) -> Any:
    """The value of a parameter where it is a plain one, else NOT_KNOWN."""
    return parameter(thing, name).literal


def accepts_as_by_default(thing: Thing, known: KnownClass) -> bool:
    """Whether no parameter is set that may change which data are accepted."""
    return all(_is_usual(thing, known, name) for name in DATA_DEPENDS_ON if name in known.parameters)


def _is_usual(thing: Thing, known: KnownClass, name: str) -> bool:
    value, default = value_of(thing, name), known.parameters[name]
    if value is NOT_KNOWN:
        is_told = name not in thing.attributes and are_parameters_told(thing)
        return isinstance(default, Mapping) and bool(is_told)
    return bool(value == default or value in _USUAL.get(name, ()))


def is_fitted(thing: Thing) -> bool | None:
    """Whether it has been fitted; None if that is not known."""
    told = thing.fact("is_fitted")
    return told if isinstance(told, bool) else None


def features_fitted(thing: Thing) -> int | None:
    """How many features it was fitted with."""
    told = thing.fact("fitted_attributes")
    found = told.get("n_features_in_") if isinstance(told, Mapping) else None
    return found if isinstance(found, int) and is_fitted(thing) is True else None


def names_fitted(thing: Thing) -> tuple[str, ...] | None:
    """The names of the features it was fitted with; None if there were none, or they are not known."""
    told = thing.fact("feature_names_in_")
    if is_fitted(thing) is not True or not isinstance(told, (list, tuple)):
        return None
    names = tuple(told)
    is_whole = features_fitted(thing) == len(names) and all(_is_whole(name) for name in names)
    return names if is_whole else None


def classes_fitted(thing: Thing) -> list[Any] | None:
    """All classes that it learnt, in order; None if they are not all known."""
    told = thing.fact("classes_")
    if is_fitted(thing) is not True or not isinstance(told, list) or len(told) >= _MOST_CLASSES:
        return None
    return told if all(isinstance(each, (int, float)) or _is_whole(each) for each in told) else None


def fit_to(thing: Thing, x: Thing) -> None:
    """Note that the estimator has been fitted to X."""
    _forget_learnt(thing)
    thing.facts["is_fitted"] = True
    known = known_class(thing)
    if known is not None and "n_features_in_" in known.learnt:
        thing.facts["fitted_attributes"] = {"n_features_in_": n_features(x), "n_outputs_": None}
        if (names := names_of(x)) is not None:
            thing.facts["feature_names_in_"] = list(names)
    thing.facts["n_samples_fit"] = n_samples(x)


def _forget_learnt(thing: Thing) -> None:
    for name in _LEARNT_FACTS:
        thing.facts.pop(name, None)
    for name in [name for name in thing.attributes if name.endswith("_")]:
        del thing.attributes[name]


def unfitted_copy(thing: Thing) -> Thing:
    """What `clone` gives: the same parameters, copies of the estimators among them, nothing learnt."""
    copy = Thing(thing.type, words=thing.words)
    copy.facts = {name: fact for name, fact in thing.facts.items() if name not in (*_LEARNT_FACTS, "steps")}
    copy.facts["is_fitted"] = False
    known = known_class(thing)
    named = known.parameters if known is not None else {}
    copy.attributes = {name: _copied(value) for name, value in thing.attributes.items() if name in named}
    if known is not None and known.name == "Pipeline" and (held := steps(thing)) is not None:
        pairs = [Thing("tuple", items=[literal(name), _copied(part)]) for name, part in held]
        copy.attributes["steps"] = Thing("list", items=pairs)
    return copy


def _copied(thing: Thing) -> Thing:
    if known_class(thing) is not None:
        return unfitted_copy(thing)
    if thing.items is not None:
        return Thing(thing.type, items=[_copied(item) for item in thing.items])
    return thing if thing.is_literal else Thing()


# Made of others


def steps(pipeline: Thing) -> list[tuple[str, Thing]] | None:
    """Names and estimators of a pipeline in order; None if they are not all known. One Thing each, for good."""
    held = pipeline.attributes.get("steps")
    if held is None:
        held = _steps_told(pipeline)
        if held is not None:
            pipeline.attributes["steps"] = held
    return None if held is None else list(_pairs(held)) if _are_pairs(held) else None


def voters(voting: Thing) -> list[Thing]:
    """The fitted parts of a vote as a state tells them, else those it was made with; those that are known."""
    learnt = voting.fact("learnt")
    told = learnt.get("estimators_") if isinstance(learnt, Mapping) else None
    parts = told.get("items") if isinstance(told, Mapping) else None
    if isinstance(parts, Mapping):
        return [_part(facts, "an estimator of the vote") for facts in parts.values()]
    held = voting.attributes.get("estimators")
    return [part for _, part in _pairs(held)] if held is not None and _are_pairs(held) else []


def _are_pairs(held: Thing) -> bool:
    return held.items is not None and all(
        item.items is not None and len(item.items) >= 2 and isinstance(item.items[0].literal, str)
        for item in held.items
    )


def _pairs(held: Thing) -> Iterator[tuple[str, Thing]]:
    for item in held.items or ():
        if item.items is not None:
            yield str(item.items[0].literal), item.items[1]


def _steps_told(pipeline: Thing) -> Thing | None:
    """Of a state: the order of the steps, and the facts of each."""
    order, told = pipeline.fact("step_order"), pipeline.fact("steps")
    if not isinstance(order, list) or not isinstance(told, Mapping) or len(set(order)) != len(order):
        return None
    pairs = [Thing("tuple", items=[literal(name), _part(told.get(name), f"step {name!r}")]) for name in order]
    return Thing("list", items=pairs)


def _part(facts: Any, words: str) -> Thing:
    if not isinstance(facts, Mapping) or not isinstance(facts.get("type"), str):
        return Thing()
    rest = {name: fact for name, fact in facts.items() if name != "type"}
    if facts["type"] in ("str", "NoneType"):
        return literal(rest.get("value"))
    return Thing(facts["type"], rest, words=words)


def forget_namesakes(site: Site, parts: Sequence[Thing]) -> None:
    """Variables that may be the very objects which a step has just changed inside another: their state is forgotten."""
    names = {part.type for part in parts}
    mine = {id(part) for part in parts}
    for thing in site.variables():
        if thing.type in names and id(thing) not in mine and thing is not site.receiver:
            thing.forget()
