"""The published ablations as charts. What only the paper's print can give is marked as published."""

import pandas as pd
import streamlit as st

from crane_core.charts.printed import printed_bars, token_quantiles
from crane_core.pipeline.study.table_cells import StudyTable
from crane_core.ui import drops_words
from crane_core.ui.ablation_switches import Ablated
from crane_core.ui.caption import MADE_BY, captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.paper import PAPER_CITED
from crane_core.ui.study_view import draw_table, tables
from crane_core.ui.words import percent

PANEL_WIDTH = 350
ABLATIONS = {"4a": "categories", "4b": "documentation"}
"""The paper's tables of ablations, and what each leaves out or adds."""
ABOUT_BARS = (
    "Dashed: full runtime state. Hollow: printed in the paper, not measured here; "
    "import the later release to recompute it. Each value is over 222 notebooks."
)
ABOUT_TOKENS = "Published only: printed in the paper, over its notebook instances, counted with o200k_base."


def draw_paper(chosen: Ablated) -> None:
    """The section: the paper's tables 4a, 4b and 5."""
    known = tables()
    st.header(
        "One category of runtime state left out (paper, Table 4a)",
        anchor="categories",
    )
    draw_figure(ablation_figure(known["4a"], chosen.rate))
    draw_table(known["4a"])
    st.header(
        "API documentation added (paper, Table 4b)", anchor="documentation"
    )
    draw_figure(ablation_figure(known["4b"], chosen.rate))
    draw_table(known["4b"])
    st.header(
        "What the documentation costs in tokens (paper, Table 5)",
        anchor="tokens",
    )
    draw_figure(token_figure(known["5"]))
    draw_table(known["5"])


def ablation_figure(table: StudyTable, rate: str) -> ChartFigure:
    """One rate per setting and detector, each against full runtime state."""
    of = drops_words.ablation_values(table, rate)
    full = of[of["setting"] == drops_words.REFERENCE].set_index(
        "detector_title"
    )["value"]
    drawn = of.assign(
        reference_value=of["detector_title"].map(full),
        text=of["value"].map(percent),
        is_printed=of["source"] == drops_words.PRINTED,
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
    return ChartFigure(
        f"ablation_{ABLATIONS[table.id]}_{rate.lower()}",
        [
            finished(
                printed_bars,
                drawn[drawn["detector_title"] == title],
                **looks,
                reference=drops_words.REFERENCE,
            )
            for title in dict.fromkeys(drawn["detector_title"])
        ],
        shown=readable,
        panel_width=PANEL_WIDTH,
        numbers=of,
        caption=captioned(
            f"{rate} by input: {table.title}",
            [ABOUT_BARS, "Not tested."],
            source=_source(table),
        ),
        note=ABOUT_BARS,
    )


def _source(table: StudyTable) -> str:
    return f"{table.source} ({PAPER_CITED}). {MADE_BY}."


def token_figure(table: StudyTable) -> ChartFigure:
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
    return ChartFigure(
        "documentation_tokens",
        [
            finished(token_quantiles, frame[frame["measure"] == measure])
            for measure in dict.fromkeys(frame["measure"])
        ],
        shown=frame[["measure", "statistic", "printed"]],
        panel_width=PANEL_WIDTH,
        numbers=frame.assign(source=drops_words.PRINTED),
        caption=captioned(
            table.title, [ABOUT_TOKENS, "Not tested."], source=_source(table)
        ),
        note=ABOUT_TOKENS,
    )
