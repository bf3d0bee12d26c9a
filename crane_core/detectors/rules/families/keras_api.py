"""What Keras 3 no longer has: arguments of optimizers under their old names."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.families.versions import version_of
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("keras names")

_OPTIMIZERS: Final = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl")
_GONE: Final = {"lr": "learning_rate"}
"""Not `decay`, which is ignored with a warning."""
_FIRST_TENSORFLOW: Final = (2, 16)
"""The first version that comes with Keras 3."""


def has_keras_3(operation: Operation) -> bool:
    """Whether the kernel certainly has Keras 3."""
    return _keras(operation) == 3


def has_keras_2(operation: Operation) -> bool:
    """Whether the kernel certainly has Keras 2, which compares less before it computes."""
    return _keras(operation) == 2


def _keras(operation: Operation) -> int | None:
    """The major version; None if neither Keras nor TensorFlow states one."""
    if (keras := version_of(operation, "keras")) is not None:
        return keras[0]
    tensorflow = version_of(operation, "tensorflow")
    return None if tensorflow is None else 3 if tensorflow >= _FIRST_TENSORFLOW else 2


@RULES.function(*(f"keras.optimizers.{name}" for name in _OPTIMIZERS))
def optimizer_made(operation: Operation) -> Answer:
    """Adam(lr=0.001)."""
    gone = next((name for name in operation.arguments.keywords if name in _GONE), None)
    if (
        gone is not None
        and has_keras_3(operation)
        and not operation.mentions("tf_keras")
        and not operation.mentions("LEGACY_KERAS")
    ):
        operation.crash(
            "ValueError",
            f"Argument(s) not recognized: {gone} (optimizers of Keras 3 no longer take it)",
            fact=f"the call is {operation.text}",
            remedy=f"use {_GONE[gone]}",
        )
    return UNCHANGED


_METHODS_GONE: Final = {
    "predict_classes": "use model.predict(x).argmax(axis=1), or (model.predict(x) > 0.5) for one output",
    "predict_proba": "use model.predict(x)",
    "fit_generator": "use model.fit(generator)",
    "evaluate_generator": "use model.evaluate(generator)",
    "predict_generator": "use model.predict(generator)",
    "load": "use keras.models.load_model(path), or model.load_weights(path)",
    "score": "use model.evaluate(x, y)",
    "transform": "use model.predict(x)",
}


@RULES.attribute("keras.Sequential", *_METHODS_GONE)
@RULES.attribute("keras.Functional", *_METHODS_GONE)
def method_gone(operation: Operation) -> Answer:
    """What models of older Keras, or of other libraries, have; the path of the class tells Keras 3."""
    model = operation.receiver
    if (
        not model.type.startswith("keras.src.models.")
        or operation.name in model.attributes
        or operation.mentions(f".{operation.name} =")
    ):
        return UNKNOWN
    operation.crash(
        "AttributeError",
        f"a Keras 3 model has no attribute {operation.name}",
        fact=f"{model.named('the model')} is of type {model.class_name}",
        remedy=_METHODS_GONE[operation.name],
    )
