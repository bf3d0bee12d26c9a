"""Table 2(b) of the paper: detection alone."""

import pandas as pd

from crane_core.pipeline.study.table_cells import Measured
from crane_core.pipeline.study.table_scores import (
    SIGNS,
    STUDY_LLMS,
    conditions,
    detection_counts,
    rate_columns,
)

TABLE_ID = "2b"
TITLE = "Crash detection alone"
SOURCE = "paper, table 2(b)"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """The vote against the truth (section 4.4.1)."""
    return {
        (title, column): value
        for title, setting, rows in conditions(verdicts, STUDY_LLMS)
        for column, value in rate_columns(
            detection_counts(rows), SIGNS[setting]
        )
    }
