"""TensorFlow is asked without surrogates: tensors are made of plain values; nothing is told of what comes out."""

from __future__ import annotations

from typing import Any

import tensorflow

from .made import NotMadeError
from .no_surrogates import make, read

PACKAGE = tensorflow


def named(name: str) -> Any:
    """A dtype; raises NotMadeError for others."""
    found = getattr(tensorflow, name, None)
    if not isinstance(found, tensorflow.DType):
        raise NotMadeError(name)
    return found


__all__ = ["PACKAGE", "make", "named", "read"]
