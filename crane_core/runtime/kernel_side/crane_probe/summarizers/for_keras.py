"""Keras: which of its classes is looked at by which file, and what attributes of its objects are.

Knows the properties of models and layers whose value their attribute dicts hold.
"""

from __future__ import annotations

from typing import Any

from ..anatomy import class_dict, instance_dict, owner_of, package_of
from ..chains.following import Resolution
from ..syntax.asked import ATTRIBUTE, Steps
from .keras import images, layers, models, training
from .keras.parts import PACKAGES, is_of_keras, layers_of, shapes_in


def follow(value: Any, steps: Steps) -> Resolution | None:
    """`layers`, `input_shape` and `output_shape` of a model, where Keras' own properties would give them."""
    step = steps[0]
    if step.kind != ATTRIBUTE:
        return Resolution()
    # A property of the notebook's own model class is its code.
    if not is_of_keras(value, "Model") or not _is_property_of_keras(
        value, step.value
    ):
        return None
    held = instance_dict(value)
    if step.value == "layers":
        return Resolution(_public_layers(value))
    ends = {"input_shape": models.input_of, "output_shape": models.output_of}
    end = ends[step.value](held) if step.value in ends else None
    # Models with several inputs have a list of shapes, which is not followed.
    shape = shapes_in(end) if end is not None else None
    return (
        Resolution(tuple(shape))
        if type(shape) is list and all(type(size) is not list for size in shape)
        else None
    )


def _public_layers(value: Any) -> list[Any]:
    """The layers as `layers` lists them: a Sequential hides the layer that only states its input."""
    own = layers_of(instance_dict(value))
    hides_input = (
        is_of_keras(value, "Sequential")
        and own
        and type(own[0]).__name__ == "InputLayer"
    )
    return own[1:] if hides_input else own


def _is_property_of_keras(value: Any, name: str) -> bool:
    owner = owner_of(type(value), name)
    return (
        owner is not None
        and package_of(owner) in PACKAGES
        and type(class_dict(owner)[name]) is property
    )


FOLLOW = follow
SUMMARIZERS = {
    "Model": models.model,
    "Layer": layers.layer,
    **dict.fromkeys(
        ("KerasTensor", "KerasVariable", "Variable"), layers.symbolic
    ),
    **dict.fromkeys(
        ("Optimizer", "BaseOptimizer", "OptimizerV2"), training.optimizer
    ),
    "Loss": training.loss,
    "Metric": training.metric,
    "Callback": training.callback,
    "History": training.history,
    "Iterator": images.iterator,
    "ImageDataGenerator": images.generator,
    **dict.fromkeys(("PyDataset", "Sequence"), images.sequence),
}
