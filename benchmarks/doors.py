"""The doors to a verdict, each tried once and timed: kernels, terminals, other programs.

python -m benchmarks.doors [--kernel PYTHON ...] [--terminal PYTHON ...] [--lab PYTHON ...] [--skip-here]

Kernels and terminals are of interpreters that have this package; those that have ipykernel alone are tried with `check`
and `check --attach` only. A row says what worked, and the seconds of the first and the second verdict, or of the whole
command where it is one: on the wall, and of processors, which other programs do not lengthen as much. With `--lab` the
button is pressed in JupyterLab and Notebook 7 of these interpreters.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import anyio
import pexpect
import psutil
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from playwright.sync_api import expect

from benchmarks import _kernel
from benchmarks._browser import chromium
from benchmarks._lab import (
    TIMEOUT_MS,
    ask,
    jupyter,
    run,
    wait_for_kernel,
    write_cells,
)
from benchmarks._timing import command, machine

WAIT_S = 120
CELLS = ("beds = {'north': 3}", "beds['south'] + 1")
NAMED = ("ipython", "ipykernel", "jupyterlab", "notebook", "jupyter-console")
VERSIONS = f"""
import sys, importlib.metadata as m
known = {{each.metadata['Name'].lower(): each.version for each in m.distributions()}}
python = 'Python ' + sys.version.split()[0]
print(python, *(n + ' ' + known[n] for n in {NAMED} if n in known), sep=', ')
"""
HAS_PACKAGE = (
    "import importlib.util as u; print(u.find_spec('crane_core') is not None)"
)


class DoorStep(NamedTuple):
    """What is tried, what is typed for it, and a pattern that its answer must contain."""

    name: str
    typed: str
    expected: str


STEPS = (
    DoorStep("load", f"{CELLS[0]}\n%load_ext crane_core", ""),
    DoorStep("%%crane", f"%%crane\n{CELLS[1]}", "KeyError"),
    DoorStep("%%crane again", f"%%crane\n{CELLS[1]}", "KeyError"),
    DoorStep("guard", "%crane guard on", "guard is on"),
    DoorStep("stopped", CELLS[1], "StoppedCell|was not run"),
    DoorStep(
        "crash", "beds['west'] = 1; beds['south']  # crane: run", "KeyError"
    ),
    DoorStep("undo", "%crane undo", "as it was before"),
    DoorStep("undone", "print(sorted(beds))", r"\['north'\]"),
    DoorStep("rehearse", "%%crane rehearse\nbeds['north'] / 0", "ZeroDivision"),
    DoorStep("fix", "%%crane fix\nbeds['nroth'] + 1", "ran through"),
)
TIMED = ("%%crane", "%%crane again", "guard", "undo", "rehearse", "fix")
SHOWN = ("%%crane", "guard", "stopped", "undo", "undone", "rehearse", "fix")
Say = Callable[[str], str]
"""Types a cell; what is answered to it."""


class Door(NamedTuple):
    """An open session, and the process in which it is."""

    say: Say
    pid: int


class Seconds(NamedTuple):
    """On the wall, and of processors."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.processor:.2f} s)"


def processor_s(pid: int) -> float:
    """Processor seconds of a process and of all that it started, so far."""
    root = psutil.Process(pid)
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
            total += times.children_user + times.children_system
    return total


def answer_of(python: str, code: str) -> str:
    """What an interpreter prints that does not find this checkout."""
    told = subprocess.run(
        [python, "-I", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


@contextmanager
def kernel_of(python: str) -> Iterator[tuple[str, Door]]:
    with _kernel.fresh(python) as (manager, client):

        def say(typed: str) -> str:
            told: list[str] = []
            client.execute_interactive(
                typed,
                timeout=WAIT_S,
                output_hook=lambda message: told.append(
                    str(message["content"])
                ),
            )
            return "".join(told)

        yield str(manager.connection_file), Door(say, manager.provisioner.pid)


@contextmanager
def terminal_of(python: str, module: str) -> Iterator[Door]:
    """IPython, or the console of a kernel, at a plain prompt, as a person types."""
    child = pexpect.spawn(
        python,
        ["-m", module, "--simple-prompt"],
        timeout=WAIT_S,
        encoding="utf-8",
        dimensions=(60, 200),
        env={
            "HOME": tempfile.mkdtemp(),
            "PATH": "/usr/bin:/bin",
            "TERM": "dumb",
        },
    )
    try:
        child.expect(r"In \[1\]: ")
        n_said = 0

        def say(typed: str) -> str:
            nonlocal n_said
            n_said += 1
            first, _, rest = typed.partition("\n")
            magic, _, words = first.removeprefix("%%").partition(" ")
            # The plain prompt of the console takes cells of one line only.
            if first.startswith("%%") and module == "jupyter_console":
                call = f"({magic!r}, {words!r}, {rest!r})"
                typed = f"get_ipython().run_cell_magic{call}"
            for line in typed.split("\n"):
                child.sendline(line)
            # Two empty lines end a cell of several lines.
            if typed.startswith("%%"):
                child.sendline("\n")
            # Printed otherwise than typed, which the terminal echoes; a cell that only shows something leaves the undo.
            child.sendline(f"print('said', {n_said})")
            child.expect(f"said {n_said}\\b")
            return child.before or ""

        yield Door(say, child.pid)
    finally:
        child.close(force=True)


def conversation(door: Door) -> str:
    """What worked of the steps, and the times of the first two verdicts and of turning the guard on."""
    worked: list[str] = []
    failed: list[str] = []
    seconds: dict[str, Seconds] = {}
    for step in STEPS:
        began, used = time.perf_counter(), processor_s(door.pid)
        told = door.say(step.typed)
        seconds[step.name] = Seconds(
            time.perf_counter() - began, processor_s(door.pid) - used
        )
        if re.search(step.expected, told):
            worked.append(step.name)
        else:
            failed.append(f"{step.name}: {told[-300:]!r}")
    times = ", ".join(f"{name} {seconds[name]}" for name in TIMED)
    names = ", ".join(name for name in SHOWN if name in worked)
    wrong = f"; DID NOT WORK: {failed}" if failed else ""
    return f"{names}; {times}{wrong}"


def checked(*words: str) -> str:
    """A call of `crane check` that must name the KeyError, with its time."""
    began, used = time.perf_counter(), _of_children_s()
    told = subprocess.run(
        [sys.executable, "-m", "crane_core", "check", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = Seconds(time.perf_counter() - began, _of_children_s() - used)
    said = told.stdout + told.stderr
    works = "works" if "KeyError" in said else f"DID NOT WORK: {said[-300:]!r}"
    return f"{works}, {seconds}"


def _of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def on_kernels(python: str, notebook: Path) -> Iterator[str]:
    versions = answer_of(python, VERSIONS)
    words = (str(notebook), "--python", python, "--predict-only")
    yield f"check --python, {versions}: {checked(*words)}"
    with kernel_of(python) as (file, door):
        door.say(CELLS[0])
        told = checked("--attach", file, str(notebook), "--target", "1")
        yield f"check --attach, {versions}: {told}"
        if answer_of(python, HAS_PACKAGE) == "True":
            yield f"kernel, {versions}: {conversation(door)}"


async def _assistant(folder: Path) -> tuple[float, float, str]:
    """Seconds until the server answers, seconds of the first verdict on a notebook, and what it said."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "crane_core", "mcp", "--notebooks", str(folder)],
    )
    began = time.perf_counter()
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        ready = time.perf_counter()
        told = await session.call_tool(
            "check_cell", {"notebook": "garden.ipynb", "cell": 1}
        )
        return ready - began, time.perf_counter() - ready, str(told)


def in_the_lab(python: str, module: str) -> str:
    with (
        tempfile.TemporaryDirectory() as home,
        jupyter(Path(home), module=module, python=python) as (address, work),
        chromium() as browser,
    ):
        expect.set_options(timeout=TIMEOUT_MS)
        write_cells(work / "garden.ipynb", CELLS)
        page = browser.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        tree = "doc/tree" if module == "jupyterlab" else "notebooks"
        page.goto(f"{address}/{tree}/garden.ipynb")
        wait_for_kernel(page)
        run(page, 0)
        began = time.perf_counter()
        verdict = ask(page, 1)
        expect(verdict).to_have_attribute("data-verdict", "crash")
        return f"the button works, {time.perf_counter() - began:.2f} s"


def main() -> None:
    parser = command(__doc__)
    for door in ("kernel", "terminal", "lab"):
        parser.add_argument(
            f"--{door}", action="append", default=[], metavar="PYTHON"
        )
    parser.add_argument("--skip-here", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        notebook = Path(folder) / "garden.ipynb"
        write_cells(notebook, CELLS)
        for python in chosen.kernel:
            for row in on_kernels(python, notebook):
                print(row, flush=True)
        if not chosen.skip_here:
            print(f"crane check: {checked(str(notebook))}")
            ready, first, told = anyio.run(_assistant, Path(folder))
            works = "works" if "KeyError" in told else f"said {told[:300]}"
            print(
                f"crane mcp: {works}, ready in {ready:.2f} s, first {first:.2f} s"
            )
    for python in chosen.terminal:
        versions = answer_of(python, VERSIONS)
        for module in ("IPython", "jupyter_console"):
            with terminal_of(python, module) as door:
                print(f"{module}, {versions}: {conversation(door)}", flush=True)
    for python in chosen.lab:
        versions = answer_of(python, VERSIONS)
        for module in ("jupyterlab", "notebook"):
            print(
                f"{module}, {versions}: {in_the_lab(python, module)}",
                flush=True,
            )
    print(machine())


if __name__ == "__main__":
    main()
