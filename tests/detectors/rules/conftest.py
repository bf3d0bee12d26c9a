"""How tests of rules try a target: what is predicted from the state, beside what really happens.

    predict_here(setup, target)       setup runs in this process, the probe looks, then the target really runs
    predict_by_code(setup, target)    the same from the code of the cells alone; `# %%` lines separate them
    predict_in_kernel(setup, target)  the same in its own fresh kernel (1 to 6 s); `raised` is None there

Each gives a Predicted.

`Predicted.findings` are the rules' findings (at most one), `raised` the class name of what the target raised (None: it
ran through), `errors` the rules that failed, `state` the captured state. `check(setup, target)` asserts that both agree
on whether it crashes and on the exception's class, and gives the Predicted.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from threadpoolctl import threadpool_limits

from crane_core.detectors.rules.answer import Finding
from crane_core.detectors.rules.interpreter import RuleError
from crane_core.detectors.rules.past import Contradiction
from crane_core.detectors.rules.predict import findings
from crane_core.domain import Cell, CellRole, KernelState, Setting
from crane_core.runtime.capture import capture
from crane_core.runtime.kernel_side.crane_probe.look import look
from crane_core.runtime.kernel_side.crane_probe.undo.session_libraries import (
    PARTS,
)
from tests.optional import mark_by_parameters, need_imports_of
from tests.patience import UNHURRIED


def pytest_itemcollected(item: pytest.Item) -> None:
    """What parameters import is known before anything runs, so that `make test` leaves it out."""
    mark_by_parameters(item)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Targets fit models of some rows: threads of numerical libraries would only wait for one another."""
    importlib.import_module("sklearn")  # loads the pools that are limited
    with threadpool_limits(1):
        yield


class Predicted(NamedTuple):
    """What the rules say of a target, and what the target did."""

    findings: tuple[Finding, ...]
    errors: tuple[RuleError, ...]
    state: KernelState | None
    raised: str | None = None
    error: BaseException | None = None
    contradictions: tuple[Contradiction, ...] = ()
    unsure: tuple[str, ...] = ()

    @property
    def exception(self) -> str | None:
        """The class of the exception that is predicted."""
        return self.findings[0].exception if self.findings else None


Predict = Callable[[str, str], Predicted]


def cells_of(setup: str, target: str) -> list[Cell]:
    return [
        Cell(
            "test",
            "test_1_reproduced",
            "test",
            0,
            CellRole.EXECUTED,
            setup,
            1,
            0,
        ),
        Cell(
            "test",
            "test_1_reproduced",
            "test",
            1,
            CellRole.TARGET,
            target,
            2,
            1,
        ),
    ]


def state_of(document: dict[str, Any]) -> KernelState:
    return KernelState.from_json(
        document,
        benchmark="test",
        instance_id="test_1_reproduced",
        setting=Setting.RUNTIME_PLUS,
        origin="test",
    )


@contextlib.contextmanager
def settings_kept() -> Iterator[None]:
    """What a target sets in a library would be set for all later ones, and a look tells it."""
    parts = [
        part
        for name, (module, part) in PARTS.items()
        if name.startswith("options of") and module in sys.modules
    ]
    was = [part.read() for part in parts]
    try:
        yield
    finally:
        for part, value in zip(parts, was, strict=True):
            if part.read() != value:
                part.put(value)


@settings_kept()
def predicted_here(setup: str, target: str) -> Predicted:
    need_imports_of(setup, target)
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": __builtins__,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _run(setup, namespace)
        cells = [
            {"code": setup, "notebook_index": 0, "executed": True, "order": 1}
        ]
        state = state_of(
            json.loads(
                look(
                    namespace,
                    {"target": target, "cells": cells, "limits": UNHURRIED},
                )
            )
        )
        report = findings(cells_of(setup, target), state)
        error = _run_caught(target, namespace)
    return Predicted(
        report.findings,
        report.errors,
        state,
        error and type(error).__name__,
        error,
    )


@settings_kept()
def predicted_by_code(setup: str, target: str) -> Predicted:
    need_imports_of(setup, target)
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": __builtins__,
    }
    codes = re.split(r"^# %%\n", setup, flags=re.MULTILINE)
    cells = [
        *(
            Cell(
                "test",
                "test_1_reproduced",
                "test",
                at,
                CellRole.EXECUTED,
                code,
                at + 1,
                at,
            )
            for at, code in enumerate(codes)
        ),
        Cell(
            "test",
            "test_1_reproduced",
            "test",
            len(codes),
            CellRole.TARGET,
            target,
            len(codes) + 1,
            len(codes),
        ),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in codes:
            _run(code, namespace)
        report = findings(cells, None, Setting.CODE)
        error = _run_caught(target, namespace)
    raised = error and type(error).__name__
    return Predicted(
        report.findings,
        report.errors,
        None,
        raised,
        error,
        report.contradictions,
    )


def _run(code: str, namespace: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(ast.parse(code), "<cell>", "exec"), namespace)


def _run_caught(code: str, namespace: dict[str, Any]) -> BaseException | None:
    try:
        _run(code, namespace)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what the target raises is what is asked
        return error
    return None


@pytest.fixture
def predict_here() -> Predict:
    return predicted_here


@pytest.fixture
def predict_by_code() -> Predict:
    return predicted_by_code


@pytest.fixture
def predict_in_kernel(tmp_path: Path) -> Predict:
    def predicted(setup: str, target: str) -> Predicted:
        need_imports_of(setup, target)
        cells = [
            nbformat.v4.new_code_cell(code, execution_count=at + 1)
            for at, code in enumerate((setup, target))
        ]
        notebook = tmp_path / "test_1_reproduced.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
        state = state_of(capture(notebook, target=1).to_json())
        report = findings(cells_of(setup, target), state)
        return Predicted(
            report.findings, report.errors, state, unsure=report.unsure
        )

    return predicted


@pytest.fixture
def check() -> Predict:
    def checked(setup: str, target: str) -> Predicted:
        seen = predicted_here(setup, target)
        assert not seen.errors, seen.errors
        assert seen.exception == seen.raised, (seen.findings, seen.error)
        return seen

    return checked
