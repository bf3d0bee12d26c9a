"""The command line in this process: what a verb says and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from crane_core.cli import main


class Spoken(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Spoken]


def speaker(data: Path, capsys: pytest.CaptureFixture[str], *verb: str) -> Run:
    """A function that runs `verb` with more arguments on the data folder `data`."""

    def speak(*arguments: str | Path) -> Spoken:
        code = main(["--data", str(data), *verb, *map(str, arguments)])
        return Spoken(code, *capsys.readouterr())

    return speak
