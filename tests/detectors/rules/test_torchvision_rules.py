"""Targets with transforms of torchvision: what is foreseen beside what torchvision does."""

from __future__ import annotations

import pytest

pytest.importorskip("torchvision", reason="torchvision is not installed")

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
    ("transforms.Normalize([0.5, 0.5, 0.5], [1, 1, 1])(torch.zeros(1, 6, 8))", "RuntimeError"),
    ("[prepare(image) for image in [rgb, rgba]]", "RuntimeError"),
    ("transforms.ToTensor()(tensor)", "TypeError"),
    ("transforms.ToTensor()(stack)", "ValueError"),
    ("transforms.ToPILImage()(rgb)", "TypeError"),
    ("transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])(gray)", "RuntimeError"),
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


@pytest.mark.parametrize(("target", "exception"), RAISES, ids=[target for target, _ in RAISES])
def test_what_torchvision_refuses_is_foreseen(check, target, exception):
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torchvision_accepts_is_let_pass(check, target):
    assert check(SETUP, target).raised is None
