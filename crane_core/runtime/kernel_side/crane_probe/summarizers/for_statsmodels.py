"""statsmodels: a model and its results: what they are a model of, the columns that it has and those it predicts from.

Knows the attributes in which models keep their data and results keep their model. Refuses to ask for a summary, or for
anything that is computed on access.
"""

from __future__ import annotations

from typing import Any

from ..anatomy import name_of, own_dict, package_of, type_name
from ..bounds import Facts, merged
from .pandas.storage import frame_of, labels_of, series_name

_ARRAY = "numpy.ndarray"


def results(value: Any, look: Any) -> Facts:
    """Of fitted results, whether they are wrapped or not: the facts of their model, which is fitted."""
    # fit() returns a wrapper that passes attributes on to the results.
    inner = own_dict(value).get("_results", value)
    told = _model(own_dict(inner).get("model"), look)
    return (
        {"plus": merged(told, {"values": {"is_fitted": True}})}
        if told
        else {"plus": {}}
    )


def model(value: Any, look: Any) -> Facts:
    """Of a model: its formula, the name of its target, the columns of its table, how many rows it has."""
    return {"plus": _model(value, look)}


def _model(value: Any, look: Any) -> Facts:
    # Results may hold a model of the notebook's own class.
    if package_of(type(value)) != "statsmodels":
        return {}
    held = own_dict(value)
    data = own_dict(held.get("data"))
    table, target = (
        # A model keeps the frame that it was given; `exog` is an array without names.
        data.get("orig_exog", held.get("exog")),
        data.get("orig_endog", held.get("endog")),
    )
    shape = _shape(held.get("exog"))
    names = _columns(table)
    facts: Facts = {
        "structure": {
            "n_rows": _length(held.get("endog")),
            "n_columns": shape[1] if len(shape) == 2 else None,
        },
        "representation": {
            "model": name_of(type(value)),
            "formula": look.text(data["formula"])
            if type(data.get("formula")) is str
            else None,
            "target": _target(target, look),
            "columns": None
            if names is None
            else [look.scalar(name) for name in names[: look.limits.names]],
        },
    }
    return {
        group: {key: fact for key, fact in found.items() if fact is not None}
        for group, found in facts.items()
    }


def _shape(array: Any) -> tuple[int, ...]:
    return (
        tuple(int(length) for length in array.shape)
        if type_name(type(array)) == _ARRAY
        else ()
    )


def _length(array: Any) -> int | None:
    shape = _shape(array)
    return shape[0] if shape else None


def _is_frame(value: Any) -> bool:
    return (
        package_of(type(value)) == "pandas"
        and name_of(type(value)) == "DataFrame"
    )


def _columns(table: Any) -> list[Any] | None:
    """The labels of the table that the model was given, the constant among them."""
    return (
        list(labels_of(frame_of(table).columns)) if _is_frame(table) else None
    )


def _target(target: Any, look: Any) -> Any:
    if _is_frame(target):
        names = labels_of(frame_of(target).columns)
        # Several targets have no one name.
        return look.scalar(names[0]) if len(names) == 1 else None
    is_series = (
        package_of(type(target)) == "pandas"
        and name_of(type(target)) == "Series"
    )
    name = series_name(target) if is_series else None
    return None if name is None else look.scalar(name)


SUMMARIZERS = {
    "statsmodels.base.wrapper.ResultsWrapper": results,
    "statsmodels.base.model.Results": results,
    "statsmodels.base.model.Model": model,
}
