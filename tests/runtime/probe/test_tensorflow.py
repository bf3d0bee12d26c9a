"""What is said of TensorFlow's objects: TensorFlow itself is the oracle; nothing is iterated, run or advanced."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.examples import examples
from tests.optional import later, needs
from tests.patience import UNHURRIED

from .looks import lacks

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow")
tf = later("tensorflow")

ASKING = (
    "thing.a['b'](thing); thing['i']; thing[0]; thing(x=thing); thing.shape; "
    "thing[0, 1:, None]; [v for v in thing]"
)
"""A target that asks in many ways."""


def looked(target: str, **namespace: Any) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(
        look(namespace, {"target": target, "cells": [], "limits": UNHURRIED})
    )
    return state


def entry_of(value: Any) -> dict[str, Any]:
    entry: dict[str, Any] = looked("thing", thing=value)["variables"]["thing"]
    return entry


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
def arrays(draw: st.DrawFn) -> Any:
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    seed = draw(st.integers(0, 1000))
    values = np.random.default_rng(seed).normal(size=shape) * 20
    if values.size and draw(st.booleans()):
        values.reshape(-1)[draw(st.integers(0, values.size - 1))] = draw(
            st.sampled_from([np.nan, np.inf, -np.inf])
        )
    return values


def number(value: Any) -> float:
    return float(value["$float"]) if isinstance(value, dict) else float(value)


@examples(100)
@given(arrays(), st.sampled_from(DTYPES), st.booleans())
def test_a_tensor_is_what_tensorflow_says(
    values: Any,
    dtype: str,
    as_variable: bool,  # noqa: FBT001
) -> None:
    whole = (
        np.nan_to_num(values, posinf=9, neginf=-9) if "float" not in dtype else values
    )
    value = tf.cast(tf.constant(whole), dtype)
    entry = entry_of(tf.Variable(value) if as_variable else value)
    widened = tf.cast(value, "float64").numpy()
    assert entry["structure"] == {"shape": list(value.shape)}
    assert entry["representation"] == {"dtype": dtype}
    assert entry["values"]["has_nan"] is bool(np.isnan(widened).any())
    real = widened[~np.isnan(widened)]
    if real.size:
        assert [number(end) for end in entry["plus"]["values"]["value_range"]] == [
            real.min(),
            real.max(),
        ]


def test_texts_are_told_where_they_are_few() -> None:
    entry = entry_of(tf.constant(["oak", "elm"]))
    assert entry["representation"] == {"dtype": "string"}
    assert [text["begin"] for text in entry["plus"]["values"]["items"]] == [
        "b'oak'",
        "b'elm'",
    ]
    assert "not_computed" in entry_of(tf.fill([30_000], "oak"))["plus"]["values"]


def test_memory_beside_a_large_tensor_is_small() -> None:
    peak = Path("/proc/self/clear_refs")
    if not peak.exists():
        pytest.skip("this system does not tell the peak of memory")
    value, kept = (
        tf.random.normal((5_000, 5_000)),
        tf.Variable(tf.zeros((5_000, 5_000))),
    )
    entry_of(tf.zeros(3))
    for one in (value, kept):
        peak.write_text("5")
        before = memory("VmRSS")
        assert entry_of(one)["values"]["has_nan"] is False
        assert memory("VmHWM") - before < 10_000_000


def memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def test_ragged_and_sparse_tensors() -> None:
    ragged = entry_of(tf.ragged.constant([[1, 2, 3], [4], []]))
    assert ragged["structure"] == {"shape": [3, None]}
    facts = ragged["plus"]["structure"]
    assert (facts["n_rows"], facts["row_lengths"], facts["ragged_rank"]) == (
        3,
        [0, 3],
        1,
    )
    assert ragged["plus"]["values"]["row_values"]["value_range"] == [1, 4]
    sparse = entry_of(tf.sparse.from_dense([[1, 0, 0], [0, 2, 0]]))
    assert sparse["structure"] == {"shape": [2, 3]}
    assert sparse["plus"]["structure"] == {"n_stored": 2}


def test_a_tensor_of_a_graph_has_a_shape_and_no_values() -> None:
    met = []

    @tf.function
    def traced(x: Any) -> Any:
        met.append(entry_of(x))
        return x

    traced.get_concrete_function(tf.TensorSpec((None, 3), tf.float32))
    assert met[0]["structure"] == {"shape": [None, 3]}
    assert met[0]["values"] == {}


def test_an_open_tape_does_not_watch_what_is_looked_at() -> None:
    variable = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        assert entry_of(variable)["structure"] == {"shape": [2]}
        assert tape.watched_variables() == ()


def test_attributes_of_tensors_are_checked() -> None:
    state = looked("t.shape\nt.dtype\nt.reshape(2)\nt.numpy()", t=tf.zeros((2, 3)))
    assert state["accesses"]["t.shape"]["plus"]["values"]["value"] == [2, 3]
    assert state["accesses"]["t.dtype"]["plus"]["values"]["value"] == "float32"
    assert lacks(state, "attributes", "attribute") == ["reshape"]


def test_what_stands_behind_tf_keras_is_checked_where_it_is_loaded() -> None:
    assert tf.keras.layers.Dense
    target = (
        "tf.keras.layers.Dence(1)\ntf.keras.layer\ntf.keras.layers.Dense(1)\ntf.maht"
    )
    lacks = looked(target, tf=import_module("tensorflow"))["absent"]["attributes"]
    assert [lack["attribute"] for lack in lacks] == ["Dence", "layer", "maht"]


def test_lists_and_dicts_of_tracked_objects_are_told_by_what_they_wrap() -> None:
    class Holder(tf.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.sizes = [1, 2, 3]
            self.names = {"a": 1}

    holder = tf.train.Checkpoint(sizes=[1, 2, 3], names={"a": 1})
    state = looked("sizes\nnames", sizes=holder.sizes, names=holder.names)["variables"]
    assert state["sizes"]["structure"]["length"] == 3
    assert state["names"]["plus"]["values"]["keys"] == ["a"]


# Datasets

SIZES = np.zeros((10, 3), dtype="float32")
DATASETS = {
    "pairs": lambda: tf.data.Dataset.from_tensor_slices((SIZES, np.arange(10))).batch(
        4
    ),
    "dicts": lambda: tf.data.Dataset.from_tensor_slices(
        {"a": SIZES, "b": [b"x"] * 10}
    ).batch(4, drop_remainder=True),
    "single": lambda: tf.data.Dataset.range(7),
    "mapped": lambda: (
        tf.data.Dataset.range(7).map(lambda n: (n, tf.cast(n, "float32"))).prefetch(2)
    ),
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_dataset_tells_its_specification_and_its_size(name: str) -> None:
    dataset = DATASETS[name]()
    entry = entry_of(dataset)
    ends = tf.nest.flatten(dataset.element_spec)
    stated = flat(entry["representation"]["element_spec"])
    assert stated == [
        {"shape": list(end.shape), "dtype": end.dtype.name} for end in ends
    ]
    assert entry["plus"]["structure"]["n_elements"] == len(list(dataset))


def flat(spec: Any) -> list[Any]:
    """The ends of a stated specification, in the order of tf.nest: dicts by sorted keys."""
    if isinstance(spec, list):
        return [end for part in spec for end in flat(part)]
    if "dtype" in spec:
        return [spec]
    return [end for key in sorted(spec) for end in flat(spec[key])]


def test_sizes_that_are_not_known_are_not_counted() -> None:
    def rows() -> NoReturn:
        raise AssertionError("it was iterated")

    unknown = tf.data.Dataset.from_generator(
        rows, output_signature=tf.TensorSpec((), tf.int32)
    )
    assert entry_of(unknown)["plus"]["structure"] == {"n_elements": "unknown"}
    assert entry_of(tf.data.Dataset.range(3).repeat())["plus"]["structure"] == {
        "n_elements": "infinite"
    }


def test_special_elements_keep_their_kind() -> None:
    ragged = tf.data.Dataset.from_tensor_slices(
        tf.ragged.constant([[1, 2], [3]])
    ).batch(2)
    spec = entry_of(ragged)["representation"]["element_spec"]
    assert (spec["type"], spec["shape"], spec["dtype"]) == (
        "RaggedTensorSpec",
        [None, None],
        "int32",
    )


def test_class_names_are_told_as_long_as_the_dataset_has_them() -> None:
    dataset = tf.data.Dataset.range(3)
    dataset.class_names = ["ash", "oak"]
    assert entry_of(dataset)["plus"]["values"]["attributes"]["class_names"] == [
        "ash",
        "oak",
    ]
    lacks = looked("later.class_names", later=dataset.prefetch(1))["absent"][
        "attributes"
    ]
    assert [lack["attribute"] for lack in lacks] == ["class_names"]


def test_an_iterator_is_not_advanced() -> None:
    steps = iter(tf.data.Dataset.range(3))
    assert entry_of(steps)["plus"]["representation"]["element_spec"] == {
        "shape": [],
        "dtype": "int64",
    }
    assert int(next(steps)) == 0


# All of them


def objects() -> dict[str, Any]:
    return {
        "tensor": tf.random.stateless_normal((7, 3), seed=(1, 2)),
        "flat": tf.range(50) % 3,
        "variable": tf.Variable(tf.zeros((2, 3))),
        "texts": tf.constant(["a", "b"]),
        "ragged": tf.ragged.constant([[1, 2], [3]]),
        "sparse": tf.sparse.from_dense([[1, 0], [0, 2]]),
        **{name: make() for name, make in DATASETS.items()},
        "shuffled": tf.data.Dataset.range(9).shuffle(9).repeat(),
        "inside": {"x": [tf.zeros((2, 3)), tf.zeros((2, 4))], "loss": tf.constant(0.5)},
        "shape": tf.TensorShape((None, 3)),
        "spec": tf.TensorSpec((None, 3)),
        "dtype": tf.float32,
        "module": import_module("tensorflow"),
        "keras": tf.keras,
    }


OBJECTS = [
    *(
        "tensor",
        "flat",
        "variable",
        "texts",
        "ragged",
        "sparse",
        *DATASETS,
        "shuffled",
        "inside",
        "shape",
        "spec",
    ),
    *("dtype", "module", "keras"),
]


def test_every_object_is_named() -> None:
    assert list(objects()) == OBJECTS


def random_states() -> Any:
    from tensorflow.python.eager import context

    generator = tf.random.get_global_generator().state.numpy().tolist()
    return (
        generator,
        repr(context.context()._rng and context.context()._rng.getstate()),
        np.random.get_state()[1].tolist(),
    )


@pytest.mark.parametrize("name", OBJECTS)
def test_the_contract_of_every_summary(name: str) -> None:
    tf.random.set_seed(4)
    value = objects()[name]
    before = random_states()
    texts = [
        look({"thing": value}, {"target": ASKING, "cells": [], "limits": UNHURRIED})
        for _ in range(2)
    ]
    assert random_states() == before
    first, second = (json.loads(text) for text in texts)
    assert first["variables"] == second["variables"]
    assert not first["unavailable"]
    assert len(texts[0]) < 2 * LookLimits().variable_chars


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
