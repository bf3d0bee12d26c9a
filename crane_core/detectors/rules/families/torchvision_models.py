"""Models of torchvision: what reaches their head, and what the head makes of it.

Knows the classes whose `forward` pools the features, flattens them and gives them to one head, as torchvision.models
states them. Of the features themselves only the first convolution is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import inside
from crane_core.detectors.rules.families.torch_tensors import is_tensor, tensor
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("torchvision models")


class Anatomy(NamedTuple):
    """Names of parts: the head, what gives the features, the pooling layer ("": the model pools to one place)."""

    head: str
    features: str
    pool: str = ""


_CLASSES: Final = {
    "ResNet": Anatomy("fc", "layer4", "avgpool"),
    "DenseNet": Anatomy("classifier", "features"),
    "MobileNetV2": Anatomy("classifier", "features"),
    "MobileNetV3": Anatomy("classifier", "features", "avgpool"),
    "EfficientNet": Anatomy("classifier", "features", "avgpool"),
    "ShuffleNetV2": Anatomy("fc", "conv5"),
    "VGG": Anatomy("classifier", "features", "avgpool"),
    "AlexNet": Anatomy("classifier", "features", "avgpool"),
}


@RULES.method("torchvision.*", "__call__", "forward")
def called(operation: Operation) -> Answer:
    model, bound = operation.receiver, operation.arguments.bound("x")
    anatomy = _CLASSES.get(model.class_name)
    if anatomy is None or bound is None or _is_hooked(model):
        return UNKNOWN
    x = bound["x"]
    shape = x.shape if is_tensor(x) else None
    if shape is None or len(shape) != 4:
        return UNCHANGED
    first = next((name for name, _ in _layers(model)), "")
    if (convolution := _unchanged(model, first)) is not None:
        operation.call(convolution, [x], {})
    head, width = inside(model, anatomy.head), _width(model, anatomy)
    if head is None or width is None:
        return UNCHANGED
    words = f"the input of {anatomy.head} of {model.named('the model')}"
    return operation.call(head, [tensor((shape[0], width), x.fact("dtype"), x.fact("device"), words)], {})


def _is_hooked(model: AbstractValue) -> bool:
    own = model.fact("containers", {}).get("", {})
    return bool(model.fact("hooked") or own.get("hooked"))


def _layers(model: AbstractValue, within: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The layers inside a part, by their paths, as the state tells them."""
    told_of = model.mapping("layers").items()
    yield from ((path, held) for path, held in told_of if isinstance(held, dict) and path.startswith(within))


def _unchanged(model: AbstractValue, path: str) -> AbstractValue | None:
    """The first convolution: the one that the state tells, or another in its place; None if it is not known."""
    head, *rest = path.split(".")
    found = model.attributes.get(head) if rest else inside(model, head)
    if rest and found is None:
        held = dict(model.mapping("layers")[path])
        shared = {name: model.fact(name) for name in ("dtype", "device", "training")}
        found = AbstractValue(f"torch.nn.{held.pop('type', '')}", {**held, **shared}, words=f"{model.words}.{path}")
    return found if found is not None and found.is_a("torch", "Conv2d") else None


def _width(model: AbstractValue, anatomy: Anatomy) -> int | None:
    """The numbers per image that come to the head: the channels of the last features, at so many places."""
    if anatomy.features in model.attributes:
        return None  # it may be another one
    layers = [held for _, held in _layers(model, f"{anatomy.features}.")]
    widths = [held.get("out_channels", held.get("num_features")) for held in layers]
    width = next((each for each in reversed(widths) if type(each) is int), None)
    pool = inside(model, anatomy.pool) if anatomy.pool else None
    if not anatomy.pool or width is None:
        return width
    places = pool.fact("output_size") if pool is not None and pool.is_a("torch", "AdaptiveAvgPool2d") else None
    sizes = [places] * 2 if type(places) is int else list(places or [])
    return width * prod(sizes) if len(sizes) == 2 and all(type(size) is int for size in sizes) else None


@RULES.attribute("torchvision.*", "fc", "classifier")
def no_such_head(operation: Operation) -> Answer:
    """The head of a model by another model's name for it."""
    model = operation.receiver
    anatomy, parts = _CLASSES.get(model.class_name), model.fact("containers", {}).get("", {}).get("parts", [])
    if anatomy is None or anatomy.head not in parts or operation.name in (*parts, *model.attributes):
        return UNKNOWN
    operation.crash(
        "AttributeError",
        f"'{model.class_name}' object has no attribute '{operation.name}'",
        fact=f"{model.named('the model')} is a {model.class_name}, whose head is {anatomy.head}",
        remedy=f"use .{anatomy.head}",
    )
