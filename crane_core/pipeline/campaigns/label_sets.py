"""The label set of each campaign, what annotators have in common, and what Results may count of it."""

from collections.abc import Iterable, Mapping

import pandas as pd

from crane_core.annotation import label_set
from crane_core.pipeline.campaigns.campaigns import (
    campaign_names,
    kept_campaign,
)
from crane_core.pipeline.places import DataFolder


def label_sets(folder: DataFolder) -> dict[str, label_set.LabelSet]:
    """Campaign to its label set."""
    return {
        name: kept_campaign(folder, name).plan.labels
        for name in campaign_names(folder)
    }


def common_set(
    labels: pd.DataFrame,
    annotators: Iterable[str],
    sets: Mapping[str, label_set.LabelSet],
) -> label_set.LabelSet:
    """The set of these annotators, if they all have the same; else the study's, on which only its codes stand.

    labels: `label_frame`, or `judges.who_labelled`. Annotators outside of campaigns have the study's set.
    """
    campaigns = labels[
        labels["annotator"].isin(list(annotators))
    ].drop_duplicates("annotator")["campaign"]
    found = {
        sets.get(str(name), label_set.study_labels()) for name in campaigns
    }
    return found.pop() if len(found) == 1 else label_set.study_labels()


def enters_results(labels: label_set.LabelSet) -> bool:
    """Whether Results may count final labels of this set: as the study's, or by credit beside a label of the study."""
    return label_set.means_the_study(labels) or label_set.shares_with_study(
        labels
    )


def standing_words(labels: label_set.LabelSet) -> str:
    """What the labels of a campaign count for in Results, in a sentence; empty if they are the study's."""
    if label_set.means_the_study(labels):
        return ""
    if not label_set.shares_with_study(labels):
        return "Results does not count these labels, because none of them is one of the study's."
    counted = ", ".join(
        f"{label.word} {label.credit:g}"
        for label in labels.labels
        if label.credit is not None
    )
    silent = ", ".join(
        label.word for label in labels.labels if label.credit is None
    )
    left_out = (
        f" Without credit: {silent}; those diagnoses count as not judged."
        if silent
        else ""
    )
    return (
        "Results counts these labels by their credit, not as the study's labels. "
        f"Half credit: {counted}. Strict: only a credit of 1.{left_out}"
    )
