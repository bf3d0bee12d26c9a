"""What each input changes: differences around zero, with interval and test, and the cases behind them."""

from html import escape
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
from crane_core.pipeline.results.outcomes import under_bound
from crane_core.pipeline.results.setting_drops import drop_table, drops_by
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.study.table_scores import BENCHMARK
from crane_core.ui import data, drops_words, keys, words
from crane_core.ui.ablation_switches import Ablated, usual_ablations
from crane_core.ui.breakdown_view import group_filter, group_order
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.caption import p_sentence, sampled
from crane_core.ui.chart_box import draw_figure, draw_method, finished
from crane_core.ui.chart_figure import ChartFigure
from crane_core.ui.mark_list import draw_mark_list
from crane_core.ui.navigation import go, link
from crane_core.ui.outcome_words import comparison_cells, smaller_sentence
from crane_core.ui.rows_html import rows_html
from crane_core.ui.study_view import tables
from crane_core.ui.url_state import switch

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
CHANGED = "Changed"
IN_CAPTION = ("Input", "Instances", "Cases")
"""Columns that are left out where all rows have the same."""
TABLES = ("4a", "4b")
"""The paper's ablations."""
NO_RUNS = (
    "Nothing to compare: no detector answered an instance of this benchmark with two inputs. Start "
    "runs of one detector with several inputs on the Runs "
    "page, or import a release that holds them on the Data page."
)


@data.kept(data.answers, 16, copied=True)
def measured_drops(chosen: Ablated) -> pd.DataFrame:
    """What each input changes; see `setting_drops.drop_table`."""
    table = drop_table(
        chosen.rows(), reference=chosen.reference(), rate=chosen.rate
    )
    return under_bound(table, chosen.bound)


@data.kept(data.answers, 32, copied=True)
def _drops_by(chosen: Ablated, by: str, setting: Setting) -> pd.DataFrame:
    table = drops_by(
        chosen.rows(),
        by=by,
        reference=chosen.reference(),
        setting=setting,
        rate=chosen.rate,
    )
    return under_bound(table, chosen.bound)


def ablation_title(chosen: Ablated) -> str:
    """What leaving out parts of the input changes, in a sentence."""
    if not chosen.source:
        return "No detector has answered with two inputs yet"
    # Overview counts correct diagnoses, so the two pages may find different things.
    rate = f"detection {chosen.rate_words}"
    return drops_words.title(measured_drops(chosen), rate, chosen.reference())


def draw_basis(chosen: Ablated) -> None:
    """What counts as right here, and the way to what counts on Overview and Results."""
    with st.container(horizontal=True, gap="small"):
        st.caption("By detection alone.", width="content")
        if chosen.source and chosen.rows()["human"].notna().any():
            link(
                "results",
                "With a correct diagnosis: Results",
                **{
                    keys.PART: "Runtime state",
                    keys.BENCHMARK: chosen.benchmark,
                    keys.KIND: chosen.kind,
                },
            )


def prepare_drops() -> None:
    """What the first visit would wait for: the usual comparison of the first benchmark, and the paper's tables."""
    for chosen in usual_ablations():
        _printed(chosen)
        return


def draw_drops(chosen: Ablated) -> None:
    """The finding, the chart with what the paper prints, and the table with its links."""
    st.header("What is lost without each part of the input?", anchor="drops")
    if not chosen.source:
        st.info(NO_RUNS)
        return
    measured = measured_drops(chosen)
    printed = _printed(chosen)
    figure = drops_figure(chosen)

    def pick(point: dict[str, Any]) -> None:
        _open_cases(chosen, measured, point)

    said = drops_words.finding(
        measured, printed, chosen.rate_words, chosen.reference()
    )
    st.markdown(f"{said} {sampled(measured)}")
    draw_figure(figure, is_table_on_page=True, on_pick=pick)
    draw_mark_list(
        drops_words.drop_marks(_drawn(measured, printed)),
        pick,
        name=figure.name,
        what="detector and input",
    )
    shown = _readable(measured, chosen)
    links = [escape(address) for address in shown.pop(CHANGED)]
    st.html(rows_html(shown, links=links, css="cw-many"))
    if not set(measured["setting"].unique()) & set(CATEGORIES):
        st.caption(TO_FILL)
    draw_method(
        drops_words.about_tests(chosen.rate, len(measured))
        + drops_words.apart(measured),
        smaller_sentence(measured),
    )


def _printed(chosen: Ablated) -> pd.DataFrame:
    """What the paper prints of inputs that were not measured here; empty beside another comparison than the paper's."""
    reference, measured = chosen.reference(), measured_drops(chosen)
    # The paper measures its ablations against full runtime state; beside another reference they would
    # mislead.
    is_study = chosen.benchmark == BENCHMARK and reference == Setting.RUNTIME
    return drops_words.printed_drops(
        [tables()[name] for name in TABLES] if is_study else [],
        chosen.rate,
        measured,
    )


def _drawn(measured: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    labelled = measured.assign(
        label=measured["setting"].map(drops_words.PHRASES)
    )
    return drops_words.drawn_drops(labelled, printed)


def drops_figure(chosen: Ablated) -> ChartFigure:
    """What each input changes, with what the paper prints; the detectors have a source."""
    reference, measured = chosen.reference(), measured_drops(chosen)
    printed = _printed(chosen)
    said = drops_words.finding(measured, printed, chosen.rate_words, reference)
    note = (
        f"Against {drops_words.base_words(reference)}, detection alone, majority of answers; left of 0 is a drop. "
        "Lines: 95% intervals by case, not adjusted for several comparisons; outcomes are adjusted by Holm. Hollow "
        "squares: printed in the paper, not measured here. Click a diamond for the cases that changed, or open them "
        "from the table. Structure (S) is shapes, sizes and counts; representation (R) is types; values (V) are values "
        "and object state."
    )
    shown = _readable(measured, chosen)
    looks = {
        "labels": drops_words.chart_rows(measured, printed),
        "rate": chosen.rate_words,
    }
    return ChartFigure(
        f"drops_{chosen.rate_words}",
        [finished(drops, _drawn(measured, printed), **looks)],
        shown=shown.drop(columns=CHANGED, errors="ignore"),
        numbers=measured.assign(reference_setting=str(reference)),
        caption=chosen.captioned(
            f"Change of {chosen.rate_words} against {drops_words.base_words(reference)}",
            said,
            note,
            sampled(measured),
            p_sentence(measured),
        ),
        note=note,
    )


def draw_drops_by(chosen: Ablated) -> None:
    """One input against the reference by library, root cause and the like."""
    st.header("For which crashes does it matter?", anchor="groups")
    measured = measured_drops(chosen)
    settings = [
        str(setting)
        for setting in Setting
        if setting in set(measured["setting"].unique())
    ]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # A switch of one option only asks what it is for; the sentence below names the input.
        setting = (
            switch(
                "Input",
                settings,
                key=keys.SETTING,
                format_func=words.setting_short,
            )
            if len(settings) > 1
            else settings[0]
        )
        by = switch(
            "By", list(GROUPINGS), key=keys.GROUP_BY, format_func=GROUPINGS.get
        )
    draw_groups(chosen, by=by, setting=setting)


def draw_groups(chosen: Ablated, *, by: str, setting: str) -> None:
    """The finding and the chart for one input and one way of grouping."""
    figure = groups_figure(chosen, by=by, setting=setting)
    if figure is None:
        st.info(f"Nothing to show: no case has a {GROUPINGS[by]}.")
        return
    table = _drops_by(chosen, by, Setting(setting))
    labels = _labels(table, by)

    def pick(point: dict[str, Any]) -> None:
        _open_group(chosen, table, by, labels, point)

    st.markdown(drops_words.finding_by(table, by, Setting(setting)))
    draw_figure(figure, on_pick=pick)
    drawn = _drawn_by(chosen, table, by)
    draw_mark_list(drops_words.drop_marks(drawn), pick, name=figure.name)


def _labels(table: pd.DataFrame, by: str) -> dict[str, str]:
    """Each group with its n, in the order of the rows."""
    n_of = table.groupby(by)["n"].agg(["min", "max"])
    return {
        group: words.with_n(group, *n_of.loc[group])
        for group in group_order(by, table)
    }


def _drawn_by(chosen: Ablated, table: pd.DataFrame, by: str) -> pd.DataFrame:
    labelled = table.assign(label=table[by].map(_labels(table, by)))
    return drops_words.drawn_drops(
        labelled, drops_words.printed_drops([], chosen.rate, table)
    )


def groups_figure(
    chosen: Ablated, *, by: str, setting: str
) -> ChartFigure | None:
    """One input against the reference by group; None where no case has such a group."""
    table = _drops_by(chosen, by, Setting(setting))
    if table.empty:
        return None
    said = drops_words.finding_by(table, by, Setting(setting))
    titles = in_order(table["detector_title"].unique().tolist())
    drawn = _drawn_by(chosen, table, by)
    of_chart = (
        f"{', '.join(titles)}: {words.setting_words(setting)} against {drops_words.base_words(chosen.reference())}. "
        f"Lines: 95% intervals by case. Faded: at most {FEW_CASES} cases."
    )
    note = (
        f"{of_chart} p in the table: Benjamini-Hochberg over its {len(table)} rows. "
        "Click a diamond to see the cases that changed."
    )
    looks = {
        "labels": list(_labels(table, by).values()),
        "rate": chosen.rate_words,
    }
    return ChartFigure(
        f"drops_{chosen.rate_words}_by_{by}_{setting}",
        [finished(drops, drawn, **looks)],
        shown=_readable_by(table, by),
        numbers=table,
        caption=chosen.captioned(
            f"Change of {chosen.rate_words} by {GROUPINGS[by]}",
            said,
            of_chart,
            sampled(table),
            p_sentence(table, by=by, with_outcomes=False),
        ),
        note=note,
    )


def _readable(measured: pd.DataFrame, chosen: Ablated) -> pd.DataFrame:
    reference = words.setting_short(chosen.reference())
    titles = in_order(measured["detector_title"].unique().tolist())
    rows = sorted(
        as_rows(measured), key=lambda row: titles.index(row["detector_title"])
    )
    inputs = measured["setting"].unique()
    other = (
        "with this input" if len(inputs) > 1 else words.setting_short(inputs[0])
    )
    table = pd.DataFrame(
        {
            "Detector": row["detector_title"],
            "Input": drops_words.PHRASES[row["setting"]],
            f"{chosen.rate} {reference}": words.percent(row["reference"]),
            f"{chosen.rate} {other}": words.percent(row["value"]),
            **comparison_cells(row, change="Change"),
            "Instances": row["n"],
            "Cases": row["n_cases"],
            CHANGED: f"cases?{urlencode(_filters(chosen, row), doseq=True)}",
        }
        for row in rows
    )
    # What is the same in every row is said by the headings and the captions.
    return table.drop(
        columns=[name for name in IN_CAPTION if table[name].nunique() == 1]
    )


def _readable_by(table: pd.DataFrame, by: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            GROUPINGS[by].capitalize(): row[by],
            "Detector": row["detector_title"],
            **comparison_cells(row, change="Change", policy="BH"),
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
    is_meant = (
        measured["setting"].map(drops_words.PHRASES) == point["label"]
    ) & (measured["detector_title"] == point["detector_title"])
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
