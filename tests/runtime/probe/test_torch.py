"""What is said of torch's objects: torch itself is the oracle, and nothing of the notebook is advanced or changed."""

from __future__ import annotations

import hashlib
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe import budget
from crane_core.runtime.kernel_side.crane_probe.kernel_copy import forked
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from tests.examples import examples
from tests.optional import later, needs

from .looks import (
    entry,
    grows_by,
    is_told_inside_and_in_short,
    keeps_the_contract,
    lacks,
    looked,
    more,
    needs_copy,
    number,
)

pytestmark = needs("torch")
torch, nn, data = later("torch"), later("torch.nn"), later("torch.utils.data")
objects_of_torch = later("tests.runtime.probe.objects_of_torch")


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


@examples(150)
@given(tensors())
def test_a_tensor_is_what_torch_says(value: Any) -> None:
    told = entry(value)
    plus = told.get("plus", {})
    assert told["structure"] == {"shape": list(value.shape)}
    assert told["representation"] == {
        "dtype": str(value.dtype),
        "device": "cpu",
        "requires_grad": False,
    }
    assert told["values"]["has_nan"] is bool(value.isnan().any())
    is_contiguous = plus.get("structure", {}).get("is_contiguous", True)
    assert is_contiguous is value.is_contiguous()
    real = value[~value.isnan()]
    if real.numel():
        found = [number(end) for end in plus["values"]["value_range"]]
        assert found == [float(real.min()), float(real.max())]


@examples(40)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=300))
def test_a_flat_tensor_tells_its_distinct_values(values: list[int]) -> None:
    info = entry(torch.tensor(values))["values"]["value_info"]
    assert info["num_unique"] == len(set(values))
    assert info["unique_values"] == sorted(set(values))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("turn", ["as it is", "transposed", "every third"])
def test_a_long_tensor_is_looked_through_to_its_end(
    dtype: str, turn: str
) -> None:
    value = torch.zeros(301, 1003, dtype=getattr(torch, dtype))
    value[300, 1002] = 7
    value[0, 0] = -7
    seen = {
        "as it is": value,
        "transposed": value.t(),
        "every third": value[:, ::3],
    }[turn]
    assert more(seen, "values")["value_range"] == [-7.0, 7.0]
    seen[150, 150] = float("nan")
    assert entry(seen)["values"]["has_nan"] is True


def test_gradients_are_told() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    assert more(weight, "representation") == {"has_grad": False}
    product = weight * 3
    assert more(product, "representation") == {"grad_fn": "MulBackward0"}
    product.sum().backward()
    assert more(weight, "representation") == {"has_grad": True}
    assert entry(product)["representation"]["requires_grad"] is True


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
            {
                "values": {
                    "not_computed": "a tensor of device meta has no values"
                }
            },
        ),
        (
            lambda: torch.ones(2, 2, dtype=torch.complex64),
            {"values": {"items": [["(1+0j)"] * 2] * 2}},
        ),
    ],
    ids=["sparse", "meta", "complex"],
)
def test_tensors_out_of_the_ordinary(value: Any, facts: dict[str, Any]) -> None:
    assert entry(value())["plus"] == facts


def test_a_subclass_is_seen_without_its_code() -> None:
    told = entry(
        torch.arange(6.0).reshape(2, 3).as_subclass(objects_of_torch.Loud)
    )
    assert told["structure"] == {"shape": [2, 3]}
    assert told["plus"]["values"]["value_range"] == [0.0, 5.0]


def test_memory_beside_a_large_tensor_is_small() -> None:
    value = torch.rand(5_000, 5_000).t()
    entry(torch.rand(10))
    assert grows_by(lambda: entry(value)) < value.numel() * 4 / 10


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
    shape = shape_with_sizes(
        facts["expected_input"]["shape"],
        2 if isinstance(layer, nn.BatchNorm2d) else 1,
    )
    below = facts["expected_input"].get("integers_below")
    given_in = (
        torch.rand(shape) if below is None else torch.randint(below, shape)
    )
    came = layer(given_in)
    out = came[0] if isinstance(came, tuple) else came
    stated = facts["output"]["shape"]
    before = stated[: stated.index("...")] if "..." in stated else stated
    fixed = [at for at, size in enumerate(before) if isinstance(size, int)]
    assert [out.shape[at] for at in fixed] == [stated[at] for at in fixed]
    if stated[0] == "...":
        assert list(out.shape)[-len(stated) + 1 :] == stated[1:]
    assert facts["n_parameters"] == n_parameters(layer)


def n_parameters(module: Any) -> int:
    """As torch counts them."""
    return sum(one.numel() for one in module.parameters())


@pytest.mark.parametrize("at", [0, 2, 7, 8, 9, 10])
def test_another_size_than_stated_is_refused_by_torch(at: int) -> None:
    layer = LAYERS[at]()
    shape = more(layer, "structure")["expected_input"]["shape"]
    place = next(
        place for place, size in enumerate(shape) if isinstance(size, int)
    )
    shape[place] += 1
    with pytest.raises(RuntimeError):
        layer(torch.rand(shape_with_sizes(shape, 1)))


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
    facts = entry(net)["plus"]
    trained = sum(one.numel() for one in net.parameters() if one.requires_grad)
    structure, representation, values = facts.values()
    assert structure["n_parameters"] == n_parameters(net)
    assert structure["n_trainable_parameters"] == trained
    placed = (representation["dtype"], representation["device"])
    assert placed == ("torch.float32", "cpu")
    assert representation["forward"].startswith("(sheets")
    assert values["training"] is True
    others = ["body", *(f"body.{at}" for at in range(4))]
    assert values["in_the_other_mode"] == others
    assert values["attributes"] == {"n_in": 8}


def test_shared_parameters_count_once() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    assert more(net, "structure")["n_parameters"] == n_parameters(net) == 15


def test_a_lazy_module_stays_lazy() -> None:
    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyLinear(2))
    facts = more(net, "structure")
    assert facts["n_uninitialized_parameters"] == 4
    assert facts["layers"]["1"]["uninitialized"] is True
    assert "expected_input" not in facts
    assert isinstance(net[1].weight, nn.UninitializedParameter)


def test_a_deep_module_is_cut_in_the_middle_and_the_cut_is_counted() -> None:
    net = nn.Sequential(
        *(nn.Linear(width, width + 1) for width in range(1, 201))
    )
    told = entry(net)
    facts = told["plus"]["structure"]
    assert len(facts["layers"]) + facts["layers_not_shown"] == 200
    assert facts["layers"]["0"]["in_features"] == 1
    assert facts["output"] == {"layer": "199", "shape": ["...", 201]}
    assert facts["n_parameters"] == n_parameters(net)
    assert len(json.dumps(told)) < LookLimits().variable_chars


def test_a_module_that_raises_at_everything_is_seen() -> None:
    trap = objects_of_torch.Trap()
    assert more(trap, "structure")["layers"] == {
        "inner": {"type": "Linear", "in_features": 3, "out_features": 1}
    }
    state = looked({"net": trap}, "net.anything")
    assert state["absent"]["attributes"] == [], (
        "a __getattr__ of its own may give it"
    )


def test_a_module_before_its_init_is_seen() -> None:
    told = entry(objects_of_torch.Net.__new__(objects_of_torch.Net))
    assert told["type"].endswith("Net")
    assert "unavailable" not in told


def test_chains_lead_into_modules() -> None:
    target = "net.head.in_features\nnet.scale.shape\nnet.body[-1].p\nnet.body[1].out_fetures\nnet.hed(1)\nnet.body[9]"
    state = looked({"net": objects_of_torch.Net()}, target)
    assert state["accesses"]["net.head.in_features"]["values"]["value"] == 5
    assert state["accesses"]["net.scale.shape"]["plus"]["values"]["items"] == [
        2
    ]
    assert lacks(state, "attributes", "attribute", "similar") == [
        ("out_fetures", ["out_features", "in_features"]),
        ("hed", ["head"]),
    ]
    assert lacks(state, "keys", "index", "length") == [(9, 4)]


def test_indices_of_tensors_are_checked() -> None:
    target = "t[4]\nt[0, 3]\nt[1, 2]\nt[:, :, 0]\nt[-4]"
    state = looked({"t": torch.zeros(4, 3)}, target)
    assert lacks(state, "keys", "index", "why") == [
        (4, "out of bounds"),
        ("0, 3", "out of bounds"),
        (":, :, 0", "too many indices"),
    ]


# Training


def test_an_optimizer_tells_rates_and_how_much_it_trains() -> None:
    net = objects_of_torch.Net()
    facts = entry(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))[
        "plus"
    ]
    assert facts["structure"]["n_parameters"] == n_parameters(net)
    assert facts["structure"]["n_groups"] == 1
    assert (facts["values"]["lr"], facts["values"]["momentum"]) == (0.1, 0.9)


def test_groups_of_an_optimizer_are_told_apart() -> None:
    net = objects_of_torch.Net()
    groups = [
        {"params": net.body.parameters(), "lr": 0.5},
        {"params": net.head.parameters()},
    ]
    facts = more(torch.optim.Adam(groups, lr=0.1), "values")
    assert [group["lr"] for group in facts["groups"]] == [0.5, 0.1]


def test_a_schedule_tells_where_it_stands() -> None:
    optimizer = torch.optim.SGD(objects_of_torch.Net().parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=1.0, total_steps=3
    )
    optimizer.step()
    schedule.step()
    facts = more(schedule, "values")
    assert (facts["total_steps"], facts["last_epoch"]) == (3, 1)


def test_a_loss_tells_its_weights() -> None:
    loss = nn.CrossEntropyLoss(weight=torch.ones(3).double(), ignore_index=0)
    assert entry(loss)["plus"] == {
        "structure": {"weight_shape": [3]},
        "representation": {"weight_dtype": "torch.float64"},
        "values": {"reduction": "mean", "ignore_index": 0},
    }


# Data


def plain_pairs(n: int = 23) -> Any:
    return data.TensorDataset(torch.rand(n, 3, 4).double(), torch.arange(n) % 5)


def halves(samples: list[Any]) -> Any:
    return torch.stack([sample["image"] for sample in samples]).half(), [
        sample["label"] for sample in samples
    ]


LOADERS = {
    "plain": lambda: data.DataLoader(plain_pairs(), batch_size=4),
    "shuffled": lambda: data.DataLoader(
        plain_pairs(), batch_size=16, shuffle=True
    ),
    "all at once": lambda: data.DataLoader(plain_pairs(), batch_size=100),
    "only whole batches": lambda: data.DataLoader(
        plain_pairs(), batch_size=16, drop_last=True
    ),
    "part": lambda: data.DataLoader(
        data.random_split(plain_pairs(), [13, 10])[0], batch_size=5
    ),
    "chosen": lambda: data.DataLoader(
        plain_pairs(),
        batch_size=7,
        sampler=data.SubsetRandomSampler([5, 9, 1, 7]),
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
        batch_sampler=data.BatchSampler(
            data.SequentialSampler(range(9)), 4, False
        ),
    ),
    "one by one": lambda: data.DataLoader(
        objects_of_torch.Counted(), batch_size=None
    ),
    "a list": lambda: data.DataLoader(
        [torch.ones(3), torch.ones(3)], batch_size=2
    ),  # type: ignore[arg-type]
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
    told = entry(loader)
    plus = told["plus"]
    full = plus["structure"].get("dataset", {}).get("batch_shapes", {})
    stated = told["structure"]["dataset"]["batch_shapes"] | full
    batches = list(loader)
    came = dict(ends(batches[0]))
    sizes = (
        told["structure"]["num_batches"],
        told["structure"]["num_examples"],
    )
    assert sizes == (len(batches), len(loader.dataset))
    assert {key: stated[key] for key in stated.keys() & came.keys()} == {
        key: list(part.shape) for key, part in came.items()
    }
    assert plus["representation"]["batch_dtypes"] == {
        key: str(part.dtype) for key, part in came.items()
    }
    _, last = next(ends(batches[-1]))
    if "last_batch_size" in plus["structure"]:
        assert plus["structure"]["last_batch_size"] == last.shape[0]


def test_how_many_samples_a_batch_was_made_of_is_told_where_it_is_not_the_whole() -> (
    None
):
    told = entry(
        data.DataLoader(
            objects_of_torch.Counted(), batch_size=16, collate_fn=halves
        )
    )
    assert told["structure"]["dataset"]["batch_shapes"]["batch[0]"] == [
        10,
        3,
        8,
        8,
    ]
    of = told["plus"]["structure"]["dataset"]["batch_shapes_of"]
    assert of == "10 samples, of the 16 of a batch"


def random_states(*more: Any) -> str:
    """Of all generators, and of others of torch."""
    return repr(
        (
            torch.get_rng_state().tolist(),
            random.getstate(),
            np.random.get_state(legacy=False),
            [generator.get_state().tolist() for generator in more],
        )
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
    states = random_states(shuffle)
    first, second = (
        looked({"loader": loader, "source": source}, "loader\nsource")
        for _ in range(2)
    )
    assert random_states(shuffle) == states
    assert (source.calls, source.log) == (0, [])
    assert first["variables"] == second["variables"]
    assert loader._iterator is None


def test_where_the_process_cannot_be_copied_random_states_are_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forked, "is_possible", lambda: False)
    torch.manual_seed(0)
    loader = data.DataLoader(
        objects_of_torch.Counted(), batch_size=4, shuffle=True
    )
    states = random_states()
    told = entry(loader)
    assert random_states() == states
    shapes = told["structure"]["dataset"]["batch_shapes"]
    assert shapes["batch['image']"] == [4, 3, 8, 8]


@pytest.mark.parametrize(
    ("draw", "is_told"),
    [
        (random.random, {"draws"}),
        (np.random.rand, {"draws"}),
        (lambda: torch.rand(1), {"draws"}),
        (int, set()),
    ],
)
def test_samples_that_draw_random_numbers_say_so(
    draw: Callable[[], Any], is_told: set[str]
) -> None:
    source = objects_of_torch.Made(lambda index: (draw(), torch.zeros(3))[1])
    told = more(data.DataLoader(source, batch_size=2), "values")
    assert {"draws"} & told.keys() == is_told


@pytest.mark.parametrize(
    "dtype",
    ["bool", "complex64", "float8_e4m3fn", "bfloat16", "uint8", "float16"],
)
def test_tensors_of_any_type_make_batches(dtype: str) -> None:
    source = data.TensorDataset(torch.ones(6, 2).to(getattr(torch, dtype)))
    told = entry(data.DataLoader(source, batch_size=4))
    assert told["structure"]["dataset"]["batch_shapes"] == {"batch[0]": [4, 2]}
    dtypes = told["plus"]["representation"]["batch_dtypes"]
    assert dtypes == {"batch[0]": f"torch.{dtype}"}


def test_an_index_beyond_the_dataset_is_a_fact() -> None:
    part = data.Subset(plain_pairs(5), [0, 7])
    error = more(data.DataLoader(part, batch_size=2), "values")["sample_error"]
    assert error.startswith("dataset[1] raises IndexError")


def test_samples_that_do_not_fit_together_say_so() -> None:
    ragged = objects_of_torch.Made(
        lambda at: (torch.zeros(41 + 17 * (at % 2)), at)
    )
    dataset = entry(data.DataLoader(ragged, batch_size=4))["structure"][
        "dataset"
    ]
    assert dataset["sample_shapes"] == {"input": [[41], [58]]}
    assert "equal size" in dataset["batch_shapes"]["error"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("image"), "dataset[0] raises KeyError: image"),
        (RuntimeError("no\nmore"), "dataset[0] raises RuntimeError: no"),
    ],
)
def test_a_sample_that_cannot_be_had_is_a_fact(
    error: Exception, said: str
) -> None:
    def broken(index: int) -> NoReturn:
        raise error

    assert entry(objects_of_torch.Made(broken))["structure"] == {
        "length": 5,
        "sample_shapes": {"error": said},
    }


def raising() -> NoReturn:
    raise RuntimeError("it does not want to")


def sleeping() -> NoReturn:
    time.sleep(600)
    raise AssertionError("it was waited for")


def leaving() -> NoReturn:
    raise SystemExit(3)


def printing() -> int:
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
    value = objects_of_torch.Hostile(**{method: how})
    if place == "in a loader":
        sampler = data.SequentialSampler(range(4))
        value = data.DataLoader(value, batch_size=2, sampler=sampler)
    assert "unavailable" not in entry(value, variable_seconds=1.0)
    assert capfd.readouterr() == ("", "")


def test_a_loader_in_a_dict_keeps_the_shapes_of_its_batches() -> None:
    source = data.TensorDataset(
        torch.zeros(64, 3), torch.zeros(64, dtype=torch.int64)
    )
    loader = data.DataLoader(source, batch_size=32)
    shapes = {"batch[0]": [32, 3], "batch[1]": [32]}
    alone = entry(loader)
    assert alone["plus"]["structure"]["dataset"]["batch_shapes"] == shapes
    inside = more({"train": loader}, "structure")["items"]["train"]
    samples = alone["structure"]["dataset"]["sample_shapes"]
    assert inside["dataset"]["batch_shapes"] == shapes
    assert inside["dataset"]["sample_shapes"] == samples
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
        str(at): data.DataLoader(
            objects_of_torch.Hostile(item=sleeping), batch_size=2
        )
        for at in range(4)
    }
    told = entry(slow, variable_seconds=1.0)
    assert len(allowed) >= 2
    # Who sleeps does no work, so the limit by the wall ends it; the last one may have begun before.
    assert sum(allowed[:-1]) <= budget._LONGEST
    assert "unfinished" in json.dumps(told) or "unavailable" in told


def test_an_iterable_dataset_is_not_advanced() -> None:
    class Stream(data.IterableDataset):  # type: ignore[name-defined]
        def __init__(self) -> None:
            self.rows = iter(range(100))
            self.batch = 7

        def __iter__(self) -> NoReturn:
            raise AssertionError("it was iterated")

        def __len__(self) -> NoReturn:
            raise AssertionError("it was measured")

    stream = Stream()
    loader = data.DataLoader(stream, batch_size=4)
    namespace = {"stream": stream, "loader": loader}
    state = looked(namespace, "stream\nloader")["variables"]
    assert state["loader"]["structure"] == {"batch_size": 4}
    assert state["stream"]["plus"]["values"] == {
        "advanced": "not by looking",
        "attributes": {"batch": 7},
    }
    assert next(stream.rows) == 0


@needs_copy
def test_a_sampler_of_the_notebook_chooses_and_is_not_advanced() -> None:
    class Named(data.Sampler):  # type: ignore[name-defined]
        def __init__(self) -> None:
            self.asked = 0

        def __iter__(self) -> Iterator[str]:
            self.asked += 1
            return iter(["b", "a"])

        def __len__(self) -> int:
            return 2

    rows = {"a": torch.zeros(2), "b": torch.ones(2)}
    table = objects_of_torch.Made(rows.__getitem__, 2)
    sampler = Named()
    told = entry(data.DataLoader(table, batch_size=2, sampler=sampler))
    assert told["structure"]["dataset"]["batch_shapes"] == {"batch": [2, 2]}
    assert sampler.asked == 0


def test_parts_tell_what_they_are_parts_of() -> None:
    told = entry(data.Subset(objects_of_torch.Counted(), [1, 2, 3]))
    assert told["structure"]["length"] == 3
    assert told["representation"]["underlying_dataset"]["type"].endswith(
        "Counted"
    )
    whole = more(data.Subset(plain_pairs(), [1, 2, 3]), "values")["tensors"]
    assert whole["1"]["value_range"] == [0, 4]


# All of them


OBJECTS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: torch.rand(7, 3),
    "flat": lambda: torch.arange(50) % 3,
    "net": lambda: objects_of_torch.Net(),
    "lazy": lambda: nn.LazyLinear(3),
    "loss": lambda: nn.CrossEntropyLoss(weight=torch.ones(2)),
    "optimizer": lambda: torch.optim.Adam(objects_of_torch.Net().parameters()),
    "schedule": lambda: torch.optim.lr_scheduler.StepLR(
        torch.optim.SGD(objects_of_torch.Net().parameters(), lr=0.1), 3
    ),
    "pairs": lambda: plain_pairs(),
    "counted": lambda: objects_of_torch.Counted(),
    "loader": lambda: data.DataLoader(
        plain_pairs(), batch_size=4, shuffle=True
    ),
    "foreign": LOADERS["of the notebook"],
    "inside": lambda: {
        "train": LOADERS["plain"](),
        "losses": [torch.tensor(0.5), torch.tensor(0.25)],
    },
    "size": lambda: torch.Size([1, 2]),
    "dtype": lambda: torch.float32,
    "device": lambda: torch.device("cpu"),
}


def fingerprint(value: Any) -> str:
    parts: list[Any] = [random_states()]
    if isinstance(value, nn.Module):
        held = value.state_dict(keep_vars=True).items()
        parts.append([(name, str(one), one.grad) for name, one in held])
        parts.append([module.training for module in value.modules()])
    if isinstance(value, torch.Tensor):
        parts.append((value.tolist(), value._version, value.grad))
    parts.append(sorted(vars(value)) if hasattr(value, "__dict__") else None)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@pytest.mark.parametrize("name", OBJECTS)
def test_the_contract_of_every_summary(name: str) -> None:
    torch.manual_seed(1)
    keeps_the_contract(OBJECTS[name](), fingerprint)
    is_told_inside_and_in_short(OBJECTS[name]())


def test_neighbours_in_a_sequential_can_be_compared() -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2))
    layers = more(net, "structure")["layers"].values()
    sized = [layer for layer in layers if "in_features" in layer]
    neighbours = [
        (one["out_features"], other["in_features"])
        for one, other in pairwise(sized)
    ]
    assert neighbours == [(8, 9)]


def test_the_parts_of_a_deep_model_reach_its_head() -> None:
    """Of very many containers those nearest to the whole are told."""
    halves = [
        nn.Sequential(
            *(nn.Sequential(nn.Sequential(nn.ReLU())) for _ in range(50))
        )
        for _ in "ab"
    ]
    model = nn.Sequential(*halves, nn.Sequential(nn.Linear(2, 1)))
    told = more(model, "structure")["containers"]
    assert {"", "0", "1", "2", "1.49"} <= told.keys()
    assert len(told) == 120


def test_the_weights_of_a_long_state_dict_tell_their_shapes() -> None:
    layers = [nn.Linear(3, 2, bias=False) for _ in range(12)]
    weights = nn.Sequential(*layers).state_dict()
    told = more(weights, "structure")
    assert len(told["items"]) == 8
    assert told["other_shapes"] == {
        f"{at}.weight": [2, 3] for at in range(8, 12)
    }
