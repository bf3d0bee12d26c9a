"""Models of torchvision: what reaches their head, and what the head makes of it.

Knows the classes whose `forward` pools the features, flattens them and gives them to one head, as torchvision.models
states them, and how many numbers each of them gives. Of the features themselves only the first convolution is asked.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_modules import inside
from crane_core.detectors.rules.families.torch_tensors import is_tensor, tensor
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation

RULES: Final = Family("torchvision models")


class Anatomy(NamedTuple):
    """Ways to parts of a class of models: the first convolution, the last layer with a width, that width's name.

    A way is names of parts; "-1" is the last part. `pool` is the name of the pooling layer, "" where the model pools
    to one place without one.
    """

    head: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    width: str
    pool: str


_CLASSES: Final = {
    "ResNet": Anatomy("fc", ("conv1",), ("layer4", "-1", "conv3|conv2"), "out_channels", "avgpool"),
    "DenseNet": Anatomy("classifier", ("features", "conv0"), ("features", "norm5"), "num_features", ""),
    "MobileNetV2": Anatomy("classifier", ("features", "0", "0"), ("features", "-1", "0"), "out_channels", ""),
    "MobileNetV3": Anatomy("classifier", ("features", "0", "0"), ("features", "-1", "0"), "out_channels", "avgpool"),
    "EfficientNet": Anatomy("classifier", ("features", "0", "0"), ("features", "-1", "0"), "out_channels", "avgpool"),
    "ShuffleNetV2": Anatomy("fc", ("conv1", "0"), ("conv5", "0"), "out_channels", ""),
}
_PLACES: Final = (1, [1, 1], (1, 1))
_MODULE: Final = {
    "ResNet": "torchvision.models.resnet",
    "DenseNet": "torchvision.models.densenet",
    "MobileNetV2": "torchvision.models.mobilenetv2",
    "EfficientNet": "torchvision.models.efficientnet",
    "VGG": "torchvision.models.vgg",
    "AlexNet": "torchvision.models.alexnet",
}
_WIDTHS: Final = {
    **dict.fromkeys(("resnet18", "resnet34"), ("ResNet", 512)),
    **dict.fromkeys(
        ("resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2"),
        ("ResNet", 2048),
    ),
    "densenet121": ("DenseNet", 1024),
    "densenet161": ("DenseNet", 2208),
    "densenet169": ("DenseNet", 1664),
    "densenet201": ("DenseNet", 1920),
    "mobilenet_v2": ("MobileNetV2", 1280),
    **dict.fromkeys(("efficientnet_b0", "efficientnet_b1"), ("EfficientNet", 1280)),
    "efficientnet_b2": ("EfficientNet", 1408),
    "efficientnet_b3": ("EfficientNet", 1536),
    **dict.fromkeys(("vgg11", "vgg13", "vgg16", "vgg19", "vgg16_bn", "vgg19_bn"), ("VGG", 25088)),
    "alexnet": ("AlexNet", 9216),
}
"""What torchvision.models makes by these names, and the numbers per image that come to its head."""
_HEADS: Final = {name: anatomy.head for name, anatomy in _CLASSES.items()} | dict.fromkeys(
    ("VGG", "AlexNet"), "classifier"
)


# Calling


@RULES.method("torchvision.*", "__call__", "forward")
def called(operation: Operation) -> Answer:
    model, bound = operation.receiver, operation.arguments.bound("x")
    if model.class_name not in _HEADS or bound is None or _is_hooked(model):
        return UNKNOWN
    x = bound["x"]
    shape = x.shape if is_tensor(x) else None
    if shape is None or len(shape) != 4:
        return UNCHANGED
    anatomy = _CLASSES.get(model.class_name)
    first = _part(model, anatomy.first) if anatomy is not None else None
    if first is not None and first.is_a("torch", "Conv2d") and not first.fact("hooked"):
        operation.call(first, [x], {})
    head, width = inside(model, _HEADS[model.class_name]), _width(model, anatomy)
    if head is None or width is None:
        return UNCHANGED
    words = f"the input of {_HEADS[model.class_name]} of {model.named('the model')}"
    return operation.call(head, [tensor((shape[0], width), x.fact("dtype"), x.fact("device"), words)], {})


def _is_hooked(model: AbstractValue) -> bool:
    own = model.fact("containers", {}).get("", {})
    return bool(model.fact("hooked") or own.get("hooked"))


def _width(model: AbstractValue, anatomy: Anatomy | None) -> int | None:
    """The numbers per image that come to the head."""
    made = model.fact("head_takes")
    if type(made) is int:
        is_as_made = not model.attributes.keys() - {_HEADS[model.class_name]}
        return made if is_as_made else None
    if anatomy is None:
        return None
    pool = inside(model, anatomy.pool) if anatomy.pool else None
    if anatomy.pool and (pool is None or not pool.is_a("torch", "AdaptiveAvgPool2d") or _places(pool) != 1):
        return None
    last = _part(model, anatomy.last)
    width = last.fact(anatomy.width) if last is not None and last.is_a("torch", "Conv2d", "BatchNorm2d") else None
    return width if type(width) is int else None


def _places(pool: AbstractValue) -> int | None:
    return 1 if pool.fact("output_size") in _PLACES else None


def _part(model: AbstractValue, way: tuple[str, ...]) -> AbstractValue | None:
    """The module inside by a way; None if it is not known."""
    found: AbstractValue | None = model
    for at, names in enumerate(way):
        if found is None:
            return None
        if names == "-1":
            known = found.fact("part_names")
            names = known[-1] if isinstance(known, list) and known else ""
        parts = [inside(found, name) if at == 0 else found.attributes.get(name) for name in names.split("|")]
        found = next((part for part in parts if part is not None), None)
    return found


# Making


def _maker(name: str) -> Rule:
    kind, width = _WIDTHS[name]

    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound("pretrained=False, *, weights=None, progress=True, num_classes=1000")
        if bound is None:
            return UNKNOWN
        known = bound["num_classes"].literal if "num_classes" in bound else 1000
        model = AbstractValue(
            f"{_MODULE[kind]}.{kind}", {"head_takes": width, "training": True, "device": "cpu"}, words=operation.text
        )
        if type(known) is int:
            model.attributes[_HEADS[kind]] = _head(kind, width, known)
        return model

    return made


def _linear(n_in: int, n_out: int) -> AbstractValue:
    facts = {"in_features": n_in, "out_features": n_out, "training": True, "dtype": "torch.float32", "device": "cpu"}
    return AbstractValue("torch.nn.Linear", facts)


def _other(kind: str) -> AbstractValue:
    return AbstractValue(f"torch.nn.{kind}", {"training": True})


def _head(kind: str, width: int, n_out: int) -> AbstractValue:
    """The head that torchvision gives a model."""
    middle = 4096
    parts = {
        "MobileNetV2": ("Dropout", (width, n_out)),
        "EfficientNet": ("Dropout", (width, n_out)),
        "VGG": ((width, middle), "ReLU", "Dropout", (middle, middle), "ReLU", "Dropout", (middle, n_out)),
        "AlexNet": ("Dropout", (width, middle), "ReLU", "Dropout", (middle, middle), "ReLU", (middle, n_out)),
    }.get(kind)
    if parts is None:
        return _linear(width, n_out)
    made = [_other(part) if isinstance(part, str) else _linear(*part) for part in parts]
    return AbstractValue("torch.nn.Sequential", {"training": True}, items=made)


for _name in _WIDTHS:
    RULES.function(f"torchvision.models.{_name}", f"{_MODULE[_WIDTHS[_name][0]]}.{_name}")(_maker(_name))


@RULES.attribute("torchvision.*", "fc", "classifier")
def no_such_head(operation: Operation) -> Answer:
    """The head of one that the target made, by another model's name for it."""
    model = operation.receiver
    head = _HEADS.get(model.class_name)
    if head in (None, operation.name) or "head_takes" not in model.facts or operation.name in model.attributes:
        return UNKNOWN
    operation.crash(
        "AttributeError",
        f"{model.class_name} has no attribute {operation.name}",
        fact=f"{model.named('the model')} is a {model.class_name}, whose head is {head}",
        remedy=f"use .{head}",
    )
