"""Install a pinned requirements file with pip and show its progress. Usage: tools/install.py REQUIREMENTS WHAT-FOR.

pip's own words, warnings included, go to a file beside the environment and are shown only when it fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

STEP = re.compile(r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)")
LAST_LINES = 25


class Progress:
    """How far pip is, in one line: drawn over itself in a terminal, written now and then elsewhere."""

    def __init__(self, n_pins: int) -> None:
        self.n_pins, self.n_found, self.words = n_pins, 0, "starting pip"
        self.started = time.monotonic()

    def read(self, line: str) -> None:
        if step := STEP.match(line):
            self.n_found += 1
            self.words = f"{min(self.n_found, self.n_pins)} of {self.n_pins} packages, {step[1]}"
        elif line.startswith("Installing collected packages:"):
            self.words = f"unpacking {line.count(',') + 1} packages"

    @property
    def line(self) -> str:
        return f"  {self.words}, {time.monotonic() - self.started:.0f} s"


def main(requirements: Path, purpose: str) -> int:
    log = Path(sys.prefix) / f"install-{requirements.stem}.log"
    pins = [
        line
        for line in requirements.read_text("utf-8").splitlines()
        if line.strip() and line[0] not in "# "
    ]
    print(f"Installing what {purpose}: {requirements.name}", flush=True)
    progress = Progress(len(pins))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
    ]
    # A list with hashes is whole, and leaves out on purpose what some package names (tools/left_out.txt).
    command += (
        ["--require-hashes", "--no-deps"]
        if "--hash=" in requirements.read_text("utf-8")
        else []
    )
    over = threading.Event()
    shown = threading.Thread(target=_show, args=(progress, over))
    shown.start()
    try:
        returned = _run([*command, "-r", str(requirements)], log, progress)
    finally:
        over.set()
        shown.join()
    if returned:
        told = [
            line
            for line in log.read_text("utf-8").splitlines()
            if not line.startswith("WARNING: Location")
        ]
        print(
            *told[-LAST_LINES:],
            f"pip failed; all that it said is in {log}",
            sep="\n",
            file=sys.stderr,
        )
    else:
        print(
            f"  done in {time.monotonic() - progress.started:.0f} s", flush=True
        )
    return returned


def _run(command: list[str], log: Path, progress: Progress) -> int:
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as pip,
    ):
        assert pip.stdout is not None
        for line in pip.stdout:
            kept.write(line)
            progress.read(line)
    return pip.returncode


def _show(progress: Progress, over: threading.Event) -> None:
    is_terminal = sys.stdout.isatty()
    while not over.wait(0.5 if is_terminal else 10.0):
        print(
            f"\r{progress.line:<78}" if is_terminal else progress.line,
            end="" if is_terminal else "\n",
            flush=True,
        )
    if is_terminal:
        print("\r" + " " * 78 + "\r", end="")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
