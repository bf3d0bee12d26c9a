"""Progress, speed and drift of every annotator, how far they agree so far, and how final labels came about.

For the lead; annotators never see it.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import Final, Provenance
from crane_core.annotation.pace import IDLE_CAP_S, QUICK_S
from crane_core.annotation.plan import Plan
from crane_core.charts.label_mix import label_mix
from crane_core.charts.theme import between
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.so_far import SoFar, agreement_so_far
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.campaigns.status import (
    AnnotatorProgress,
    CampaignStatus,
)
from crane_core.ui import data
from crane_core.ui.chart_box import draw_chart
from crane_core.ui.grid import grid
from crane_core.ui.navigation import link
from crane_core.ui.words import (
    NOTHING,
    coefficient,
    coefficient_interval,
    count,
    literal,
    percent,
)

SPEED_HELP = f"visible time per label, pauses counted up to {IDLE_CAP_S / 60:.0f} minutes"
ORDINALS = ("first", "second", "third", "last")


def draw_progress(status: CampaignStatus) -> None:
    """A line per annotator with the link to where they label, and a table of counts and speeds."""
    for entry in status.progress:
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(width=160):
                link(
                    "annotate",
                    literal(entry.annotator),
                    campaign=status.plan.campaign,
                    annotator=entry.annotator,
                )
            st.progress(entry.n_done / entry.n_all if entry.n_all else 0.0)
    helps = {
        "Median seconds": SPEED_HELP,
        "Quick": f"labels given in less than {QUICK_S:.0f} seconds",
    }
    grid(
        pd.DataFrame(
            _row(entry, has_left=entry.annotator not in status.plan.present)
            for entry in status.progress
        ),
        height="content",
        column_config={
            name: st.column_config.Column(help=words)
            for name, words in helps.items()
        },
    )


def _row(entry: AnnotatorProgress, *, has_left: bool) -> dict[str, str]:
    speed = entry.pace
    return {
        "Annotator": f"{entry.annotator} (left)"
        if has_left
        else entry.annotator,
        "Labelled": f"{count(entry.n_done)} of {count(entry.n_all)}",
        "Skipped": count(entry.n_skipped),
        "Flagged": count(entry.n_flagged),
        "Median seconds": NOTHING
        if speed.median_s is None
        else f"{speed.median_s:.1f}",
        "Quick": f"{count(speed.n_quick)} ({percent(speed.n_quick / speed.n, 0)})"
        if speed.n
        else NOTHING,
        "Hours so far": f"{speed.total_s / 3600:.1f}",
        "Hours left": NOTHING
        if speed.seconds_left is None
        else f"{speed.seconds_left / 3600:.1f}",
    }


def draw_drift(status: CampaignStatus) -> None:
    """The label mix in four stretches per annotator, with speeds in the table."""
    labels = status.plan.labels
    table = pd.DataFrame(
        row for entry in status.progress for row in _mix(entry, labels)
    )
    if table.empty:
        st.caption("No labels yet.")
        return
    parts = [name for name in ORDINALS if name in set(table["part"])]
    draw_chart(
        label_mix(table, parts=parts, colours=_colours(labels)),
        _readable(table, labels),
        numbers=table.drop(columns="text"),
        name=f"label_mix_{status.plan.campaign}",
        note="Each annotator's labels in the order of labelling, cut into quarters; hidden repeats included.",
    )


def _colours(labels: LabelSet) -> dict[str, str]:
    """Word to the colour of a chart, for either ground."""
    return {
        label.word: between(label.colour, label.colour_dark)
        for label in labels.labels
    }


def _mix(entry: AnnotatorProgress, labels: LabelSet) -> list[dict[str, object]]:
    """A row per quarter and label; fewer quarters where there are fewer labels than that."""
    names = (
        ORDINALS
        if len(entry.parts) == len(ORDINALS)
        else ORDINALS[: len(entry.parts)]
    )
    return [
        {
            "annotator": entry.annotator,
            "part": name,
            "labels": f"{part.first}–{part.last}",
            "label": label.word,
            "share": part.shares.get(label.code, 0.0),
            "n": part.last - part.first + 1,
            "median_s": part.median_s,
            "text": label.word if place == len(names) - 1 else "",
        }
        for place, (name, part) in enumerate(
            zip(names, entry.parts, strict=True)
        )
        for label in labels.labels
    ]


def _readable(table: pd.DataFrame, labels: LabelSet) -> pd.DataFrame:
    wide = table.pivot(
        index=["annotator", "labels", "n", "median_s"],
        columns="label",
        values="share",
    )
    of = {
        name: wide.index.get_level_values(name)
        for name in ("annotator", "labels", "n", "median_s")
    }
    return pd.DataFrame(
        {
            "Annotator": of["annotator"],
            "Labels": of["labels"],
            "n": of["n"],
            "Median seconds": [f"{seconds:.1f}" for seconds in of["median_s"]],
        }
        | {
            label.words: [percent(share, 0) for share in wide[label.word]]
            for label in labels.labels
        }
    )


def draw_agreement(status: CampaignStatus) -> None:
    """One coefficient over everything labelled by two or more, and the way to all the others."""
    plan = status.plan
    st.markdown(
        _agreement(
            agreement_so_far(
                data.folder(), plan, locked=status.lock is not None
            )
        )
    )
    who = [f"{plan.campaign}: {name}" for name in plan.annotators]
    link("agreement", "All coefficients on the Agreement page", who=who)


def _agreement(so_far: SoFar) -> str:
    if so_far.found is None:
        if so_far.n_common == 0:
            return "No item has labels of two annotators yet, so agreement is undefined."
        return (
            f"{count(so_far.n_common)} items have labels of two annotators; the coefficient is shown from "
            f"{MIN_COMMON_WHEN_BLIND} on, because with fewer it would reveal single labels."
        )
    found = so_far.found
    over = f"over {count(found.n)} items of {count(found.n_clusters)} cases"
    if found.why is not None and coefficient(found.value) == coefficient(
        float("nan")
    ):
        return f"**{so_far.coefficient}** has no value {over}: {found.why}."
    bounds = f"95% {coefficient_interval(found.low, found.high)}, bootstrap over cases"
    told = str(found.why) if found.why else bounds
    return (
        f"**{so_far.coefficient} {coefficient(found.value)}** ({told}) {over}."
    )


def draw_outcomes(plan: Plan) -> None:
    """Final labels by how they came about; every item is counted once."""
    grid(
        _table(final_outcomes(data.folder(), plan), plan.labels),
        height="content",
        width=640,
    )
    if told := standing_words(plan.labels):
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
