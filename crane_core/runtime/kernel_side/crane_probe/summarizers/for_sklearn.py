"""scikit-learn: whether an estimator is fitted and to what, its parameters; pipelines and transformers step by step.

Knows what estimators keep in themselves. Refuses to call one: properties and `get_params` are code.
"""

from __future__ import annotations

import types
from typing import Any, Iterator

from ..anatomy import (
    MISSING,
    instance_dict,
    is_kind,
    module_of,
    name_of,
    overriders,
    owner_of,
    package_of,
    static_attribute,
    stored_on,
    type_name,
)
from ..bounds import Facts, listed, merged, stated
from ..chains.following import Resolution, exists, lacking, similar
from ..contents import dicts
from ..kinds import CONTAINERS, PLAIN, ROWS
from ..syntax.asked import ATTRIBUTE, ITEM, ChainStep, Steps
from ..syntax.literals import is_plain
from . import for_builtins

# predict or transform works before fit: "not fitted" would be a wrong reason.
_NEEDS_NO_FIT = (
    "FunctionTransformer",
    "Normalizer",
    "HashingVectorizer",
    "FeatureHasher",
    "AdditiveChi2Sampler",
)
_LISTED = (
    "feature_names_in_",
    "classes_",
    "categories_",
    "best_params_",
    "n_features_in_",
    "n_outputs_",
    "n_classes_",
)
_PARTS = (
    "steps",
    "transformers_",
    "transformers",
    "transformer_list",
    "estimators",
)
_BEHIND = {("lightgbm", "n_features_in_"): "_n_features_in"}
"""Where another library keeps the value of its property of this name."""
_SHOWN_ATTRIBUTES = 12
_SHOWN_CLASSES = 50
# SVC has predict_proba only with probability=True, known before it is fitted.
_BY_SETTING = {
    "predict_proba": "probability",
    "predict_log_proba": "probability",
}
_NOT_PASSED_ON = ("set_output",)
"""Methods that exist under their own condition, whatever the inner estimator has."""
_DELEGATES = ("best_estimator_", "estimator", "_final_estimator")


def estimator(value: Any, look: Any) -> Facts:
    """The published extractor's facts; feature names, classes, parameters and what it has learnt besides."""
    held = instance_dict(value)
    fitted = is_fitted(value)
    summary = {
        "representation": {"module": module_of(type(value))},
        "values": {
            "class_name": name_of(type(value)),
            # The facts of the published extractor under its names: prompts of the paper have them.
            "is_fitted": fitted,
            "fitted_attributes": {
                name: _plain(_number(value, name), look)
                for name in ("n_features_in_", "n_outputs_")
            },
        },
    }
    plus = merged(_parameters(held, value, look), _learnt(held, look))
    return merged(
        merged(summary, _encoder(held, value, look)),
        {"plus": merged(plus, _parts(held, look))},
    )


def is_fitted(value: Any) -> Any:
    """True when the estimator keeps something learnt; of a pipeline, when its last step does; of a union, when all."""
    held = instance_dict(value)
    if name_of(type(value)) in _NEEDS_NO_FIT:
        return "needs no fit"
    # A pipeline itself keeps nothing that fit leaves.
    if type(held.get("steps")) is list:
        steps = _estimators_in(held, "steps")
        return is_fitted(steps[-1]) if steps else True
    if type(held.get("transformer_list")) is list:
        union = _estimators_in(held, "transformer_list")
        return all(bool(is_fitted(part)) for part in union)
    # XGBoost and LightGBM keep what they learn in a booster.
    if held.get("_Booster") is not None:
        return True
    # scikit-learn's own convention (check_is_fitted): what fit learns ends in an underscore.
    return any(
        name.endswith("_") and not name.startswith("__") for name in held
    )


def _estimators_in(held: dict[str, Any], under: str) -> list[Any]:
    """The parts that are neither a word ("passthrough", "drop") nor None."""
    parts = [part for _, part, _ in _named_parts(held, (under,))]
    return [
        part for part in parts if type(part) is not str and part is not None
    ]


def _number(value: Any, name: str, depth: int = 4) -> Any:
    """The attribute, where need be of the estimator that a pipeline, a search or an ensemble asks for it."""
    held = instance_dict(value)
    # n_features_in_ of a pipeline is a property that asks its first step.
    if name in held or package_of(type(value)) != "sklearn" or not depth:
        return held.get(
            name, held.get(_BEHIND.get((package_of(type(value)), name), ""))
        )
    asked = static_attribute(value, name)
    inner = (
        _asked_for_it(held)
        if asked is not None and type(asked.value) is property
        else None
    )
    return None if inner is None else _number(inner, name, depth - 1)


def _asked_for_it(held: dict[str, Any]) -> Any:
    for name in ("steps", "transformer_list", "estimators_"):
        parts = held.get(name)
        if type(parts) is list and parts:
            # Steps are pairs, estimators of an ensemble are not.
            return parts[0][1] if type(parts[0]) is tuple else parts[0]
    return next(
        (
            held[name]
            for name in ("best_estimator_", "regressor_", "estimator_")
            if name in held
        ),
        None,
    )


def _plain(value: Any, look: Any) -> Any:
    return None if value is None else look.scalar(value)


def _encoder(held: dict[str, Any], value: Any, look: Any) -> Facts:
    """Of a LabelEncoder: how many classes, and their dtype."""
    classes: Any = held.get("classes_")
    if name_of(type(value)) != "LabelEncoder" or not _is_array(classes):
        return {}
    return {
        "values": {"n_classes": int(classes.shape[0])},
        "representation": {"classes_dtype": str(classes.dtype)},
    }


def _is_array(value: Any) -> bool:
    return type_name(type(value)) == "numpy.ndarray"


def _parameters(held: dict[str, Any], value: Any, look: Any) -> Facts:
    """Parameters that differ from the defaults of the constructor; estimators among them are looked into."""
    # A long list of defaults says nothing: only what was set differs from the documentation.
    defaults = _defaults(type(value))
    changed = {
        name: held[name]
        for name, default in defaults.items()
        if name in held and not _is_default(held[name], default)
    }
    plain = {
        name: item
        for name, item in changed.items()
        if is_plain(item) or type(item) in CONTAINERS
    }
    # Steps are told one by one, in order.
    told = [name for name in plain if name not in ("steps", "transformers")]
    values = {name: _shown(plain[name], look) for name in told}
    objects = [(name, changed[name]) for name in changed if name not in plain]
    plus = look.inside_as("parameters", objects[: look.limits.items])
    return merged(
        plus,
        {
            "values": {
                "parameters_set": values,
                "n_parameters_set": len(changed),
            }
        },
    )


def _defaults(kind: type) -> dict[str, Any]:
    """The parameters of the constructor with their defaults, MISSING if there is none; no signature is read."""
    # inspect.signature would read __signature__, which may be code.
    made = stored_on(kind, "__init__")
    if type(made) is not types.FunctionType:
        return {}
    code = made.__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    by_position = dict(
        zip(
            code.co_varnames[: code.co_argcount][::-1],
            (made.__defaults__ or ())[::-1],
        )
    )
    known = dict(by_position, **(made.__kwdefaults__ or {}))
    return {name: known.get(name, MISSING) for name in names}


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    # Compared only if plain: == of arrays or estimators is code, or gives an array.
    return (
        type(value) is type(default)
        and type(value) in PLAIN
        and value == default
    )


def _shown(value: Any, look: Any, depth: int = 2) -> Any:
    if type(value) in ROWS and depth:
        return [
            _shown(item, look, depth - 1) for item in value[: look.limits.items]
        ]
    if type(value) is dict and depth:
        first = list(value.items())[: look.limits.items]
        return {
            look.label(key): _shown(item, look, depth - 1)
            for key, item in first
        }
    return look.scalar(value)


def _learnt(held: dict[str, Any], look: Any) -> Facts:
    """What fitting left behind: names of features and classes in full, arrays by shape."""
    others = [
        name
        for name in held
        # Names with a leading underscore are scikit-learn's own.
        if name.endswith("_")
        and not name.startswith("_")
        and name not in _LISTED
    ]
    asked = [name for name in look.asked().attributes if name in others]
    told = list(dict.fromkeys([*asked, *others]))[:_SHOWN_ATTRIBUTES]
    parts = [name for name in told if name not in ("steps_", "transformers_")]
    inside = look.inside_as("learnt", ((name, held[name]) for name in parts))
    return merged(inside, {"values": _listed_in_full(held, look)})


def _listed_in_full(held: dict[str, Any], look: Any) -> Facts:
    values: Facts = {}
    most = {"feature_names_in_": look.limits.names, "classes_": _SHOWN_CLASSES}
    for name, n_shown in most.items():
        if _is_array(held.get(name)):
            values[name] = [
                look.scalar(item) for item in held[name].tolist()[:n_shown]
            ]
    if type(held.get("categories_")) is list:
        first = held["categories_"][: look.limits.names]
        values["categories_"] = [_categories(each, look) for each in first]
    if type(held.get("best_params_")) is dict:
        values["best_params_"] = _shown(held["best_params_"], look)
    return values


def _categories(values: Any, look: Any) -> Any:
    if not _is_array(values):
        return look.scalar(values)
    first = values.tolist()[: 2 * look.limits.values]
    return listed([look.scalar(item) for item in first], len(values))


# Made of others


def _parts(held: dict[str, Any], look: Any) -> Facts:
    """The steps of a pipeline, the transformers of a column transformer with their columns, in order."""
    parts = [(look.label(name), part) for name, part, _ in _named_parts(held)]
    columns = {
        look.label(name): _shown(given, look, 1)
        for name, _, given in _named_parts(held)
        if given is not MISSING
    }
    plus = look.inside_as("steps", parts)
    order = stated(step_order=[name for name, _ in parts])
    return merged(
        plus, {"values": {"columns_of_steps": columns}, "structure": order}
    )


def _named_parts(
    held: dict[str, Any], under: tuple[str, ...] = _PARTS
) -> Iterator[tuple[Any, Any, Any]]:
    """Name, estimator, and for column transformers the columns, as fitted where it is fitted."""
    # `transformers_` before `transformers`: the fitted ones have the columns that were found.
    for kept in under:
        parts = held.get(kept)
        is_pairs = type(parts) is list and all(
            type(part) is tuple and len(part) in (2, 3) for part in parts
        )
        if is_pairs and parts:
            has_columns = kept.startswith("transformers")
            for name, part, *columns in parts:
                yield (
                    name,
                    part,
                    columns[0] if columns and has_columns else MISSING,
                )
            return


def bunch(value: Any, look: Any) -> Facts:
    """A Bunch: as the dict that it is."""
    return dicts.mapping(value, look)


def follow(value: Any, steps: Steps) -> Resolution | None:
    """Entries of a Bunch as attributes; steps of a pipeline by name; methods that exist under a condition."""
    step = steps[0]
    if is_kind(value, dict):
        # A Bunch gives its keys as attributes.
        if step.kind == ATTRIBUTE and dict.__contains__(value, step.value):
            return Resolution(dict.__getitem__(value, step.value))
        return for_builtins.FOLLOW(value, steps)
    held = instance_dict(value)
    if type(held.get("steps")) is list:
        resolution = _resolve_in_pipeline(value, held, steps)
        if resolution is not None:
            return resolution
    return (
        _conditional(value, held, step)
        if step.kind == ATTRIBUTE
        else Resolution()
    )


def _resolve_in_pipeline(
    value: Any, held: dict[str, Any], steps: Steps
) -> Resolution | None:
    parts = {
        name: part for name, part, _ in _named_parts(held) if type(name) is str
    }
    step, after = steps[0], steps[1] if len(steps) > 1 else None
    if step.kind == ITEM:
        # pipeline["name"] and pipeline[0] are steps, by Pipeline.__getitem__.
        return _by_name(parts, step.value, 1)
    if (
        step.kind == ATTRIBUTE
        and step.value == "named_steps"
        and after is not None
    ):
        return _of_bunch(parts, after)
    return None


def _of_bunch(parts: dict[str, Any], after: ChainStep) -> Resolution:
    """The steps are keys of a dict and attributes too, beside those that every dict has."""
    if after.kind == ITEM:
        return _by_name(parts, after.value, 2)
    if after.kind != ATTRIBUTE or after.value in parts:
        return (
            Resolution(parts.get(after.value), n_steps=2)
            if after.kind == ATTRIBUTE
            else Resolution(n_steps=2)
        )
    # `named_steps.keys` is the method of dict, not a step.
    if hasattr(dict, after.value):
        return Resolution(n_steps=2)
    return lacking(
        "attributes",
        n_steps=2,
        type="Bunch",
        attribute=after.value,
        similar=similar(after.value, parts),
    )


def _by_name(parts: dict[str, Any], name: Any, n_steps: int) -> Resolution:
    if type(name) is not str:
        return Resolution(n_steps=n_steps)
    if name in parts:
        return Resolution(parts[name], n_steps=n_steps)
    return lacking(
        "keys",
        n_steps=n_steps,
        type="Pipeline",
        key=name,
        similar=similar(name, parts),
        keys=list(parts),
    )


def _conditional(
    value: Any, held: dict[str, Any], step: ChainStep
) -> Resolution | None:
    """A method that an estimator has only where a setting, or what it passes the call on to, allows it."""
    if not _is_conditional(value, step.value):
        return None
    setting = _BY_SETTING.get(step.value, "")
    if setting in held and held[setting] is False:
        return _without_method(value, step.value, f"{setting}=False")
    inner = _delegate(held)
    if (
        inner is None
        or step.value in _NOT_PASSED_ON
        or _may_have(inner, step.value)
    ):
        return None
    return _without_method(
        value, step.value, f"{name_of(type(inner))} has none"
    )


def _without_method(value: Any, name: str, why: str) -> Resolution:
    kind = type_name(type(value))
    return lacking("attributes", type=kind, attribute=name, why=why)


def _delegate(held: dict[str, Any]) -> Any:
    """The estimator to which methods are passed on."""
    steps = held.get("steps")
    if type(steps) is list and steps and type(steps[-1]) is tuple:
        # "passthrough" is a text in place of the last step.
        return steps[-1][-1] if type(steps[-1][-1]) is not str else None
    return next(
        (held[name] for name in _DELEGATES if held.get(name) is not None), None
    )


def _is_conditional(value: Any, name: str) -> bool:
    kept = stored_on(type(value), name)
    # The second is the class of releases before 1.0.
    return name_of(type(kept)) in (
        "_AvailableIfDescriptor",
        "_IffHasAttrDescriptor",
    )


def _may_have(value: Any, name: str) -> bool:
    """False only where an object certainly lacks the attribute: its own __getattr__ might have it."""
    is_stored = (
        name in instance_dict(value) or owner_of(type(value), name) is not None
    )
    return is_stored or exists(value, name) is not False


def has_attribute(value: Any, name: str) -> bool | None:
    """A Bunch answers with its entries; any other object of the package with what it stores."""
    # A Bunch of a subclass with its own __getattr__ may give anything.
    is_bunch = is_kind(value, dict) and all(
        package_of(kind) == "sklearn"
        for kind in overriders(value, "__getattr__")
    )
    return dict.__contains__(value, name) if is_bunch else None


FOLLOW = follow
HAS_ATTRIBUTE = has_attribute
SUMMARIZERS = {"BaseEstimator": estimator, "Bunch": bunch}
