"""Keras is asked without surrogates: layers and losses are made of plain values; nothing is told of what comes out."""

from __future__ import annotations

from typing import Any, Mapping

import keras

from .made import NotMadeError

PACKAGE = keras


def named(name: str) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(name)


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(facts["type"])


def read(_value: Any) -> dict[str, Any]:
    """Nothing."""
    return {}
