"""Layers of Keras: Keras itself says what they make of a shape, and refuse. Here is what a call leaves of them."""

from __future__ import annotations

from typing import Final

from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("keras layers")

SYMBOLIC: Final = "keras.src.backend.common.keras_tensor.KerasTensor"


@RULES.method("keras.*", "__call__")
def called(operation: Operation) -> Answer:
    """A layer that Keras made of what is known is built for the shape of the first symbolic tensor that it gets."""
    layer, given = operation.receiver, operation.first
    if "config" not in layer.facts or given.type != SYMBOLIC or not given.shape:
        return UNKNOWN
    # Keras builds the weights at the first call only: a later tensor must fit them.
    # The batch stays open, because any number of samples fits the same weights.
    layer.facts.setdefault("takes", (None, *given.shape[1:]))
    return UNCHANGED
