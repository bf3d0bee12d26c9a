"""Weights of torch that are saved and loaded by name: what is predicted beside what torch does."""

from __future__ import annotations

import pytest

from tests.optional import needs

from .conftest import Predict

pytestmark = needs("torch")

SETUP = """
import torch
from torch import nn
from collections import OrderedDict

class Net(nn.Module):
    def __init__(self, n=3, d=8):
        super().__init__()
        self.emb = nn.Embedding(20, d)
        self.conv = nn.Conv2d(4, 6, (3, 5), groups=2)
        self.body = nn.Sequential(nn.Linear(d, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.head = nn.Linear(6, n)
        self.scale = nn.Parameter(torch.zeros(2))

net, five, wide = Net(), Net(5), Net(3, 9)
saved = net.state_dict()
checkpoint = {"epoch": 3, "model_state_dict": saved, "loss": 0.1}
parallel = OrderedDict(("module." + key, weights) for key, weights in saved.items())
body = {key: weights for key, weights in saved.items() if not key.startswith("head")}
row, other = (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)) for _ in range(2))
normed = nn.utils.weight_norm(nn.Linear(2, 3))
"""

RAISES = [
    ("five.load_state_dict(saved)", "RuntimeError"),
    ("wide.load_state_dict(saved, strict=False)", "RuntimeError"),
    ("Net(4).load_state_dict(saved)", "RuntimeError"),
    ("five.load_state_dict(checkpoint['model_state_dict'])", "RuntimeError"),
    ("five.load_state_dict(net.state_dict())", "RuntimeError"),
    ("net.load_state_dict(checkpoint)", "RuntimeError"),
    ("net.load_state_dict(parallel)", "RuntimeError"),
    ("net.load_state_dict(body)", "RuntimeError"),
    ("net.load_state_dict('net.pth')", "TypeError"),
    ("net.load_state_dict(five)", "TypeError"),
    (
        "row[2] = nn.Linear(4, 5)\nrow.load_state_dict(other.state_dict())",
        "RuntimeError",
    ),
    ("net.body[0] = nn.Linear(8, 7)\nnet.load_state_dict(saved)", "RuntimeError"),
    (
        "one = nn.Linear(2, 3)\none.load_state_dict(nn.Linear(3, 2).state_dict())",
        "RuntimeError",
    ),
]

RUNS = [
    "net.load_state_dict(saved)",
    "Net(3).load_state_dict(saved)",
    "net.load_state_dict(checkpoint['model_state_dict'])",
    "five.load_state_dict(body, strict=False)",
    "five.head = nn.Linear(6, 3)\nfive.load_state_dict(saved)",
    "row.load_state_dict(other.state_dict())",
    "row[2] = nn.Linear(4, 5)\nrow.load_state_dict({**other.state_dict(), '2.weight': torch.zeros(5, 4),"
    " '2.bias': torch.zeros(5)})",
    "part = five.state_dict()\ndel part['head.weight'], part['head.bias']\nnet.load_state_dict(part, strict=False)",
    "fits = {k: w for k, w in five.state_dict().items() if w.shape == saved[k].shape}\n"
    "net.load_state_dict(fits, strict=False)",
    "all_of_it = net.state_dict()\nall_of_it.update(body)\nnet.load_state_dict(all_of_it)",
    "net.load_state_dict({key.removeprefix('module.'): w for key, w in parallel.items()})",
    "normed.load_state_dict(normed.state_dict())",
]


@pytest.mark.parametrize(
    ("target", "exception"), RAISES, ids=[target for target, _ in RAISES]
)
def test_what_torch_refuses_is_predicted(
    check: Predict, target: str, exception: str
) -> None:
    assert check(SETUP, target).raised == exception


@pytest.mark.parametrize("target", RUNS, ids=RUNS)
def test_what_torch_accepts_is_let_pass(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is None
