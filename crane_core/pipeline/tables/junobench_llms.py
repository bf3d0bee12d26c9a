"""The two LLMs of JunoBench's own README, by library: correct votes on the crashing and on the fixed notebooks.

The README names a majority vote over five runs, and that is what is computed. Its printed numbers of Mistral Small 3.1
are those of the first run alone; six cells part for that reason (data/published/contradictions.csv).
"""

import pandas as pd

from crane_core.pipeline.table_cells import Measured, count
from crane_core.pipeline.table_scores import BENCHMARK, detected, truth

TABLE_ID = "junobench-llms"
TITLE = "LLMs of the JunoBench repository by library"
SOURCE = "JunoBench_construct, README, results"
EXPERIMENT = "junobench-construct"
VERSIONS = {True: "(buggy)", False: "(fixed)"}


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Each printed "correct / n" is two cells. n leaves out the cases that exceed the model's context."""
    cells: dict[tuple[str, str], Measured] = {}
    mine = verdicts[(verdicts["benchmark"] == BENCHMARK) & (verdicts["experiment"] == EXPERIMENT)]
    for title, rows in mine.groupby("detector_title", sort=True):
        answered = rows[rows["n_crash"] + rows["n_safe"] > 0]
        for library, members in answered.groupby("library", sort=True):
            cells |= _row(f"{title}, {library}", members)
        cells |= _row(f"{title}, total", answered)
    return cells


def _row(name: str, rows: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    cells: dict[tuple[str, str], Measured] = {}
    is_right = (detected(rows) == 1) == truth(rows)
    for crashes, version in VERSIONS.items():
        right = is_right[truth(rows) == crashes]
        cells[name, f"Correct {version}"] = count(int(right.sum()), len(right))
        cells[name, f"n {version}"] = count(len(right), len(right))
    return cells
