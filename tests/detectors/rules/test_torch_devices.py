"""Targets with torch whose tensors are on another device, as a state tells them: nothing there runs here."""

from __future__ import annotations

import json

import pytest

from crane_core.detectors.rules.predict import findings
from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.optional import needs

from .conftest import cells_of, state_of

pytestmark = needs("torch")


@pytest.mark.parametrize(
    ("target", "exception"),
    [
        ("layer(x)", None),
        ("layer(x.view(4, 2))", "RuntimeError"),
        ("layer(x) + x[:, :2]", None),
        ("values, places = layer(x).max(1)\nvalues + x[0, 0]", None),
        ("values, places = layer(x).max(1)\nx[:, places]", None),
        ("layer(x) @ torch.zeros(2, 2)", "RuntimeError"),
        ("layer(x).detach().numpy()", "TypeError"),
        ("layer(x).detach().cpu().numpy()", None),
        ("x.cpu().numpy()", None),
        ("layer.cpu()(x.cpu())", None),
        ("layer.to('cpu')(x.to('cpu'))", None),
        ("layer.cpu()(x)", "RuntimeError"),
        ("x.to('cpu').numpy()", None),
        ("x.to(torch.zeros(1)).numpy()", None),
        ("torch.zeros_like(x, device='cpu').numpy()", None),
    ],
)
def test_tensors_of_another_device_are_asked_of_shapes_alone(
    target: str, exception: str | None
) -> None:
    import torch

    setup = "import torch\nx, layer = torch.zeros(2, 4), torch.nn.Linear(4, 2)"
    namespace = {
        "torch": torch,
        "x": torch.zeros(2, 4),
        "layer": torch.nn.Linear(4, 2),
    }
    state = look(namespace, {"target": target}).replace('"cpu"', '"cuda:0"')
    report = findings(cells_of(setup, target), state_of(json.loads(state)))
    assert not report.errors
    assert [each.exception for each in report.findings] == (
        [exception] if exception else []
    )
