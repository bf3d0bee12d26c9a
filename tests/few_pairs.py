"""The minibench cut to a few of its pairs, which load in a fraction of the time of all forty."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

WHOLE: Final = Path(__file__).resolve().parents[1] / "data" / "minibench"
FIVE: Final = ("NBspecific_2", "numpy_1", "numpy_2", "pandas_1", "pandas_2")
"""Cases that the tests of loading are about."""


def cut(place: Path, cases: Iterable[str]) -> Path:
    """A folder "minibench" in `place` with these cases and their kernel states."""
    made, wanted = place / "minibench", set(cases)
    (made / "states").mkdir(parents=True)
    for case in wanted:
        shutil.copytree(WHOLE / "benchmark" / case, made / "benchmark" / case)
        for state in (WHOLE / "states").glob(f"{case}_*.json"):
            shutil.copy(state, made / "states")
    head, *rows = (
        (WHOLE / "cases.csv").read_text("utf-8").splitlines(keepends=True)
    )
    kept = [row for row in rows if row.split(",")[0] in wanted]
    (made / "cases.csv").write_text("".join([head, *kept]), "utf-8")
    return made


@cache
def five_pairs() -> Path:
    """Such a folder of this process, gone when it ends; to be read only."""
    place = Path(tempfile.mkdtemp(prefix="few-pairs-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return cut(place, FIVE)
