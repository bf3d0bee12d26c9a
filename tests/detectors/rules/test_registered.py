"""Modules of torch that register buffers: libraries are asked all the same, as what is there cannot be replaced so."""

from __future__ import annotations

import pytest

from tests.optional import needs

from .conftest import Predict

pytestmark = needs("torch")

SETUP = """
import torch
from torch import nn

class Positions(nn.Module):
    def __init__(self, width=8, n=50):
        super().__init__()
        table = torch.arange(0, n).unsqueeze(1) * torch.ones(width)
        self.register_buffer("table", table.unsqueeze(0))
        self.fc = nn.Linear(width, 3)

    def forward(self, x):
        return self.fc(x + self.table[:, : x.size(1)])

net, x = Positions(), torch.zeros(4, 10, 8)
"""
RAISE = [
    "net(torch.zeros(4, 10, 7))",
    "net(torch.zeros(4, 60, 8))",
    "net.fc(torch.zeros(2, 5))",
    "net.table.reshape(3, 3)",
    "torch.zeros(3, 4) @ torch.zeros(3, 4)",
]
RUN = [
    "net(x).shape",
    "net.register_buffer('more', torch.zeros(2))\nnet.more + 1",
    "net.add_module('fc', nn.Linear(8, 5))\nnet.fc(x)[..., 4]",
    "net.register_parameter('scale', nn.Parameter(torch.ones(8)))\nnet.scale * x",
]


@pytest.mark.parametrize("target", RAISE)
def test_what_does_not_fit_is_predicted(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised == "RuntimeError"


@pytest.mark.parametrize("target", RUN)
def test_what_is_registered_is_there(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is None


def test_a_parametrized_weight_may_have_another_shape(predict_here: Predict) -> None:
    wider = "class Wider(nn.Module):\n    def forward(self, w):\n        return torch.cat([w, w], 1)\n"
    register = "torch.nn.utils.parametrize.register_parametrization(layer, 'weight', Wider(), unsafe=True)\n"
    seen = predict_here(
        SETUP, f"{wider}layer = nn.Linear(4, 2)\n{register}layer(torch.zeros(1, 8))"
    )
    assert (seen.raised, seen.findings) == (None, ())
