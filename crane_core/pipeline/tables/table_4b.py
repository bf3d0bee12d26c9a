"""Table 4(b) of the paper: detection with API documentation added."""

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.study.ablation_scores import ablation_cells
from crane_core.pipeline.study.table_cells import Measured

TABLE_ID = "4b"
TITLE = "API documentation added, detection alone"
SOURCE = "paper, table 4(b)"
SIGNS = {Setting.RUNTIME: "(+RT)", Setting.RUNTIME_DOCS: "(+RT+D)"}


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Our values of table 4(b) by (row, column): detection with and without API documentation."""
    return ablation_cells(verdicts, SIGNS)
