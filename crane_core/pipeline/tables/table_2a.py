"""Table 2(a) of the paper: detection and diagnosis together."""

import pandas as pd

from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured

TABLE_ID = "2a"
TITLE = "Crash detection and diagnosis, end to end"
SOURCE = "paper, table 2(a)"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """A hit needs both: a vote that predicts the crash and the human outcome "correct" (section 4.4.2)."""
    return {
        (title, column): value
        for title, setting, rows in table_scores.conditions(
            verdicts, table_scores.STUDY_LLMS
        )
        for column, value in table_scores.rate_columns(
            table_scores.end_to_end_counts(rows), table_scores.SIGNS[setting]
        )
    }
