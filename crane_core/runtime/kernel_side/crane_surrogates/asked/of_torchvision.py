"""torchvision: which transforms and models are tried."""

from __future__ import annotations

from .places import ALL, FIRST, NONE, listed, prefixed

# Without Lambda and the like, which run code of the notebook.
TRANSFORMS = (
    "ToTensor PILToTensor Normalize Resize CenterCrop RandomCrop RandomResizedCrop Grayscale ToPILImage Pad"
    " RandomHorizontalFlip RandomVerticalFlip RandomRotation ColorJitter GaussianBlur RandomErasing RandomGrayscale"
    " RandomAutocontrast"
)
_MODELS = (
    "resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d wide_resnet50_2 densenet121"
    " densenet161 densenet169 densenet201 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large efficientnet_b0"
    " efficientnet_b1 efficientnet_b2 efficientnet_b3 vgg11 vgg13 vgg16 vgg19 vgg16_bn vgg19_bn alexnet"
    " shufflenet_v2_x1_0"
)
CALLS = listed(
    (
        NONE,
        f"{prefixed('transforms.', TRANSFORMS)} {prefixed('models.', _MODELS)}",
    ),
    (ALL, "transforms.Compose"),
)
METHODS = {
    f"torchvision.{name}": {"__call__": FIRST}
    for name in ("Compose", *TRANSFORMS.split())
}
