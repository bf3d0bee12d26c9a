"""Captures the kernel states of minibench, and asks the detectors that need no key about every instance.

    .venv/bin/python data/minibench/measure.py [states] [DETECTOR ...]

Writes `states/<instance>.json` (what `capture` writes, without the times, which differ with every run) and
`results/<detector>.jsonl` (predictions as `import` reads them). Both are loaded when the app first starts. The rules
ask this interpreter, which runs the notebooks, also where a setting shows no versions.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from crane_core.detectors.registry import (  # noqa: E402
    LocalDetector,
    LocalQuestion,
    Prediction,
    local_detector,
    local_detectors,
    predictions,
)
from crane_core.domain import Cell, CellRole, KernelState, Setting  # noqa: E402
from crane_core.errors import CraneError  # noqa: E402
from crane_core.importers.captured_states import state_of  # noqa: E402
from crane_core.importers.filetree import open_tree  # noqa: E402
from crane_core.importers.pairs import read  # noqa: E402
from crane_core.runtime.capture import Captured, capture_many  # noqa: E402
from crane_core.runtime.interpreters import ASSUMED  # noqa: E402

os.environ.setdefault(ASSUMED, sys.executable)

BENCHMARK = "minibench"
EXPERIMENT = "shipped"
SETTINGS = (Setting.CODE, Setting.RUNTIME, Setting.RUNTIME_PLUS)
N_WORKERS = 2
TIMES = ("seconds", "capture_seconds", "kernel_seconds")


def notebooks() -> list[Path]:
    return sorted((HERE / "benchmark").glob("*/*.ipynb"))


def states() -> None:
    """One file per notebook, written when all of them could be captured."""
    paths, cells = notebooks(), stored_cells()
    targets = [target_of(cells[path.stem]) for path in paths]
    written = {}
    for path, outcome in zip(
        paths, capture_many(paths, N_WORKERS, targets=targets), strict=True
    ):
        if isinstance(outcome, CraneError):
            raise outcome
        written[path.stem] = document(outcome)
        print(f"captured {path.stem}")
    _replace(
        HERE / "states",
        {f"{name}.json": _text(state) for name, state in written.items()},
    )


def target_of(cells: list[Cell]) -> int | None:
    """The target's place among the notebook's code cells; both halves of a pair share it."""
    return next(
        cell.notebook_index for cell in cells if cell.role is CellRole.TARGET
    )


def document(captured: Captured) -> dict[str, Any]:
    """What `import` reads of a capture, without what differs between two runs on one machine."""
    told = without_times(captured.to_json() | {"benchmark": BENCHMARK})
    told.pop("probes")
    told["captured"].pop("left_running")
    return told


def without_times(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {
            name: without_times(fact)
            for name, fact in facts.items()
            if name not in TIMES
        }
    if isinstance(facts, list):
        return [without_times(fact) for fact in facts]
    return facts


def results(names: list[str]) -> None:
    """One file per detector: its answers to the code alone, and to code and state."""
    cells, seen = stored_cells(), stored_states()
    for name in names:
        detector = local_detector(name)
        lines = []
        for setting in SETTINGS:
            asked = [
                LocalQuestion(
                    cells[of],
                    None if setting is Setting.CODE else seen[of],
                    setting,
                )
                for of in cells
            ]
            said = [_answered(one) for one in predictions(detector, asked)]
            lines += [
                _line(detector, of, setting, one)
                for of, one in zip(cells, said, strict=True)
            ]
            n_crash = sum(one.crashes for one in said)
            print(
                f"{name}, {setting}: {n_crash} of {len(said)} predicted to crash"
            )
        _replace(HERE / "results", {f"{name}.jsonl": "".join(lines)})


def _answered(said: Prediction | CraneError) -> Prediction:
    """A text on which a tool stops is an error here, not an answer."""
    if isinstance(said, CraneError):
        raise said
    return said


def _line(
    detector: LocalDetector,
    instance_id: str,
    setting: Setting,
    said: Prediction,
) -> str:
    fields = {
        "benchmark": BENCHMARK,
        "instance": instance_id,
        "detector": detector.NAME,
        "title": detector.TITLE,
        "kind": detector.KIND,
        "setting": setting,
        "experiment": EXPERIMENT,
        "index": 1,
        "crashes": said.crashes,
        "reasoning": said.reasoning,
        "diagnostics": said.diagnostics,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def stored_cells() -> dict[str, list[Cell]]:
    """Executed cells and target of every instance."""
    found: dict[str, list[Cell]] = {}
    for record in read(open_tree(HERE)):
        if isinstance(record, Cell) and record.role is not CellRole.NOT_RUN:
            found.setdefault(record.instance_id, []).append(record)
    return dict(sorted(found.items()))


def stored_states() -> dict[str, KernelState]:
    states = [
        state_of(json.loads(path.read_text("utf-8")))
        for path in sorted((HERE / "states").glob("*.json"))
    ]
    return {state.instance_id: state for state in states}


def _text(state: dict[str, Any]) -> str:
    return (
        json.dumps(state, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    )


def _replace(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


def main(chosen: list[str]) -> None:
    if not chosen or "states" in chosen:
        states()
    results(
        [name for name in chosen if name != "states"]
        if chosen
        else list(local_detectors())
    )


if __name__ == "__main__":
    main(sys.argv[1:])
