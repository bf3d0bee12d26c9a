"""A notebook up to its target cell, from Python: what the rules say of it, and what its kernel holds."""

import time
from pathlib import Path

from crane_core.domain import JsonObject
from crane_core.live.verdict import LiveVerdict
from crane_core.pipeline.own_notebooks.check import (
    findings,
    read_notebook,
    run_up,
    unsure,
    verdict,
)
from crane_core.pipeline.own_notebooks.value_origins import with_origins
from crane_core.runtime import capture as captures
from crane_core.runtime.isolation import best
from crane_core.runtime.limits import KernelLimits


def check(
    notebook: str | Path,
    target: int | None = None,
    *,
    execute: bool = True,
    python: str | Path | None = None,
    cell_s: float = KernelLimits().cell_s,
    keep_going: bool = False,
    isolate: bool = False,
    allow_install: bool = False,
) -> LiveVerdict:
    """What the rules say of the target cell: `.crashes`, True or None, and `.findings`, the first one first.

    notebook: an .ipynb file. target: a code cell, counted from 0; without it, the first with an error output, else the
    last. The cells before it run in a fresh kernel (of the interpreter `python`, which must have ipykernel, else of
    this one) in the notebook's folder, each for `cell_s` seconds at most; with `execute=False` nothing runs and only
    the code is looked at. keep_going: continue past cells that raise. isolate: hide keys, files and network from the
    notebook as far as this machine can. allow_install: run lines such as `%pip install` too. A cell without a finding
    may still crash: the rules tell certain crashes only, so `.crashes` is never False, and `.predicted` is "crash" or
    "nothing certain". `.unsure` holds what limits the verdict.

    Raises NotebookError or KernelError.
    """
    began = time.perf_counter()
    checked = read_notebook(Path(notebook), target)
    if execute:
        limits = _limits(cell_s, isolate=isolate, installs=allow_install)
        checked = run_up(
            checked, python=python, limits=limits, keep_going=keep_going
        )
    said = verdict(checked)
    found = tuple(with_origins(findings(said), checked, is_live=False))
    return LiveVerdict(found, time.perf_counter() - began, tuple(unsure(said)))


def capture(
    notebook: str | Path,
    target: int | None = None,
    *,
    python: str | Path | None = None,
    cell_s: float = KernelLimits().cell_s,
    keep_going: bool = False,
    isolate: bool = False,
    allow_install: bool = False,
) -> JsonObject:
    """The kernel state that the target will find, as the JSON document that `capture --out` writes.

    Arguments and errors as in `check`. Members: schema_version, captured (Python, packages, cells with their seconds),
    variables (name to type, structure, representation, values), accesses, absent, unavailable.
    """
    limits = _limits(cell_s, isolate=isolate, installs=allow_install)
    done = captures.capture(
        Path(notebook),
        target=target,
        python=python,
        limits=limits,
        keep_going=keep_going,
    )
    return done.to_json()


def _limits(cell_s: float, *, isolate: bool, installs: bool) -> KernelLimits:
    limits = KernelLimits(cell_s=cell_s, installs=installs)
    return limits._replace(isolation=best()) if isolate else limits
