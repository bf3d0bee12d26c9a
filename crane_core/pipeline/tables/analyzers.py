"""The static analyzers' scores per library group, from the published workbook.

The workbook leaves F1 blank if there is no hit (0/0 in its formula); ours is 0 there and is alone.
"""

import pandas as pd

from crane_core.pipeline.study.library_scores import library_cells
from crane_core.pipeline.study.table_cells import Measured
from crane_core.pipeline.study.table_scores import STUDY_ANALYZERS

TABLE_ID = "analyzers"
TITLE = "Static analyzers by library group"
SOURCE = "crane_llm, results/results_summary.xlsx, sheets Results_summary and Results_summary_detection"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Our values of the table by (row, column): the analyzers' rates by library."""
    return library_cells(verdicts, STUDY_ANALYZERS)
