"""Crashes to be fixed: a set-up and a target that ran in a namespace of this process, and what the probe saw before."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from typing import Any

from crane_core.pipeline.own_notebooks.prompt_of_notebook import captured_state
from crane_core.repair.crash_site import CrashSite, KnownCell
from crane_core.runtime.kernel_side.crane_probe.look import look
from crane_core.runtime.rehearsal import Rehearsal, RehearsalEnd


def namespace_after(setup: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(setup, "<setup>", "exec"), names)
    return names


def crash_of(target: str, names: dict[str, Any]) -> Rehearsal | None:
    """What a target raises, in the form of a rehearsal; None if it runs through."""
    try:
        exec(compile(target, "<cell>", "exec"), names)
    except Exception as error:  # noqa: BLE001 - what a target raises is the question
        frames = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == "<cell>" and frame.name == "<module>"
        ]
        is_syntax = isinstance(error, SyntaxError) and not frames
        return Rehearsal(
            RehearsalEnd.CRASH,
            2.0,
            exception=type(error).__name__,
            message=error.msg if is_syntax else str(error),
            line=error.lineno if is_syntax else frames[0],
        )
    return None


def site_of(setup: str, target: str, not_run: Sequence[str] = ()) -> CrashSite:
    """The site of a target that certainly crashes; `not_run` are cells above it that did not run."""
    names = namespace_after(setup)
    first = {"code": setup, "notebook_index": 0, "executed": True, "order": 0}
    others = [
        {
            "code": code,
            "notebook_index": index,
            "executed": False,
            "order": None,
        }
        for index, code in enumerate(not_run, start=1)
    ]
    state = look(names, {"target": target, "cells": [first, *others]})
    crash = crash_of(target, namespace_after(setup))
    assert crash is not None, "the target was meant to crash"
    cells = [KnownCell("code cell 0", setup, 0, has_run=True)]
    cells += [
        KnownCell(f"code cell {index}", code, index, has_run=False)
        for index, code in enumerate(not_run, start=1)
    ]
    return CrashSite(
        target,
        crash,
        captured_state(json.loads(state), "site"),
        tuple(cells),
        len(cells),
    )
