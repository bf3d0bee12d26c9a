"""Rates by library, root cause, crash type or stage; a click on a mark opens its cases."""

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.charts.breakdown import breakdown
from crane_core.charts.drops import FEW_CASES
from crane_core.charts.theme import in_order
from crane_core.domain import PAPER_GROUPS
from crane_core.pipeline.results import measures
from crane_core.pipeline.results.beside import asked_as
from crane_core.pipeline.results.breakdown import (
    POOLED,
    with_needed,
    with_pooled,
)
from crane_core.pipeline.results.outcomes import under_bound
from crane_core.pipeline.rows import as_rows
from crane_core.ui import breakdown_words, data, keys, words
from crane_core.ui.caption import p_sentence, sampled
from crane_core.ui.chart_box import draw_figure, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.label_coverage import draw_coverage
from crane_core.ui.mark_list import draw_mark_list
from crane_core.ui.navigation import go
from crane_core.ui.result_switches import ResultChoice
from crane_core.ui.url_state import switch

PANEL_WIDTH, LETTER_WIDTH, LONG_LABEL = 256, 6, 32
"""Pixels of a panel without its labels, and of a letter of them; longer labels are cut."""
RATES = ("Accuracy", "Recall", "Precision", "F1")
Change = dict[str, Any] | None
CASE_FILTER = {
    "root_cause": keys.ROOT_CAUSE,
    "crash_type": keys.CRASH_TYPE,
    "stage": keys.STAGE,
}


@data.kept(data.answers, 32, copied=True)
def _rates(
    chosen: ResultChoice, by: str, rate: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rates per group, detector and input, and what the other input changes per group and detector."""
    rows = chosen.rows()
    how: Any = {"rule": chosen.rule, "credit": chosen.credit}
    rows = measures.paired_rows(
        rows[rows[by].notna()], inputs=chosen.inputs, **how
    )
    keys_of = [by, "detector_title", "setting"]
    table = measures.rate_table(rows, by=keys_of, rate=rate, **how)
    changes = measures.change_table(
        rows, by=by, rate=rate, inputs=chosen.inputs, **how
    )
    return table, with_needed(with_pooled(under_bound(changes, chosen.bound)))


def draw_breakdown(chosen: ResultChoice) -> None:
    """The section: which rate by which kind, and its bars."""
    st.header("For which crashes?", anchor="breakdown")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        rate = switch("Rate", RATES, key=keys.RATE)
        by = switch(
            "By",
            list(breakdown_words.GROUPINGS),
            key=keys.GROUP_BY,
            format_func=breakdown_words.GROUPINGS.get,
        )
    draw_coverage(chosen)
    draw_bars(chosen, by=by, rate=rate)


def draw_bars(chosen: ResultChoice, *, by: str, rate: str) -> None:
    """A panel per detector with a row per group, and what the other input changes."""
    figure = breakdown_figure(chosen, by=by, rate=rate)
    if figure is None:
        st.info(
            f"Nothing to show: no case of this experiment has a {breakdown_words.GROUPINGS[by]}."
        )
        return
    table, changes = _rates(chosen, by, rate)

    def pick(point: dict[str, Any]) -> None:
        _open_cases(chosen, by, point)

    st.markdown(breakdown_words.finding(changes, by, rate, chosen.inputs))
    draw_figure(figure, on_pick=pick)
    draw_mark_list(_marks(table, by), pick, name=figure.name)


def _marks(table: pd.DataFrame, by: str) -> dict[str, dict[str, Any]]:
    """What a click on each mark selects, by the words of the mark."""
    marks = {}
    for row in as_rows(table):
        group, title = row[by], row["detector_title"]
        setting = words.setting_short(row["setting"])
        marks[f"{group}, {title} {setting}"] = {
            "group": group,
            "detector_title": title,
            "setting": setting,
        }
    return marks


def breakdown_figure(
    chosen: ResultChoice, *, by: str, rate: str
) -> ChartFigure | None:
    """The panels; None where no case has such a group."""
    table, changes = _rates(chosen, by, rate)
    if table.empty:
        return None
    n_of = table.groupby(by)["n"].agg(["min", "max"])
    labels = {
        group: words.with_n(group, *n_of.loc[group])
        for group in group_order(by, table)
    }
    found = _beside(table, changes, by, chosen)
    drawn = table.assign(
        group=table[by],
        label=table[by].map(labels),
        setting=table["setting"].map(words.setting_short),
        change=[
            "" if change is None else breakdown_words.change_words(change)
            for change in found
        ],
        is_sure=[
            change is not None and breakdown_words.is_found(change)
            for change in found
        ],
    )
    said = breakdown_words.finding(changes, by, rate, chosen.inputs)
    note = breakdown_words.about(
        changes,
        chosen.inputs,
        is_any_few=bool((table["n_cases"] <= FEW_CASES).any()),
    )
    of_chart, _, of_table = note.partition("\n\n")
    inputs = (
        words.setting_short(chosen.inputs.base),
        words.setting_short(chosen.inputs.other),
    )
    how = {
        "labels": list(labels.values()),
        "rate": breakdown_words.rate_words(rate),
        "inputs": inputs,
    }
    return ChartFigure(
        _name(chosen, by, rate),
        [
            finished(breakdown, drawn[drawn["detector_title"] == title], **how)
            for title in in_order(table["detector_title"].unique().tolist())
        ],
        shown=_readable(table, found, by),
        panel_width=PANEL_WIDTH
        + LETTER_WIDTH * min(max(map(len, labels.values())), LONG_LABEL),
        numbers=_numbers(table, changes, by),
        caption=chosen.captioned(
            f"{words.sentence_case(breakdown_words.rate_words(rate))} by {breakdown_words.GROUPINGS[by]}",
            said,
            of_chart,
            sampled(table),
            p_sentence(changes, by=by, with_outcomes=False),
            table=of_table,
        ),
        note=note,
    )


def _name(chosen: ResultChoice, by: str, rate: str) -> str:
    """The stem of the downloads' names; it names the inputs if they differ from the study's."""
    inputs = (
        ""
        if chosen.inputs == measures.WITH_STATE
        else f"_{chosen.inputs.base}_to_{chosen.inputs.other}"
    )
    return f"{rate.lower()}_by_{by}_{chosen.kind}{inputs}"


def _numbers(
    table: pd.DataFrame, changes: pd.DataFrame, by: str
) -> pd.DataFrame:
    """Rates and changes in one frame, unrounded."""
    if changes.empty:
        return table
    of_change = [
        "difference", "low", "high", "gained", "lost", "p_value", "test", "p_by_case", "p_bh", "p_by_case_bh",
        "bound", "p_smaller", "outcome", *POOLED, "power_now", "cases_needed",
    ]  # fmt: skip
    columns = [by, "detector_title", *of_change]
    return table.merge(
        changes[columns],
        on=[by, "detector_title"],
        how="left",
        suffixes=("", "_of_change"),
    )


def group_order(by: str, table: pd.DataFrame) -> list[str]:
    """The groups of the table: libraries in the paper's order, others with the most cases first."""
    present = table[by].unique().tolist()
    if by == "library_group":
        return [group for group in PAPER_GROUPS if group in present]
    largest_first = (
        table.groupby(by)["n_cases"]
        .max()
        .sort_values(ascending=False, kind="stable")
    )
    return largest_first.index.tolist()


def _open_cases(chosen: ResultChoice, by: str, point: dict[str, Any]) -> None:
    rows = chosen.rows()
    setting = next(
        s for s in chosen.inputs if words.setting_short(s) == point["setting"]
    )
    is_meant = (rows[by] == point["group"]) & (
        rows["detector_title"] == point["detector_title"]
    )
    matching = rows[
        is_meant & (rows["setting"] == setting)
    ]  # local runs are a job per setting
    experiment, detector = (
        matching["experiment"].iloc[0],
        matching["detector"].iloc[0],
    )
    filters: dict[str, Any] = {
        keys.BENCHMARK: chosen.benchmark,
        keys.EXPERIMENT: experiment,
        keys.DETECTOR: detector
        if experiment == chosen.experiment
        # The rows name a run beside the study by a name made here, which the Cases page does not know.
        else asked_as(detector),
        keys.SETTING: setting,
    }
    go("cases", **filters, **group_filter(matching, by, point["group"]))


def group_filter(rows: pd.DataFrame, by: str, group: str) -> dict[str, Any]:
    """The filter of the list of cases that leaves this group; a group of libraries is those that `rows` name."""
    if by == "library_group":
        # Cases are filtered by library, of which a group of the paper has several.
        return {keys.LIBRARY: sorted(rows["library"].unique().tolist())}
    return {CASE_FILTER[by]: group}


def _beside(
    table: pd.DataFrame, changes: pd.DataFrame, by: str, chosen: ResultChoice
) -> list[Change]:
    """The row of `changes` for each row of `table` with the other input; None for the base."""
    change_of = {
        (row[by], row["detector_title"]): row for row in as_rows(changes)
    }
    other = chosen.inputs.other
    # A change belongs to two rows and is written once, beside the input that it led to.
    return [
        change_of.get((row[by], row["detector_title"]))
        if row["setting"] == other
        else None
        for row in as_rows(table)
    ]


def _readable(
    table: pd.DataFrame, changes: list[Change], by: str
) -> pd.DataFrame:
    rows = []
    is_sample = (table["n_labelled"] < table["n_to_label"]).any()
    for row, found in zip(as_rows(table), changes, strict=True):
        rows.append(
            {
                breakdown_words.GROUPINGS[by].capitalize(): row[by],
                "Detector": row["detector_title"],
                "Input": words.setting_short(row["setting"]),
                "Rate": words.percent(row["value"]),
                "95% interval": words.interval(row["low"], row["high"]),
                "n": row["n"],
                "Cases": row["n_cases"],
                "Left out": row["left_out"],
                "Change": words.points(found["difference"])
                if found
                else words.NOTHING,
                "95% of change": words.points_interval(
                    found["low"], found["high"]
                )
                if found
                else words.NOTHING,
                "Change, pooled": words.points(found["pooled"])
                if found
                else words.NOTHING,
                "95% of it": words.points_interval(
                    found["pooled_low"], found["pooled_high"]
                )
                if found
                else words.NOTHING,
                "Power now": words.percent(found["power_now"], 0)
                if found
                else words.NOTHING,
                "Cases needed": words.whole(found["cases_needed"])
                if found
                else words.NOTHING,
                "Gained": words.whole(found["gained"])
                if found
                else words.NOTHING,
                "Lost": words.whole(found["lost"]) if found else words.NOTHING,
                "p (BH)": words.p_value(found["p_bh"])
                if found
                else words.NOTHING,
                "p by case (BH)": words.p_value(found["p_by_case_bh"])
                if found
                else words.NOTHING,
                "Outcome": found["outcome"] if found else words.NOTHING,
            }
            | (
                {"Labelled": f"{row['n_labelled']} of {row['n_to_label']}"}
                if is_sample
                else {}
            )
        )
    return pd.DataFrame(rows)
