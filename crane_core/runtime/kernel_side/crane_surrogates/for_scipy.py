"""SciPy is asked without surrogates: sparse arrays are made of known values; nothing is told of what comes out."""

from __future__ import annotations

from typing import Any, Mapping

import scipy
import scipy.sparse

from .made import NotMadeError

PACKAGE = scipy


def named(name: str) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(name)


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(facts["type"])


def read(_value: Any) -> dict[str, Any]:
    """Nothing."""
    return {}
