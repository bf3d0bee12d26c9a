"""Orders to the process that asks a library on surrogates, answered in this process instead."""

from __future__ import annotations

import json
from typing import Any

from crane_core.runtime.kernel_side.crane_surrogates import worker


def answered(order: dict[str, Any]) -> dict[str, Any]:
    """What the process says to an order."""
    return worker.answer(json.dumps(order).encode())


def asked(
    step: str,
    of: str,
    name: str,
    *operands: dict[str, Any],
    **keywords: dict[str, Any],
) -> dict[str, Any]:
    """The answer about one operation on operands."""
    return answered(
        {
            "step": step,
            "of": of,
            "name": name,
            "operands": operands,
            "keywords": keywords,
        }
    )


def array(*shape: int, dtype: str = "float64") -> dict[str, Any]:
    """An operand: an array of NumPy."""
    return {"facts": {"type": "numpy.ndarray", "shape": shape, "dtype": dtype}}


def number(value: Any) -> dict[str, Any]:
    """An operand: a number, as it is."""
    return {"is": value}
