"""Where do they agree, and where not? One coefficient by group, and the verdicts that are labelled differently."""

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.agreement import MARK, forest
from crane_core.charts.theme import detector_colours, in_order
from crane_core.domain import PAPER_GROUPS, Setting
from crane_core.pipeline.agreement import agreement
from crane_core.pipeline.rows import as_rows
from crane_core.ui import keys, url_state, words
from crane_core.ui.agreement import computed, phrases
from crane_core.ui.agreement.computed import AgreementChoice
from crane_core.ui.caption import captioned
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.grid import clicked_row
from crane_core.ui.label_view import label_words
from crane_core.ui.navigation import go

GROUPINGS = {
    "detector_title": "detector",
    "setting": "input",
    "library_group": "library",
    "root_cause": "root cause",
}


def draw_groups(chosen: AgreementChoice) -> None:
    """The choice of coefficient and grouping, and the chart; while a campaign is open, why there is none."""
    if chosen.blind_campaigns:
        st.info(
            f"{phrases.names(chosen.blind_campaigns)} is not locked: totals only. Groups and single items could "
            "tell an annotator which model wrote an item, or how somebody else labelled it."
        )
        return
    with st.container(horizontal=True):
        coefficient = _pick_coefficient(chosen)
        by = url_state.switch(
            "By", list(GROUPINGS), key=keys.GROUPS, format_func=GROUPINGS.get
        )
    figure = group_figure(chosen, coefficient, by)
    if figure is None:
        st.info(f"None of these {chosen.noun} has a {GROUPINGS[by]}.")
        return
    draw_figure(figure)


def _pick_coefficient(chosen: AgreementChoice) -> str:
    has_order = (
        chosen.scope is not agreement.ComparedVerdicts.ALL
        and computed.label_set(chosen).is_ordinal
    )
    options = [
        name
        for name, asked in agreement.COEFFICIENTS.items()
        if not (asked.ordered and not has_order)
        and not (asked.of_two and len(chosen.annotators) != 2)
    ]
    looks: dict[str, Any] = {
        "key": keys.COEFFICIENT,
        "default": computed.main_names(chosen)[0],
        "width": 230,
    }
    return str(url_state.one_of(st.selectbox, "Coefficient", options, **looks))


def group_figure(
    chosen: AgreementChoice, coefficient: str, by: str
) -> ChartFigure | None:
    """The coefficient by group; None where nothing that is compared has such a group."""
    table = computed.groups(chosen, coefficient, by)
    if table.empty:
        return None
    table = (
        table.set_index(by, drop=False)
        .loc[_order(by, table)]
        .reset_index(drop=True)
    )
    rows = as_rows(table)
    shown_groups = [
        words.setting_short(row[by]) if by == "setting" else str(row[by])
        for row in rows
    ]
    labels = [
        words.with_n(group, row["n"], row["n"])
        for group, row in zip(shown_groups, rows, strict=True)
    ]
    drawn = table.assign(
        label=labels,
        text=[phrases.beside(row) for row in rows],
        colour=_colours(by, shown_groups),
    )
    [whole] = computed.table(chosen, (coefficient,))["value"]
    readable_rows = [
        row | {"group": group}
        for row, group in zip(rows, shown_groups, strict=True)
    ]
    note = f"Lines: 95% intervals, {phrases.interval_method(coefficient)}. Dashed: over all of them."
    looks: dict[str, Any] = {
        "labels": labels,
        "coefficient": coefficient,
        "whole": None if pd.isna(whole) else float(whole),
    }
    return ChartFigure(
        f"agreement_by_{GROUPINGS[by].replace(' ', '_')}",
        [finished(forest, drawn, **looks)],
        shown=phrases.readable(
            readable_rows, {GROUPINGS[by].capitalize(): "group"}
        ),
        numbers=table,
        caption=captioned(
            f"{coefficient} by {GROUPINGS[by]}",
            [
                f"Labels: {', '.join(chosen.annotators)}; compared: {chosen.noun}.",
                note,
                phrases.in_caption(shown_groups, rows),
                phrases.NOT_TESTED,
            ],
            source=computed.source_of(computed.items(chosen).facts),
        ),
        note=note,
    )


def _colours(by: str, groups: list[str]) -> list[str]:
    if by != "detector_title":
        return [MARK] * len(groups)
    colour = detector_colours(groups)
    return [colour[title] for title in groups]


def _order(by: str, table: pd.DataFrame) -> list[str]:
    """Groups in their usual order; root causes with the most verdicts first."""
    present = table[by].tolist()
    if by == "detector_title":
        return in_order(present)
    if by == "root_cause":
        return [
            str(group)
            for group in table.sort_values("n", ascending=False, kind="stable")[
                by
            ]
        ]
    usual = (
        [str(setting) for setting in Setting]
        if by == "setting"
        else list(PAPER_GROUPS)
    )
    return [group for group in usual if group in present]


MOST_HEIGHT = 420
FACTS = {
    "case_id": "Case",
    "detector_title": "Detector",
    "setting": "Input",
    "library_group": "Library",
}


def draw_differences(chosen: AgreementChoice) -> None:
    """A row per verdict, a column per annotator; a click opens the pair. Campaigns that are not locked are excluded."""
    if chosen.blind_campaigns:
        return
    items = computed.items(chosen)
    unlike = agreement.differing(items)
    fold = st.expander(
        f"{words.count(len(unlike))} of {words.count(len(items.facts))} "
        f"{chosen.noun} with different labels",
        key="differences",
        on_change="rerun",
    )
    if not fold.open:
        return
    with fold:
        if unlike.empty:
            st.caption("None: all common labels are equal.")
            return
        st.caption("Click a row to open the pair.")
        place = clicked_row(
            _shown(unlike, items),
            key=f"differences_{'_'.join((chosen.noun, *chosen.annotators))}",
            most_height=MOST_HEIGHT,
        )
    if place is not None:
        row = unlike.iloc[place]
        go(
            "cases",
            **{keys.BENCHMARK: row["benchmark"], keys.CASE: row["case_id"]},
        )


def _shown(unlike: pd.DataFrame, items: agreement.Items) -> pd.DataFrame:
    facts = (
        unlike[list(FACTS)]
        .assign(setting=unlike["setting"].map(words.setting_short))
        .rename(columns=FACTS)
    )
    said = {
        name: [
            label_words(label, items.label_set)
            if isinstance(label, str)
            else words.NOTHING
            for label in unlike[name]
        ]
        for name in items.annotators
    }
    return facts.assign(**said)
