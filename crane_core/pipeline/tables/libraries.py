"""The LLMs' scores per library group, from the published workbook."""

import pandas as pd

from crane_core.pipeline.study.library_scores import library_cells
from crane_core.pipeline.study.table_cells import Measured
from crane_core.pipeline.study.table_scores import STUDY_LLMS

TABLE_ID = "libraries"
TITLE = "LLMs by library group"
SOURCE = "crane_llm, results/results_summary.xlsx, sheets Results_summary and Results_summary_detection"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Our values of the table by (row, column): the models' rates by library (paper, figure 5)."""
    return library_cells(verdicts, STUDY_LLMS)
