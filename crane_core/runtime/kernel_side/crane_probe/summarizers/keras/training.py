"""Losses, metrics, optimizers of Keras, and the history of a fit, as they were given.

Knows names, classes, functions and plain settings.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...anatomy import Names, is_kind, own_dict
from ...bounds import Facts
from ...brief import attributes_held, is_plain, plain
from ...kinds import REAL, ROWS
from ..tensorflow.tensors import plain_scalar
from .parts import built_of, is_of_keras, plain_dict, plain_list

_LEFT_OUT = (
    "name",
    "dtype",
    "built",
    "autocast",
    "supports_jit",
    "jit_compile",
    "_dtype",
)
_RATES = ("_learning_rate", "_lr", "learning_rate")
_FINAL = 20
_USUAL = {
    "reduction": "sum_over_batch_size",
    "label_smoothing": 0.0,
    "axis": -1,
    "ema_momentum": 0.99,
}
"""What is not worth a word."""


def named(value: Any, look: Any) -> Any:
    """A loss, metric or optimizer as it was given: a name, a class with its settings; lists and dicts of them."""
    if value is None or type(value) is str:
        return look.scalar(value)
    if type(value) is FunctionType:
        return value.__name__
    if is_kind(value, dict):
        return {
            look.label(key): named(part, look)
            for key, part in plain_dict(value).items()
        }
    if plain_list(value) or type(value) in ROWS:
        return [named(part, look) for part in plain_list(value)]
    return dict({"type": type(value).__qualname__}, **settings(value, look))


def settings(value: Any, look: Any) -> Facts:
    """The plain public settings that are not left open; what a wrapped function was given."""
    held = own_dict(value)
    # A loss given by name is a wrapper around a function with its arguments.
    held = {**held, **plain_dict(held.get("_fn_kwargs"))}
    public = {
        name: item
        for name, item in held.items()
        if type(name) is str and not name.startswith("_")
    }
    stated = {
        name: plain(item, look)
        for name, item in public.items()
        if name not in _LEFT_OUT and is_plain(item)
    }
    return {
        # False and None are what Keras has where nothing was set.
        name: fact
        for name, fact in stated.items()
        if fact not in (None, False) and _USUAL.get(name) != fact
    }


def loss(value: Any, look: Any) -> Facts:
    """A loss: its settings."""
    return {"plus": {"values": settings(value, look)}}


def metric(value: Any, look: Any) -> Facts:
    """A metric: its settings and its name."""
    name = own_dict(value).get("name", own_dict(value).get("_name"))
    return {
        "plus": {"values": dict(settings(value, look), name=look.scalar(name))}
    }


def optimizer(value: Any, look: Any) -> Facts:
    """Settings with the learning rate as it is; whether it has met a model's variables."""
    held = own_dict(value)
    return {
        "plus": {
            "values": dict(
                settings(value, look), **rate(held, look), **built_of(held)
            )
        }
    }


def rate(held: Names, look: Any) -> Facts:
    """The learning rate as a number, a schedule by class and settings."""
    found = next((held[name] for name in _RATES if name in held), None)
    # Keras 2 keeps hyperparameters in a dict of its optimizer.
    if found is None:
        found = plain_dict(held.get("_hyper")).get("learning_rate")
    if is_of_keras(found, "LearningRateSchedule"):
        return {
            "learning_rate": dict(
                {"type": type(found).__qualname__}, **settings(found, look)
            )
        }
    # A variable in Keras 3, which holds that of the backend.
    inner = own_dict(found).get("_value", found)
    number = plain_scalar(inner)
    # It is kept as float32; seven digits are what that holds.
    return (
        {"learning_rate": float(f"{number:.7g}")}
        if type(number) in REAL
        else {}
    )


def callback(value: Any, look: Any) -> Facts:
    """What a callback watches and how."""
    # Both are set by fit() and belong to the model.
    return {"plus": attributes_held(value, look, left_out=("params", "model"))}


def history(value: Any, look: Any) -> Facts:
    """Names of what was recorded, over how many epochs, the last of each."""
    held = own_dict(value)
    recorded = plain_dict(held.get("history"))
    lists = {
        name: item for name, item in recorded.items() if type(item) is list
    }
    last = {
        look.label(name): look.scalar(item[-1])
        for name, item in list(lists.items())[:_FINAL]
        if item
    }
    epochs = plain_list(held.get("epoch"))
    return {
        "plus": {
            "structure": {"n_epochs": len(epochs)},
            "values": {
                "metrics": [look.scalar(name) for name in recorded],
                "final_values": last,
            },
        }
    }
