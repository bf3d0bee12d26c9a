"""What hostile notebooks do in a sealed kernel: each tried many times.

    python -m benchmarks.isolation [--attacks 50]

An attack is contained where the capture ends, says why, and leaves no process and nothing on the disk.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from uuid import uuid4

import psutil

from benchmarks._lab import write_cells
from benchmarks._timing import machine, options
from crane_core.errors import CraneError
from crane_core.runtime.capture import capture
from crane_core.runtime.isolation import Isolation, can_seal
from crane_core.runtime.limits import MIB, KernelLimits

SEALED = KernelLimits(
    isolation=Isolation.SEALED, processes=40, disk_bytes=64 * MIB, cell_s=20
)
FORKS = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(600)"
FILLS = "while True: open({} + str(id(object())), 'ab').write(b'x' * 2**20)"
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.execve(sys.executable, [sys.executable, '-I', '-c', 'import time; time.sleep(600) # WORD'], {})
"""
ATTACKS: dict[str, tuple[str, str]] = {
    "fork bomb": (FORKS, "processes"),
    "fills the temporary folder": (
        FILLS.format("__import__('os').environ['TMPDIR'] + '/'"),
        "wrote more",
    ),
    "fills the notebook's folder": (FILLS.format("''"), "wrote more"),
    "writes through a link": (
        "import os\nos.symlink('OUTSIDE', 'out')\nopen('out/x', 'w')",
        "FileNotFoundError",
    ),
    "daemon with an empty environment": (DAEMON, ""),
    "kills every process that it sees": (
        "import os\nos.kill(-1, 9)",
        "ProcessLookupError",
    ),
}
"""Attack to the code of its cell and what the capture says of it; "" where it goes well."""


def running(word: str) -> bool:
    """Whether a process has this word in its command line."""
    processes = psutil.process_iter(["cmdline"])
    return any(word in " ".join(one.info["cmdline"] or ()) for one in processes)


def is_contained(code: str, said: str) -> bool:
    """Run the attack once."""
    word = uuid4().hex
    with tempfile.TemporaryDirectory() as scratch:
        outside, inside = Path(scratch) / "outside", Path(scratch) / "inside"
        outside.mkdir()
        inside.mkdir()
        path = inside / "n.ipynb"
        source = code.replace("WORD", word).replace("OUTSIDE", str(outside))
        write_cells(path, (source, "0"))
        told = ""
        try:
            capture(path, limits=SEALED)
        except CraneError as error:
            told = str(error)
        is_clean = [*outside.iterdir(), *inside.iterdir()] == [path]
        is_said = said in told if said else not told
        return is_clean and is_said and not running(word)


def main() -> None:
    n_attacks = options(__doc__, attacks=50).attacks
    if not can_seal():
        raise SystemExit(
            "bubblewrap cannot make namespaces here: nothing is measured."
        )
    for name, (code, said) in ATTACKS.items():
        contained = sum(is_contained(code, said) for _ in range(n_attacks))
        print(f"{name}: tried {n_attacks}, contained {contained}")
    print(machine())


if __name__ == "__main__":
    main()
