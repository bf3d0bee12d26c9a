"""Sources to import: predictions, notebook pairs, and the published archive where it is at hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Cells = list[tuple[str, int | None]]
"""Source and execution count of each code cell."""


def notebook(cells: Cells, *, crash: bool) -> str:
    """An .ipynb file; with `crash` the last cell has an error output."""
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no lanes", "traceback": ["ValueError: no lanes"]}
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{index}",
                    "metadata": {},
                    "source": source,
                    "execution_count": count,
                    "outputs": [error] if crash and index == len(cells) - 1 else [],
                }
                for index, (source, count) in enumerate(cells)
            ],
        }
    )


@pytest.fixture(scope="session")
def write_pair() -> Callable[..., tuple[Path, Path]]:
    """Write the two notebooks of a case into a folder; the paths of the crashing and the fixed one."""

    def write(folder: Path, case_id: str, cells: Cells | None = None) -> tuple[Path, Path]:
        folder.mkdir(parents=True, exist_ok=True)
        used = cells or [("lanes = []", 1), ("lanes[0]", 2)]
        paths = (folder / f"{case_id}_reproduced.ipynb", folder / f"{case_id}_fixed.ipynb")
        paths[0].write_text(notebook(used, crash=True), "utf-8")
        paths[1].write_text(notebook(used, crash=False), "utf-8")
        return paths

    return write


@pytest.fixture
def pairs_folder(root: Path, tmp_path: Path) -> Path:
    """A folder of one's own with three pairs of the minibench, and files that are none."""
    folder = tmp_path / "My pairs"
    for case_id in ("numpy_1", "pandas_1", "NBspecific_2"):
        shutil.copytree(root / "data" / "minibench" / "benchmark" / case_id, folder / "benchmark" / case_id)
    (folder / "README.md").write_text("Three pairs.\n")
    return folder


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """Answers of a detector of one's own to the minibench, one line of which is not right."""
    lines: list[dict[str, object]] = [
        {"benchmark": "minibench", "instance": f"numpy_{case}_{version}", "detector": "My Model", "setting": "code"}
        | {"index": index, "crashes": version == "reproduced", "reasoning": f"answer {index}"}
        for case in (1, 2)
        for version in ("reproduced", "fixed")
        for index in (1, 2, 3)
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"instance": "numpy_1"}]), "utf-8")
    return path


@pytest.fixture(scope="session")
def crane_llm_archive(root: Path) -> Path:
    archive = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not archive.is_file():
        pytest.skip("the published archive crane_llm.tar.gz is not beside the checkout")
    return archive
