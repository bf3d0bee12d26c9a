"""Tensors, modules and loaders on a GPU are looked at without reading a value there, waiting or allocating.

With a GPU its own counters are asked. Without one, torch's stand-ins for CUDA tensors are looked at, which have no
values, while every operation that reaches torch is noted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.optional import later, needs

from .looks import State, looked

pytestmark = needs("torch")
torch, nn, data = later("torch"), later("torch.nn"), later("torch.utils.data")
fake_tensor = later("torch._subclasses.fake_tensor")
TARGET = "thing.shape; thing[0]; thing[0, 1:, None]; thing(x=thing); [v for v in thing]; thing + 1; thing.item()"
VIEWS = {
    "alias",
    "device",
    "detach",
    "select",
    "slice",
    "unsqueeze",
    "view",
    "permute",
    "expand",
    "t",
    "transpose",
}
"""Operations that make another view or name the device: no element is read, copied or computed."""


@contextmanager
def noting() -> Iterator[set[str]]:
    """Notes the name of each operation that is carried out on another device than the CPU and "meta"."""
    from torch.utils._python_dispatch import TorchDispatchMode

    names: set[str] = set()

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = (*args, *(kwargs or {}).values())
            tensors = (one for one in given if isinstance(one, torch.Tensor))
            if any(one.device.type not in ("cpu", "meta") for one in tensors):
                names.add(func.__name__.partition(".")[0])
            return func(*args, **(kwargs or {}))

    with Noting():
        yield names


def seen(thing: Any) -> State:
    entry: State = looked({"thing": thing}, TARGET)["variables"]["thing"]
    return entry


def on_device(make: Callable[[str], Any]) -> Any:
    with fake_tensor.FakeTensorMode():
        return make("cuda")


def layers(device: str) -> Any:
    model = nn.Sequential(
        nn.Linear(4, 3, device="meta"),
        nn.ReLU(),
        nn.Linear(3, 2, device="meta"),
    )
    for layer in (model[0], model[2]):
        for name, held in list(layer.named_parameters()):
            setattr(
                layer,
                name,
                nn.Parameter(torch.empty(held.shape, device=device)),
            )
    return model


MADE: dict[str, Callable[[str], Any]] = {
    "floats": lambda device: torch.empty(3, 4, device=device),
    "labels": lambda device: torch.empty(5, dtype=torch.int64, device=device),
    "one number": lambda device: torch.empty((), device=device),
    "half": lambda device: torch.empty(3, dtype=torch.bfloat16, device=device),
    "view": lambda device: torch.empty(4, 6, device=device).t(),
    "model": layers,
    "optimizer": lambda device: torch.optim.SGD(
        layers(device).parameters(), lr=0.1
    ),
    "dataset": lambda device: data.TensorDataset(
        torch.empty(6, 4, device=device), torch.empty(6, device=device)
    ),
    "loader": lambda device: data.DataLoader(
        MADE["dataset"](device), batch_size=2
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_no_value_of_a_device_is_asked_for(name: str) -> None:
    thing = on_device(MADE[name])
    with noting() as noted:
        entry = seen(thing)
    assert "unavailable" not in entry
    assert noted <= VIEWS


def test_the_stand_in_would_show_a_read() -> None:
    thing = on_device(MADE["floats"])
    with noting() as noted:
        thing.aminmax()
        thing.to("cpu")
    assert {"aminmax", "_to_copy"} <= noted


def test_shape_type_and_device_are_told() -> None:
    entry = seen(on_device(MADE["labels"]))
    assert entry["structure"]["shape"] == [5]
    placed = {"dtype": "torch.int64", "device": "cuda:0"}
    assert placed.items() <= entry["representation"].items()
    assert (
        entry["plus"]["values"]["not_computed"] == "values on cuda are not read"
    )


@pytest.fixture
def busy() -> Iterator[Any]:
    """A stream with seconds of work queued."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    big = torch.ones(6_000, 6_000, device="cuda")
    torch.cuda.synchronize()
    for _ in range(400):
        big = big @ big
    done = torch.cuda.Event()
    done.record()
    yield done
    torch.cuda.synchronize()


@pytest.mark.parametrize("name", MADE)
def test_a_gpu_is_neither_waited_for_nor_filled(name: str, busy: Any) -> None:
    thing = MADE[name]("cuda")
    before = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    began = time.perf_counter()
    seen(thing)
    took = time.perf_counter() - began
    assert not busy.query(), f"the queue was empty after {took:.3f} s"
    assert (
        torch.cuda.memory_allocated(),
        torch.cuda.memory_reserved(),
    ) == before
