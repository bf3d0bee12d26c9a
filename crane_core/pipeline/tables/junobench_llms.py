"""The two LLMs of JunoBench's own README, by library: right answers on the crashing and on the fixed notebooks.

The README names a majority vote over five runs; its printed numbers are those of the first run alone (all 48 cells of
Mistral Small 3.1). So the printed columns are recomputed from the first run, and the majority is beside them; the
six cells where the two part are listed in data/published/contradictions.csv.
"""

import numpy as np
import pandas as pd

from crane_core.pipeline.study.table_cells import Measured, count
from crane_core.pipeline.study.table_scores import BENCHMARK, detected, truth

TABLE_ID = "junobench-llms"
TITLE = "LLMs of the JunoBench repository by library"
SOURCE = "JunoBench_construct, README, results"
EXPERIMENT = "junobench-construct"
VERSIONS = {True: "(buggy)", False: "(fixed)"}


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Each printed "correct / n" is two cells. n leaves out the cases that exceed the model's context."""
    cells: dict[tuple[str, str], Measured] = {}
    mine = verdicts[
        (verdicts["benchmark"] == BENCHMARK)
        & (verdicts["experiment"] == EXPERIMENT)
    ]
    for title, rows in mine.groupby("detector_title", sort=True):
        answered = rows[rows["n_crash"] + rows["n_safe"] > 0]
        for library, members in answered.groupby("library", sort=True):
            cells |= _row(f"{title}, {library}", members)
        cells |= _row(f"{title}, total", answered)
    return cells


def _row(name: str, rows: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    cells: dict[tuple[str, str], Measured] = {}
    by_vote = (detected(rows) == 1) == truth(rows)
    first = rows["first_run"].to_numpy(dtype=object)
    by_first_run = [
        said == crashes
        for said, crashes in zip(first, truth(rows), strict=True)
    ]
    for crashes, version in VERSIONS.items():
        chosen = truth(rows) == crashes
        n = int(chosen.sum())
        cells[name, f"Correct {version}"] = count(
            int(np.count_nonzero(np.asarray(by_first_run)[chosen])), n
        )
        cells[name, f"n {version}"] = count(n, n)
        cells[name, f"Correct by majority {version}"] = count(
            int(by_vote[chosen].sum()), n
        )
    return cells
