"""The cases of the corpus as they are written: one file of `kinds/` per kind, one case below the other.

A case is a heading, cells that are run before, and targets, each of which is asked about and then really run:

    === a thread fills a dict, and the cell waits for it
    out = {}
    --- runs
    th.join()
    out['k']
    --- raises KeyError
    out['z']

`---` alone begins one more cell before; `--- restart` does so in a new kernel in the same folder. After the
heading: `| own kernel` for what a reset does not undo and nobody sees, `| needs sympy torch` for modules without which
the case is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = Path(__file__).parent / "kinds"
RESTART = "restart"

_HEADING = re.compile(r"^=== (?P<name>[^|]+?)(?P<options>( \| [^|]+)*)$")
_CELL = re.compile(
    r"^---(?: (?P<what>restart|runs|raises (?P<exception>\w+)))?$"
)


class CorpusError(Exception):
    """A file of cases that cannot be read; the text says which line."""


@dataclass(frozen=True)
class Step:
    """A cell, or a restart of the kernel. `exception` is what a target raises, None where it runs."""

    source: str
    is_target: bool = False
    is_restart: bool = False
    exception: str | None = None


@dataclass(frozen=True)
class Case:
    """Cells in the order in which they are run in one notebook."""

    kind: str
    name: str
    steps: tuple[Step, ...]
    needs: tuple[str, ...]
    own_kernel: bool

    @property
    def n_targets(self) -> int:
        return sum(step.is_target for step in self.steps)


def all_cases() -> list[Case]:
    """The whole corpus. Raises CorpusError."""
    return [
        case
        for file in sorted(KINDS.glob("*.cells"))
        for case in cases_of(file)
    ]


def cases_of(file: Path) -> list[Case]:
    """The cases of one file, whose stem is their kind. Raises CorpusError."""
    found = []
    lines = file.read_text("utf-8").splitlines()
    starts = [
        number for number, line in enumerate(lines) if line.startswith("===")
    ]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        heading = _HEADING.match(lines[start])
        if heading is None:
            raise CorpusError(
                f"{file.name}:{start + 1}: no heading: {lines[start]}"
            )
        steps = tuple(
            _steps(lines[start + 1 : end], f"{file.name}:{start + 1}")
        )
        needs, own_kernel = _options(
            heading["options"], f"{file.name}:{start + 1}"
        )
        found.append(Case(file.stem, heading["name"], steps, needs, own_kernel))
    names = [case.name for case in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CorpusError(f"{file.name}: two cases are called {twice[0]!r}")
    return found


def _options(written: str, place: str) -> tuple[tuple[str, ...], bool]:
    needs: tuple[str, ...] = ()
    own_kernel = False
    for option in filter(None, written.split(" | ")):
        if option == "own kernel":
            own_kernel = True
        elif option.startswith("needs "):
            needs = tuple(option.split()[1:])
        else:
            raise CorpusError(f"{place}: unknown option {option!r}")
    return needs, own_kernel


def _steps(lines: list[str], place: str) -> Iterator[Step]:
    # What stands between the heading and the first `---` is a cell too, unless it is empty.
    written: list[str] = []
    mark: re.Match[str] | None = None
    n_targets = 0
    for line in [*lines, "---"]:
        if not line.startswith("---"):
            written.append(line)
            continue
        if mark is not None and mark["what"] == RESTART:
            yield Step("", is_restart=True)
        step = _step(mark, written, place)
        if step is not None:
            n_targets += step.is_target
            yield step
        written = []
        mark = _CELL.match(line)
        if mark is None:
            raise CorpusError(f"{place}: unknown mark {line!r}")
    if not n_targets:
        raise CorpusError(f"{place}: no target")


def _step(
    mark: re.Match[str] | None, written: list[str], place: str
) -> Step | None:
    while written and not written[-1].strip():
        written.pop()
    source = "\n".join(written)
    what = None if mark is None else mark["what"]
    if what in (None, RESTART):
        return Step(source) if source else None
    if not source:
        raise CorpusError(f"{place}: an empty target")
    assert mark is not None
    return Step(source, is_target=True, exception=mark["exception"])
