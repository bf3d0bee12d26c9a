"""Print the licences of packages that a requirements file pins, as installed. Usage: tools/licences.py FILE."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

FORM = ("--format=markdown", "--with-urls", "--order=license", "--from=mixed")


def packages(requirements: Path) -> list[str]:
    """Names of the pinned packages that this platform has."""
    lines = [
        line.partition(" \\")[0]
        for line in requirements.read_text("utf-8").splitlines()
    ]
    pins = [Requirement(line) for line in lines if line and line[0] not in " #"]
    return [
        metadata.metadata(pin.name)["Name"]
        for pin in pins
        if pin.marker is None or pin.marker.evaluate()
    ]


def main(requirements: Path) -> int:
    program = Path(sys.executable).parent / "pip-licenses"
    return subprocess.run(
        [str(program), *FORM, "--packages", *packages(requirements)],
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
