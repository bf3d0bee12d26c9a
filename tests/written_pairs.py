"""Pairs of notebooks on the disk as Jupyter would have saved them, with the error output that they claim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Counts = Sequence[int | None]


def write_notebook(
    path: Path,
    cells: Sequence[str],
    *,
    error: str | None = None,
    target: int = -1,
    counts: Counts | None = None,
    tagged: Mapping[int, str] | None = None,
) -> Path:
    """Code cells that ran in the order of `counts`, top to bottom by default; `error` is the output of `target`.

    `tagged` is the tag of cells, by index.
    """
    target %= len(cells)
    order = counts or range(1, len(cells) + 1)
    output = {
        "output_type": "error",
        "ename": error,
        "evalue": "no",
        "traceback": [],
    }
    made = [
        {
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "execution_count": count,
            "outputs": [],
        }
        for source, count in zip(cells, order, strict=True)
    ]
    for index, tag in (tagged or {}).items():
        made[index]["metadata"] = {"tags": [tag]}
    if error is not None:
        made[target]["outputs"] = [output]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps(
            {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}
        ),
        "utf-8",
    )
    return path


def write_pair(
    folder: Path,
    case: str,
    crashing: Sequence[str],
    fixed: Sequence[str],
    error: str = "ZeroDivisionError",
) -> None:
    """A case whose crashing notebook claims `error` in its last cell."""
    write_notebook(
        folder / case / f"{case}_reproduced.ipynb", crashing, error=error
    )
    write_notebook(folder / case / f"{case}_fixed.ipynb", fixed)
