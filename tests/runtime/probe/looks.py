"""How tests of the probe look at a namespace: in this process, as the kernel would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from crane_core.runtime.kernel_side.crane_probe.kernel_copy import forked
from crane_core.runtime.kernel_side.crane_probe.look import look
from tests.optional import need_imports_of
from tests.patience import UNHURRIED

State = dict[str, Any]

ASKING = (
    "value.a['b'](value); value['i']; value[0]; value(x=value); value.shape; value.loc[3]; "
    "value[0, 1:, None]; for_each = [v for v in value]"
)
"""A target that asks in many ways."""
TIGHT = {"variable_chars": 600, "variable_steps": 100, "nodes": 2, "items": 1}
"""Limits under which hardly anything can be told."""
needs_copy = pytest.mark.skipif(
    not forked.is_possible(), reason="the process cannot be copied here"
)


def looked(
    namespace: Mapping[str, Any],
    target: str,
    cells: Iterable[Mapping[str, Any]] = (),
    **limits: Any,
) -> State:
    """The state before the target, without the time it took."""
    # A slow machine would give up at another moment each time.
    request = {
        "target": target,
        "cells": list(cells),
        "limits": UNHURRIED | limits,
    }
    state: State = json.loads(look(dict(namespace), request))
    assert state["captured"].pop("seconds") >= 0
    return state


def after(
    code: str,
    target: str,
    *,
    others: Iterable[Mapping[str, Any]] = (),
    **limits: Any,
) -> State:
    """The state before the target when a cell with this code has run."""
    need_imports_of(code)
    namespace: State = {"__name__": "__main__", "__builtins__": __builtins__}
    exec(code, namespace)
    cell = {"code": code, "notebook_index": 0, "executed": True, "order": 1}
    # The namespace itself: functions of the notebook are known by their globals.
    request = {
        "target": target,
        "cells": [cell, *others],
        "limits": UNHURRIED | limits,
    }
    state: State = json.loads(look(namespace, request))
    del state["captured"]["seconds"]
    return state


def entry(value: Any, target: str = "value", **limits: Any) -> State:
    """The entry of one variable called `value`."""
    found: State = looked({"value": value}, target, **limits)["variables"][
        "value"
    ]
    return found


def more(value: Any, group: str) -> State:
    """What is told of a value beyond the published extractor, in one group."""
    facts: State = entry(value)["plus"][group]
    return facts


def lacks(state: State, group: str, *members: str) -> list[Any]:
    """What lacks by one group: a member of each fact, or several as a tuple; None where it has none."""
    facts = [
        tuple(fact.get(name) for name in members)
        for fact in state["absent"][group]
    ]
    return facts if len(members) > 1 else [only for (only,) in facts]


def number(value: Any) -> float:
    """A number as a state writes it: {"$float": "nan"} where JSON has no word."""
    return float(value["$float"]) if isinstance(value, dict) else value


def keeps_the_contract(value: Any, fingerprint: Callable[[Any], Any]) -> None:
    """A value is told the same again, in JSON of a bounded length, and nothing changes."""
    before = fingerprint(value)
    first, again = (looked({"value": value}, ASKING) for _ in range(2))
    assert first == again, type(value)
    assert fingerprint(value) == before, type(value)
    assert first["unavailable"] == {}, type(value)
    groups = {"structure", "representation", "values"}
    told = first["variables"]["value"]
    assert {"type", *groups} <= told.keys() <= {"type", *groups, "plus", "docs"}
    assert told.get("plus", {}).keys() <= groups
    text = json.dumps(first, allow_nan=False)
    assert len(text) < 60_000, type(value)


def is_told_inside_and_in_short(value: Any) -> None:
    """A value inside others is told, and within tight limits the state is short."""
    state = looked({"box": {"inside": [value]}}, "box['inside'][0]")
    items = state["variables"]["box"]["plus"]["representation"]["items"]
    assert items["inside"]["type"] == "list"
    assert state["unavailable"] == {}
    tight = looked({"value": value}, "value", **TIGHT)
    assert len(json.dumps(tight, separators=(",", ":"))) < 1_600


def grows_by(work: Callable[[], object]) -> int:
    """By how many bytes the process grows at most during the work; skips where the system does not tell."""
    peak = Path("/proc/self/clear_refs")
    if not peak.exists():
        pytest.skip("this system does not tell the peak of memory")
    peak.write_text("5")
    before = _memory("VmRSS")
    work()
    return _memory("VmHWM") - before


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(
        int(line.split()[1]) * 1024 for line in lines if line.startswith(name)
    )
