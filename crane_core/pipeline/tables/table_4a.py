"""Table 4(a) of the paper: detection when one group of runtime information is left out."""

import pandas as pd

from crane_core.domain import Setting
from crane_core.pipeline.study.ablation_scores import ablation_cells
from crane_core.pipeline.study.table_cells import Measured

TABLE_ID = "4a"
TITLE = "Ablation of runtime information, detection alone"
SOURCE = "paper, table 4(a)"
SIGNS = {
    Setting.RUNTIME: "(+RT)",
    Setting.RUNTIME_WITHOUT_S: "(+RT-S)",
    Setting.RUNTIME_WITHOUT_V: "(+RT-V)",
    Setting.RUNTIME_WITHOUT_R: "(+RT-R)",
}


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Our values of table 4(a) by (row, column): detection without one category of runtime state."""
    return ablation_cells(verdicts, SIGNS)
