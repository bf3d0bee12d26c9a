"""A figure that belongs to a budget: ours beside a peer's or a limit, in one form that programs and people read.

A benchmark tells its figures with `tell`; `python -m benchmarks` collects them from each process through a file.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = "CRANE_FIGURES"
"""The environment variable that names the file to which `tell` appends one JSON object per line."""


class FigureError(ValueError):
    """A line that is not a figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`ours` and `against` are in `unit`; `peer` says what `against` is: another program, or "limit".

    `n` is how many measurements `ours` is the median of. `spread` is the median distance of repeats from the median of
    what was repeated, relative to it: 0 for what does not vary with the machine's work, such as bytes on the disk.
    `load` is that of the last minute, the benchmark's own included.
    """

    question: str
    ours: float
    against: float
    peer: str
    unit: str
    n: int
    spread: float
    load: float

    @property
    def ratio(self) -> float:
        return self.ours / self.against

    @property
    def is_timed(self) -> bool:
        """Whether other work on the machine changes it."""
        return self.unit == "s"


def figure(
    question: str,
    ours: Sequence[float] | Mapping[str, Sequence[float]],
    against: float,
    *,
    peer: str = "limit",
    unit: str = "s",
) -> Figure:
    """The median of `ours` against a limit, or against the median of a peer. Raises ValueError without a number.

    ours: repeats of one thing, or of several by name, which may differ from each other without being noise.
    """
    of_each = list(ours.values()) if isinstance(ours, Mapping) else [ours]
    every = [one for repeats in of_each for one in repeats]
    spread = round(statistics.median(_distances(of_each)), 4)
    return Figure(
        question,
        statistics.median(every),
        against,
        peer,
        unit,
        len(every),
        spread,
        round(os.getloadavg()[0], 2),
    )


def _distances(of_each: Sequence[Sequence[float]]) -> Iterator[float]:
    for repeats in of_each:
        middle = statistics.median(repeats)
        yield from (
            abs(one - middle) / middle if middle else 0.0 for one in repeats
        )


def tell(one: Figure) -> None:
    """Print it, and append it to the file that the harness named."""
    print(
        f"{one.question}: {one.ours:,.3g} {one.unit}, {one.peer} "
        f"{one.against:,.3g} {one.unit}, ratio {one.ratio:.2f}"
    )
    if path := os.environ.get(FILE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(one)) + "\n")


def read_figures(path: Path) -> list[Figure]:
    """What was told, in order; nothing where nothing was. Raises FigureError."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [_figure(line) for line in lines]


def _figure(line: str) -> Figure:
    try:
        fields: dict[str, Any] = json.loads(line)
        one = Figure(**fields)
        if not (one.against > 0 and one.ours >= 0):
            raise ValueError("a figure compares numbers above zero")
    except (ValueError, TypeError) as error:
        raise FigureError(f"{line[:80]!r} is not a figure: {error}") from error
    return one
