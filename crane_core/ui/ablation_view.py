"""The published ablations as charts. What only the paper's print can give is marked as published."""

from __future__ import annotations

import re

import pandas as pd

from crane_core.charts.printed import printed_bars
from crane_core.charts.tokens import token_quantiles
from crane_core.pipeline.table_cells import Status, StudyTable
from crane_core.ui.chart_box import draw_chart
from crane_core.ui.words import percent

REFERENCE = "+RT"
RATES = ("Accuracy", "F1")
_COLUMN = re.compile(r"^(?P<rate>\S+) \((?P<setting>[^)]+)\)$")


def _sign(setting: str) -> str:
    return setting.replace("-", "−")


def draw_ablation(table: StudyTable, *, name: str, rate: str) -> None:
    """One rate per setting and detector, each against full runtime state."""
    of = _printed_values(table, rate)
    full = of[of["setting"] == REFERENCE].set_index("detector_title")["value"]
    marks = {"recomputed": "", "published only": " p"}
    drawn = of.assign(
        reference_value=of["detector_title"].map(full),
        text=[percent(v) + marks[s] for v, s in zip(of["value"], of["source"], strict=True)],
    )
    settings = list(dict.fromkeys(of["setting"]))
    readable = of.assign(value=of["value"].map(percent)).rename(
        columns={"detector_title": "Detector", "setting": "Input", "value": "Value", "source": "From"}
    )
    draw_chart(
        printed_bars(drawn, settings=settings, rate=f"{rate}, detection only", reference=REFERENCE),
        readable,
        numbers=of,
        name=f"{name}_{rate.lower()}",
        note="Dashed: full runtime state. p: published only, printed in the paper without the runs behind it; "
        "import the later release to recompute it. Each value is over 222 notebooks.",
    )


def _printed_values(table: StudyTable, rate: str) -> pd.DataFrame:
    rows = []
    for cell in table.cells:
        match = _COLUMN.match(cell.column)
        if match and match["rate"] == rate and cell.printed:
            value = float(cell.printed.removesuffix("%")) / 100
            source = "published only" if cell.status is Status.PUBLISHED_ONLY else "recomputed"
            rows.append((cell.row, _sign(match["setting"]), value, source))
    return pd.DataFrame(rows, columns=["detector_title", "setting", "value", "source"])


def draw_token_cost(table: StudyTable) -> None:
    """How many tokens the documentation adds, by statistic."""
    rows = [(cell.row, cell.column, cell.printed) for cell in table.cells if cell.printed]
    frame = pd.DataFrame(rows, columns=["measure", "statistic", "printed"])
    frame["value"] = frame["printed"].str.removesuffix("%").str.replace(",", "").astype(float)
    draw_chart(
        token_quantiles(frame),
        frame[["measure", "statistic", "printed"]],
        numbers=frame,
        name="documentation_tokens",
        note="Published only: printed in the paper, over its notebook instances, counted with o200k_base.",
    )
