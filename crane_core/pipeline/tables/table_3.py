"""Table 3 of the paper: detected crashes with a flawed diagnosis, partially correct (PC) or wrong (RW).

The paper counts human outcomes, whatever the vote says. For GPT-5 with runtime information one of its three partially
correct outcomes (numpy_10_reproduced) is there where the vote predicts no crash; tables 1 and 2(b) follow the vote and
do not count that instance as detected, and in table 2(a) it is a miss either way.
"""

import pandas as pd

from crane_core.domain import Label
from crane_core.pipeline.study import table_scores
from crane_core.pipeline.study.table_cells import Measured, count

TABLE_ID = "3"
TITLE = "Flawed diagnoses of detected crashes"
SOURCE = "paper, table 3"
COLUMNS = {
    "Total": (Label.PARTIAL, Label.WRONG),
    "PC": (Label.PARTIAL,),
    "RW": (Label.WRONG,),
}


def measure(verdicts: pd.DataFrame) -> dict[tuple[str, str], Measured]:
    """Our values of table 3 by (row, column): flawed diagnoses, partial and wrong ones (paper, table 3)."""
    cells: dict[tuple[str, str], Measured] = {}
    for title, setting, rows in table_scores.conditions(
        verdicts, table_scores.STUDY_LLMS
    ):
        outcomes = rows["human"][table_scores.truth(rows)]
        if outcomes.notna().any():
            for column, labels in COLUMNS.items():
                cells[title, f"{column} {table_scores.SIGNS[setting]}"] = count(
                    int(outcomes.isin(labels).sum()), len(outcomes)
                )
    return cells
