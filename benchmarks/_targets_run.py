"""Runs small targets in the interpreter that started it and prints the outcome of each. Python 3.8, no crane_core.

    python _targets_run.py PROBE TARGETS ANSWERS

PROBE is the folder of the probe's package, TARGETS a file of {"setup", "target"} lines, ANSWERS takes two lines for
each: {"begun": n}, then {"number": n, "state", "raised", "failed"}. A target that ends the process leaves its first
line alone; the next start goes on behind it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

LONGEST_S = 60


class TargetTooLongError(BaseException):
    """A target that does not end; no Exception, so that none of them catches it."""


def stop(*_: Any) -> None:
    raise TargetTooLongError


def run(code: str, namespace: dict[str, Any]) -> None:
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        exec(compile(code, "<cell>", "exec", dont_inherit=True), namespace)


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """The body raises TargetTooLongError when its time is over; in the main thread of a process alone."""
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def unchanged_modules(code: str) -> Iterator[None]:
    """Puts back what the code replaces in the modules that it imports and that were loaded before: others need them."""
    imported = [
        module
        for name, module in list(sys.modules.items())
        if f"import {name}" in code
    ]
    before = [(vars(module), dict(vars(module))) for module in imported]
    try:
        yield
    finally:
        for held, kept in before:
            held.update(kept)


def prepared(setup: str, seconds: int = LONGEST_S) -> dict[str, Any]:
    """The namespace in which a setup ran. Raises what it raises."""
    namespace = {"__name__": "__main__", "__builtins__": __builtins__}
    with limited(seconds):
        run(setup, namespace)
    return namespace


def came_of(
    namespace: dict[str, Any],
    setup: str,
    target: str,
    look: Any,
    seconds: int = LONGEST_S,
) -> dict[str, Any]:
    """What is seen of the namespace before the target runs in it, and the class of what the target raises."""
    cells = [{"code": setup, "notebook_index": 0, "executed": True, "order": 1}]
    asked = {"target": target, "cells": cells, "limits": {}}
    seen, raised = {}, None
    try:
        with limited(seconds):
            seen["state"] = json.loads(look(namespace, asked))
            run(target, namespace)
    except TargetTooLongError:
        return {"failed": "took too long"}
    except BaseException as error:  # noqa: BLE001 - this is what is asked
        raised = type(error).__name__
        if not seen:
            return {"failed": f"the look raised {raised}"}
    return dict(seen, raised=raised)


def outcome(setup: str, target: str, look: Any) -> dict[str, Any]:
    try:
        namespace = prepared(setup)
    except BaseException as error:  # noqa: BLE001 - what this interpreter lacks is told
        return {"failed": f"the setup raised {type(error).__name__}"}
    return came_of(namespace, setup, target, look)


def main(probe: str, targets: str, answers: str) -> None:
    sys.path.insert(0, probe)
    from crane_probe.look import look  # type: ignore[import-not-found]

    warnings.simplefilter("ignore")
    with (
        Path(targets).open(encoding="utf-8") as lines,
        Path(answers).open("a+", encoding="utf-8") as told,
    ):
        asked = [json.loads(line) for line in lines]
        told.seek(0)
        first = sum("begun" in json.loads(line) for line in told)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for number in range(first, len(asked)):
                say(told, {"begun": number})
                setup, target = asked[number]["setup"], asked[number]["target"]
                with unchanged_modules(setup):
                    came = outcome(setup, target, look)
                say(told, dict(came, number=number))
                if "matplotlib.pyplot" in sys.modules:
                    sys.modules["matplotlib.pyplot"].close("all")


def say(told: TextIO, line: dict[str, Any]) -> None:
    told.write(json.dumps(line) + "\n")
    told.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
