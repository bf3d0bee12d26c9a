"""What is said of models, layers, data and training of Keras: Keras itself is the oracle; nothing is built or called.

Everything is shown for Keras 3 and, where it is installed, for the Keras 2 of older TensorFlow (tf_keras).
"""

from __future__ import annotations

import importlib
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from tests.optional import later, needs

from .looks import (
    entry,
    is_told_inside_and_in_short,
    keeps_the_contract,
    lacks,
    looked,
    more,
    needs_copy,
)

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow", "keras")
tf = later("tensorflow")


@pytest.fixture(params=["keras", "tf_keras"])
def keras(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(
        request.param, reason=f"{request.param} is not installed"
    )


# Models


def pictures(keras: Any) -> Any:
    layers = keras.layers
    stack = [
        layers.Conv2D(4, 3, activation="relu", input_shape=(28, 28, 1)),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(10, activation="softmax"),
    ]
    return keras.Sequential(stack)


def sequences(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((9,)),
            layers.Embedding(50, 8),
            layers.Bidirectional(layers.LSTM(4)),
            layers.Dense(1),
        ]
    )


def two_ends(keras: Any) -> Any:
    layers = keras.layers
    numbers, words = (
        keras.Input((4,), name="numbers"),
        keras.Input((7,), name="words", dtype="int32"),
    )
    told = layers.GlobalAveragePooling1D()(layers.Embedding(100, 8)(words))
    shared = layers.Dense(5, name="shared")
    joined = layers.Concatenate()([shared(numbers), told])
    return keras.Model(
        [numbers, words],
        [layers.Dense(2)(joined), layers.Dense(3)(shared(numbers))],
    )


def frozen_base(keras: Any) -> Any:
    layers = keras.layers
    base = keras.Sequential([layers.Input((8,)), layers.Dense(5)], name="base")
    base.trainable = False
    return keras.Sequential(
        [layers.Input((8,)), base, layers.BatchNormalization(), layers.Dense(2)]
    )


GRAPHS = [pictures, sequences, two_ends, frozen_base]


def lists(shape: Any) -> Any:
    if isinstance(shape, dict):
        return {key: lists(part) for key, part in shape.items()}
    return [
        lists(part) if isinstance(part, (list, tuple)) else part
        for part in shape
    ]


@pytest.mark.parametrize("make", GRAPHS)
def test_a_model_takes_and_gives_what_keras_says(keras: Any, make: Any) -> None:
    model = make(keras)
    facts = more(model, "structure")
    assert facts["input_shape"] == lists(model.input_shape)
    assert facts["output_shape"] == lists(model.output_shape)
    assert facts["n_parameters"] == model.count_params()
    trained = sum(
        int(np.prod(weight.shape)) for weight in model.trainable_weights
    )
    assert facts.get("n_trainable_parameters", facts["n_parameters"]) == trained


@pytest.mark.parametrize("make", GRAPHS)
def test_each_layer_takes_and_gives_what_keras_says(
    keras: Any, make: Any
) -> None:
    model = make(keras)
    stated = more(model, "structure")["layers"]
    for layer in model.layers:
        facts = stated[layer.name]
        assert facts["type"] == type(layer).__name__
        if len(layer._inbound_nodes) == 1:
            assert facts["gives"] == list(layer.output.shape)
            taken = (
                layer.input if isinstance(layer.input, list) else [layer.input]
            )
            if type(layer).__name__ != "InputLayer":
                assert facts["takes"] in (
                    list(taken[0].shape),
                    [list(one.shape) for one in taken],
                )


def test_settings_of_layers_are_told_in_short(keras: Any) -> None:
    layers = more(pictures(keras), "structure")["layers"]
    by_type = {facts["type"]: facts for facts in layers.values()}
    assert by_type["Conv2D"]["filters"] == 4
    assert by_type["Dense"]["activation"] == "softmax"
    assert by_type["Dropout"]["rate"] == 0.2
    assert "padding" not in by_type["Conv2D"]


def test_a_model_that_is_not_built_stays_so_and_tells_what_it_expects(
    keras: Any,
) -> None:
    model = keras.Sequential(
        [keras.layers.GRU(6), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile(loss="binary_crossentropy", optimizer="adam")
    facts = entry(model)["plus"]
    assert facts["values"]["built"] is False
    layers = facts["structure"]["layers"].values()
    assert [layer.get("expects") for layer in layers] == [
        {"ndim": 3},
        {"min_ndim": 2},
    ]
    assert "input_shape" not in facts["structure"]
    assert not model.built
    assert not model.layers[0].built


def subclassed(keras: Any) -> Any:
    class Grader(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = keras.layers.Dense(3)
            self.rest = [keras.layers.Dense(2)]
            self.n_grades = 2

        def call(self, leaves: Any, is_wet: bool = False) -> Any:  # noqa: FBT001, FBT002 - as a notebook has it
            return self.rest[0](self.first(leaves))

        @property
        def input_shape(self) -> NoReturn:
            raise AssertionError("a property was run")

        layers = output_shape = weights = variables = input_shape  # type: ignore[assignment]

    return Grader()


def test_a_model_of_the_notebook_tells_what_it_was_called_with(
    keras: Any,
) -> None:
    model = subclassed(keras)
    assert more(model, "values")["built"] is False
    model(np.zeros((2, 5), dtype="float32"))
    facts = entry(model)["plus"]
    assert facts["structure"]["n_parameters"] == 5 * 3 + 3 + 3 * 2 + 2
    layers = facts["structure"]["layers"].values()
    weights = [[[5, 3], [3]], [[3, 2], [2]]]
    assert [layer["weights"] for layer in layers] == weights
    assert facts["representation"]["call"].startswith("(leaves")
    assert facts["values"]["attributes"] == {"n_grades": 2}


def test_a_model_that_raises_at_everything_is_seen(keras: Any) -> None:
    model = subclassed(keras)

    def refuse(self: Any, *_: Any) -> NoReturn:
        raise AssertionError("it was asked for something")

    hostile = (
        "__getattr__",
        "__repr__",
        "__len__",
        "__iter__",
        "get_config",
        "count_params",
    )
    for name in hostile:
        setattr(type(model), name, refuse)
    layers = more(model, "structure")["layers"].values()
    assert [layer["units"] for layer in layers] == [3, 2]


def test_what_a_model_was_compiled_with(keras: Any) -> None:
    model = pictures(keras)
    assert more(model, "values")["compiled"] is False
    optimizer = keras.optimizers.SGD(learning_rate=0.05)
    model.compile(
        optimizer=optimizer,
        loss=keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    facts = more(model, "values")
    assert facts["loss"]["type"] == "CategoricalCrossentropy"
    assert facts["loss"]["from_logits"] is True
    assert facts["metrics"] == ["accuracy"]
    assert facts["optimizer"] == {"type": "SGD", "learning_rate": 0.05}

    def own(truth: Any, guess: Any) -> NoReturn:
        raise AssertionError("the loss was run")

    model.compile(optimizer="adam", loss=own, metrics=[keras.metrics.AUC()])
    facts = more(model, "values")
    assert (facts["loss"], facts["metrics"][0]["type"]) == ("own", "AUC")


def test_losses_by_output_are_told_by_output(keras: Any) -> None:
    model = two_ends(keras)
    model.compile(
        loss=["mse", keras.losses.BinaryCrossentropy()], optimizer="adam"
    )
    loss = more(model, "values")["loss"]
    assert (loss[0], loss[1]["type"]) == ("mse", "BinaryCrossentropy")


def test_a_deep_model_is_cut_in_the_middle_and_the_cut_is_counted(
    keras: Any,
) -> None:
    dense = [keras.layers.Dense(3) for _ in range(150)]
    told = entry(keras.Sequential([keras.layers.Input((3,)), *dense]))
    facts = told["plus"]["structure"]
    types = [layer["type"] for layer in facts["layers"].values()]
    n_layers = len(dense) + types.count("InputLayer")
    assert len(types) + facts["layers_not_shown"] == n_layers
    assert len(json.dumps(told)) < LookLimits().variable_chars


def test_layers_by_themselves(keras: Any) -> None:
    layer = keras.layers.Dense(3)
    assert entry(layer)["plus"] == {
        "structure": {"units": 3, "expects": {"min_ndim": 2}},
        "values": {"built": False},
    }
    layer.build((None, 7))
    facts = entry(layer)["plus"]
    assert facts["structure"]["n_parameters"] == layer.count_params() == 24
    assert facts["structure"]["weights"] == [[7, 3], [3]]
    assert facts["values"] == {"built": True}


def test_chains_lead_into_models(keras: Any) -> None:
    target = "model.layers[9]\nmodel.input_shape\nmodel.output_shape\nmodel.predict_classes(1)"
    state = looked({"model": pictures(keras)}, target)
    for name, shape in (("input", [None, 28, 28, 1]), ("output", [None, 10])):
        told = state["accesses"][f"model.{name}_shape"]
        assert told["plus"]["values"]["items"] == shape
    assert lacks(state, "keys", "index", "length") == [(9, 5)]
    assert lacks(state, "attributes", "attribute") == ["predict_classes"]


def test_symbolic_tensors_tell_shape_and_dtype(keras: Any) -> None:
    plus = entry(keras.Input((4,), name="numbers", dtype="int32"))["plus"]
    assert plus["structure"] == {"shape": [None, 4]}
    assert plus["representation"] == {"dtype": "int32"}


# Training


def test_a_history_tells_what_was_recorded(keras: Any) -> None:
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile(loss="mse", optimizer="sgd", metrics=["mae"])
    history = model.fit(np.zeros((8, 4)), np.zeros(8), epochs=3, verbose=0)
    facts = entry(history)["plus"]
    assert facts["structure"] == {"n_epochs": 3}
    assert (
        facts["values"]["metrics"] == list(history.history) == ["loss", "mae"]
    )
    assert facts["values"]["final_values"] == {
        name: values[-1] for name, values in history.history.items()
    }


def test_losses_metrics_optimizers_and_callbacks(keras: Any) -> None:
    assert more(keras.losses.Huber(delta=2.0), "values")["delta"] == 2.0
    assert more(
        keras.metrics.AUC(num_thresholds=30, name="area"), "values"
    ) == {
        "num_thresholds": 30,
        "name": "area",
    }
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    rate = more(keras.optimizers.Adam(schedule), "values")["learning_rate"]
    assert (rate["type"], rate["initial_learning_rate"]) == (
        "ExponentialDecay",
        0.1,
    )
    stopping = keras.callbacks.EarlyStopping(monitor="val_auc", patience=2)
    attributes = more(stopping, "values")["attributes"]
    assert (attributes["monitor"], attributes["patience"]) == ("val_auc", 2)


# Images


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of three pictures each."""
    for kind in ("bruised", "sound"):
        (tmp_path / kind).mkdir()
        for number in range(3):
            picture = Image.new("RGB", (20, 10), color=(number, 0, 0))
            picture.save(tmp_path / kind / f"{number}.png")
    return tmp_path


def image_tools(keras: Any) -> Any:
    return importlib.import_module(
        f"{keras.__name__}.preprocessing.image"
        if keras.__name__ == "tf_keras"
        else "keras.src.legacy.preprocessing.image"
    )


def ends(batch: Any, name: str) -> Any:
    if isinstance(batch, (list, tuple)):
        return {
            key: part
            for at, one in enumerate(batch)
            for key, part in ends(one, f"{name}[{at}]").items()
        }
    return {name: batch}


def first_batch(images: Any) -> Any:
    batch = images[0]
    return ends(batch if isinstance(batch, tuple) else (batch,), "batch")


def assert_it_is_the_batch_that_comes(images: Any) -> None:
    n_seen, generator_state = images.total_batches_seen, images.batch_index
    facts = entry(images)["plus"]
    assert (images.total_batches_seen, images.batch_index) == (
        n_seen,
        generator_state,
    )
    batch = first_batch(images)
    shapes = {name: list(part.shape) for name, part in batch.items()}
    dtypes = {name: str(part.dtype) for name, part in batch.items()}
    assert facts["structure"]["batch_shapes"] == shapes
    assert facts["representation"]["batch_dtypes"] == dtypes
    assert facts["structure"]["num_batches"] == len(images)


@pytest.mark.parametrize(
    "mode", ["categorical", "binary", "sparse", "input", None]
)
def test_images_of_a_folder(keras: Any, folder: Path, mode: str | None) -> None:
    tools = image_tools(keras).ImageDataGenerator(rescale=1 / 255)
    images = tools.flow_from_directory(
        str(folder), target_size=(8, 6), batch_size=4, class_mode=mode
    )
    told = entry(images)
    assert told["structure"] == {
        "n_samples": 6,
        "batch_size": 4,
        "image_shape": [8, 6, 3],
        "target_size": [8, 6],
    }
    assert told["values"] == {"num_classes": 2}
    assert told["plus"]["values"]["class_mode"] == mode
    assert told["plus"]["values"]["classes"] == ["bruised", "sound"]
    assert_it_is_the_batch_that_comes(images)


MODES = [
    ("categorical", "kind"),
    ("binary", "kind"),
    ("sparse", "kind"),
    ("raw", "weight"),
    ("raw", ["weight", "width"]),
    ("multi_output", ["weight", "width"]),
    ("categorical", "marks"),
    ("input", None),
    (None, None),
]


@pytest.mark.parametrize(("mode", "column"), MODES)
def test_images_of_a_frame(
    keras: Any, folder: Path, mode: str | None, column: Any
) -> None:
    frame = pd.DataFrame(
        {
            "file": [f"sound/{number}.png" for number in range(3)],
            "kind": ["p", "q", "p"],
            "weight": [1.0, 2.0, 3.0],
            "width": [7, 8, 9],
            "marks": [["a"], ["a", "b"], ["b"]],
        }
    )
    tools = image_tools(keras).ImageDataGenerator()
    images = tools.flow_from_dataframe(
        frame,
        str(folder),
        x_col="file",
        y_col=column,
        class_mode=mode,
        batch_size=2,
    )
    told = entry(images)
    assert told["structure"]["samples"] == told["structure"]["n_samples"] == 3
    assert told["values"]["class_mode"] == mode
    assert_it_is_the_batch_that_comes(images)


@pytest.mark.parametrize(
    "labels", [None, np.zeros(8), np.zeros((8, 2), dtype="int64")]
)
def test_images_of_an_array(keras: Any, labels: Any) -> None:
    tools = image_tools(keras).ImageDataGenerator()
    images = tools.flow(np.zeros((8, 4, 5, 3)), labels, batch_size=3)
    assert_it_is_the_batch_that_comes(images)
    assert more(images, "structure")["last_batch_size"] == 2


def test_what_is_done_to_images(keras: Any) -> None:
    tools = image_tools(keras).ImageDataGenerator(
        rescale=0.5, horizontal_flip=True, validation_split=0.25
    )
    assert more(tools, "values") == {
        "rescale": 0.5,
        "horizontal_flip": True,
        "validation_split": 0.25,
    }


@needs_copy
def test_a_sequence_of_the_notebook_is_indexed_once_without_a_trace(
    keras: Any,
) -> None:
    class Scans(keras.utils.Sequence):  # type: ignore[misc]
        def __init__(self) -> None:
            if keras.__name__ == "keras":
                super().__init__()
            self.calls = 0

        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            self.calls += 1
            return np.random.rand(5, 3), np.zeros((5, 1), dtype="int32")

    scans = Scans()
    state = np.random.get_state()[1].tolist()
    facts = entry(scans)["plus"]
    assert facts["structure"]["num_batches"] == 4
    assert facts["structure"]["batch_shapes"] == {
        "input": [5, 3],
        "label": [5, 1],
    }
    assert facts["representation"]["batch_dtypes"] == {
        "input": "float64",
        "label": "int32",
    }
    assert scans.calls == 0
    assert np.random.get_state()[1].tolist() == state


# All of them


def compiled(keras: Any) -> Any:
    model = pictures(keras)
    model.compile(loss="mse", optimizer="adam", metrics=["mae"])
    return model


OBJECTS: dict[str, Callable[[Any], Any]] = {
    **{make.__name__: make for make in (*GRAPHS, subclassed, compiled)},
    "unbuilt": lambda keras: keras.Sequential([keras.layers.Dense(3)]),
    "layer": lambda keras: keras.layers.LSTM(4),
    "loss": lambda keras: keras.losses.BinaryCrossentropy(),
    "metric": lambda keras: keras.metrics.AUC(),
    "optimizer": lambda keras: keras.optimizers.Adam(),
    "callbacks": lambda keras: [
        keras.callbacks.EarlyStopping(),
        keras.callbacks.ReduceLROnPlateau(),
    ],
    "input": lambda keras: keras.Input((3,)),
    "module": lambda keras: keras,
}


def fingerprint(value: Any) -> Any:
    states = (
        tf.random.get_global_generator().state.numpy().tolist(),
        random.getstate(),
        np.random.get_state()[1].tolist(),
    )
    held = (
        vars(value)
        if hasattr(value, "__dict__") and not isinstance(value, type(os))
        else {}
    )
    weights = [
        np.asarray(one).tolist()
        for one in getattr(value, "_trainable_variables", ())
    ]
    return (
        states,
        sorted(held),
        held.get("built"),
        len(held.get("_inbound_nodes", ())),
        weights,
    )


@pytest.mark.parametrize("name", OBJECTS)
def test_the_contract_of_every_summary(keras: Any, name: str) -> None:
    value = OBJECTS[name](keras)
    keeps_the_contract(value, fingerprint)
    is_told_inside_and_in_short(value)
