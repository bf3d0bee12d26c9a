"""The tab Result: after the lock the shares of each label; before it final labels so far, the lock and the export."""

from collections import Counter

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.plan import Plan
from crane_core.charts.label_shares import label_shares
from crane_core.charts.theme import in_order
from crane_core.pipeline.campaigns import label_sets
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.result import (
    CampaignResult,
    GroupShares,
)
from crane_core.pipeline.campaigns.status import CampaignStatus
from crane_core.pipeline.rows import as_rows
from crane_core.ui import data, keys
from crane_core.ui.campaigns import campaign_words, closing
from crane_core.ui.campaigns.judges import draw_judges
from crane_core.ui.campaigns.progress import colours_of
from crane_core.ui.caption import captioned, source_words
from crane_core.ui.chart_box import draw_chart, finished
from crane_core.ui.navigation import go
from crane_core.ui.rows_html import rows_html
from crane_core.ui.words import (
    count,
    interval,
    literal,
    percent,
    setting_short,
)


def draw_result(status: CampaignStatus) -> None:
    """The whole tab."""
    if status.result is None:
        _draw_so_far(status)
    else:
        _draw_locked(status, status.result)
    st.header("LLM judges", anchor="judges")
    draw_judges(status)


def _draw_so_far(status: CampaignStatus) -> None:
    with st.container(key=keys.BESIDE_EACH_OTHER):
        left, right = st.columns(2, gap="large")
    with left:
        st.header("Final labels so far", anchor="final")
        _draw_outcomes(status.plan)
    with right:
        if not campaign_words.is_lock_above(status):
            st.header("Lock", anchor="lock")
            closing.draw_lock(status)
        st.header("Export", anchor="export")
        closing.draw_export(status, is_next=False)
        st.caption(closing.export_words(status))


def _draw_locked(status: CampaignStatus, result: CampaignResult) -> None:
    plan = status.plan
    with st.container(key=keys.BESIDE_EACH_OTHER):
        left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_shares(status, result)
    with right:
        if label_sets.enters_results(plan.labels):
            st.header("Scores by these labels", anchor="use")
            if st.button("Use in Results"):
                go("results", **results_address(plan))
        st.header("How the labels came about", anchor="final")
        _draw_outcomes(plan)


def results_address(plan: Plan) -> dict[str, str]:
    """The parameters of Results by the final labels of this campaign."""
    return {
        keys.BENCHMARK: plan.population.benchmark,
        keys.EXPERIMENT: plan.population.experiment,
        keys.JUDGED_BY: f"{plan.campaign}: final",
    }


def _draw_shares(status: CampaignStatus, result: CampaignResult) -> None:
    plan = status.plan
    if result.is_empty:
        st.info("The campaign was locked before any item had a final label.")
        return
    table = _share_table(result, plan.labels)
    note = about(result, n_undecided=status.outcomes[Provenance.OPEN])
    draw_chart(
        finished(label_shares, table, colours=colours_of(plan.labels)),
        _readable(table),
        numbers=table.drop(columns=["text", "group"]),
        name=f"label_shares_{plan.campaign}",
        caption=captioned(
            campaign_words.headline(status),
            [note, f"n: {count(result.whole.n)} items. Not tested."],
            source=source_words(
                data.benchmark_title(plan.population.benchmark),
                plan.population.experiment,
            ),
        ),
        note=note,
    )


def about(result: CampaignResult, *, n_undecided: int) -> str:
    """What the shares are of, how they are weighted, and what is missing; plain text. n_undecided: of the items."""
    n = result.whole.n
    words = [
        f"{count(n)} items of {count(result.whole.n_cases)} cases stand for {count(result.n_population)} verdicts: "
        "each for as many as its stratum has per labelled item. Lines: 95% intervals by case."
    ]
    if result.n_open:
        words.append(
            f"{count(result.n_open)} items have no final label and are left out."
        )
    if n_undecided:
        # Items on which people differ are the harder ones, and they are missing.
        words.append(
            f"{count(n_undecided)} of them got different labels and were not decided, so the rest is easier than the "
            "whole."
        )
    if result.n_uncovered:
        words.append(
            f"No label stands for {count(result.n_uncovered)} verdicts of strata without one."
        )
    return " ".join(words)


def _share_table(result: CampaignResult, labels: LabelSet) -> pd.DataFrame:
    """A row per group and label, all items first, as the chart takes it."""
    titles = data.detector_titles()
    of_title: dict[str, list[GroupShares]] = {}
    for group in result.groups:
        detector = str(group.detector)
        of_title.setdefault(titles.get(detector, detector), []).append(group)
    rows = _share_rows("All", result.whole, labels)
    for title in in_order(list(of_title)):
        for group in of_title[title]:
            name = f"{title}, {setting_short(str(group.setting))}"
            rows += _share_rows(name, group, labels)
    return pd.DataFrame(rows)


def _share_rows(
    name: str, group: GroupShares, labels: LabelSet
) -> list[dict[str, object]]:
    rows = []
    for label in labels.labels:
        found = group.shares[label.code]
        rows.append(
            {
                "group": f"{name} ({count(found.n)} items)",
                "of": name,
                "label": label.word,
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "text": percent(found.value),
                "n": found.n,
                "n_cases": found.n_clusters,
            }
        )
    return rows


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """A row per group, a column per label."""
    shown = []
    for name, rows in table.groupby("of", sort=False):
        shown.append(
            {
                "Model and input": name,
                "n": count(rows["n"].iloc[0]),
                "Cases": count(rows["n_cases"].iloc[0]),
            }
            | {
                row[
                    "label"
                ]: f"{row['text']} ({interval(row['low'], row['high'])})"
                for row in as_rows(rows)
            }
        )
    return pd.DataFrame(shown)


def _draw_outcomes(plan: Plan) -> None:
    """Final labels by how they came about; every item is counted once."""
    finals = final_outcomes(data.folder(), plan)
    st.html(rows_html(_table(finals, plan.labels)))
    if told := label_sets.standing_words(plan.labels):
        st.caption(literal(told))


def _table(finals: dict[str, Final], labels: LabelSet) -> pd.DataFrame:
    counts = Counter(
        (final.provenance, final.label) for final in finals.values()
    )
    rows = []
    for provenance in Provenance:
        of = {
            label.words: counts[provenance, label.code]
            for label in labels.labels
        }
        n = sum(of.values()) + counts[provenance, None]
        has_label = provenance not in (Provenance.OPEN, Provenance.UNLABELLED)
        shown = {name: count(k) if has_label else "" for name, k in of.items()}
        rows.append({"Provenance": str(provenance), "Items": count(n)} | shown)
    return pd.DataFrame(rows)
