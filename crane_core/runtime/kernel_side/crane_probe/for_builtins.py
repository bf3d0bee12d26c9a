"""Python's own types: numbers, text, containers with what is inside them, functions, modules, classes.

Knows the methods of the built-in classes themselves. Refuses to call anything that a subclass may have overridden.
"""

from __future__ import annotations

from typing import Any


def number(value: Any, look: Any) -> dict[str, Any]:
    return {"values": {"value": look.scalar(value)}}


SUMMARIZERS = {"int": number, "float": number, "bool": number, "str": number, "complex": number}
