"""Table 1 of the paper: how the second annotator's sample was stratified."""

from fractions import Fraction

import numpy as np
import pandas as pd

from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured, count, share
from crane_core.stats.sample_size import allocate, required_sample

TABLE_ID = "1"
TITLE = "Stratified sample for the second human evaluation"
SOURCE = "paper, table 1"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Applicable: crashing instances whose vote predicts the crash. The sample is Equation 1, rounded up per row."""
    crashing = {
        f"{title} {table_scores.SIGNS[setting]}": rows[table_scores.truth(rows)]
        for title, setting, rows in table_scores.conditions(
            verdicts, table_scores.STUDY_LLMS
        )
    }
    if not crashing:
        return {}
    applicable = {
        row: int(np.nansum(table_scores.detected(rows)))
        for row, rows in crashing.items()
    }
    sampled = allocate(required_sample(sum(applicable.values())), applicable)
    sizes = {row: len(rows) for row, rows in crashing.items()}
    for column in (applicable, sampled, sizes):
        column["Total"] = sum(column.values())
    return _cells(applicable, sampled, sizes)


def _cells(
    applicable: dict[str, int], sampled: dict[str, int], sizes: dict[str, int]
) -> dict[tuple[str, str], Measured]:
    everything = applicable["Total"]
    cells: dict[tuple[str, str], Measured] = {}
    for row, found in applicable.items():
        cells[row, "Applicable cases"] = count(found, sizes[row])
        cells[row, "Proportion"] = (
            share(found, everything, everything)
            if everything
            else Measured(Fraction(0), 0, "share")
        )
        cells[row, "Sampled cases"] = count(sampled[row], found)
    return cells
