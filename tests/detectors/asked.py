"""Cells and states as the tests of local detectors write them."""

from __future__ import annotations

from crane_core.domain import Cell, CellRole, KernelState, Setting, VariableState


def cells(*codes: str) -> list[Cell]:
    """Executed cells in order, the last one the target."""
    last = len(codes) - 1
    roles = [CellRole.TARGET if n == last else CellRole.EXECUTED for n in range(len(codes))]
    return [Cell("b", "i_fixed", "o", n, role, code) for n, (role, code) in enumerate(zip(roles, codes, strict=True))]


def state(**types: str) -> KernelState:
    """A state in which these names are of these types."""
    variables = {name: VariableState(type_text) for name, type_text in types.items()}
    return KernelState("b", "i_fixed", Setting.RUNTIME, "o", variables)
