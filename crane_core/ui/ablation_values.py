"""Values of the printed ablations as a frame: ours where the runs are here, else the paper's."""

from __future__ import annotations

import re

import pandas as pd

from crane_core.pipeline.study.table_cells import PERCENT, StudyTable, printed_value

REFERENCE = "+RT"
RECOMPUTED = "recomputed"
PRINTED = "printed in the paper"
_COLUMN = re.compile(r"^(?P<rate>\S+) \((?P<setting>[^)]+)\)$")


def _sign(setting: str) -> str:
    return setting.replace("-", "−")


def ablation_values(table: StudyTable, rate: str) -> pd.DataFrame:
    """A value per detector and setting: ours, unrounded, where the runs are here, else what the paper prints.

    Columns: detector_title, setting, rate, value and printed (shares in 0..1), source (which of both `value` is), n
    (instances behind a recomputed value).
    """
    rows = []
    for cell in table.cells:
        match = _COLUMN.match(cell.column)
        if match and match["rate"] == rate:
            printed = (
                None
                if cell.printed is None
                else float(printed_value(cell.printed) / PERCENT)
            )
            ours = None if cell.ours is None else float(cell.ours / PERCENT)
            value, source = (printed, PRINTED) if ours is None else (ours, RECOMPUTED)
            rows.append(
                (
                    cell.row,
                    _sign(match["setting"]),
                    rate,
                    value,
                    source,
                    printed,
                    cell.n,
                )
            )
    columns = ["detector_title", "setting", "rate", "value", "source", "printed", "n"]
    return pd.DataFrame(rows, columns=columns).astype(
        {"printed": "float64", "n": "Int64"}
    )
