"""Cost against accuracy: tokens and price of the input, and the Pareto front."""

import pandas as pd
import streamlit as st

from crane_core.charts.pareto import pareto
from crane_core.charts.theme import in_order
from crane_core.domain import DetectorKind
from crane_core.pipeline.results import input_cost
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.ablation_switches import Ablated
from crane_core.ui.caption import sampled
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.pareto_words import (
    ABOUT,
    AXES,
    COSTS,
    finding,
    mark_labels,
    title,
)
from crane_core.ui.url_state import held, switch
from crane_core.ui.words import (
    NOTHING,
    count,
    interval,
    percent,
    sentence_case,
    setting_short,
)


@data.kept(
    data.answers, 16, copied=True, spinner="Counting the tokens of the inputs"
)
def _costs(chosen: Ablated) -> pd.DataFrame:
    rows = chosen.of_all_kinds()
    tokens = input_cost.tokens_of_inputs(
        data.store(),
        chosen.benchmark,
        sorted(rows["experiment"].unique().tolist()),
    )
    return input_cost.cost_table(rows, tokens, rate=chosen.rate)


def draw_pareto(chosen: Ablated) -> None:
    """The finding, the chart and its table; a sentence where there is no model whose input would cost anything."""
    st.header("What does it cost?", anchor="cost")
    if not chosen.source:
        st.info(
            "Nothing to compare: no detector answered an instance of this benchmark with two inputs."
        )
        return
    table = _costs(chosen)
    if not (table["detector_kind"] == DetectorKind.LLM).any():
        st.info(
            "These detectors read the code without a model, so they cost no tokens."
        )
        return
    cost = switch("Cost", list(COSTS), key=keys.COST, format_func=COSTS.get)
    known = _known(chosen, cost)
    if known is None:
        st.info(
            "The cost of these inputs is unknown: their texts are not loaded, or they have no list price."
        )
        return
    st.markdown(finding(known, chosen.rate_words, cost))
    draw_figure(_figure(chosen, cost, known))


def cost_title(chosen: Ablated) -> str | None:
    """The best and the cheapest; None where no model's input has a known cost."""
    cost = held(keys.COST, list(COSTS))
    known = _known(chosen, cost) if chosen.source else None
    if known is None:
        return None
    return title(known, f"detection {chosen.rate_words}", cost)


def cost_figure(chosen: Ablated, cost: str) -> ChartFigure | None:
    """Cost against accuracy, by one of COSTS; None where no model's input has a known cost."""
    known = _known(chosen, cost)
    return None if known is None else _figure(chosen, cost, known)


def _known(chosen: Ablated, cost: str) -> pd.DataFrame | None:
    """The inputs whose cost is known, with the front; None where it is of no model's input."""
    table = _costs(chosen)
    known = input_cost.with_front(table, cost)
    has_models = (table["detector_kind"] == DetectorKind.LLM).any()
    return None if known.empty or not has_models else known


def _figure(chosen: Ablated, cost: str, known: pd.DataFrame) -> ChartFigure:
    """known: of `_known`."""
    table = _costs(chosen)
    said = finding(known, chosen.rate_words, cost)
    shown = in_order(known["detector_title"].unique().tolist())
    left_out = [
        name
        for name in in_order(table["detector_title"].unique().tolist())
        if name not in shown
    ]
    without = (
        f" Left out, because no {COSTS[cost]} is known: {', '.join(left_out)}."
        if left_out
        else ""
    )
    words, form = AXES[cost]
    drawn = known.assign(
        setting=known["setting"].map(setting_short), text=mark_labels(known)
    )
    note = ABOUT.format(
        how="counted" if known["is_exact"].all() else "estimated",
        left_out=without,
    )
    axes = {"cost": words, "cost_format": form, "rate": chosen.rate_words}
    return ChartFigure(
        f"{chosen.rate_words}_by_{COSTS[cost]}",
        [finished(pareto, drawn, **axes)],
        shown=_readable(known, chosen.rate),
        numbers=known.drop(columns=["detector_kind"]),
        caption=chosen.captioned(
            f"{sentence_case(chosen.rate_words)} by {COSTS[cost]}",
            said,
            note,
            sampled(known),
        ),
        note=note,
    )


def _readable(known: pd.DataFrame, rate: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": setting_short(row["setting"]),
            rate: percent(row["value"]),
            "95% interval": interval(row["low"], row["high"]),
            "Tokens, mean": NOTHING
            if row["tokens"] is None
            else count(round(row["tokens"])),
            f"USD per {input_cost.QUESTIONS:,}": NOTHING
            if row["usd"] is None
            else f"{row['usd']:.2f}",
            "On the Pareto front": "yes" if row["is_front"] else "no",
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(known)
    )
