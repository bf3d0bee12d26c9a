"""Table 5 of the paper: what API documentation costs in tokens. Printed only: it is about prompts, not verdicts."""

import pandas as pd

from crane_core.pipeline.study.table_cells import Measured

TABLE_ID = "5"
TITLE = "Additional input tokens with API documentation"
SOURCE = "paper, table 5"


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """No verdict says anything of tokens."""
    return {}
