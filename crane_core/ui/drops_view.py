"""What each input changes: differences around zero, with interval and test, and the cases behind them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from crane_core.charts.drops import FEW_CASES, drops
from crane_core.charts.theme import in_order
from crane_core.domain import Setting
from crane_core.pipeline.cases.pairs import Pattern
from crane_core.pipeline.results.comparisons import RICHNESS, comparison_text
from crane_core.pipeline.results.measures import Inputs
from crane_core.pipeline.results.setting_drops import drop_table, drops_by
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.ui import data, keys
from crane_core.ui.ablation_switches import Ablated
from crane_core.ui.breakdown_view import group_filter, group_order
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.drops_words import (
    about_tests,
    apart,
    base_words,
    drawn_drops,
    finding,
    finding_by,
    printed_drops,
)
from crane_core.ui.glossary import explained
from crane_core.ui.grid import grid
from crane_core.ui.navigation import go
from crane_core.ui.study_view import tables
from crane_core.ui.url_state import switch
from crane_core.ui.words import (
    p_value,
    percent,
    points,
    points_interval,
    setting_short,
    setting_words,
    whole,
    with_n,
)

CATEGORIES = (
    Setting.RUNTIME_WITHOUT_S,
    Setting.RUNTIME_WITHOUT_R,
    Setting.RUNTIME_WITHOUT_V,
)
TO_FILL = (
    "Structure, representation and values each left out: no such runs are loaded, so nothing about them can be tested. "
    "Start a run with the input runtime-S, runtime-R or runtime-V on the Runs page, or import the CRANE-LLM release of "
    "2026 on the Data page."
)
TABLES = ("4a", "4b")
"""The paper's ablations."""
NO_RUNS = (
    "Nothing to compare: no detector answered an instance of this benchmark with two inputs. Start "
    "runs of one detector with several inputs on the Runs "
    "page, or import a release that holds them on the Data page."
)


@data.kept(data.answers, 16, copied=True)
def _drops(chosen: Ablated) -> pd.DataFrame:
    return drop_table(
        chosen.rows(), reference=chosen.reference(), rate=chosen.rate
    )


@data.kept(data.answers, 32, copied=True)
def _drops_by(chosen: Ablated, by: str, setting: Setting) -> pd.DataFrame:
    return drops_by(
        chosen.rows(),
        by=by,
        reference=chosen.reference(),
        setting=setting,
        rate=chosen.rate,
    )


def draw_drops(chosen: Ablated) -> None:
    """The finding, the chart with what the paper prints, and the table with its links."""
    st.subheader("What does each part of the input add?", anchor="drops")
    st.html(
        f'<p class="cw-lead">{explained("S")} is structure (shapes, sizes, counts), {explained("R")} representation '
        f"and types, {explained('V')} values and object state.</p>"
    )
    if not chosen.source:
        st.info(NO_RUNS)
        return
    reference = chosen.reference()
    measured = _drops(chosen)
    # The paper measures its ablations against full runtime state; beside another reference they would
    # mislead.
    is_study = chosen.benchmark == BENCHMARK and reference == Setting.RUNTIME
    printed = printed_drops(
        [tables()[name] for name in TABLES] if is_study else [],
        chosen.rate,
        measured,
    )
    st.markdown(finding(measured, printed, chosen.rate_words, reference))
    if not set(measured["setting"]) & set(CATEGORIES):
        st.caption(TO_FILL)
    settings = [
        setting
        for setting in Setting
        if setting in {*measured["setting"], *printed["setting"]}
    ]
    drawn = drawn_drops(
        measured.assign(label=measured["setting"].map(setting_short)), printed
    )
    draw_chart(
        finished(
            drops,
            drawn,
            labels=[setting_short(setting) for setting in settings],
            rate=chosen.rate_words,
        ),
        None,
        numbers=measured.assign(reference_setting=str(reference)),
        name=f"drops_{chosen.rate_words}",
        note=f"Against {base_words(reference)}, detection alone, majority of runs; left of 0 is a drop. Lines: 95% "
        "intervals by case. Squares and p: printed in the paper, without the runs behind it. Click a diamond for the "
        "cases that changed.",
        on_pick=lambda point: _open_cases(chosen, measured, point),
    )
    grid(
        _readable(measured, chosen),
        column_config={
            "Changed cases": st.column_config.LinkColumn(
                display_text="Open", width="small"
            )
        },
    )
    st.caption(about_tests(chosen.rate, len(measured)) + apart(measured))


def draw_drops_by(chosen: Ablated) -> None:
    """One input against the reference by library, root cause and the like."""
    st.subheader("For which crashes does it matter?", anchor="groups")
    measured = _drops(chosen)
    settings = [
        str(setting)
        for setting in Setting
        if setting in set(measured["setting"])
    ]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setting = switch(
            "Input", settings, key=keys.SETTING, format_func=setting_short
        )
        by = switch(
            "By", list(GROUPINGS), key=keys.GROUP_BY, format_func=GROUPINGS.get
        )
    draw_groups(chosen, by=by, setting=setting)


def draw_groups(chosen: Ablated, *, by: str, setting: str) -> None:
    """The finding and the chart for one input and one way of grouping."""
    table = _drops_by(chosen, by, Setting(setting))
    if table.empty:
        st.info(f"Nothing to show: no case has a {GROUPINGS[by]}.")
        return
    st.markdown(finding_by(table, by, Setting(setting)))
    n_of = table.groupby(by)["n"].agg(["min", "max"])
    labels = {
        group: with_n(group, *n_of.loc[group])
        for group in group_order(by, table)
    }
    titles = in_order(table["detector_title"].unique().tolist())
    drawn = drawn_drops(
        table.assign(label=table[by].map(labels)),
        printed_drops([], chosen.rate, table),
    )
    draw_chart(
        finished(
            drops, drawn, labels=list(labels.values()), rate=chosen.rate_words
        ),
        _readable_by(table, by),
        numbers=table,
        name=f"drops_{chosen.rate_words}_by_{by}_{setting}",
        note=f"{', '.join(titles)}: {setting_words(setting)} against {base_words(chosen.reference())}. Lines: "
        f"95% intervals by case. Faded: at most {FEW_CASES} cases. p in the table: Benjamini-Hochberg over its "
        f"{len(table)} rows. Click a diamond to see the cases that changed.",
        on_pick=lambda point: _open_group(chosen, table, by, labels, point),
    )


def _readable(measured: pd.DataFrame, chosen: Ablated) -> pd.DataFrame:
    reference = setting_short(chosen.reference())
    order = {
        title: place
        for place, title in enumerate(
            in_order(measured["detector_title"].unique().tolist())
        )
    }
    rows = sorted(
        as_rows(measured), key=lambda row: order[row["detector_title"]]
    )
    return pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": setting_short(row["setting"]),
            f"{chosen.rate} {reference}": percent(row["reference"]),
            chosen.rate: percent(row["value"]),
            "Change": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "Gained": whole(row["gained"]),
            "Lost": whole(row["lost"]),
            "p (Holm)": p_value(row["p_holm"]),
            "p by case (Holm)": p_value(row["p_by_case_holm"]),
            "Outcome": row["outcome"],
            "Instances": row["n"],
            "Cases": row["n_cases"],
            "Changed cases": f"cases?{urlencode(_filters(chosen, row), doseq=True)}",
        }
        for row in rows
    )


def _readable_by(table: pd.DataFrame, by: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            GROUPINGS[by].capitalize(): row[by],
            "Detector": row["detector_title"],
            "Change": points(row["difference"]),
            "95% interval": points_interval(row["low"], row["high"]),
            "Gained": whole(row["gained"]),
            "Lost": whole(row["lost"]),
            "p (BH)": p_value(row["p_bh"]),
            "p by case (BH)": p_value(row["p_by_case_bh"]),
            "Outcome": row["outcome"],
            "Instances": row["n"],
            "Cases": row["n_cases"],
        }
        for row in as_rows(table)
    )


def _filters(chosen: Ablated, row: dict[str, Any]) -> dict[str, Any]:
    """The address of the cases on which the two inputs of a row disagree."""
    asked, settings = (
        chosen.asked(),
        [chosen.reference(), Setting(row["setting"])],
    )
    meant = asked[
        (asked["detector"] == row["detector"]) & asked["setting"].isin(settings)
    ]
    return {
        keys.BENCHMARK: chosen.benchmark,
        keys.EXPERIMENT: sorted(meant["experiment"].unique().tolist()),
        keys.DETECTOR: row["detector"],
        # The comparisons of Cases go from the poorer input to the richer, whichever is the reference here.
        keys.COMPARE: comparison_text(
            Inputs(*sorted(settings, key=RICHNESS.index))
        ),
        keys.AGREEMENT: str(Pattern.CHANGED),
    }


def _open_cases(
    chosen: Ablated, measured: pd.DataFrame, point: dict[str, Any]
) -> None:
    is_meant = (measured["setting"].map(setting_short) == point["label"]) & (
        measured["detector_title"] == point["detector_title"]
    )
    go("cases", **_filters(chosen, as_rows(measured[is_meant])[0]))


def _open_group(
    chosen: Ablated,
    table: pd.DataFrame,
    by: str,
    labels: dict[str, str],
    point: dict[str, Any],
) -> None:
    is_meant = (table[by].map(labels) == point["label"]) & (
        table["detector_title"] == point["detector_title"]
    )
    row = as_rows(table[is_meant])[0]
    rows = chosen.rows()
    of_group = group_filter(rows[rows[by] == row[by]], by, row[by])
    go("cases", **_filters(chosen, row) | of_group)
