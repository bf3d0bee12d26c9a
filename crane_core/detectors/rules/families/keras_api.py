"""What Keras 3 no longer has: arguments of optimizers under their old names."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

RULES = Family("keras names")

_OPTIMIZERS: Final = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl")
_GONE: Final = {"lr": "learning_rate", "decay": "a schedule of keras.optimizers.schedules"}
_FIRST_TENSORFLOW: Final = (2, 16)
"""The first version that comes with Keras 3."""


def has_keras_3(site: Site) -> bool:
    """Whether the kernel certainly has Keras 3."""
    if (keras := site.packages.get("keras")) is not None:
        return keras.startswith("3.")
    parts = site.packages.get("tensorflow", "").split(".")
    return len(parts) > 1 and all(part.isdigit() for part in parts[:2]) and _is_late(parts)


def _is_late(parts: list[str]) -> bool:
    return (int(parts[0]), int(parts[1])) >= _FIRST_TENSORFLOW


@RULES.function(*(f"keras.optimizers.{name}" for name in _OPTIMIZERS))
def optimizer_made(site: Site) -> Thing | None:
    """Adam(lr=0.001)."""
    gone = next((name for name in site.arguments.keywords if name in _GONE), None)
    if gone is not None and has_keras_3(site) and not site.mentions("tf_keras") and not site.mentions("LEGACY_KERAS"):
        site.crash(
            "ValueError",
            f"optimizers of Keras 3 have no argument {gone}",
            fact=f"the call is {site.text}",
            remedy=f"use {_GONE[gone]}",
        )
    return Thing()
