"""The headline: what runtime state changes, per detector, with how sure one can be."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from crane_core.charts.gains import gains
from crane_core.charts.theme import in_order
from crane_core.pipeline.measures import Credit, VoteRule, gain_table, rate_table
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data
from crane_core.ui.chart_box import draw_chart
from crane_core.ui.result_switches import STUDY, Chosen
from crane_core.ui.words import p_value, percent, points, points_interval, setting_short, whole

PRINTED_IN = {Credit.STRICT: "2a", Credit.DETECTION: "2b"}
P_HELP = "exact McNemar test on the instances that only one input has right; Holm-adjusted over the detectors"


@st.cache_data(max_entries=16, show_spinner=False)
def _gains(loaded: str, chosen: Chosen) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The comparison of the detectors that were asked with both inputs, and the rates behind it.

    The rates are those of runs beside the study too, which may be of one input only.
    """
    rows = chosen.rows()
    comparison = gain_table(rows, rule=chosen.rule, credit=chosen.credit)
    if not comparison.empty:
        titles = in_order(comparison["detector_title"].tolist())
        comparison = comparison.set_index("detector_title", drop=False).loc[titles]
    is_shown = rows["experiment"].isin(chosen.beside)
    is_shown |= rows["detector"].isin(comparison["detector"] if not comparison.empty else [])
    rows = rows[is_shown & rows["setting"].isin(["code", "runtime"])]
    if rows.empty:
        return comparison, comparison
    values = rate_table(rows, by=["detector_title", "setting"], rate="Accuracy", rule=chosen.rule, credit=chosen.credit)
    return comparison, values


def compared(chosen: Chosen) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cached comparison for these switches."""
    return _gains(data.answers(), chosen)


def draw_gains(chosen: Chosen) -> None:
    """The dumbbells and the table under them; a sentence where no detector was asked with both inputs."""
    comparison, values = compared(chosen)
    if values.empty:
        st.info("No detector of this experiment was asked both with and without runtime state.")
        return
    printed = _printed_accuracy(chosen)
    drawn = values.assign(
        setting=values["setting"].map(setting_short),
        text=[f"{setting_short(s)} {percent(v)}" for s, v in zip(values["setting"], values["value"], strict=True)],
    )
    drawn["printed"] = [
        printed.get(key, math.nan) for key in zip(drawn["detector_title"], drawn["setting"], strict=True)
    ]
    note = "Hollow: code only. Filled: with runtime state. Lines: 95% intervals, bootstrap over cases."
    note += " Thin upright marks: the paper's printed values." if drawn["printed"].notna().any() else ""
    numbers = drawn.drop(columns="text")
    if not comparison.empty:
        changes = comparison.drop(columns=["n", "n_cases"]).reset_index(drop=True)
        numbers = numbers.merge(changes, on="detector_title", how="left", suffixes=("", "_of_change"))
    draw_chart(gains(drawn), _readable(comparison), numbers=numbers, name="accuracy_gain", note=note)


def draw_comparison(chosen: Chosen) -> None:
    """The paired comparison as a table, with its n."""
    comparison, _ = compared(chosen)
    if not comparison.empty:
        help_for = {"p (Holm)": st.column_config.Column(help=P_HELP)}
        st.dataframe(_readable(comparison), hide_index=True, column_config=help_for)


def headline(comparison: pd.DataFrame) -> str:
    """The answer in a sentence: by how much accuracy changes with runtime state, for each detector."""
    parts = [
        f"**{points(row['difference'])}** for {row['detector_title']} ({points(row['low'])} to {points(row['high'])})"
        for row in as_rows(comparison)
    ]
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]


def _printed_accuracy(chosen: Chosen) -> dict[tuple[str, str], float]:
    if chosen.experiment != STUDY or chosen.rule is not VoteRule.MAJORITY or chosen.credit not in PRINTED_IN:
        return {}
    numbers = data.printed_numbers()
    rows = numbers[(numbers["publication"] == "paper") & (numbers["table_id"] == PRINTED_IN[chosen.credit])]
    shown = {"Accuracy (-RT)": "−RT", "Accuracy (+RT)": "+RT"}
    rows = rows[rows["column"].isin(shown)]
    return {(row["row"], shown[row["column"]]): float(row["printed"].removesuffix("%")) / 100 for row in as_rows(rows)}


def _readable(comparison: pd.DataFrame) -> pd.DataFrame:
    rows = as_rows(comparison)
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Accuracy −RT": percent(row["without"]),
            "Accuracy +RT": percent(row["with_"]),
            "Difference": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "Gained": whole(row["gained"]),
            "Lost": whole(row["lost"]),
            "p (Holm)": p_value(row["p_holm"]),
            "Detectable": points(row["detectable"]).lstrip("+"),
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in rows
    )
