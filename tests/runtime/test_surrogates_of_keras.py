"""Surrogates of TensorFlow's tensors and of Keras' layers: of the schema they were made with, and no weights made."""

from __future__ import annotations

import os
from typing import Any

import pytest

from crane_core.runtime.kernel_side.crane_surrogates.made import (
    FILLS,
    NotMadeError,
)
from tests.optional import later, needs
from tests.runtime.surrogate_orders import asked

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = needs("tensorflow", keras=3)
for_keras = later("crane_core.runtime.kernel_side.crane_surrogates.for_keras")
for_tensorflow = later(
    "crane_core.runtime.kernel_side.crane_surrogates.for_tensorflow"
)

EAGER = "tensorflow.python.framework.ops.EagerTensor"
VARIABLE = "tensorflow.python.ops.resource_variable_ops.ResourceVariable"
SYMBOLIC = "keras.src.backend.common.keras_tensor.KerasTensor"


def symbolic(*shape: int | None) -> dict[str, Any]:
    return {"facts": {"type": SYMBOLIC, "shape": shape, "dtype": "float32"}}


def layer(kind: str, **facts: Any) -> dict[str, Any]:
    return {"facts": {"type": f"keras.layers.{kind}", **facts}}


@pytest.mark.parametrize("kind", [EAGER, VARIABLE])
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "int64", "uint8", "bool", "complex64"]
)
@pytest.mark.parametrize("shape", [[], [0], [2, 3]])
def test_the_probe_reads_the_facts_that_a_tensor_was_made_with(
    kind: str, dtype: str, shape: list[int]
) -> None:
    facts = {"type": kind, "shape": shape, "dtype": dtype}
    for fill in FILLS:
        assert for_tensorflow.read(for_tensorflow.make(facts, fill)) == facts


def test_texts_and_other_objects_have_no_surrogate() -> None:
    for facts in (
        {"type": EAGER, "shape": [2], "dtype": "string"},
        {"type": "tensorflow.Dataset"},
    ):
        with pytest.raises(NotMadeError):
            for_tensorflow.make(facts, 0)


def test_a_variable_is_not_told_after_it_was_assigned_to() -> None:
    three, four = (
        {"facts": {"type": VARIABLE, "shape": [n], "dtype": "float32"}}
        for n in (3, 4)
    )
    assert (
        asked("method", "tensorflow.ResourceVariable", "assign", three, four)[
            "raised"
        ]
        == "ValueError"
    )


@pytest.mark.parametrize(
    ("made", "taken", "given"),
    [
        (layer("Dense", units=3), (None, 4), [None, 3]),
        (
            layer("LSTM", units=3, activation="tanh", return_sequences=True),
            (None, 5, 2),
            [None, 5, 3],
        ),
        (
            layer("MaxPooling2D", pool_size=[2, 2], strides=[2, 2]),
            (None, 9, 8, 1),
            [None, 4, 4, 1],
        ),
        (
            layer("MaxPooling2D", pool_size=[2, 2]),
            (None, 9, 8, 1),
            [None, 8, 7, 1],
        ),
        (layer("Dense", units=10**9), (None, 10**9), [None, 10**9]),
    ],
)
def test_a_layer_is_made_again_by_its_settings(
    made: dict[str, Any], taken: Any, given: list[Any]
) -> None:
    kind = made["facts"]["type"].rpartition(".")[2]
    told = asked("method", f"keras.{kind}", "__call__", made, symbolic(*taken))
    assert told == {
        "gave": {"type": SYMBOLIC, "shape": given, "dtype": "float32"}
    }


def test_a_layer_that_the_target_makes_is_made_again_by_its_configuration() -> (
    None
):
    made = asked(
        "call",
        "keras",
        "layers.Conv2D",
        {"is": 4},
        {"is": 3},
        strides={"is": 2},
    )["gave"]
    told = asked(
        "method",
        "keras.Conv2D",
        "__call__",
        {"facts": made},
        symbolic(None, 9, 9, 1),
    )
    assert told["gave"]["shape"] == [None, 4, 4, 4]


def test_a_layer_that_was_built_refuses_other_sizes() -> None:
    told = asked(
        "method",
        "keras.Dense",
        "__call__",
        layer("Dense", units=3, takes=[None, 4]),
        symbolic(None, 5),
    )
    assert told["raised"] == "ValueError"


@pytest.mark.parametrize(
    "facts",
    [
        {"type": "keras.layers.Dense", "units": 3, "told_by_nobody": 1},
        {
            "type": "keras.layers.Dense",
            "units": 3,
            "takes": [[None, 4], [None, 4]],
        },
        {"type": "keras.src.models.sequential.Sequential"},
        {"type": "keras.layers.NoLayer"},
    ],
)
def test_what_is_not_known_whole_has_no_surrogate(
    facts: dict[str, Any],
) -> None:
    with pytest.raises(NotMadeError):
        for_keras.make(facts, 0)


def test_keras_works_as_before_after_it_was_asked() -> None:
    import keras
    import tensorflow

    asked(
        "method",
        "keras.Dense",
        "__call__",
        layer("Dense", units=3),
        symbolic(None, 4),
    )
    dense = keras.layers.Dense(2)
    assert dense(tensorflow.ones((1, 3))).shape == (1, 2)
    assert dense.kernel.numpy().any()
