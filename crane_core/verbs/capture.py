"""`capture`: what a notebook's kernel holds when its target cell is about to run."""

import argparse
import errno
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.domain import JsonObject
from crane_core.errors import ClusterError
from crane_core.pipeline.dask.cluster import (
    LOCAL,
    MANY,
    OFF,
    Cluster,
    is_installed,
    reached,
)
from crane_core.pipeline.own_notebooks import capture_many, check
from crane_core.pipeline.places import DataFolder
from crane_core.runtime.capture import Captured
from crane_core.runtime.limits import MIB, KernelLimits, most_memory, n_cores
from crane_core.runtime.plan import read_plan
from crane_core.terminal import give_either, one_line, stop_on_interrupt, tell
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
    add(
        verb,
        option(
            "notebooks NOTEBOOK|FOLDER",
            "an .ipynb file, several, or a folder of them; each kernel runs in the folder of its notebook",
            arguments.path,
            nargs="+",
        ),
        option(
            "--out FILE|DIR",
            "JSON file to write; of several notebooks or a folder: a folder with a file each, where those that are "
            "newer than their notebook stay as they are",
            arguments.path,
            required=True,
        ),
        option(
            "--target N",
            "stop before this code cell, counted from 0 (default: the first with an error output, else the last)",
            arguments.code_cell,
        ),
    )
    kernel = verb.add_argument_group("the kernel")
    add(
        kernel,
        option(
            "--timeout-s S",
            f"for each cell (default {usual.cell_s:g})",
            arguments.seconds,
            default=usual.cell_s,
        ),
    )
    add_bounds(verb)
    add(
        kernel,
        option(
            "--probe EXPR",
            "evaluate this before and after the capture, to prove that the capture changed nothing; repeatable",
            action="append",
            default=[],
        ),
    )
    add(
        kernel.add_mutually_exclusive_group(),
        option(
            "--python PATH",
            "Python interpreter to run; it must have ipykernel",
            arguments.name,
        ),
        option(
            "--kernel NAME", "name of an installed kernelspec", arguments.name
        ),
    )
    add_isolation(verb)
    several = verb.add_argument_group("several notebooks")
    add(
        several,
        option(
            "--jobs N",
            "of several notebooks: how many run at the same time (default: one per two cores)",
            arguments.at_once,
        ),
    )
    add_dask(several)
    add(
        several,
        flag("--again", "of several notebooks: capture those with a file too"),
    )
    add(
        kernel,
        flag("--keep-going", "continue past cells that raise, and record them"),
    )
    add(
        verb,
        option(
            "--benchmark B",
            "the benchmark of the notebook, for `import` (default junobench)",
            arguments.name,
        ),
        flag("--json", "print what was written as JSON to stdout"),
    )


def add_interpreter(kernel: argparse._ActionsContainer) -> None:
    """What runs a whole notebook, and for how long."""
    usual = KernelLimits().cell_s
    add(
        kernel,
        option(
            "--python PATH",
            "interpreter to run; it must have ipykernel",
            arguments.name,
        ),
        option(
            "--timeout-s S",
            f"for each notebook (default {usual:g})",
            arguments.seconds,
            default=usual,
        ),
    )


def add_bounds(verb: argparse.ArgumentParser) -> None:
    """The options that bound what a kernel may use beside time."""
    add(
        verb.add_argument_group("bounds"),
        option(
            "--memory-mib M",
            "for the kernel (default: 4/5 of the machine's memory)",
            arguments.mebibytes,
        ),
        option(
            "--output-mib M",
            f"for all printed output (default {KernelLimits().output_bytes // MIB})",
            arguments.mebibytes,
        ),
    )


def add_dask(verb: argparse._ActionsContainer, *, usual: str = _USUAL) -> None:
    """The option that says on which Dask cluster many notebooks are worked on; `usual`: what happens without it."""
    add(
        verb,
        option(
            "--dask ADDRESS",
            "work on a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT of its scheduler, or local; off: on none "
            f"(default: {usual}). Anyone who reaches a "
            "scheduler can run code on it: docs/admin/scale.md",
            arguments.cluster,
        ),
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
            "workers of this machine"
            if cluster.is_local
            else f"the cluster {address}"
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
    check.refuse_if_forbidden(os.environ, remedy=ELSEWHERE)
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
    captured = capture_many.capture_to_file(
        notebook,
        chosen.out,
        benchmark=chosen.benchmark,
        **_options(chosen, bounded(chosen)),
    )
    told = {"out": str(chosen.out)} | capture_many.document_of(
        captured, chosen.benchmark
    )
    words = in_words(captured, chosen.out)
    give_either(told, words, as_json=chosen.json, indent=None)
    return 0


def _options(
    chosen: argparse.Namespace, limits: KernelLimits
) -> dict[str, Any]:
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
    found = capture_many.notebooks_in(chosen.notebooks, chosen.out)
    # A file that is newer than its notebook is the result of an earlier start, so the same command resumes.
    wanted = (
        found if chosen.again else [one for one in found if not one.is_done]
    )
    chosen.out.mkdir(parents=True, exist_ok=True)
    if len(wanted) < len(found):
        tell(
            f"{len(found) - len(wanted):,} of {len(found):,} have a file already; --again captures them too"
        )
    how = capture_many.ManyCaptureOptions(
        chosen.benchmark, _options(chosen, limits), n_jobs
    )
    with (
        stop_on_interrupt() as stop,
        cluster_for(chosen, len(wanted), n_jobs) as cluster,
    ):
        ended = list(_captures(wanted, how, cluster, stop))
    failed = [one for one in ended if one.error is not None]
    n_there = len(found) - len(failed)
    lines = [
        f"{chosen.out}: kernel states of {n_there:,} of {_counted(len(found), 'notebook')}",
        *(
            f"  not captured: {one.of.notebook}: {_ending(one)}"
            for one in failed
        ),
    ]
    document = _as_json(chosen.out, len(found), ended)
    give_either(document, "\n".join(lines), as_json=chosen.json)
    return 1 if failed else 0


def captured_into(
    out: Path,
    targets: Mapping[Path, int | None],
    benchmark: str,
    chosen: Namespace,
) -> list[capture_many.CapturedNotebook]:
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
    how = capture_many.ManyCaptureOptions(
        benchmark, options | {"limits": _shared(chosen, n_jobs)}, n_jobs
    )
    found = capture_many.notebooks_in(list(targets), out)
    wanted = [
        one._replace(target=targets[one.notebook])
        for one in found
        if not one.is_done
    ]
    out.mkdir(parents=True, exist_ok=True)
    with stop_on_interrupt() as stop:
        return [
            one
            for one in _captures(wanted, how, None, stop)
            if one.error is not None
        ]


def _captures(
    wanted: Sequence[capture_many.CaptureRequest],
    how: capture_many.ManyCaptureOptions,
    cluster: Cluster | None,
    stop: Event,
) -> Iterator[capture_many.CapturedNotebook]:
    """Each as it ends, told; Ctrl+C ends all of them, as KeyboardInterrupt."""
    for number, one in enumerate(
        capture_many.capture_each(wanted, how, cluster, stop), start=1
    ):
        tell(
            f"  {number:,} of {len(wanted):,}: {one.of.notebook}: {_ending(one)}"
        )
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


def _ending(one: capture_many.CapturedNotebook) -> str:
    if one.document is None:
        return one_line(str(one.error))
    return _counted(len(one.document["variables"]), "variable")


def _as_json(
    out: Path, n_all: int, ended: Sequence[capture_many.CapturedNotebook]
) -> JsonObject:
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
    more = (
        f" and {len(names) - SHOWN_NAMES:,} more"
        if len(names) > SHOWN_NAMES
        else ""
    )
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
    lines += _absent(state["absent"])
    lines += [
        f"  unavailable: {name}: {why}"
        for name, why in state["unavailable"].items()
    ]
    lines += [
        f"  probe {probe['expression']}: {probe['before']!r}, then {probe['after']!r}"
        for probe in result.probes
    ]
    # A thread or process of the notebook that outlived the cells was ended with the kernel; the state lacks
    # what it would do.
    stopped = "  was still running and was stopped:"
    lines += [f"{stopped} thread {name}" for name in result.threads]
    lines += [f"{stopped} process {name}" for name in captured.processes]
    return "\n".join(lines)


def _absent(missing: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """What the target asks for in vain."""
    words = [
        absent_words(kind, entry)
        for kind, entries in missing.items()
        for entry in entries
    ]
    if len(words) > SHOWN_NAMES:
        words[SHOWN_NAMES:] = [f"{len(words) - SHOWN_NAMES:,} more"]
    return [f"  absent: {what}" for what in words]


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def absent_words(kind: str, entry: Mapping[str, Any]) -> str:
    """`column yield_kg of df, line 3`: what the target asks for in vain. kind: a member of the state's `absent`."""
    word = kind.removesuffix("s")
    asked = next(
        (name for name in (word, "label", "index") if name in entry), None
    )
    what = f"{asked} {entry[asked]}" if asked else kind
    of = f" of {entry['of']}" if "of" in entry else ""
    return (
        f"{what}{of}, line {entry['line']}"
        if "line" in entry
        else f"{what}{of}"
    )
