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
        path = Path(folder) / "n.ipynb"
        write_cells(path, (source, "0"))
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
