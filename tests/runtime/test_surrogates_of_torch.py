"""Surrogates of tensors and layers: the schema that they were made with, and what torch itself says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_surrogates import worker
from crane_core.runtime.kernel_side.crane_surrogates.made import (
    FILLS,
    NotMadeError,
    seen,
)
from tests.examples import examples
from tests.optional import later, needing, needs

pytestmark = needs("torch")
torch = later("torch")
for_torch = later("crane_core.runtime.kernel_side.crane_surrogates.for_torch")

DTYPES = [
    "torch.bool",
    "torch.uint8",
    "torch.int64",
    "torch.float16",
    "torch.float32",
    "torch.complex64",
]


@st.composite
def tensors(draw: st.DrawFn) -> dict[str, Any]:
    shape = draw(st.lists(st.integers(0, 5), max_size=4))
    dtype = draw(st.sampled_from(DTYPES))
    can_grad = "float" in dtype or "complex" in dtype
    facts = {
        "type": "torch.Tensor",
        "shape": shape,
        "dtype": dtype,
        "device": "cpu",
    }
    return facts | {"requires_grad": can_grad and draw(st.booleans())}


@examples(100)
@given(tensors(), st.sampled_from(FILLS))
def test_the_probe_reads_the_facts_that_a_tensor_was_made_with(
    facts: dict[str, Any], fill: int
) -> None:
    read = for_torch.read(for_torch.make(facts, fill))
    laid = {
        name: read.pop(name)
        for name in ("is_contiguous", "strides")
        if name in read
    }
    assert read == facts
    assert fill or laid == {
        "is_contiguous": True
    }  # nothing is told of it, so that the fills differ in it


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.Linear(3, 4),
        lambda: torch.nn.Conv2d(3, 6, (5, 3), stride=2, padding=1, groups=3),
        lambda: torch.nn.BatchNorm1d(7).eval(),
        lambda: torch.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True),
        lambda: torch.nn.Embedding(10, 3, padding_idx=0),
        lambda: torch.nn.MaxPool2d(2),
        lambda: torch.nn.Flatten(),
        lambda: torch.nn.Linear(3, 4).double(),
    ],
    ids=[
        "Linear",
        "Conv2d",
        "BatchNorm1d",
        "LSTM",
        "Embedding",
        "MaxPool2d",
        "Flatten",
        "Linear of doubles",
    ],
)
def test_a_layer_is_made_again_from_what_the_probe_tells(
    make: Callable[[], Any],
) -> None:
    layer = make()
    again = for_torch.make(seen(layer), 0)
    assert type(again) is type(layer)
    assert for_torch.read(again) == for_torch.read(layer)


@pytest.mark.parametrize(
    "facts",
    [
        {
            "type": "torch.Tensor",
            "shape": [3],
            "dtype": "torch.float32",
            "device": "cuda:0",
        },
        {"type": "torch.Tensor", "shape": [3], "dtype": "torch.load"},
        {
            "type": "torch.Tensor",
            "shape": [3],
            "dtype": "torch.float32",
            "layout": "torch.sparse_coo",
        },
        {
            "type": "torch.Tensor",
            "shape": [100_000, 100_000],
            "dtype": "torch.float32",
        },
        {
            "type": "torch.nn.modules.linear.Linear",
            "in_features": 3,
            "out_features": 4,
            "hooked": True,
        },
        {"type": "torch.nn.modules.container.Sequential"},
        {"type": "torch.serialization.load"},
    ],
)
def test_what_has_no_surrogate_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(NotMadeError):
        for_torch.make(facts, 0)


def tensor(
    *shape: int, dtype: str = "torch.float32", **facts: Any
) -> dict[str, Any]:
    return {
        "facts": {
            "type": "torch.Tensor",
            "shape": shape,
            "dtype": dtype,
            **facts,
        }
    }


def asked(
    step: str, of: str, name: str, *operands: dict[str, Any]
) -> dict[str, Any]:
    order = {
        "step": step,
        "of": of,
        "name": name,
        "operands": operands,
        "keywords": {},
    }
    return worker.answer(json.dumps(order).encode())


def test_a_change_in_place_that_no_grad_allows_is_no_crash() -> None:
    weights = tensor(3, requires_grad=True)
    with torch.no_grad():
        torch.ones(3, requires_grad=True).sub_(1)
    with pytest.raises(RuntimeError):
        torch.ones(3, requires_grad=True).sub_(1)
    assert asked("method", "torch.Tensor", "sub_", weights, {"is": 1}) == {
        "unknown": "not on the list"
    }


def test_a_class_out_of_range_depends_on_the_value_and_a_wrong_length_does_not() -> (
    None
):
    fits = asked(
        "call",
        "torch",
        "nn.functional.cross_entropy",
        tensor(4, 3),
        tensor(4, dtype="torch.int64"),
    )
    assert "raised" not in fits
    short = asked(
        "call",
        "torch",
        "nn.functional.cross_entropy",
        tensor(4, 3),
        tensor(5, dtype="torch.int64"),
    )
    assert short == {
        "raised": "ValueError",
        "message": "Expected input batch_size (4) to match target batch_size (5).",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(
            ("torch", "randn"),
            ("torch", "onnx"),
            ("torch._C", "nothing"),
            ("torch.nothing", "at_all"),
        ),
        *(
            ("torch", "npu"),
            ("torch", "musa"),
            ("torch", "something_of_another_package"),
            ("torch.Tensor", "sums"),
        ),
        ("pandas", "concatt"),
    ],
)
def test_only_a_misspelt_name_of_a_module_is_told_as_missing(
    path: str, name: str
) -> None:
    order = {"step": "member", "of": path, "name": name}
    assert list(worker.answer(json.dumps(order).encode())) == ["unknown"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("torch", "randns"),
        ("torch.nn.functional", "relus"),
        ("numpy", "arrange"),
    ],
)
def test_a_misspelt_name_of_a_module_is_told(path: str, name: str) -> None:
    order = {"step": "member", "of": path, "name": name}
    assert (
        worker.answer(json.dumps(order).encode())["raised"] == "AttributeError"
    )


def test_what_a_layer_takes_is_what_its_forward_takes() -> None:
    order = {
        "step": "binds",
        "of": "torch.nn.modules.loss.MSELoss.__call__",
        "name": "method",
        "keywords": [],
    }
    assert (
        worker.answer(json.dumps({**order, "operands": 1}).encode())["raised"]
        == "TypeError"
    )
    assert list(
        worker.answer(json.dumps({**order, "operands": 2}).encode())
    ) == ["unknown"]
    with pytest.raises(TypeError):
        torch.nn.MSELoss()(torch.ones(1))


def test_memory_that_there_is_not_is_no_refusal() -> None:
    # torch raises RuntimeError for it, of this process alone; a kernel may have the memory.
    huge = {
        "step": "call",
        "of": "torch",
        "name": "ones",
        "operands": [{"is": 10**14}],
        "keywords": {},
    }
    assert "unknown" in worker.answer(json.dumps(huge).encode())


def test_the_least_and_the_largest_index_decide_where_every_one_counts() -> (
    None
):
    scores, classes = (
        tensor(4, 3),
        {"dtype": "torch.int64", "value_range": [0, 3]},
    )
    name = "nn.functional.cross_entropy"
    assert (
        asked("call", "torch", name, scores, tensor(4, **classes))["raised"]
        == "IndexError"
    )
    assert "raised" not in asked(
        "call",
        "torch",
        name,
        scores,
        tensor(4, **{**classes, "value_range": [0, 2]}),
    )
    for fill in FILLS:
        made = for_torch.make(tensor(4, **classes)["facts"], fill)
        assert (made.min().item(), made.max().item()) == (0, 3)


def test_what_is_too_large_has_no_elements_and_still_a_shape() -> None:
    layer = {
        "facts": {
            "type": "torch.nn.Conv2d",
            "in_channels": 3,
            "out_channels": 8,
            "kernel_size": [3, 3],
        }
    }
    layer["facts"].update(dtype="torch.float32", device="meta", training=True)
    found = asked(
        "method",
        "torch.Conv2d",
        "__call__",
        layer,
        tensor(64, 3, 500, 500, device="meta"),
    )
    assert found["gave"]["shape"] == [64, 8, 498, 498]
    assert "raised" in asked(
        "method",
        "torch.Conv2d",
        "__call__",
        layer,
        tensor(64, 4, 500, 500, device="meta"),
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.nn.CrossEntropyLoss(weight=torch.ones(3)),
        lambda: torch.nn.HuberLoss(delta=2.0),
        lambda: torch.nn.BCELoss(),
    ],
    ids=["CrossEntropyLoss", "HuberLoss", "BCELoss"],
)
def test_a_loss_is_made_again_from_what_the_probe_tells(
    make: Callable[[], Any],
) -> None:
    loss = make()
    assert for_torch.read(for_torch.make(seen(loss), 0)) == for_torch.read(loss)


def test_lengths_are_told_and_other_numbers_are_not() -> None:
    assert asked("method", "torch.Tensor", "size", tensor(2, 5), {"is": 1}) == {
        "gave": {"type": "int", "value": 5}
    }
    assert (
        asked("method", "torch.Tensor", "argmax", tensor(2, 5))["gave"]["shape"]
        == []
    )
    assert asked("call", "builtins", "int", tensor(1)) == {
        "gave": {"type": "int"}
    }


@needing("torchvision")
def test_a_random_transform_is_tried_in_either_case() -> None:
    kind = "torchvision.transforms.transforms"
    picture = {
        "facts": {"type": "PIL.Image.Image", "mode": "RGB", "size": [8, 6]}
    }
    erasing = {
        "facts": {
            "type": f"{kind}.RandomErasing",
            "p": 0.5,
            "scale": [0.1, 0.2],
            "ratio": [1, 2],
            "value": 0,
        }
    }
    assert "unknown" in asked(
        "method", "torchvision.RandomErasing", "__call__", erasing, picture
    )
    steps = [
        {"type": "RandomHorizontalFlip", "p": 0.5},
        {"type": "ToTensor"},
        {"type": "ToTensor"},
    ]
    row = {"facts": {"type": f"{kind}.Compose", "steps": steps}}
    assert (
        asked("method", "torchvision.Compose", "__call__", row, picture)[
            "raised"
        ]
        == "TypeError"
    )
