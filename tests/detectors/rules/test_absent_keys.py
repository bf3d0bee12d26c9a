"""The exception that a missing key raises, by what the state tells of the object: asked without any library."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.families.absences import no_key
from crane_core.detectors.rules.operation import Operation

ABSENT = [
    (
        {"type": "list", "index": 3, "length": 3},
        "IndexError",
        "a list of length 3",
    ),
    (
        {"type": "list", "index": "tuple", "length": 3},
        "TypeError",
        "a list of length 3",
    ),
    (
        {"type": "torch.Tensor", "index": "0, 0", "shape": [3]},
        "IndexError",
        "a torch.Tensor of shape [3]",
    ),
    (
        {"type": "numpy.ndarray", "index": "k", "shape": [3]},
        "IndexError",
        "a numpy.ndarray of shape [3]",
    ),
    ({"type": "dict", "key": "k"}, "KeyError", "a dict without it"),
]


@pytest.mark.parametrize(("fact", "exception", "evidence"), ABSENT)
def test_a_missing_key_is_told_by_its_exception(
    fact: dict[str, Any], exception: str, evidence: str
) -> None:
    with pytest.raises(Crash) as crash:
        no_key(Operation(ast.Pass(), "", absent=dict(fact, of="held")))
    assert crash.value.exception == exception
    assert evidence in crash.value.fact
