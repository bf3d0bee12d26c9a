"""What the file of a library has whose objects are neither made of facts nor stated: it is tried with known values."""

from __future__ import annotations

from typing import Any, Mapping

from .made import NotMadeError


def named(name: str) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(name)


def make(facts: Mapping[str, Any], _fill: int) -> Any:
    """Raises NotMadeError."""
    raise NotMadeError(facts["type"])


def read(_value: Any) -> dict[str, Any]:
    """Nothing."""
    return {}
