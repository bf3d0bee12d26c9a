"""Optimizers, schedulers and losses of torch, by what they hold.

Knows `param_groups` and the plain attributes. Refuses to compare, call or step anything.
"""

from __future__ import annotations

from typing import Any

from ...anatomy import instance_dict, is_kind, type_name
from ...bounds import Facts
from ...kinds import ROWS
from .modules import part
from .tensors import is_uninitialized, shape_of, torch

_MOST_GROUPS = 5
_STEPPED = (
    "base_lrs",
    "last_epoch",
    "step_size",
    "gamma",
    "milestones",
    "T_max",
    "T_0",
    "eta_min",
    "total_steps",
)
_PLATEAU = (
    "mode",
    "factor",
    "patience",
    "threshold",
    "cooldown",
    "min_lrs",
    "num_bad_epochs",
    "best",
)
_LOSS = (
    "reduction",
    "ignore_index",
    "label_smoothing",
    "margin",
    "beta",
    "delta",
    "blank",
    "zero_infinity",
    "p",
)

_USUAL = {
    "ignore_index": -100,
    "label_smoothing": 0.0,
    "beta": 1.0,
    "delta": 1.0,
    "blank": 0,
    "p": 1,
}


def optimizer(value: Any, look: Any) -> Facts:
    """Learning rate and other options by group; how many parameters of how many numbers, how many with a gradient."""
    held = instance_dict(value)
    groups = [
        group
        for group in _list(held.get("param_groups"))
        if type(group) is dict
    ]
    parameters = [
        one
        for group in groups
        for one in _list(group.get("params"))
        if is_kind(one, torch().Tensor)
    ]
    options = [_options(group, look) for group in groups[:_MOST_GROUPS]]
    facts = {"n_groups": len(groups), "n_parameter_tensors": len(parameters)}
    return {
        "plus": {
            "structure": dict(facts, n_parameters=_numbers(parameters)),
            "values": options[0] if len(options) == 1 else {"groups": options},
        }
    }


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _options(group: Facts, look: Any) -> Facts:
    """All options of a group but its parameters; those that are off or left open say nothing."""
    stated = {
        name: option
        for name, option in group.items()
        if name != "params" and type(name) is str
    }
    return {
        name: look.scalar(option)
        for name, option in stated.items()
        if option is not None and option is not False
    }


def _numbers(parameters: list[Any]) -> int:
    with torch()._C.DisableTorchFunction():
        # Lazy parameters have no number of elements.
        return sum(
            torch().Tensor.numel(one)
            for one in parameters
            if not is_uninitialized(one)
        )


def scheduler(value: Any, look: Any) -> Facts:
    """Where a schedule is, and its numbers; the steps after which it refuses to go on."""
    held = instance_dict(value)
    facts = {
        name: _plain(held[name], look)
        # A scheduler may be made by a class of the notebook without super().__init__().
        for name in (*_STEPPED, *_PLATEAU, "_step_count")
        if name in held
    }
    if "_step_count" in facts:
        # Under a public name, as a reader would look for it.
        facts["step_count"] = facts.pop("_step_count")
    driven = held.get("optimizer")
    return {
        "plus": {
            "values": facts,
            "representation": {"optimizer": type_name(type(driven))}
            if driven
            else {},
        }
    }


def _plain(value: Any, look: Any) -> Any:
    if is_kind(value, dict):
        return {
            look.label(key): look.scalar(item)
            for key, item in list(dict.items(value))[: look.limits.values]
        }
    if type(value) in ROWS:
        return [look.scalar(item) for item in value[: look.limits.values]]
    return look.scalar(value)


def loss(value: Any, look: Any) -> Facts:
    """Reduction and the like; shape and dtype of the weights, which must fit the number of classes."""
    held = instance_dict(value)
    # Weights of a loss are buffers.
    weights = {
        name: one
        for name, one in part(held, "_buffers").items()
        if is_kind(one, torch().Tensor)
    }
    shapes, dtypes = {}, {}
    with torch()._C.DisableTorchFunction():
        for name, one in weights.items():
            shapes[f"{name}_shape"] = shape_of(one)
            dtypes[f"{name}_dtype"] = str(torch().Tensor.dtype.__get__(one))
    stated = {name: look.scalar(held[name]) for name in _LOSS if name in held}
    values = {
        name: fact for name, fact in stated.items() if _USUAL.get(name) != fact
    }
    plus = {"structure": shapes, "representation": dtypes, "values": values}
    return {"plus": plus}
