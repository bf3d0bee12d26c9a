"""The static analyzer pylint as a detector: on the cells, and on the same with the types of the kernel state.

Knows how pylint is started so that it reads our text and nothing of anybody's settings. It runs no code of the text.
"""

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crane_core.detectors import analysis
from crane_core.detectors.analysis import (
    Checked,
    Reported,
    Tool,
    library_versions,
    required_version,
)
from crane_core.detectors.bounded_tool import ToolLimits, ToolStoppedError
from crane_core.detectors.registry import LocalQuestion, Prediction
from crane_core.domain import Cell, DetectorKind, KernelState, Setting

NAME = "pylint"
TITLE = "pylint"
KIND = DetectorKind.ANALYZER

TEXTS_PER_RUN = 60
"""Many texts share what pylint learned of the libraries; few enough that a run that breaks costs little."""

_BROKEN = ("fatal", "astroid-error", "parse-error", "method-check-failed")
"""Messages by which pylint says that it could not look at a text."""

_ENDED_WELL = tuple(range(32))
"""A sum of bits, one for each kind of message (pylint's documentation, exit codes); 32 is wrong usage."""


def options() -> dict[str, Any]:
    """Versions that shape the answers. Raises DetectorError if pylint is not installed."""
    tool = {name: required_version(name) for name in ("pylint", "astroid")}
    return tool | {
        "python": platform.python_version(),
        "libraries": library_versions(),
    }


def predict(
    cells: Sequence[Cell], state: KernelState | None, setting: Setting
) -> Prediction:
    """The prediction on the target among the cells.

    Raises ToolStoppedError if pylint has no answer, DetectorError if it is not installed.
    """
    return analysis.prediction(_tool(), LocalQuestion(cells, state, setting))


def predict_many(
    questions: Sequence[LocalQuestion],
) -> Iterator[Prediction | ToolStoppedError]:
    """As `predict` for each, in order; faster, as several texts share one run. An error is that of one question."""
    return analysis.predictions(_tool(), questions)


def _tool() -> Tool:
    required_version("pylint")
    return Tool(NAME, "symbol", TEXTS_PER_RUN, _check)


def _check(codes: Sequence[str]) -> list[Checked]:
    return analysis.check_files(
        NAME,
        codes,
        _command,
        _errors,
        ToolLimits(120 + 20 * len(codes)),
        _ENDED_WELL,
    )


def _command(_folder: Path, files: Sequence[str]) -> list[str]:
    """Isolated from the folder, the environment and the user's packages (-I); an empty file of settings, no plugins."""
    return [
        *(
            sys.executable,
            "-I",
            "-X",
            "utf8",
            "-m",
            "pylint",
            f"--rcfile={os.devnull}",
            "--output-format=json2",
        ),
        # Errors and fatal messages alone, as the study kept no warnings.
        # --persistent=n: pylint would pickle its counts for later comparisons.
        *("--disable=all", "--enable=E,F", "--persistent=n", "--jobs=1", "--"),
        *files,
    ]


def _errors(report: Any, _n_files: int) -> Iterator[tuple[str, Reported | str]]:
    for message in report["messages"]:
        file, symbol = Path(message["path"]).name, message["symbol"]
        yield (
            file,
            f" ({symbol})"
            if symbol in _BROKEN
            else Reported(message["line"], symbol, message["message"]),
        )
