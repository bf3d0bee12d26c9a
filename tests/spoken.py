"""The command line in this process: what a verb says and how it ends."""

from __future__ import annotations

import shlex
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
    """A function that runs `verb` with more arguments on the data folder `data`.

    The first argument is a line as it is typed, the others are one word each.
    """

    def speak(line: str | Path = "", *more: str | Path) -> Spoken:
        typed = shlex.split(line) if isinstance(line, str) else [line]
        code = main(["--data", str(data), *verb, *map(str, [*typed, *more])])
        return Spoken(code, *capsys.readouterr())

    return speak
