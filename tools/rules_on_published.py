"""Writes data/published/rules.csv: what our certain-crash rules say of the published inputs.

    python tools/rules_on_published.py ARCHIVE [--out FILE] [--python PATH]

ARCHIVE is crane_llm.tar.gz of October 2025. Keeps facts alone: crash or none, exception class, line of the target
cell. The published states tell no versions: with --python the libraries of that interpreter are asked, without it torch
alone, about shapes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

from crane_core.detectors import rules_detector  # noqa: E402 - the checkout first
from crane_core.domain import Cell, KernelState, Setting  # noqa: E402
from crane_core.importers import crane_llm_october  # noqa: E402
from crane_core.importers.filetree import open_tree  # noqa: E402
from crane_core.importers.published_rules import COLUMNS, TABLE  # noqa: E402
from crane_core.runtime.interpreters import ASSUMED  # noqa: E402

SETTINGS = (Setting.CODE, Setting.RUNTIME)
"""The published inputs that the rules can judge: withheld parts of an ablation would count as absent."""


def rows(archive: Path) -> Iterator[tuple[object, ...]]:
    """A row per setting and instance, in the order of the other tables."""
    cells: dict[str, list[Cell]] = defaultdict(list)
    states: dict[str, KernelState] = {}
    for record in crane_llm_october.read(open_tree(archive)):
        match record:
            case Cell():
                cells[record.instance_id].append(record)
            case KernelState(setting=Setting.RUNTIME):
                states[record.instance_id] = record
    for setting in SETTINGS:
        for instance_id in sorted(states, key=natural):
            yield (
                setting,
                instance_id,
                *answer(cells[instance_id], states[instance_id], setting),
            )


def natural(instance_id: str) -> tuple[str, int, str]:
    """Sort key that puts numpy_2 before numpy_10."""
    library, number, version = instance_id.rsplit("_", 2)
    return library, int(number), version


def answer(
    cells: list[Cell], state: KernelState, setting: Setting
) -> tuple[object, ...]:
    """1, exception and line of the first certain crash; 0 and two empty cells where the rules find none."""
    said = rules_detector.predict(cells, state, setting)
    if not said.crashes:
        return 0, "", ""
    first = json.loads(str(said.diagnostics))[0]
    return 1, first["exception"], str(first["code_line"]).partition(":")[0]


def make(archive: Path, out: Path) -> None:
    """Write the table; the same archive and rules give the same bytes."""
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows(archive))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write what our rules say of the published inputs."
    )
    parser.add_argument("archive", type=Path, help="crane_llm.tar.gz")
    parser.add_argument(
        "--out",
        type=Path,
        default=CHECKOUT / "data" / "published" / TABLE,
        help="where to write",
    )
    parser.add_argument(
        "--python",
        help="interpreter whose libraries are asked, of the study's versions",
    )
    chosen = parser.parse_args()
    if chosen.python:
        os.environ[ASSUMED] = chosen.python
    make(chosen.archive, chosen.out)


if __name__ == "__main__":
    main()
