"""Expressions that a person wants evaluated before and after the look, as proof that looking changed nothing.

This is the one place where code is run, because it was asked for. What it raises is its result.
"""

from __future__ import annotations

from typing import Any

from . import bounds

_CHARS = 2_000


def evaluated(expression: str, namespace: dict[str, Any]) -> str:
    """The repr of the expression's value in the namespace, or what it raised."""
    try:
        return bounds.text(repr(eval(expression, namespace)), _CHARS)
    except Exception as error:  # noqa: BLE001 - an expression may raise anything
        return "raised " + bounds.why(error)
