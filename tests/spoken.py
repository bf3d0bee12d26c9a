"""The command line in this process: what a verb says and how it ends."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from crane_core import cli
from crane_core.cli import main
from crane_core.pipeline.places import DataFolder
from crane_core.terminal import program_typed

_made = cli.parser


class Spoken(NamedTuple):
    """Exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Spoken]


@cache
def _kept_parser(only: str, program: str) -> ArgumentParser:
    return _made(only)


def _parser(only: str) -> ArgumentParser:
    # Defaults of `app` are those of the environment.
    return _made(only) if only == "app" else _kept_parser(only, program_typed())


@contextmanager
def parsers_kept() -> Iterator[None]:
    """Within it the parser of a verb is made once in this process: that takes longer than most refusals."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "parser", _parser)
        yield


def speaker(data: Path, capsys: pytest.CaptureFixture[str], *verb: str) -> Run:
    """A function that runs `verb` with more arguments on the data folder `data`.

    The first argument is a line as it is typed, the others are one word each.
    """

    def speak(line: str | Path = "", *more: str | Path) -> Spoken:
        typed = shlex.split(line) if isinstance(line, str) else [line]
        with parsers_kept():
            code = main(
                ["--data", str(data), *verb, *map(str, [*typed, *more])]
            )
        return Spoken(code, *capsys.readouterr())

    return speak


def say(
    folder: DataFolder, capsys: pytest.CaptureFixture[str], *arguments: str
) -> Spoken:
    """One verb on a data folder; what was printed before is dropped."""
    capsys.readouterr()
    return speaker(folder.path, capsys)(*arguments)
