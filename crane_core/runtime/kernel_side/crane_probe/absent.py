"""What the target asks for and will not find."""

from __future__ import annotations

from typing import Any


def accesses(look: Any, found: dict[str, Any], needs: Any) -> dict[str, Any]:
    return {}


def absences(look: Any, namespace: dict[str, Any], needs: Any, cells: list[dict[str, Any]]) -> dict[str, Any]:
    return {"names": [], "attributes": [], "columns": [], "keys": []}
