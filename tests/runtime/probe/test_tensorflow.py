"""What is said of TensorFlow's objects: TensorFlow itself is the oracle; nothing is iterated, run or advanced."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    number,
)

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow")
tf = later("tensorflow")


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


@examples(100)
@given(arrays(), st.sampled_from(DTYPES), st.booleans())
def test_a_tensor_is_what_tensorflow_says(
    values: Any,
    dtype: str,
    as_variable: bool,  # noqa: FBT001
) -> None:
    whole = (
        np.nan_to_num(values, posinf=9, neginf=-9)
        if "float" not in dtype
        else values
    )
    value = tf.cast(tf.constant(whole), dtype)
    told = entry(tf.Variable(value) if as_variable else value)
    widened = tf.cast(value, "float64").numpy()
    assert told["structure"] == {"shape": list(value.shape)}
    assert told["representation"] == {"dtype": dtype}
    assert told["values"]["has_nan"] is bool(np.isnan(widened).any())
    real = widened[~np.isnan(widened)]
    if real.size:
        found = [number(end) for end in told["plus"]["values"]["value_range"]]
        assert found == [real.min(), real.max()]


def test_texts_are_told_where_they_are_few() -> None:
    told = entry(tf.constant(["oak", "elm"]))
    assert told["representation"] == {"dtype": "string"}
    begins = [text["begin"] for text in told["plus"]["values"]["items"]]
    assert begins == ["b'oak'", "b'elm'"]
    assert "not_computed" in more(tf.fill([30_000], "oak"), "values")


def test_memory_beside_a_large_tensor_is_small() -> None:
    value = tf.random.normal((5_000, 5_000))
    kept = tf.Variable(tf.zeros((5_000, 5_000)))
    entry(tf.zeros(3))
    for one in (value, kept):
        assert grows_by(lambda: entry(one)) < 10_000_000  # noqa: B023 - it is called at once


def test_ragged_and_sparse_tensors() -> None:
    ragged = entry(tf.ragged.constant([[1, 2, 3], [4], []]))
    assert ragged["structure"] == {"shape": [3, None]}
    facts = {"n_rows": 3, "row_lengths": [0, 3], "ragged_rank": 1}
    assert facts.items() <= ragged["plus"]["structure"].items()
    assert ragged["plus"]["values"]["row_values"]["value_range"] == [1, 4]
    sparse = entry(tf.sparse.from_dense([[1, 0, 0], [0, 2, 0]]))
    assert sparse["structure"] == {"shape": [2, 3]}
    assert sparse["plus"]["structure"] == {"n_stored": 2}


def test_a_tensor_of_a_graph_has_a_shape_and_no_values() -> None:
    met = []

    @tf.function
    def traced(x: Any) -> Any:
        met.append(entry(x))
        return x

    traced.get_concrete_function(tf.TensorSpec((None, 3), tf.float32))
    assert met[0]["structure"] == {"shape": [None, 3]}
    assert met[0]["values"] == {}


def test_an_open_tape_does_not_watch_what_is_looked_at() -> None:
    variable = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        assert entry(variable)["structure"] == {"shape": [2]}
        assert tape.watched_variables() == ()


def test_attributes_of_tensors_are_checked() -> None:
    target = "t.shape\nt.dtype\nt.reshape(2)\nt.numpy()"
    state = looked({"t": tf.zeros((2, 3))}, target)
    for name, value in (("shape", [2, 3]), ("dtype", "float32")):
        assert (
            state["accesses"][f"t.{name}"]["plus"]["values"]["value"] == value
        )
    assert lacks(state, "attributes", "attribute") == ["reshape"]


def test_what_stands_behind_tf_keras_is_checked_where_it_is_loaded() -> None:
    assert tf.keras.layers.Dense
    target = "tf.keras.layers.Dence(1)\ntf.keras.layer\ntf.keras.layers.Dense(1)\ntf.maht"
    state = looked({"tf": import_module("tensorflow")}, target)
    assert lacks(state, "attributes", "attribute") == ["Dence", "layer", "maht"]


def test_lists_and_dicts_of_tracked_objects_are_told_by_what_they_wrap() -> (
    None
):
    holder = tf.train.Checkpoint(sizes=[1, 2, 3], names={"a": 1})
    assert entry(holder.sizes)["structure"]["length"] == 3
    assert more(holder.names, "values")["keys"] == ["a"]


# Datasets

SIZES = np.zeros((10, 3), dtype="float32")
DATASETS: dict[str, Callable[[], Any]] = {
    "pairs": lambda: tf.data.Dataset.from_tensor_slices(
        (SIZES, np.arange(10))
    ).batch(4),
    "dicts": lambda: tf.data.Dataset.from_tensor_slices(
        {"a": SIZES, "b": [b"x"] * 10}
    ).batch(4, drop_remainder=True),
    "single": lambda: tf.data.Dataset.range(7),
    "mapped": lambda: (
        tf.data.Dataset.range(7)
        .map(lambda n: (n, tf.cast(n, "float32")))
        .prefetch(2)
    ),
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_dataset_tells_its_specification_and_its_size(name: str) -> None:
    dataset = DATASETS[name]()
    told = entry(dataset)
    assert flat(told["representation"]["element_spec"]) == [
        {"shape": list(end.shape), "dtype": end.dtype.name}
        for end in tf.nest.flatten(dataset.element_spec)
    ]
    assert told["plus"]["structure"]["n_elements"] == len(list(dataset))


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

    one = tf.TensorSpec((), tf.int32)
    unknown = tf.data.Dataset.from_generator(rows, output_signature=one)
    endless = tf.data.Dataset.range(3).repeat()
    for dataset, n in ((unknown, "unknown"), (endless, "infinite")):
        assert more(dataset, "structure") == {"n_elements": n}


def test_special_elements_keep_their_kind() -> None:
    rows = tf.ragged.constant([[1, 2], [3]])
    ragged = tf.data.Dataset.from_tensor_slices(rows).batch(2)
    spec = entry(ragged)["representation"]["element_spec"]
    kind = {"type": "RaggedTensorSpec", "shape": [None, None], "dtype": "int32"}
    assert kind.items() <= spec.items()


def test_class_names_are_told_as_long_as_the_dataset_has_them() -> None:
    dataset = tf.data.Dataset.range(3)
    dataset.class_names = ["ash", "oak"]
    attributes = more(dataset, "values")["attributes"]
    assert attributes["class_names"] == ["ash", "oak"]
    state = looked({"later": dataset.prefetch(1)}, "later.class_names")
    assert lacks(state, "attributes", "attribute") == ["class_names"]


def test_an_iterator_is_not_advanced() -> None:
    steps = iter(tf.data.Dataset.range(3))
    spec = more(steps, "representation")["element_spec"]
    assert spec == {"shape": [], "dtype": "int64"}
    assert int(next(steps)) == 0


# All of them


OBJECTS: dict[str, Callable[[], Any]] = {
    "tensor": lambda: tf.random.stateless_normal((7, 3), seed=(1, 2)),
    "flat": lambda: tf.range(50) % 3,
    "variable": lambda: tf.Variable(tf.zeros((2, 3))),
    "texts": lambda: tf.constant(["a", "b"]),
    "ragged": lambda: tf.ragged.constant([[1, 2], [3]]),
    "sparse": lambda: tf.sparse.from_dense([[1, 0], [0, 2]]),
    **DATASETS,
    "shuffled": lambda: tf.data.Dataset.range(9).shuffle(9).repeat(),
    "inside": lambda: {
        "x": [tf.zeros((2, 3)), tf.zeros((2, 4))],
        "loss": tf.constant(0.5),
    },
    "shape": lambda: tf.TensorShape((None, 3)),
    "spec": lambda: tf.TensorSpec((None, 3)),
    "dtype": lambda: tf.float32,
    "module": lambda: import_module("tensorflow"),
    "keras": lambda: tf.keras,
}


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
    value = OBJECTS[name]()
    keeps_the_contract(value, lambda _: random_states())
    is_told_inside_and_in_short(value)
