"""The published ablations as charts. What only the paper's print can give is marked as published."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from crane_core.charts.printed import printed_bars, token_quantiles
from crane_core.pipeline.study.table_cells import StudyTable
from crane_core.ui.ablation_switches import Ablated
from crane_core.ui.chart_box import draw_panels, finished
from crane_core.ui.drops_words import (
    PRINTED,
    RECOMPUTED,
    REFERENCE,
    ablation_values,
)
from crane_core.ui.study_view import draw_table, tables
from crane_core.ui.words import percent

PANEL_WIDTH = 350


def draw_paper(chosen: Ablated) -> None:
    """The section: the paper's tables 4a, 4b and 5."""
    known = tables()
    st.subheader(
        "One category of runtime state left out (paper, Table 4a)",
        anchor="categories",
    )
    draw_ablation(known["4a"], name="ablation_categories", rate=chosen.rate)
    draw_table(known["4a"])
    st.subheader(
        "API documentation added (paper, Table 4b)", anchor="documentation"
    )
    draw_ablation(known["4b"], name="ablation_documentation", rate=chosen.rate)
    draw_table(known["4b"])
    st.subheader(
        "What the documentation costs in tokens (paper, Table 5)",
        anchor="tokens",
    )
    draw_token_cost(known["5"])
    draw_table(known["5"])


def draw_ablation(table: StudyTable, *, name: str, rate: str) -> None:
    """One rate per setting and detector, each against full runtime state."""
    of = ablation_values(table, rate)
    full = of[of["setting"] == REFERENCE].set_index("detector_title")["value"]
    marks = {RECOMPUTED: "", PRINTED: " p"}
    drawn = of.assign(
        reference_value=of["detector_title"].map(full),
        text=[
            percent(v) + marks[s]
            for v, s in zip(of["value"], of["source"], strict=True)
        ],
    )
    settings = list(dict.fromkeys(of["setting"]))
    readable = of.assign(
        value=of["value"].map(percent), printed=of["printed"].map(percent)
    )
    columns = {
        "detector_title": "Detector",
        "setting": "Input",
        "value": "Value",
        "source": "From",
    }
    readable = readable[[*columns, "printed"]].rename(
        columns=columns | {"printed": "In the paper"}
    )
    looks = {
        "settings": settings,
        "rate": f"{rate.lower() if rate != 'F1' else rate}, detection only",
    }
    draw_panels(
        [
            finished(
                printed_bars,
                drawn[drawn["detector_title"] == title],
                **looks,
                reference=REFERENCE,
            )
            for title in dict.fromkeys(drawn["detector_title"])
        ],
        readable,
        width=PANEL_WIDTH,
        numbers=of,
        name=f"{name}_{rate.lower()}",
        note="Dashed: full runtime state. p: printed in the paper, without the runs behind it; "
        "import the later release to recompute it. Each value is over 222 notebooks.",
    )


def draw_token_cost(table: StudyTable) -> None:
    """How many tokens the documentation adds, by statistic."""
    rows = [
        (cell.row, cell.column, cell.printed)
        for cell in table.cells
        if cell.printed
    ]
    frame = pd.DataFrame(rows, columns=["measure", "statistic", "printed"])
    frame["value"] = (
        frame["printed"]
        .str.removesuffix("%")
        .str.replace(",", "")
        .astype(float)
    )
    draw_panels(
        [
            finished(token_quantiles, frame[frame["measure"] == measure])
            for measure in dict.fromkeys(frame["measure"])
        ],
        frame[["measure", "statistic", "printed"]],
        width=PANEL_WIDTH,
        numbers=frame.assign(source=PRINTED),
        name="documentation_tokens",
        note="Published only: printed in the paper, over its notebook instances, counted with o200k_base.",
    )
