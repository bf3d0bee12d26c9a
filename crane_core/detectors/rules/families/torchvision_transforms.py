"""Transforms of torchvision: what a composed row of them does to an image, and which image it refuses.

Knows the classic transforms by name and the facts of images: mode, size, shape and dtype of tensors. Refuses lambdas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.torch_tensors import is_tensor, tensor
from crane_core.detectors.rules.family import Family, Rule
from crane_core.detectors.rules.operation import Operation
from crane_core.detectors.rules.shapes import Length

RULES = Family("torchvision transforms")

_BANDS: Final = {"RGB": 3, "L": 1, "RGBA": 4, "1": 1, "P": 1, "CMYK": 4, "LA": 2, "YCbCr": 3, "HSV": 3, "I": 1, "F": 1}
_EIGHT_BITS: Final = ("RGB", "L", "RGBA", "P", "CMYK", "LA", "YCbCr", "HSV")
PIL, TENSOR, ARRAY = "PIL", "tensor", "array"


class Image(NamedTuple):
    """An image on its way through transforms: of which kind, how many bands, height and width, dtype of a tensor."""

    kind: str
    bands: Length = None
    height: Length = None
    width: Length = None
    dtype: str | None = None
    n_axes: int = 3


Step = Mapping[str, Any]
_SAME: Final = frozenset(
    ("RandomHorizontalFlip", "RandomVerticalFlip", "ColorJitter", "GaussianBlur", "RandomAutocontrast", "RandomErasing")
)


def image_of(value: AbstractValue) -> Image | None:
    """What is known of an image; None of what is none."""
    if value.is_a("PIL"):
        mode, (width, height) = value.fact("mode"), _pair(value.fact("size"))
        return Image(PIL, _BANDS.get(mode or ""), height, width, "torch.float32" if mode in _EIGHT_BITS else None)
    shape = value.shape
    if is_tensor(value) and shape is not None:
        bands, height, width = (None, None, None, *shape)[-3:]
        return Image(TENSOR, bands, height, width, value.fact("dtype"), len(shape))
    if value.is_a("numpy", "ndarray") and shape is not None:
        rows, columns, depth = (*shape, None, None, None)[:3]
        return Image(ARRAY, depth if len(shape) == 3 else 1, rows, columns, value.fact("dtype"), len(shape))
    return None


# Steps


def _to_tensor(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    if image.kind == TENSOR:
        operation.crash(
            "TypeError",
            "pic should be PIL Image or ndarray, not a tensor",
            fact=f"{what} is a tensor",
            remedy="remove ToTensor, or keep it only once, before the steps that need tensors",
        )
    if image.kind == ARRAY and image.n_axes not in (2, 3):
        operation.crash(
            "ValueError",
            f"pic should be 2/3 dimensional. Got {image.n_axes} dimensions",
            fact=f"{what} has {image.n_axes} dimensions",
            remedy="pass one image at a time",
        )
    dtype = image.dtype if image.kind == PIL else "torch.float32" if image.dtype in ("uint8", "float32") else None
    return image._replace(kind=TENSOR, dtype=dtype, n_axes=3)


def _normalize(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    if image.kind != TENSOR:
        operation.crash(
            "TypeError",
            "img should be Tensor Image: Normalize gets an image that is not a tensor yet",
            fact=f"{what} is {'a PIL image' if image.kind == PIL else 'an array'}",
            remedy="put ToTensor() before it",
        )
    if image.dtype is not None and "float" not in image.dtype and image.dtype.startswith("torch."):
        operation.crash(
            "TypeError",
            f"Input tensor should be a float tensor, not {image.dtype.removeprefix('torch.')}",
            fact=f"{what} has dtype {image.dtype.removeprefix('torch.')}",
            remedy="convert it first: x.float() / 255",
        )
    for name in ("mean", "std"):
        given = step.get(name)
        n = len(given) if isinstance(given, (list, tuple)) else None
        if image.n_axes >= 3 and None not in (n, image.bands) and n not in (1, image.bands):
            operation.crash(
                "RuntimeError",
                f"Normalize has {n} values for {name}, but the image has {image.bands} channels",
                fact=f"{what} has {image.bands} channels",
                remedy='convert the images to one mode first: image.convert("RGB")',
            )
    return image


def _resize(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    if image.kind == ARRAY:
        operation.crash(
            "TypeError",
            "img should be PIL Image or Tensor: Resize does not take an array",
            fact=f"{what} is a NumPy array",
            remedy="convert it to an image first: ToPILImage() or Image.fromarray",
        )
    height, width = _pair(step.get("size"))
    return image._replace(height=height, width=width)


def _crop(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    size = step.get("size")
    height, width = (size, size) if type(size) is int else _pair(size)
    return image._replace(height=height, width=width)


def _gray(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    n = step.get("num_output_channels", 1)
    return image._replace(bands=_number(n))


def _to_image(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    if image.kind == PIL:
        operation.crash(
            "TypeError",
            "pic should be Tensor or ndarray, not a PIL image",
            fact=f"{what} is a PIL image",
            remedy="remove ToPILImage",
        )
    return Image(PIL, image.bands, image.height, image.width, None)


def _rotation(operation: Operation, step: Step, image: Image, what: str) -> Image | None:
    return image._replace(height=None, width=None) if step.get("expand") else image


def _pair(size: Any) -> tuple[Length, Length]:
    """Both lengths, where two are given; a single one is that of the shorter side, which nobody knows."""
    first, second = size if isinstance(size, (list, tuple)) and len(size) == 2 else (None, None)
    return _number(first), _number(second)


def _number(value: Any) -> Length:
    return value if type(value) is int else None


_STEPS: Final[dict[str, Callable[[Operation, Step, Image, str], Image | None]]] = {
    "ToTensor": _to_tensor,
    "PILToTensor": lambda operation, step, image, what: None,
    "Normalize": _normalize,
    "Resize": _resize,
    "CenterCrop": _crop,
    "RandomCrop": _crop,
    "RandomResizedCrop": _crop,
    "Grayscale": _gray,
    "ToPILImage": _to_image,
    "RandomRotation": _rotation,
}


def passed(operation: Operation, steps: Sequence[Step], value: AbstractValue) -> AbstractValue:
    """What comes out of a row of transforms. Raises Crash."""
    image = image_of(value)
    what = value.named("the image")
    for step in steps:
        if image is None:
            return AbstractValue()
        kind = str(step.get("type", ""))
        if kind not in _SAME:
            image = _STEPS[kind](operation, step, image, what) if kind in _STEPS else None
    if image is None or image.kind != TENSOR or image.n_axes != 3:
        return AbstractValue()
    return tensor((image.bands, image.height, image.width), image.dtype, words=f"{what}, transformed")


# Objects


def _is_second_version(transform: AbstractValue) -> bool:
    """torchvision.transforms.v2 has classes of the same names, which take more."""
    return ".v2." in transform.type


@RULES.method("torchvision.Compose", "__call__")
def composed(operation: Operation) -> Answer:
    receiver = operation.receiver
    steps = receiver.fact("steps")
    if _is_second_version(receiver) or not isinstance(steps, list) or len(operation.arguments.positional) != 1:
        return UNKNOWN
    return passed(operation, steps, operation.first)


@RULES.function("torchvision.transforms.Compose")
def compose_made(operation: Operation) -> Answer:
    """A row of transforms in a list."""
    bound = operation.arguments.bound("transforms")
    if bound is None:
        return UNKNOWN
    given = bound["transforms"]
    made = AbstractValue("torchvision.transforms.transforms.Compose", words=operation.text)
    if given.items is not None:
        made.facts["steps"] = [dict(one.facts, type=one.class_name) for one in given.items]
    return made


_MADE: Final = {
    "ToTensor": "",
    "Normalize": "mean, std, inplace=False",
    "Resize": "size, interpolation=None, max_size=None, antialias=True",
    "CenterCrop": "size",
    "RandomCrop": "size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant'",
    "RandomResizedCrop": "size, scale=None, ratio=None, interpolation=None, antialias=True",
    "Grayscale": "num_output_channels=1",
    "ToPILImage": "mode=None",
    "RandomHorizontalFlip": "p=0.5",
    "RandomVerticalFlip": "p=0.5",
    "RandomRotation": "degrees, interpolation=None, expand=False, center=None, fill=0",
    "ColorJitter": "brightness=0, contrast=0, saturation=0, hue=0",
}


def _maker(kind: str) -> Rule:
    def made(operation: Operation) -> Answer:
        bound = operation.arguments.bound(_MADE[kind])
        if bound is None:
            return UNKNOWN
        settings = {name: value.literal for name, value in bound.items() if value.literal is not NOT_KNOWN}
        return AbstractValue(f"torchvision.transforms.transforms.{kind}", settings, words=operation.text)

    return made


def _caller(kind: str) -> Rule:
    def called(operation: Operation) -> Answer:
        if len(operation.arguments.positional) != 1 or _is_second_version(operation.receiver):
            return UNKNOWN
        held = {name: value.literal for name, value in operation.receiver.attributes.items() if value.is_literal}
        return passed(operation, [dict(operation.receiver.facts | held, type=kind)], operation.first)

    return called


for _kind in _MADE:
    RULES.function(f"torchvision.transforms.{_kind}", f"torchvision.transforms.transforms.{_kind}")(_maker(_kind))
    RULES.method(f"torchvision.{_kind}", "__call__")(_caller(_kind))
