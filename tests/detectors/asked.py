"""Cells and states as the tests of local detectors write them."""

from __future__ import annotations

from typing import Any

from crane_core.detectors.rules.predict import findings
from crane_core.domain import (
    Cell,
    CellRole,
    KernelState,
    Setting,
    VariableState,
)


def cells(*codes: str) -> list[Cell]:
    """Executed cells in order, the last one the target."""
    last = len(codes) - 1
    roles = [
        CellRole.TARGET if n == last else CellRole.EXECUTED
        for n in range(len(codes))
    ]
    return [
        Cell("b", "i_fixed", "o", n, role, code)
        for n, (role, code) in enumerate(zip(roles, codes, strict=True))
    ]


def state(**types: str) -> KernelState:
    """A state in which these names are of these types."""
    variables = {
        name: VariableState(type_text) for name, type_text in types.items()
    }
    return KernelState("b", "i_fixed", Setting.RUNTIME, "o", variables)


def predicted(
    packages: dict[str, str],
    variables: dict[str, Any],
    *codes: str,
    **more: Any,
) -> str | None:
    """The exception that the rules predict of the last code, in a kernel of Python 3.10 with these packages.

    variables: entries of a captured state by name; `more` are further parts of the state.
    """
    captured = {"python": "3.10.13", "packages": packages}
    document = {
        "schema_version": 2,
        "captured": captured,
        "variables": variables,
        "accesses": {},
        **more,
    }
    state = KernelState.from_json(
        document,
        benchmark="b",
        instance_id="i_fixed",
        setting=Setting.RUNTIME_PLUS,
        origin="capture",
    )
    report = findings(cells(*codes), state, Setting.RUNTIME_PLUS)
    assert not report.errors
    return report.findings[0].exception if report.findings else None
