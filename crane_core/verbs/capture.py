"""`capture`: what a notebook's kernel holds when its target cell is about to run."""

from __future__ import annotations

import argparse
import errno
import json
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from crane_core import arguments
from crane_core.errors import ClusterError
from crane_core.pipeline.dask.cluster import (
    LOCAL,
    MANY,
    OFF,
    Cluster,
    is_installed,
    reached,
)
from crane_core.pipeline.own_notebooks.capture import capture_to_file, document_of
from crane_core.pipeline.own_notebooks.capture_many import CapturedNotebook as Captures
from crane_core.pipeline.own_notebooks.capture_many import (
    CaptureRequest,
    capture_each,
    notebooks_in,
)
from crane_core.pipeline.own_notebooks.capture_many import (
    ManyCaptureOptions as CaptureHow,
)
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.capture import Captured
from crane_core.runtime.limits import MIB, KernelLimits, most_memory, n_cores
from crane_core.runtime.plan import read_plan
from crane_core.terminal import give, one_line, stop_on_interrupt, tell
from crane_core.verbs.check import add_isolation, isolated, tell_left_out

NAME = "capture"
HELP = "run the cells before the target in a fresh kernel and write the kernel state that the target will find"
ONLY_READS = True
EXAMPLE = """python -m crane_core capture trip_reproduced.ipynb --out trip_reproduced.json
         python -m crane_core capture trip_fixed.ipynb --target 4 --timeout-s 60 --probe "len(stops)" --out trip.json
         python -m crane_core capture my_notebooks --out states --dask tcp://10.0.0.5:8786"""
SHOWN_NAMES = 20
ELSEWHERE = "Unset it, or capture elsewhere."
"""What to do where no notebook may be captured."""
_USUAL = f"local for more than {MANY} notebooks where distributed is installed"


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `capture` takes: notebooks, targets, where states are written, the kernel's limits."""
    usual = KernelLimits()
    verb.add_argument(
        "notebooks",
        nargs="+",
        type=arguments.path,
        metavar="NOTEBOOK|FOLDER",
        help="an .ipynb file, several, or a folder of them; each kernel runs in the folder of its notebook",
    )
    verb.add_argument(
        "--out",
        type=arguments.path,
        required=True,
        metavar="FILE|DIR",
        help="JSON file to write; of several notebooks or a folder: a folder with a file each, where those that are "
        "newer than their notebook stay as they are",
    )
    verb.add_argument(
        "--target",
        type=arguments.code_cell,
        metavar="N",
        help="stop before this code cell, counted from 0 (default: the first with an error output, else the last)",
    )
    kernel = verb.add_argument_group("the kernel")
    kernel.add_argument(
        "--timeout-s",
        type=arguments.seconds,
        default=usual.cell_s,
        metavar="S",
        help=f"for each cell (default {usual.cell_s:g})",
    )
    add_bounds(verb)
    kernel.add_argument(
        "--probe",
        action="append",
        default=[],
        metavar="EXPR",
        help="evaluate this before and after the capture, to prove that the capture changed nothing; repeatable",
    )
    program = kernel.add_mutually_exclusive_group()
    program.add_argument(
        "--python",
        type=arguments.name,
        metavar="PATH",
        help="Python interpreter to run; it must have ipykernel",
    )
    program.add_argument(
        "--kernel",
        type=arguments.name,
        metavar="NAME",
        help="name of an installed kernelspec",
    )
    add_isolation(verb)
    several = verb.add_argument_group("several notebooks")
    several.add_argument(
        "--jobs",
        type=arguments.at_once,
        metavar="N",
        help="of several notebooks: how many run at the same time (default: one per two cores)",
    )
    add_dask(several)
    several.add_argument(
        "--again",
        action="store_true",
        help="of several notebooks: capture those with a file too",
    )
    kernel.add_argument(
        "--keep-going",
        action="store_true",
        help="continue past cells that raise, and record them",
    )
    verb.add_argument(
        "--benchmark",
        type=arguments.name,
        metavar="B",
        help="the benchmark of the notebook, for `import` (default junobench)",
    )
    verb.add_argument(
        "--json", action="store_true", help="print what was written as JSON to stdout"
    )


def add_bounds(verb: argparse.ArgumentParser) -> None:
    """The options that bound what a kernel may use beside time."""
    bounds = verb.add_argument_group("bounds")
    bounds.add_argument(
        "--memory-mib",
        type=arguments.mebibytes,
        metavar="M",
        help="for the kernel (default: 4/5 of the machine's memory)",
    )
    bounds.add_argument(
        "--output-mib",
        type=arguments.mebibytes,
        metavar="M",
        help=f"for all printed output (default {KernelLimits().output_bytes // MIB})",
    )


def add_dask(verb: argparse._ActionsContainer, *, usual: str = _USUAL) -> None:
    """The option that says on which Dask cluster many notebooks are worked on; `usual`: what happens without it."""
    verb.add_argument(
        "--dask",
        type=arguments.cluster,
        metavar="ADDRESS",
        help="work on a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT of its scheduler, or local; off: on none "
        f"(default: {usual}). Anyone who reaches a "
        "scheduler can run code on it: docs/admin/scale.md",
    )


@contextmanager
def cluster_for(
    chosen: argparse.Namespace, n_notebooks: int, n_workers: int
) -> Iterator[Cluster | None]:
    """The cluster that the option asks for, or a local one for many notebooks; None: the work is done without one."""
    usual = LOCAL if n_notebooks > MANY and is_installed() else OFF
    address = chosen.dask or usual
    if address == OFF or not n_notebooks:
        yield None
        return
    with reached(address, max(1, min(n_workers, n_notebooks))) as cluster:
        where = (
            "workers of this machine" if cluster.is_local else f"the cluster {address}"
        )
        tell(
            f"{n_notebooks:,} notebooks on {where}, {cluster.n_threads():,} at once; --dask off: on none"
        )
        if cluster.dashboard:
            tell(f"dashboard: {cluster.dashboard}")
        yield cluster


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Run the cells before each target in a fresh kernel and write the state that the target would find, one file each.

    Returns 0, or 1 if one of several notebooks could not be captured. Raises NotebookError, KernelError or
    OSError where a single one could not.
    """
    refuse_if_forbidden(os.environ, remedy=ELSEWHERE)
    if len(chosen.notebooks) > 1 or chosen.notebooks[0].is_dir():
        return _several(chosen)
    [notebook] = chosen.notebooks
    if chosen.dask not in (None, OFF):
        raise ClusterError(
            "One notebook is captured on this machine.",
            remedy="Omit --dask, or name a folder.",
        )
    # Said now, not after the minutes that the notebook may take.
    if chosen.out.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, os.strerror(errno.EISDIR), str(chosen.out)
        )
    tell(f"Running the cells before the target of {notebook.name}")
    # Lines that install packages change the user's environment for good, so they run only on request.
    tell_left_out(read_plan(notebook, chosen.target), chosen)
    captured = capture_to_file(
        notebook,
        chosen.out,
        benchmark=chosen.benchmark,
        **_options(chosen, bounded(chosen)),
    )
    told = {"out": str(chosen.out)} | document_of(captured, chosen.benchmark)
    give(json.dumps(told) if chosen.json else in_words(captured, chosen.out))
    return 0


def _options(chosen: argparse.Namespace, limits: KernelLimits) -> dict[str, Any]:
    """Those of runtime.capture."""
    return {
        "target": chosen.target,
        "python": chosen.python,
        "kernel": chosen.kernel,
        "limits": limits,
        "probes": chosen.probe,
        "keep_going": chosen.keep_going,
    }


def _several(chosen: argparse.Namespace) -> int:
    """Every notebook into its own file; one that cannot be captured is told and keeps no other from it."""
    n_jobs = chosen.jobs or max(1, n_cores() // 2)
    limits = _shared(chosen, n_jobs)
    found = notebooks_in(chosen.notebooks, chosen.out)
    # A file that is newer than its notebook is the result of an earlier start, so the same command resumes.
    wanted = found if chosen.again else [one for one in found if not one.is_done]
    chosen.out.mkdir(parents=True, exist_ok=True)
    if len(wanted) < len(found):
        tell(
            f"{len(found) - len(wanted):,} of {len(found):,} have a file already; --again captures them too"
        )
    how = CaptureHow(chosen.benchmark, _options(chosen, limits), n_jobs)
    with (
        stop_on_interrupt() as stop,
        cluster_for(chosen, len(wanted), n_jobs) as cluster,
    ):
        ended = list(_captures(wanted, how, cluster, stop))
    failed = [one for one in ended if one.error is not None]
    if chosen.json:
        give(json.dumps(_as_json(chosen.out, len(found), ended), indent=1))
    else:
        n_there = len(found) - len(failed)
        lines = [
            f"{chosen.out}: kernel states of {n_there:,} of {_counted(len(found), 'notebook')}"
        ]
        give(
            "\n".join(
                lines
                + [
                    f"  not captured: {one.of.notebook}: {_ending(one)}"
                    for one in failed
                ]
            )
        )
    return 1 if failed else 0


def captured_into(
    out: Path, targets: Mapping[Path, int | None], benchmark: str, chosen: Namespace
) -> list[Captures]:
    """The state of each notebook before its target, as a file of `out`; those that failed.

    Files that are newer than their notebook stay. For verbs with the options of `add_bounds` and `add_isolation`,
    --python and --timeout-s.
    """
    n_jobs = max(1, n_cores() // 2)
    options = {
        "target": None,
        "python": chosen.python,
        "kernel": None,
        "probes": [],
        "keep_going": False,
    }
    how = CaptureHow(benchmark, options | {"limits": _shared(chosen, n_jobs)}, n_jobs)
    found = notebooks_in(list(targets), out)
    wanted = [
        one._replace(target=targets[one.notebook]) for one in found if not one.is_done
    ]
    out.mkdir(parents=True, exist_ok=True)
    with stop_on_interrupt() as stop:
        return [
            one for one in _captures(wanted, how, None, stop) if one.error is not None
        ]


def _captures(
    wanted: Sequence[CaptureRequest],
    how: CaptureHow,
    cluster: Cluster | None,
    stop: Event,
) -> Iterator[Captures]:
    """Each as it ends, told; Ctrl+C ends all of them, as KeyboardInterrupt."""
    for number, one in enumerate(capture_each(wanted, how, cluster, stop), start=1):
        tell(f"  {number:,} of {len(wanted):,}: {one.of.notebook}: {_ending(one)}")
        yield one
    if stop.is_set():
        # The exit status is that of an interrupted program: the folder is not complete.
        raise KeyboardInterrupt


def _shared(chosen: Namespace, n_jobs: int) -> KernelLimits:
    """The limits of a kernel that runs beside others: where no memory is named, its part of what there is."""
    limits = bounded(chosen)
    return (
        limits
        if chosen.memory_mib
        else limits._replace(memory_bytes=most_memory() // n_jobs)
    )


def _ending(one: Captures) -> str:
    if one.document is None:
        return one_line(str(one.error))
    return _counted(len(one.document["variables"]), "variable")


def _as_json(out: Path, n_all: int, ended: Sequence[Captures]) -> dict[str, Any]:
    told = [
        {"notebook": str(one.of.notebook)}
        | (
            {"error": str(one.error)}
            if one.document is None
            else {"out": str(one.of.out)}
        )
        for one in ended
    ]
    n_failed = sum(one.error is not None for one in ended)
    return {
        "out": str(out),
        "notebooks": n_all,
        "captured": len(ended) - n_failed,
        "failed": n_failed,
        "now": told,
    }


def bounded(chosen: argparse.Namespace) -> KernelLimits:
    """The limits that the options say."""
    limits = isolated(chosen, KernelLimits(cell_s=chosen.timeout_s))
    if chosen.memory_mib:
        limits = limits._replace(memory_bytes=int(chosen.memory_mib * MIB))
    if chosen.output_mib:
        limits = limits._replace(output_bytes=int(chosen.output_mib * MIB))
    return limits


def in_words(captured: Captured, out: Path) -> str:
    """What was captured, for people to read."""
    state, result = captured.result.state, captured.result
    names = list(state["variables"])
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    seconds = sum(cell.seconds for cell in captured.cells)
    lines = [
        f"{out}: kernel state before code cell {captured.target} of {captured.notebook}",
        f"  {_counted(len(captured.cells), 'cell')} ran in {seconds:.3f} s; "
        f"capture took {result.seconds * 1000:.1f} ms",
        f"  {_counted(len(names), 'variable')}: {', '.join(names[:SHOWN_NAMES]) or 'none'}{more}",
    ]
    lines += [
        f"  code cell {cell.cell} raised {one_line(f'{cell.exception}: {cell.message}')}"
        for cell in captured.cells
        if cell.exception
    ]
    absent = [
        absent_words(kind, entry)
        for kind, entries in state["absent"].items()
        for entry in entries
    ]
    lines += [f"  absent: {what}" for what in absent[:SHOWN_NAMES]]
    lines += (
        [f"  absent: {len(absent) - SHOWN_NAMES:,} more"]
        if len(absent) > SHOWN_NAMES
        else []
    )
    lines += [
        f"  unavailable: {name}: {why}" for name, why in state["unavailable"].items()
    ]
    lines += [
        f"  probe {probe['expression']}: {probe['before']!r}, then {probe['after']!r}"
        for probe in result.probes
    ]
    # A thread or process of the notebook that outlived the cells was ended with the kernel; the state lacks
    # what it would do.
    left = [
        *(f"thread {name}" for name in result.threads),
        *(f"process {name}" for name in captured.processes),
    ]
    lines += [f"  was still running and was stopped: {name}" for name in left]
    return "\n".join(lines)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def absent_words(kind: str, entry: Mapping[str, Any]) -> str:
    """`column yield_kg of df, line 3`: what the target asks for in vain. kind: a member of the state's `absent`."""
    word = kind.removesuffix("s")
    asked = next((name for name in (word, "label", "index") if name in entry), None)
    what = f"{asked} {entry[asked]}" if asked else kind
    of = f" of {entry['of']}" if "of" in entry else ""
    return f"{what}{of}, line {entry['line']}" if "line" in entry else f"{what}{of}"
