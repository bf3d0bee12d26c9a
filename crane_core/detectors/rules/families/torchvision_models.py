"""Models of torchvision: what reaches their head, and what the head makes of it.

Knows the classes whose `forward` pools the features, flattens them and passes them to one head, as torchvision.models
states them. Of the features themselves only the first convolution is tried.
"""

from math import prod
from typing import Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import (
    inside,
    stated_layers,
)
from crane_core.detectors.rules.families.torch_tensors import is_tensor, tensor
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("torchvision models")


class Anatomy(NamedTuple):
    """Names of parts: the head, what makes the features, the pooling layer ("": the model pools to one place)."""

    head: str
    features: str
    pool: str = ""


_CLASSES: Final = {
    "ResNet": Anatomy("fc", "layer4", "avgpool"),
    # These three classes pool in forward(), and have no layer for it.
    "ShuffleNetV2": Anatomy("fc", "conv5"),
    **dict.fromkeys(
        ["DenseNet", "MobileNetV2"], Anatomy("classifier", "features")
    ),
    **dict.fromkeys(
        ["MobileNetV3", "EfficientNet", "VGG", "AlexNet"],
        Anatomy("classifier", "features", "avgpool"),
    ),
}


@RULES.method("torchvision.*", "__call__", "forward")
def called(operation: Operation) -> Answer:
    """The output of the head; raises Crash where first convolution or head refuse their input."""
    model, bound = operation.receiver, operation.arguments.bound("x")
    anatomy = _CLASSES.get(model.class_name)
    own = model.fact("containers", {}).get("", {})
    if (
        anatomy is None
        or bound is None
        or model.fact("hooked")
        or own.get("hooked")
    ):
        return UNKNOWN
    x = bound["x"]
    shape = x.shape if is_tensor(x) else None
    if shape is None or len(shape) != 4:
        return UNCHANGED
    if (convolution := _first(model)) is not None:
        # For its refusal only: what the layers between make is not followed.
        operation.call(convolution, [x], {})
    head, width = inside(model, anatomy.head), _width(model, anatomy)
    if head is None or width is None:
        return UNCHANGED
    words = f"the input of {anatomy.head} of {model.named('the model')}"
    return operation.call(
        head,
        [tensor((shape[0], width), x.fact("dtype"), x.fact("device"), words)],
        {},
    )


def _first(model: AbstractValue) -> AbstractValue | None:
    """The first layer, where it is the convolution that the state tells."""
    facts = {name: model.fact(name) for name in ("dtype", "device", "training")}
    for path, held in stated_layers(model)[:1]:
        # res.conv1 = nn.Conv2d(1, 64, 7): a replaced first layer is unknown, and nothing is tried.
        if (
            path == next(iter(model.mapping("layers")))
            and held.get("type") == "Conv2d"
        ):
            facts |= {
                name: fact for name, fact in held.items() if name != "type"
            }
            return AbstractValue(
                "torch.nn.Conv2d", facts, words=f"{model.words}.{path}"
            )
    return None


def _width(model: AbstractValue, anatomy: Anatomy) -> int | None:
    """The numbers per image that come to the head: the channels of the last features, at so many places."""
    layers = [
        held
        for path, held in stated_layers(model)
        if path.startswith(f"{anatomy.features}.")
    ]
    # The features of DenseNet end in a BatchNorm, which has num_features instead.
    widths = [
        held.get("out_channels", held.get("num_features")) for held in layers
    ]
    width = next((each for each in reversed(widths) if type(each) is int), None)
    pool = inside(model, anatomy.pool) if anatomy.pool else None
    if not anatomy.pool or width is None:
        return width
    places = (
        pool.fact("output_size")
        # With res.avgpool = nn.Identity() the width depends on the size of the image.
        if pool is not None and pool.is_a("torch", "AdaptiveAvgPool2d")
        else None
    )
    sizes = [places] * 2 if type(places) is int else list(places or [])
    return (
        width * prod(sizes)
        if len(sizes) == 2 and all(type(size) is int for size in sizes)
        else None
    )
