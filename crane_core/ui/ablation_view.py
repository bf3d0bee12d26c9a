"""The published ablations as charts. What only the paper's print can give is marked as published."""

from __future__ import annotations

import re

import pandas as pd

from crane_core.charts.printed import printed_bars
from crane_core.charts.tokens import token_quantiles
from crane_core.pipeline.table_cells import PERCENT, StudyTable, printed_value
from crane_core.ui.chart_box import draw_chart
from crane_core.ui.words import percent

REFERENCE = "+RT"
RECOMPUTED = "recomputed"
PRINTED = "printed in the paper"
_COLUMN = re.compile(r"^(?P<rate>\S+) \((?P<setting>[^)]+)\)$")


def _sign(setting: str) -> str:
    return setting.replace("-", "−")


def draw_ablation(table: StudyTable, *, name: str, rate: str) -> None:
    """One rate per setting and detector, each against full runtime state."""
    of = ablation_values(table, rate)
    full = of[of["setting"] == REFERENCE].set_index("detector_title")["value"]
    marks = {RECOMPUTED: "", PRINTED: " p"}
    drawn = of.assign(
        reference_value=of["detector_title"].map(full),
        text=[percent(v) + marks[s] for v, s in zip(of["value"], of["source"], strict=True)],
    )
    settings = list(dict.fromkeys(of["setting"]))
    readable = of.assign(value=of["value"].map(percent), printed=of["printed"].map(percent))
    columns = {"detector_title": "Detector", "setting": "Input", "value": "Value", "source": "From"}
    readable = readable[[*columns, "printed"]].rename(columns=columns | {"printed": "In the paper"})
    draw_chart(
        printed_bars(drawn, settings=settings, rate=f"{rate}, detection only", reference=REFERENCE),
        readable,
        numbers=of,
        name=f"{name}_{rate.lower()}",
        note="Dashed: full runtime state. p: printed in the paper, without the runs behind it; "
        "import the later release to recompute it. Each value is over 222 notebooks.",
    )


def ablation_values(table: StudyTable, rate: str) -> pd.DataFrame:
    """A value per detector and setting: ours, unrounded, where the runs are here, else what the paper prints.

    Columns: detector_title, setting, rate, value and printed (shares in 0..1), source (which of both `value` is), n
    (instances behind a recomputed value).
    """
    rows = []
    for cell in table.cells:
        match = _COLUMN.match(cell.column)
        if match and match["rate"] == rate:
            printed = None if cell.printed is None else float(printed_value(cell.printed) / PERCENT)
            ours = None if cell.ours is None else float(cell.ours / PERCENT)
            value, source = (printed, PRINTED) if ours is None else (ours, RECOMPUTED)
            rows.append((cell.row, _sign(match["setting"]), rate, value, source, printed, cell.n))
    columns = ["detector_title", "setting", "rate", "value", "source", "printed", "n"]
    return pd.DataFrame(rows, columns=columns).astype({"printed": "float64", "n": "Int64"})


def draw_token_cost(table: StudyTable) -> None:
    """How many tokens the documentation adds, by statistic."""
    rows = [(cell.row, cell.column, cell.printed) for cell in table.cells if cell.printed]
    frame = pd.DataFrame(rows, columns=["measure", "statistic", "printed"])
    frame["value"] = frame["printed"].str.removesuffix("%").str.replace(",", "").astype(float)
    draw_chart(
        token_quantiles(frame),
        frame[["measure", "statistic", "printed"]],
        numbers=frame.assign(source=PRINTED),
        name="documentation_tokens",
        note="Published only: printed in the paper, over its notebook instances, counted with o200k_base.",
    )
