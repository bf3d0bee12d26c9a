"""What Keras 3 no longer has: arguments of optimizers under their old names."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("keras names")

_OPTIMIZERS: Final = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl")
_GONE: Final = {"lr": "learning_rate"}
"""Not `decay`, which is ignored with a warning."""
_FIRST_TENSORFLOW: Final = (2, 16)
"""The first version that comes with Keras 3."""


def has_keras_3(site: Site) -> bool:
    """Whether the kernel certainly has Keras 3."""
    return _keras(site) == 3


def has_keras_2(site: Site) -> bool:
    """Whether the kernel certainly has Keras 2, which compares less before it computes."""
    return _keras(site) == 2


def _keras(site: Site) -> int | None:
    """The major version; None if neither Keras nor TensorFlow states one."""
    major = site.packages.get("keras", "").partition(".")[0]
    if major.isdigit():
        return int(major)
    parts = site.packages.get("tensorflow", "").split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        return None
    return 3 if (int(parts[0]), int(parts[1])) >= _FIRST_TENSORFLOW else 2


@RULES.function(*(f"keras.optimizers.{name}" for name in _OPTIMIZERS))
def optimizer_made(site: Site) -> Thing | None:
    """Adam(lr=0.001)."""
    gone = next((name for name in site.arguments.keywords if name in _GONE), None)
    if gone is not None and has_keras_3(site) and not site.mentions("tf_keras") and not site.mentions("LEGACY_KERAS"):
        site.crash(
            "ValueError",
            f"Argument(s) not recognized: {gone} (optimizers of Keras 3 no longer take it)",
            fact=f"the call is {site.text}",
            remedy=f"use {_GONE[gone]}",
        )
    return Thing()


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
def method_gone(site: Site) -> Thing | None:
    """What models of older Keras, or of other libraries, have; the path of the class tells Keras 3."""
    model = site.receiver or Thing()
    if (
        not model.type.startswith("keras.src.models.")
        or site.name in model.attributes
        or site.mentions(f".{site.name} =")
    ):
        return None
    site.crash(
        "AttributeError",
        f"a Keras 3 model has no attribute {site.name}",
        fact=f"{model.words or 'the model'} is of type {model.class_name}",
        remedy=_METHODS_GONE[site.name],
    )
