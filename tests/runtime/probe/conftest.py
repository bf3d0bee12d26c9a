"""How tests of the probe look at a namespace: in this process, as the kernel would."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.optional import mark_by_parameters, need_imports_of
from tests.patience import UNHURRIED

State = dict[str, Any]


def pytest_itemcollected(item: pytest.Item) -> None:
    """What parameters import is known before anything runs, so that `make test` leaves it out."""
    mark_by_parameters(item)


@pytest.fixture(scope="session")
def looked() -> Callable[..., State]:
    """looked(namespace, target, cells=..., **limits) -> the state, without the time it took."""

    def looked(
        namespace: Mapping[str, Any],
        target: str,
        cells: Sequence[Mapping[str, Any]] = (),
        **limits: Any,
    ) -> State:
        request = {"target": target, "cells": list(cells), "limits": UNHURRIED | limits}
        state: State = json.loads(look(dict(namespace), request))
        assert state["captured"].pop("seconds") >= 0
        return state

    return looked


@pytest.fixture(scope="session")
def after(looked: Callable[..., State]) -> Callable[..., State]:
    """after(code, target, **limits) -> the state before the target when a cell with this code has run."""

    def after(
        code: str,
        target: str,
        *,
        others: Sequence[Mapping[str, Any]] = (),
        **limits: Any,
    ) -> State:
        need_imports_of(code)
        namespace: dict[str, Any] = {
            "__name__": "__main__",
            "__builtins__": __builtins__,
        }
        exec(code, namespace)
        cells = [
            {"code": code, "notebook_index": 0, "executed": True, "order": 1},
            *others,
        ]
        request = {"target": target, "cells": cells, "limits": UNHURRIED | limits}
        state: State = json.loads(look(namespace, request))
        del state["captured"]["seconds"]
        return state

    return after


@pytest.fixture(scope="session")
def entry(looked: Callable[..., State]) -> Callable[..., State]:
    """entry(value, target="value", **limits) -> the entry of one variable called `value`."""

    def entry(value: Any, target: str = "value", **limits: Any) -> State:
        found: State = looked({"value": value}, target, **limits)["variables"]["value"]
        return found

    return entry
