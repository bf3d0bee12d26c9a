"""Table 2(b) of the paper: detection alone."""

import pandas as pd

from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured

TABLE_ID = "2b"
TITLE = "Crash detection alone"
SOURCE = "paper, table 2(b)"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """The vote against the truth (section 4.4.1)."""
    return {
        (title, column): value
        for title, setting, rows in table_scores.conditions(
            verdicts, table_scores.STUDY_LLMS
        )
        for column, value in table_scores.rate_columns(
            table_scores.detection_counts(rows), table_scores.SIGNS[setting]
        )
    }
