"""Models of Keras 2, by states as its kernels give them: what it lets pass, unlike Keras 3, is not a crash."""

from __future__ import annotations

from typing import Any

import pytest

from tests.detectors.asked import predicted

SEQUENTIAL = "keras.src.engine.sequential.Sequential"


def of_version(
    version: str,
    loss: str,
    labels: list[int],
    *,
    compiled: bool = True,
    data: tuple[int, ...] = (12, 4),
    target: str = "model.fit(X, y)",
) -> str | None:
    """The exception that is predicted of a model from 4 features to 2 outputs."""
    dense = {
        "type": "Dense",
        "units": 2,
        "takes": [None, 4],
        "gives": [None, 2],
    }
    shapes = {
        "input_shape": [None, 4],
        "output_shape": [None, 2],
        "layers": {"dense": dense},
    }
    variables: dict[str, Any] = {
        "model": {
            "type": SEQUENTIAL,
            "plus": {
                "structure": shapes,
                "values": {"built": True, "compiled": compiled, "loss": loss},
            },
        },
        "X": {
            "type": "numpy.ndarray",
            "structure": {"shape": data},
            "representation": {"dtype": "float32"},
        },
        "y": {
            "type": "numpy.ndarray",
            "structure": {"shape": labels},
            "representation": {"dtype": "float32"},
        },
    }
    packages = {"keras": version, "numpy": "1.26.4"}
    setup = "import keras\nmodel = build()"
    return predicted(
        packages,
        variables,
        setup,
        target,
        accesses={"model.fit": {"type": "method"}},
    )


@pytest.mark.parametrize("labels", [[12], [12, 2], [12, 3]])
def test_labels_are_nobody_s_matter_without_the_keras_of_the_kernel(
    labels: list[int],
) -> None:
    assert of_version("2.15.0", "mse", labels) is None


def test_a_model_that_is_not_compiled_raises_what_its_version_raises() -> None:
    assert (
        of_version("2.15.0", "mse", [12, 2], compiled=False) == "RuntimeError"
    )
    assert of_version("3.15.1", "mse", [12, 2], compiled=False) == "ValueError"


@pytest.mark.parametrize(
    ("data", "keras_2", "keras_3"),
    [
        ((12, 4, 1), None, None),
        ((12,), None, "ValueError"),
        ((12, 3, 4), None, "ValueError"),
    ],
)
def test_data_of_another_rank_is_brought_to_the_rank_of_the_model(
    data: tuple[int, ...], keras_2: None, keras_3: str | None
) -> None:
    assert of_version("2.15.0", "mse", [12, 2], data=data) == keras_2
    assert of_version("3.15.1", "mse", [12, 2], data=data) == keras_3


def test_the_shape_of_an_input_may_be_a_number_to_keras_2() -> None:
    assert of_version("2.15.0", "mse", [12, 2], target="keras.Input(9)") is None
