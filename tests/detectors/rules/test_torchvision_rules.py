"""Targets with transforms of torchvision: what is predicted beside what torchvision does."""

from __future__ import annotations

import pytest

from tests.optional import needs

from .conftest import Predict

pytestmark = needs("torch", "torchvision")

SETUP = """
import numpy as np
import torch
from PIL import Image
from torchvision import transforms
from torchvision.transforms import v2

rgb, rgba, gray = Image.new("RGB", (8, 6)), Image.new("RGBA", (8, 6)), Image.new("L", (8, 6))
array = np.zeros((6, 8, 3), dtype="uint8")
stack = np.zeros((2, 6, 8, 3), dtype="uint8")
tensor, bytes_ = torch.zeros(3, 6, 8), torch.zeros(3, 6, 8, dtype=torch.uint8)
normalize = transforms.Normalize([0.5, 0.5, 0.5], [0.2, 0.2, 0.2])
single = transforms.Normalize((0.5,), (0.5,))
prepare = transforms.Compose([transforms.Resize((4, 4)), transforms.ToTensor(), normalize])
wrong = transforms.Compose([transforms.Resize((4, 4)), normalize, transforms.ToTensor()])
second = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.2] * 3)])
"""

RAISES = [
    ("prepare(rgba)", "RuntimeError"),
    ("prepare(gray)", "RuntimeError"),
    ("prepare(array)", "TypeError"),
    ("prepare(tensor)", "TypeError"),
    ("wrong(rgb)", "TypeError"),
    ("normalize(rgb)", "TypeError"),
    ("normalize(bytes_)", "TypeError"),
    (
        "transforms.Normalize([0.5, 0.5, 0.5], [1, 1, 1])(torch.zeros(1, 6, 8))",
        "RuntimeError",
    ),
    ("[prepare(image) for image in [rgb, rgba]]", "RuntimeError"),
    ("transforms.ToTensor()(tensor)", "TypeError"),
    ("transforms.ToTensor()(stack)", "ValueError"),
    ("transforms.ToPILImage()(rgb)", "TypeError"),
    (
        "transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])(gray)",
        "RuntimeError",
    ),
    ("torch.stack([prepare(rgb), transforms.ToTensor()(rgb)])", "RuntimeError"),
]

RUNS = [
    "prepare(rgb)",
    "prepare(rgba.convert('RGB'))",
    "single(transforms.ToTensor()(rgba))",
    "single(transforms.ToTensor()(gray))",
    "normalize(tensor)",
    "normalize(tensor.unsqueeze(0))",
    "normalize(bytes_.float())",
    "normalize(transforms.ToTensor()(array))",
    "transforms.Resize((4, 4))(tensor)",
    "transforms.Compose([transforms.ToPILImage(), transforms.ToTensor()])(array)",
    "transforms.Compose([transforms.Grayscale(3), transforms.ToTensor(), normalize])(gray)",
    "to_rgb = transforms.Lambda(lambda image: image.convert('RGB'))\n"
    "transforms.Compose([to_rgb, transforms.ToTensor(), normalize])(gray)",
    "torch.stack([prepare(rgb), prepare(rgb)]).shape",
    "second(rgb)",
    "second(array)",
    "v2.ToPILImage()(array)",
]


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_torchvision_refuses_is_predicted(check, target, exception):
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torchvision_accepts_is_let_pass(check, target):
    assert check(SETUP, target).raised is None


MODELS = """
import torch
import torch.nn.functional as F
from torch import nn
from torchvision import models
from torchvision.models.resnet import BasicBlock, ResNet

x, gray, y = torch.rand(2, 3, 32, 32), torch.rand(2, 1, 32, 32), torch.tensor([0, 3])
"""
PARTS = {
    "res": "res = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=3)",
    "wrong": "wrong = ResNet(BasicBlock, [1, 1, 1, 1])\nwrong.fc = nn.Linear(2048, 3)",
    "mobile": "mobile = models.MobileNetV2(width_mult=0.1)",
    "dense": "dense = models.DenseNet(growth_rate=4, block_config=(2, 2), num_init_features=8, num_classes=3)",
    "net": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.backbone = ResNet(BasicBlock, [1, 1, 1, 1])\n        self.backbone.fc = nn.Identity()\n"
    "        self.head = nn.Linear(1000, 2)\n    def forward(self, x):\n        return self.head(self.backbone(x))\n"
    "net = Net()",
}
"""What only the targets need that name it."""

REFUSED = [
    ("wrong(x)", "RuntimeError"),
    ("res(gray)", "RuntimeError"),
    ("res.fc = nn.Linear(2048, 4)\nres(x)", "RuntimeError"),
    ("F.cross_entropy(res(x), y)", "IndexError"),
    ("mobile.classifier[1] = nn.Linear(1000, 2)\nmobile(x)", "RuntimeError"),
    ("mobile.classifier[2] = nn.Linear(1280, 2)", "IndexError"),
    ("dense.classifier = nn.Linear(100, 2)\ndense(x)", "RuntimeError"),
    ("net(x)", "RuntimeError"),
]
ACCEPTED = [
    "res.eval()\nwith torch.no_grad():\n    print(res(x).argmax(1))",
    "res.fc = nn.Linear(res.fc.in_features, 4)\nF.cross_entropy(res(x), y)",
    "res.avgpool = nn.Identity()\nres(x)",
    "res.conv1 = nn.Conv2d(1, 64, 7)\nres(gray)",
    "dense(x)",
    "nn.Sequential(*list(res.children())[:-1])(x)",
    "net.head = nn.Linear(512, 2)\nnet(x)",
]


def models_for(target: str) -> str:
    return "\n".join(
        [MODELS, *(part for name, part in PARTS.items() if name in target)]
    )


@pytest.mark.parametrize(
    ("target", "exception"), REFUSED, ids=[target for target, _ in REFUSED]
)
def test_what_a_model_refuses_is_predicted(
    check: Predict, target: str, exception: str
) -> None:
    assert check(models_for(target), target).exception == exception


@pytest.mark.parametrize("target", ACCEPTED, ids=ACCEPTED)
def test_what_a_model_accepts_is_let_pass(check: Predict, target: str) -> None:
    assert not check(models_for(target), target).findings
