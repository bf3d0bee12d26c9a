"""TensorFlow is asked without surrogates: tensors are made of plain values; nothing is told of what comes out."""

from __future__ import annotations

from typing import Any, Mapping

import tensorflow

from .made import NotMadeError

PACKAGE = tensorflow


def named(name: str) -> Any:
    """A dtype; raises NotMadeError for others."""
    found = getattr(tensorflow, name, None)
    if not isinstance(found, tensorflow.DType):
        raise NotMadeError(name)
    return found


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(facts["type"])


def read(_value: Any) -> dict[str, Any]:
    """Nothing."""
    return {}
