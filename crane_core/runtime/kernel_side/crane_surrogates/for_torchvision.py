"""Transforms of torchvision, made again from their settings, and its models without their weights."""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable, Mapping

import torch
import torchvision

from ..crane_probe.limits import LookLimits  # noqa: TID252 - the worker finds both packages under another name
from .asked import of_torchvision
from .asked.places import words
from .made import NotMadeError, seen

_TRANSFORMS = "torchvision.transforms.transforms"
_KNOWN = words(of_torchvision.TRANSFORMS)
_CHANCES = (0.0, 1.0, 0.5)


class _Models:
    """The functions that make models. Nothing is loaded: only how many classes a model knows counts."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # No weights: loading them needs the network.
        make: Callable[..., Any] = getattr(torchvision.models, name)

        def made(*_given: Any, num_classes: int = 1000, **_named: Any) -> Any:
            # Without memory: how many classes a model has says nothing about its elements.
            with torch.device("meta"):
                return make(num_classes=num_classes)

        return made


PACKAGE = types.SimpleNamespace(
    transforms=torchvision.transforms, models=_Models()
)


def named(name: str) -> Any:
    """None for the name of weights, which are not loaded; raises NotMadeError for others."""
    if "_Weights" not in name:
        raise NotMadeError(name)


def make(facts: Mapping[str, Any], fill: int) -> Any:
    """A transform with these facts: of a row of them its `steps`, else its settings."""
    if not facts["type"].startswith(_TRANSFORMS):
        raise NotMadeError(facts["type"])
    if "steps" in facts:
        return torchvision.transforms.Compose(
            [_step(step, fill) for step in facts["steps"]]
        )
    return _step({**facts, "type": facts["type"].rpartition(".")[2]}, fill)


def _step(facts: Mapping[str, Any], fill: int) -> Any:
    name = facts["type"]
    if name not in _KNOWN:
        raise NotMadeError(name)
    # By the signature of this release: settings that it has not got are left out.
    kind = getattr(torchvision.transforms, name)
    transform = kind(
        **{
            key: facts[key]
            for key in inspect.signature(kind.__init__).parameters
            if key in facts
        }
    )
    # A transform that is certain (p=0 or p=1) stays so.
    if 0 < getattr(transform, "p", 0) < 1:
        transform.p = _CHANCES[
            fill
        ]  # what is done at times is done with one fill, and not with another
    return transform


def read(value: Any) -> dict[str, Any]:
    """A transform by its settings, a model as the probe tells it; empty for others."""
    if isinstance(value, torchvision.transforms.Compose):
        return {"type": f"{_TRANSFORMS}.Compose", "steps": seen(value)["steps"]}
    name = type(value).__name__
    if name in _KNOWN and type(value).__module__ == _TRANSFORMS:
        [settings] = seen(torchvision.transforms.Compose([value]))["steps"]
        return {**settings, "type": f"{_TRANSFORMS}.{name}"}
    if isinstance(value, torch.nn.Module) and type(value).__module__.startswith(
        "torchvision.models."
    ):
        return {**seen(value, LookLimits()), "device": "cpu"}
    return {}
