"""What is said of torch's objects: torch itself is the oracle, and nothing of the notebook is advanced or changed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe import budget
from crane_core.runtime.kernel_side.crane_probe.kernel_copy import forked
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.examples import examples
from tests.optional import later, needs
from tests.patience import UNHURRIED

pytestmark = needs("torch")
torch, nn, data = later("torch"), later("torch.nn"), later("torch.utils.data")
objects_of_torch = later("tests.runtime.probe.objects_of_torch")
needs_copy = pytest.mark.skipif(
    not forked.is_possible(), reason="the process cannot be copied here"
)
ASKING = (
    "thing.a['b'](thing); thing['i']; thing[0]; thing(x=thing); thing.shape; "
    "thing[0, 1:, None]; [v for v in thing]"
)
"""A target that asks in many ways."""
"""For oracles: how long things take is tested where it is the question."""


def looked(
    target: str, limits: dict[str, Any] | None = None, **namespace: Any
) -> dict[str, Any]:
    request = {
        "target": target,
        "cells": [],
        "limits": UNHURRIED if limits is None else limits,
    }
    state: dict[str, Any] = json.loads(look(namespace, request))
    return state


def entry_of(value: Any, limits: dict[str, Any] | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = looked("thing", limits, thing=value)["variables"]["thing"]
    return entry


def more(value: Any, group: str) -> dict[str, Any]:
    facts: dict[str, Any] = entry_of(value)["plus"][group]
    return facts


# Tensors

DTYPES = [
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "bool",
]


@st.composite
def tensors(draw: st.DrawFn) -> Any:
    shape = draw(st.lists(st.integers(0, 5), max_size=4))
    dtype = getattr(torch, draw(st.sampled_from(DTYPES)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    value = (torch.randn(shape, generator=generator) * 20).to(dtype)
    if dtype.is_floating_point and value.numel() and draw(st.booleans()):
        value.view(-1)[draw(st.integers(0, value.numel() - 1))] = float(
            draw(st.sampled_from(["nan", "inf", "-inf"]))
        )
    if len(shape) > 1 and draw(st.booleans()):
        value = value.transpose(0, -1)
    if shape and shape[0] > 1 and draw(st.booleans()):
        value = value[::2]
    return value


def number(value: Any) -> float:
    return float(value["$float"]) if isinstance(value, dict) else float(value)


@examples(150)
@given(tensors())
def test_a_tensor_is_what_torch_says(value: Any) -> None:
    entry = entry_of(value)
    assert entry["structure"] == {"shape": list(value.shape)}
    assert entry["representation"] == {
        "dtype": str(value.dtype),
        "device": "cpu",
        "requires_grad": False,
    }
    assert entry["values"]["has_nan"] is bool(value.isnan().any())
    assert (
        entry.get("plus", {}).get("structure", {}).get("is_contiguous", True)
        is value.is_contiguous()
    )
    real = value[~value.isnan()]
    if real.numel():
        found = [number(end) for end in entry["plus"]["values"]["value_range"]]
        assert found == [float(real.min()), float(real.max())]


@examples(40)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=300))
def test_a_flat_tensor_tells_its_distinct_values(values: list[int]) -> None:
    info = entry_of(torch.tensor(values))["values"]["value_info"]
    assert info["num_unique"] == len(set(values))
    assert info["unique_values"] == sorted(set(values))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("turn", ["as it is", "transposed", "every third"])
def test_a_long_tensor_is_looked_through_to_its_end(dtype: str, turn: str) -> None:
    value = torch.zeros(301, 1003, dtype=getattr(torch, dtype))
    value[300, 1002] = 7
    value[0, 0] = -7
    seen = {"as it is": value, "transposed": value.t(), "every third": value[:, ::3]}[
        turn
    ]
    assert more(seen, "values")["value_range"] == [-7.0, 7.0]
    seen[150, 150] = float("nan")
    assert entry_of(seen)["values"]["has_nan"] is True


def test_gradients_are_told() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    assert more(weight, "representation") == {"has_grad": False}
    product = weight * 3
    assert more(product, "representation") == {"grad_fn": "MulBackward0"}
    product.sum().backward()
    assert more(weight, "representation") == {"has_grad": True}
    assert entry_of(product)["representation"]["requires_grad"] is True


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        (
            lambda: torch.eye(4).to_sparse(),
            {
                "structure": {"n_stored": 4},
                "representation": {"layout": "torch.sparse_coo"},
            },
        ),
        (
            lambda: torch.empty(3, device="meta"),
            {"values": {"not_computed": "a tensor of device meta has no values"}},
        ),
        (
            lambda: torch.ones(2, 2, dtype=torch.complex64),
            {"values": {"items": [["(1+0j)"] * 2] * 2}},
        ),
    ],
    ids=["sparse", "meta", "complex"],
)
def test_tensors_out_of_the_ordinary(value: Any, facts: dict[str, Any]) -> None:
    assert entry_of(value())["plus"] == facts


def test_a_subclass_is_seen_without_its_code() -> None:
    entry = entry_of(torch.arange(6.0).reshape(2, 3).as_subclass(objects_of_torch.Loud))
    assert entry["structure"] == {"shape": [2, 3]}
    assert entry["plus"]["values"]["value_range"] == [0.0, 5.0]


def test_memory_beside_a_large_tensor_is_small() -> None:
    peak = Path("/proc/self/clear_refs")
    if not peak.exists():
        pytest.skip("this system does not tell the peak of memory")
    value = torch.rand(5_000, 5_000).t()
    size = value.numel() * 4
    entry_of(torch.rand(10))
    peak.write_text("5")
    before = memory("VmRSS")
    entry = entry_of(value)
    assert entry["values"]["has_nan"] is False
    assert memory("VmHWM") - before < size / 10


def memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


# Modules

SIZES = {"N": 2, "L": 5, "H": 11, "W": 9, "D": 7, "...": 3}
LAYERS = [
    lambda: nn.Linear(6, 4),
    lambda: nn.Conv1d(3, 8, 3, padding=1),
    lambda: nn.Conv2d(3, 8, (3, 5), stride=2),
    lambda: nn.Conv3d(2, 4, 3),
    lambda: nn.ConvTranspose2d(4, 2, 2),
    lambda: nn.Embedding(20, 6),
    lambda: nn.EmbeddingBag(20, 6),
    lambda: nn.LSTM(6, 4),
    lambda: nn.LSTM(6, 4, batch_first=True, bidirectional=True),
    lambda: nn.LSTM(6, 4, proj_size=3),
    lambda: nn.GRU(6, 4, num_layers=2),
    lambda: nn.RNNCell(6, 4),
    lambda: nn.BatchNorm2d(3),
    lambda: nn.InstanceNorm1d(3, affine=True),
    lambda: nn.GroupNorm(2, 6),
    lambda: nn.LayerNorm((4, 6)),
]


def shape_with_sizes(shape: list[Any], spatial: int) -> list[int]:
    """The stated shape with a size for each letter; `...` stands for as many as the layer needs."""
    known = [SIZES.get(size, size) for size in shape if size != "..."]
    rest = [SIZES["..."]] * spatial
    return (
        known + rest
        if shape[-1] == "..." and len(shape) > 1
        else rest[:1] + known
        if "..." in shape
        else known
    )


@pytest.mark.parametrize("make", LAYERS)
def test_a_layer_takes_and_gives_what_is_stated(make: Any) -> None:
    layer = make()
    facts = more(layer, "structure")
    spatial = {"BatchNorm2d": 2, "InstanceNorm1d": 1, "GroupNorm": 1}.get(
        type(layer).__name__, 1
    )
    shape = shape_with_sizes(facts["expected_input"]["shape"], spatial)
    below = facts["expected_input"].get("integers_below")
    given_in = torch.rand(shape) if below is None else torch.randint(below, shape)
    came = layer(given_in)
    out = came[0] if isinstance(came, tuple) else came
    stated = facts["output"]["shape"]
    fixed = [
        at
        for at, size in enumerate(stated)
        if isinstance(size, int) and "..." not in stated[:at]
    ]
    assert [out.shape[at] for at in fixed] == [stated[at] for at in fixed]
    if stated[0] == "...":
        assert list(out.shape)[-len(stated) + 1 :] == stated[1:]
    assert facts["n_parameters"] == sum(one.numel() for one in layer.parameters())


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(6, 4),
        lambda: nn.Conv2d(3, 8, (3, 5), stride=2),
        lambda: nn.LSTM(6, 4),
        lambda: nn.LSTM(6, 4, batch_first=True, bidirectional=True),
        lambda: nn.LSTM(6, 4, proj_size=3),
        lambda: nn.GRU(6, 4, num_layers=2),
    ],
)
def test_another_size_than_stated_is_refused_by_torch(make: Any) -> None:
    layer = make()
    shape = more(layer, "structure")["expected_input"]["shape"]
    at = next(at for at, size in enumerate(shape) if isinstance(size, int))
    wrong = [*shape[:at], shape[at] + 1, *shape[at + 1 :]]
    with pytest.raises(RuntimeError):
        layer(torch.rand(shape_with_sizes(wrong, 1)))


def test_a_module_tells_its_layers_in_order() -> None:
    facts = more(objects_of_torch.Net(), "structure")
    own = facts["layers"].pop("")
    assert own["parameters"] == {"scale": [2], "frozen": [3]}
    assert facts["layers"] == {
        "body.0": {"type": "Flatten"},
        "body.1": {"type": "Linear", "in_features": 8, "out_features": 5},
        "body.2": {"type": "ReLU"},
        "body.3": {"type": "Dropout", "p": 0.3},
        "head": {"type": "Linear", "in_features": 5, "out_features": 2},
    }
    assert facts["expected_input"]["layer"] == "body.1"
    assert facts["expected_input"]["after"][-1] == "body.0 (Flatten)"
    assert facts["output"] == {"layer": "head", "shape": ["...", 2]}


def test_parameters_mode_and_place_are_torch_s() -> None:
    net = objects_of_torch.Net()
    net.body.eval()
    facts = entry_of(net)["plus"]
    assert facts["structure"]["n_parameters"] == sum(
        one.numel() for one in net.parameters()
    )
    trained = sum(one.numel() for one in net.parameters() if one.requires_grad)
    assert facts["structure"]["n_trainable_parameters"] == trained
    assert facts["representation"]["dtype"] == "torch.float32"
    assert facts["representation"]["device"] == "cpu"
    assert facts["representation"]["forward"].startswith("(sheets")
    assert facts["values"]["training"] is True
    assert facts["values"]["in_the_other_mode"] == [
        "body",
        "body.0",
        "body.1",
        "body.2",
        "body.3",
    ]
    assert facts["values"]["attributes"] == {"n_in": 8}


def test_shared_parameters_count_once() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    assert (
        more(net, "structure")["n_parameters"]
        == sum(one.numel() for one in net.parameters())
        == 15
    )


def test_a_lazy_module_stays_lazy() -> None:
    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyLinear(2))
    facts = more(net, "structure")
    assert facts["n_uninitialized_parameters"] == 4
    assert facts["layers"]["1"]["uninitialized"] is True
    assert "expected_input" not in facts
    assert isinstance(net[1].weight, nn.UninitializedParameter)


def test_a_deep_module_is_cut_in_the_middle_and_the_cut_is_counted() -> None:
    net = nn.Sequential(*(nn.Linear(width, width + 1) for width in range(1, 201)))
    entry = entry_of(net)
    facts = entry["plus"]["structure"]
    assert len(facts["layers"]) + facts["layers_not_shown"] == 200
    assert facts["layers"]["0"]["in_features"] == 1
    assert facts["output"] == {"layer": "199", "shape": ["...", 201]}
    assert facts["n_parameters"] == sum(one.numel() for one in net.parameters())
    assert len(json.dumps(entry)) < LookLimits().variable_chars


def test_a_module_that_raises_at_everything_is_seen() -> None:
    facts = entry_of(objects_of_torch.Trap())["plus"]["structure"]
    assert facts["layers"] == {
        "inner": {"type": "Linear", "in_features": 3, "out_features": 1}
    }


def test_a_module_before_its_init_is_seen() -> None:
    entry = entry_of(objects_of_torch.Net.__new__(objects_of_torch.Net))
    assert entry["type"].endswith("Net")
    assert "unavailable" not in entry


def test_chains_lead_into_modules() -> None:
    target = "net.head.in_features\nnet.scale.shape\nnet.body[-1].p\nnet.body[1].out_fetures\nnet.hed(1)\nnet.body[9]"
    state = looked(target, net=objects_of_torch.Net())
    assert state["accesses"]["net.head.in_features"]["values"]["value"] == 5
    assert state["accesses"]["net.scale.shape"]["plus"]["values"]["items"] == [2]
    lacks = state["absent"]
    assert [(lack["attribute"], lack["similar"]) for lack in lacks["attributes"]] == [
        ("out_fetures", ["out_features", "in_features"]),
        ("hed", ["head"]),
    ]
    assert [(lack["index"], lack["length"]) for lack in lacks["keys"]] == [(9, 4)]


def test_chains_into_a_module_with_a_getattr_of_its_own_stay_open() -> None:
    assert (
        looked("net.anything", net=objects_of_torch.Trap())["absent"]["attributes"]
        == []
    )


def test_indices_of_tensors_are_checked() -> None:
    lacks = looked("t[4]\nt[0, 3]\nt[1, 2]\nt[:, :, 0]\nt[-4]", t=torch.zeros(4, 3))[
        "absent"
    ]["keys"]
    assert [(lack["index"], lack["why"]) for lack in lacks] == [
        (4, "out of bounds"),
        ("0, 3", "out of bounds"),
        (":, :, 0", "too many indices"),
    ]


# Training


def test_an_optimizer_tells_rates_and_how_much_it_trains() -> None:
    net = objects_of_torch.Net()
    facts = entry_of(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))["plus"]
    assert facts["structure"]["n_parameters"] == sum(
        one.numel() for one in net.parameters()
    )
    assert facts["structure"]["n_groups"] == 1
    assert (facts["values"]["lr"], facts["values"]["momentum"]) == (0.1, 0.9)


def test_groups_of_an_optimizer_are_told_apart() -> None:
    net = objects_of_torch.Net()
    groups = [
        {"params": net.body.parameters(), "lr": 0.5},
        {"params": net.head.parameters()},
    ]
    facts = entry_of(torch.optim.Adam(groups, lr=0.1))["plus"]["values"]
    assert [group["lr"] for group in facts["groups"]] == [0.5, 0.1]


def test_a_schedule_tells_where_it_stands() -> None:
    optimizer = torch.optim.SGD(objects_of_torch.Net().parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=3)
    optimizer.step()
    schedule.step()
    facts = entry_of(schedule)["plus"]["values"]
    assert (facts["total_steps"], facts["last_epoch"]) == (3, 1)


def test_a_loss_tells_its_weights() -> None:
    facts = entry_of(
        nn.CrossEntropyLoss(weight=torch.ones(3).double(), ignore_index=0)
    )["plus"]
    assert facts["structure"] == {"weight_shape": [3]}
    assert facts["representation"] == {"weight_dtype": "torch.float64"}
    assert facts["values"] == {"reduction": "mean", "ignore_index": 0}


# Data


def plain_pairs(n: int = 23) -> Any:
    return data.TensorDataset(torch.rand(n, 3, 4).double(), torch.arange(n) % 5)


def halves(samples: list[Any]) -> Any:
    return torch.stack([sample["image"] for sample in samples]).half(), [
        sample["label"] for sample in samples
    ]


LOADERS = {
    "plain": lambda: data.DataLoader(plain_pairs(), batch_size=4),
    "shuffled": lambda: data.DataLoader(plain_pairs(), batch_size=16, shuffle=True),
    "all at once": lambda: data.DataLoader(plain_pairs(), batch_size=100),
    "only whole batches": lambda: data.DataLoader(
        plain_pairs(), batch_size=16, drop_last=True
    ),
    "part": lambda: data.DataLoader(
        data.random_split(plain_pairs(), [13, 10])[0], batch_size=5
    ),
    "chosen": lambda: data.DataLoader(
        plain_pairs(), batch_size=7, sampler=data.SubsetRandomSampler([5, 9, 1, 7])
    ),
    "joined": lambda: data.DataLoader(
        data.ConcatDataset([plain_pairs(3), plain_pairs(4)]), batch_size=6
    ),
    "of the notebook": lambda: data.DataLoader(
        objects_of_torch.Counted(), batch_size=6, shuffle=True
    ),
    "of the notebook, large batch": lambda: data.DataLoader(
        objects_of_torch.Counted(), batch_size=16
    ),
    "collated by the notebook": lambda: data.DataLoader(
        objects_of_torch.Counted(), batch_size=6, collate_fn=halves
    ),
    "batches by the notebook": lambda: data.DataLoader(
        objects_of_torch.Counted(),
        batch_sampler=data.BatchSampler(data.SequentialSampler(range(9)), 4, False),
    ),
    "one by one": lambda: data.DataLoader(objects_of_torch.Counted(), batch_size=None),
    "a list": lambda: data.DataLoader([torch.ones(3), torch.ones(3)], batch_size=2),  # type: ignore[arg-type]
}


def ends(batch: Any, name: str = "batch") -> Iterator[tuple[str, Any]]:
    """The tensors of a batch by the way to them."""
    if isinstance(batch, dict):
        for key, part in batch.items():
            yield from ends(part, f"{name}[{key!r}]")
    elif isinstance(batch, (list, tuple)):
        for at, part in enumerate(batch):
            yield from ends(part, f"{name}[{at}]")
    elif isinstance(batch, (torch.Tensor, np.ndarray)):
        yield name, batch


@needs_copy
@pytest.mark.parametrize("name", LOADERS)
def test_the_stated_batch_is_the_one_that_comes(name: str) -> None:
    loader = LOADERS[name]()
    entry = entry_of(loader)
    more_facts = entry["plus"]
    stated = entry["structure"]["dataset"]["batch_shapes"] | more_facts[
        "structure"
    ].get("dataset", {}).get("batch_shapes", {})
    batches = list(loader)
    came = dict(ends(batches[0]))
    assert entry["structure"]["num_batches"] == len(batches)
    assert entry["structure"]["num_examples"] == len(loader.dataset)
    assert {key: shape for key, shape in stated.items() if key in came} == {
        key: list(part.shape) for key, part in came.items()
    }
    assert more_facts["representation"]["batch_dtypes"] == {
        key: str(part.dtype) for key, part in came.items()
    }
    if "last_batch_size" in more_facts["structure"]:
        last = next(iter(dict(ends(batches[-1])).values()))
        assert more_facts["structure"]["last_batch_size"] == last.shape[0]


def test_how_many_samples_a_batch_was_made_of_is_told_where_it_is_not_the_whole() -> (
    None
):
    entry = entry_of(
        data.DataLoader(objects_of_torch.Counted(), batch_size=16, collate_fn=halves)
    )
    assert entry["structure"]["dataset"]["batch_shapes"]["batch[0]"] == [10, 3, 8, 8]
    assert (
        entry["plus"]["structure"]["dataset"]["batch_shapes_of"]
        == "10 samples, of the 16 of a batch"
    )


@needs_copy
def test_looking_at_data_changes_nothing_of_it() -> None:
    torch.manual_seed(0)
    source = objects_of_torch.Counted()
    shuffle = torch.Generator().manual_seed(5)
    loader = data.DataLoader(
        source, batch_size=4, shuffle=True, num_workers=2, generator=shuffle
    )
    source.calls = 0
    states = (
        torch.get_rng_state(),
        shuffle.get_state(),
        random.getstate(),
        np.random.get_state(legacy=False),
    )
    first, second = (
        looked("loader\nsource", loader=loader, source=source) for _ in range(2)
    )
    after = (
        torch.get_rng_state(),
        shuffle.get_state(),
        random.getstate(),
        np.random.get_state(legacy=False),
    )
    assert repr(after) == repr(states)
    assert all(
        torch.equal(one, other)
        for one, other in zip(states[:2], after[:2], strict=True)
    )
    assert (source.calls, source.log) == (0, [])
    assert first["variables"] == second["variables"]
    assert loader._iterator is None


def test_where_the_process_cannot_be_copied_random_states_are_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forked, "is_possible", lambda: False)
    torch.manual_seed(0)
    loader = data.DataLoader(objects_of_torch.Counted(), batch_size=4, shuffle=True)
    states = repr(
        (
            torch.get_rng_state().tolist(),
            random.getstate(),
            np.random.get_state(legacy=False),
        )
    )
    entry = entry_of(loader)
    assert (
        repr(
            (
                torch.get_rng_state().tolist(),
                random.getstate(),
                np.random.get_state(legacy=False),
            )
        )
        == states
    )
    assert entry["structure"]["dataset"]["batch_shapes"]["batch['image']"] == [
        4,
        3,
        8,
        8,
    ]


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (random.random, {"draws"}),
        (np.random.rand, {"draws"}),
        (lambda: torch.rand(1), {"draws"}),
        (int, set()),
    ],
)
def test_samples_that_draw_random_numbers_say_so(
    draw: Callable[[], Any], told: set[str]
) -> None:
    class Drawn(data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            draw()
            return torch.zeros(3)

    assert {"draws"} & entry_of(data.DataLoader(Drawn(), batch_size=2))["plus"][
        "values"
    ].keys() == told


@pytest.mark.parametrize(
    "dtype", ["bool", "complex64", "float8_e4m3fn", "bfloat16", "uint8", "float16"]
)
def test_tensors_of_any_type_make_batches(dtype: str) -> None:
    source = data.TensorDataset(torch.ones(6, 2).to(getattr(torch, dtype)))
    entry = entry_of(data.DataLoader(source, batch_size=4))
    assert entry["structure"]["dataset"]["batch_shapes"] == {"batch[0]": [4, 2]}
    assert entry["plus"]["representation"]["batch_dtypes"] == {
        "batch[0]": f"torch.{dtype}"
    }


def test_an_index_beyond_the_dataset_is_a_fact() -> None:
    error = entry_of(
        data.DataLoader(data.Subset(plain_pairs(5), [0, 7]), batch_size=2)
    )["plus"]["values"]["sample_error"]
    assert error.startswith("dataset[1] raises IndexError")


def test_samples_that_do_not_fit_together_say_so() -> None:
    class Ragged(data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 5

        def __getitem__(self, index: int) -> Any:
            return torch.zeros(41 + 17 * (index % 2)), index

    dataset = entry_of(data.DataLoader(Ragged(), batch_size=4))["structure"]["dataset"]
    assert dataset["sample_shapes"] == {"input": [[41], [58]]}
    assert "equal size" in dataset["batch_shapes"]["error"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("image"), "dataset[0] raises KeyError: image"),
        (RuntimeError("no\nmore"), "dataset[0] raises RuntimeError: no"),
    ],
)
def test_a_sample_that_cannot_be_had_is_a_fact(error: Exception, said: str) -> None:
    class Broken(data.Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return 5

        def __getitem__(self, index: int) -> Any:
            raise error

    assert entry_of(Broken())["structure"] == {
        "length": 5,
        "sample_shapes": {"error": said},
    }


def raising() -> NoReturn:
    raise RuntimeError("it does not want to")


def sleeping() -> NoReturn:
    import time

    time.sleep(600)
    raise AssertionError("it was waited for")


def leaving() -> NoReturn:
    raise SystemExit(3)


def printing() -> int:
    import sys

    sys.stdout.write("x" * 10_000)
    return 5


@needs_copy
@pytest.mark.parametrize("how", [raising, sleeping, leaving, printing])
@pytest.mark.parametrize("method", ["len", "item"])
@pytest.mark.parametrize("place", ["alone", "in a loader"])
def test_hostile_datasets_are_seen_in_time(
    how: Any,
    method: str,
    place: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = objects_of_torch.Hostile(**{method: how})
    value = (
        data.DataLoader(source, batch_size=2, sampler=data.SequentialSampler(range(4)))
        if place == "in a loader"
        else source
    )
    entry = entry_of(value, {"variable_seconds": 1.0})
    assert "unavailable" not in entry
    assert capfd.readouterr() == ("", "")


def test_a_loader_in_a_dict_keeps_the_shapes_of_its_batches() -> None:
    source = data.TensorDataset(torch.zeros(64, 3), torch.zeros(64, dtype=torch.int64))
    loader = data.DataLoader(source, batch_size=32)
    shapes = {"batch[0]": [32, 3], "batch[1]": [32]}
    alone = entry_of(loader)
    assert alone["plus"]["structure"]["dataset"]["batch_shapes"] == shapes
    inside = more({"train": loader}, "structure")["items"]["train"]
    assert inside["dataset"]["batch_shapes"] == shapes
    assert (
        inside["dataset"]["sample_shapes"]
        == alone["structure"]["dataset"]["sample_shapes"]
    )
    assert inside["num_batches"] == 2


@needs_copy
def test_slow_loaders_in_a_dict_share_the_time_of_one_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed: list[float] = []
    real = forked.facts_of

    def noted(work: Any, seconds: float) -> Any:
        allowed.append(seconds)
        return real(work, seconds)

    monkeypatch.setattr(forked, "facts_of", noted)
    slow = {
        str(at): data.DataLoader(objects_of_torch.Hostile(item=sleeping), batch_size=2)
        for at in range(4)
    }
    entry = entry_of(slow, {"variable_seconds": 1.0})
    assert len(allowed) >= 2
    # Who sleeps does no work, so the limit by the wall ends it; the last one may have begun before.
    assert sum(allowed[:-1]) <= budget._LONGEST
    assert "unfinished" in json.dumps(entry) or "unavailable" in entry


def test_an_iterable_dataset_is_not_advanced() -> None:
    class Stream(data.IterableDataset):  # type: ignore[type-arg]
        def __init__(self) -> None:
            self.rows = iter(range(100))
            self.batch = 7

        def __iter__(self) -> NoReturn:
            raise AssertionError("it was iterated")

        def __len__(self) -> NoReturn:
            raise AssertionError("it was measured")

    stream = Stream()
    state = looked(
        "stream\nloader", stream=stream, loader=data.DataLoader(stream, batch_size=4)
    )["variables"]
    assert state["loader"]["structure"] == {"batch_size": 4}
    assert state["stream"]["plus"]["values"] == {
        "advanced": "not by looking",
        "attributes": {"batch": 7},
    }
    assert next(stream.rows) == 0


@needs_copy
def test_a_sampler_of_the_notebook_chooses_and_is_not_advanced() -> None:
    class Named(data.Sampler):  # type: ignore[type-arg]
        def __init__(self) -> None:
            self.asked = 0

        def __iter__(self) -> Iterator[str]:
            self.asked += 1
            return iter(["b", "a"])

        def __len__(self) -> int:
            return 2

    class Table(data.Dataset):  # type: ignore[type-arg]
        rows = {"a": torch.zeros(2), "b": torch.ones(2)}  # noqa: RUF012 - as a notebook has it

        def __len__(self) -> int:
            return 2

        def __getitem__(self, name: str) -> Any:
            return self.rows[name]

    sampler = Named()
    entry = entry_of(data.DataLoader(Table(), batch_size=2, sampler=sampler))
    assert entry["structure"]["dataset"]["batch_shapes"] == {"batch": [2, 2]}
    assert sampler.asked == 0


def test_parts_tell_what_they_are_parts_of() -> None:
    entry = entry_of(data.Subset(objects_of_torch.Counted(), [1, 2, 3]))
    assert entry["structure"]["length"] == 3
    assert entry["representation"]["underlying_dataset"]["type"].endswith("Counted")
    whole = entry_of(data.Subset(plain_pairs(), [1, 2, 3]))["plus"]["values"]["tensors"]
    assert whole["1"]["value_range"] == [0, 4]


# All of them


def objects() -> dict[str, Any]:
    torch.manual_seed(1)
    net = objects_of_torch.Net()
    return {
        "tensor": torch.rand(7, 3),
        "flat": torch.arange(50) % 3,
        "net": net,
        "lazy": nn.LazyLinear(3),
        "loss": nn.CrossEntropyLoss(weight=torch.ones(2)),
        "optimizer": torch.optim.Adam(net.parameters()),
        "schedule": torch.optim.lr_scheduler.StepLR(
            torch.optim.SGD(net.parameters(), lr=0.1), 3
        ),
        "pairs": plain_pairs(),
        "counted": objects_of_torch.Counted(),
        "loader": data.DataLoader(plain_pairs(), batch_size=4, shuffle=True),
        "foreign": data.DataLoader(
            objects_of_torch.Counted(), batch_size=4, shuffle=True
        ),
        "inside": {
            "train": data.DataLoader(plain_pairs(), batch_size=4),
            "losses": [torch.tensor(0.5), torch.tensor(0.25)],
        },
        "size": torch.Size([1, 2]),
        "dtype": torch.float32,
        "device": torch.device("cpu"),
    }


OBJECTS = [
    *(
        "tensor",
        "flat",
        "net",
        "lazy",
        "loss",
        "optimizer",
        "schedule",
        "pairs",
        "counted",
        "loader",
        "foreign",
    ),
    *("inside", "size", "dtype", "device"),
]


def test_every_object_is_named() -> None:
    assert list(objects()) == OBJECTS


def fingerprint(value: Any) -> str:
    parts = [
        torch.get_rng_state(),
        random.getstate(),
        np.random.get_state(legacy=False)["state"]["key"].tolist(),
    ]
    if isinstance(value, nn.Module):
        parts.append(
            [
                (name, str(one), one.grad)
                for name, one in value.state_dict(keep_vars=True).items()
            ]
        )
        parts.append([module.training for module in value.modules()])
    if isinstance(value, torch.Tensor):
        parts.append((value.tolist(), value._version, value.grad))
    parts.append(sorted(vars(value)) if hasattr(value, "__dict__") else None)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@pytest.mark.parametrize("name", OBJECTS)
def test_the_contract_of_every_summary(name: str) -> None:
    value = objects()[name]
    before = fingerprint(value)
    texts = [
        look({"thing": value}, {"target": ASKING, "cells": [], "limits": UNHURRIED})
        for _ in range(2)
    ]
    assert fingerprint(value) == before
    first, second = (json.loads(text) for text in texts)
    assert first["variables"] == second["variables"]
    assert set(first["variables"]["thing"]) <= {
        "type",
        "structure",
        "representation",
        "values",
        "plus",
        "docs",
    }
    assert not first["unavailable"]
    assert len(texts[0]) < 2 * LookLimits().variable_chars


def test_neighbours_in_a_sequential_can_be_compared() -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2))
    sized = [
        layer
        for layer in more(net, "structure")["layers"].values()
        if "in_features" in layer
    ]
    assert [
        (one["out_features"], other["in_features"]) for one, other in pairwise(sized)
    ] == [(8, 9)]


@pytest.mark.parametrize("name", OBJECTS)
def test_inside_others_and_within_tight_limits_it_is_told_all_the_same(
    name: str,
) -> None:
    value = objects()[name]
    inside = looked("box['inside'][0]", box={"inside": [value]})
    assert (
        inside["variables"]["box"]["plus"]["representation"]["items"]["inside"]["type"]
        == "list"
    )
    assert not inside["unavailable"]
    tight = {"variable_chars": 600, "variable_steps": 100, "nodes": 2, "items": 1}
    assert (
        len(
            look(
                {"thing": value},
                {"target": "thing", "limits": dict(UNHURRIED, **tight)},
            )
        )
        < 1_600
    )


def test_the_parts_of_a_deep_model_reach_its_head() -> None:
    """Of very many containers those nearest to the whole are told."""
    halves = [
        nn.Sequential(*(nn.Sequential(nn.Sequential(nn.ReLU())) for _ in range(50)))
        for _ in "ab"
    ]
    told = more(nn.Sequential(*halves, nn.Sequential(nn.Linear(2, 1))), "structure")[
        "containers"
    ]
    assert {"", "0", "1", "2", "1.49"} <= told.keys()
    assert len(told) == 120


def test_the_weights_of_a_long_state_dict_tell_their_shapes() -> None:
    weights = nn.Sequential(
        *(nn.Linear(3, 2, bias=False) for _ in range(12))
    ).state_dict()
    told = more(weights, "structure")
    assert len(told["items"]) == 8
    assert told["other_shapes"] == {f"{at}.weight": [2, 3] for at in range(8, 12)}
