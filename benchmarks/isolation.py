"""What isolation costs a capture, at most 60 ms, and what hostile notebooks do in it: each tried many times.

    python -m benchmarks.isolation [--rounds 10] [--attacks 50]

Times alternate between an open and a sealed kernel, so that both meet the same machine. An attack is contained where
the capture ends, says why, and leaves no process and nothing on the disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbformat
import psutil

from benchmarks._timing import Times, machine, options, timed
from crane_core.errors import CraneError
from crane_core.runtime.capture import capture
from crane_core.runtime.isolation import Isolation, can_seal
from crane_core.runtime.limits import MIB, KernelLimits

LIMIT_MS = 60
SEALED = KernelLimits(
    isolation=Isolation.SEALED, processes=40, disk_bytes=64 * MIB, cell_s=20
)
USUAL = (
    "import numpy, pandas\nframe = pandas.DataFrame({'a': range(100)})",
    "frame.a.mean()",
)
FORKS = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(600)"
FILLS = (
    "while True: open({where} + str(id(object())), 'ab').write(b'x' * 2**20)"
)
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.execve(sys.executable, [sys.executable, '-I', '-c', 'import time; time.sleep(600) # {word}'], {{}})
"""
ATTACKS: dict[str, tuple[str, str]] = {
    "fork bomb": (FORKS, "processes"),
    "fills the temporary folder": (
        FILLS.format(where="__import__('os').environ['TMPDIR'] + '/'"),
        "wrote more",
    ),
    "fills the notebook's folder": (FILLS.format(where="''"), "wrote more"),
    "writes through a link": (
        "import os\nos.symlink('{outside}', 'out')\nopen('out/x', 'w')",
        "FileNotFoundError",
    ),
    "daemon with an empty environment": (DAEMON, ""),
    "kills every process that it sees": (
        "import os\nos.kill(-1, 9)",
        "ProcessLookupError",
    ),
}
"""Attack to the code of its cell and what the capture says of it; "" where it goes well."""


def notebook(folder: Path, *cells: str) -> Path:
    form: Any = nbformat
    book = form.v4.new_notebook(
        cells=[form.v4.new_code_cell(cell) for cell in cells]
    )
    path = folder / "n.ipynb"
    form.write(book, path)
    return path


def running(word: str) -> bool:
    """Whether a process has this word in its command line."""
    processes = psutil.process_iter(["cmdline"])
    return any(word in " ".join(one.info["cmdline"] or ()) for one in processes)


def is_contained(code: str, said: str) -> bool:
    """Run the attack once."""
    word = uuid4().hex
    with (
        tempfile.TemporaryDirectory() as outside,
        tempfile.TemporaryDirectory() as folder,
    ):
        source = (
            code.replace("{word}", word)
            .replace("{{", "{")
            .replace("}}", "}")
            .replace("{outside}", outside)
        )
        path = notebook(Path(folder), source, "0")
        try:
            capture(path, limits=SEALED)
            told = ""
        except CraneError as error:
            told = str(error)
        is_clean = not list(Path(outside).iterdir()) and [
            one.name for one in Path(folder).iterdir()
        ] == [path.name]
        return (
            is_clean
            and not running(word)
            and (said in told if said else not told)
        )


def times(rounds: int) -> dict[Isolation, Times]:
    seconds: dict[Isolation, list[float]] = {
        kept: [] for kept in (Isolation.OPEN, Isolation.SEALED)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = notebook(Path(folder), *USUAL)
        for number in range(rounds + 1):
            for kept, found in seconds.items():
                took, _ = timed(_captured(path, kept))
                found += [took] * (number > 0)  # the first is for cold caches
    return {kept: Times(found) for kept, found in seconds.items()}


def _captured(path: Path, kept: Isolation) -> Callable[[], object]:
    return lambda: capture(path, limits=KernelLimits(isolation=kept))


def main() -> None:
    chosen = options(__doc__, rounds=10, attacks=50)
    if not can_seal():
        raise SystemExit(
            "bubblewrap cannot make namespaces here: nothing is measured."
        )
    found = times(chosen.rounds)
    extra = (
        found[Isolation.SEALED].median - found[Isolation.OPEN].median
    ) * 1e3
    for kept, of in found.items():
        print(f"{kept}: {of.in_ms()}")
    print(
        f"sealing takes {extra:,.0f} ms more, of the limit {LIMIT_MS} ms: {extra / LIMIT_MS:.2f}"
    )
    for name, (code, said) in ATTACKS.items():
        contained = sum(is_contained(code, said) for _ in range(chosen.attacks))
        print(f"{name}: tried {chosen.attacks}, contained {contained}")
    print(machine())


if __name__ == "__main__":
    main()
