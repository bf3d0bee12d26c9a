"""LLM judges as annotators: every pass, and the most frequent label over all repetitions."""

from collections.abc import Iterable

import pandas as pd

from crane_core.pipeline.campaigns import label_frame
from crane_core.pipeline.places import DataFolder
from crane_core.storage import labels
from crane_core.storage.store import Store


def judge_passes(store: Store) -> pd.DataFrame:
    """One row per judge, repetition (0: all of them) and presentation; `annotator` is its name among the labels."""
    return labels.judge_passes(store.cursor())


def labels_with_pooled_judges(store: Store, folder: DataFolder) -> pd.DataFrame:
    """The label frame, and after it a repeated judge once more per order, as "..., all repetitions".

    The label of all repetitions is the one given most often in them, among equals the first: what the study compares.
    """
    pooled = labels.pooled_judge_labels(store.cursor())
    return _with_pooled(label_frame.label_frame(store, folder), pooled)


def _with_pooled(
    everything: pd.DataFrame, pooled: pd.DataFrame
) -> pd.DataFrame:
    if pooled.empty:
        return everything
    pooled = label_frame.with_judged_campaigns(pooled)[label_frame.COLUMNS]
    return pd.concat([everything, pooled], ignore_index=True)


def who_labelled(store: Store, folder: DataFolder) -> pd.DataFrame:
    """The same with one label of each imported annotator in each setting of a detector, which lists the annotators.

    It has no label texts: a page that only needs the annotators need not wait for all labels.
    """
    first = labels.first_labels(store.cursor()).assign(label=None)
    pooled = labels.first_pooled_labels(store.cursor()).assign(label=None)
    return _with_pooled(label_frame.with_campaigns(first, folder), pooled)


def pooled_judges(passes: pd.DataFrame) -> list[str]:
    """Every judge in either order of texts: all repetitions together, or the only one."""
    is_pooled = passes["repetition"] == 0
    is_repeated = passes["judge"].isin(passes.loc[is_pooled, "judge"])
    return list(map(str, passes.loc[is_pooled | ~is_repeated, "annotator"]))


def person_and_judges(
    names: Iterable[str], passes: pd.DataFrame
) -> tuple[str, list[str]] | None:
    """Of annotators in order the first person, and the judges whose labels all repetitions gave; None without both."""
    listed = list(names)
    known = set(passes["annotator"])
    people = [name for name in listed if name not in known]
    judges = [name for name in pooled_judges(passes) if name in listed]
    return (people[0], judges) if people and judges else None


def without_repetitions(
    names: Iterable[str], passes: pd.DataFrame
) -> list[str]:
    """`names` of annotators without single repetitions of a judge for whom all repetitions stand."""
    single = set(passes["annotator"]) - set(pooled_judges(passes))
    return [name for name in names if name not in single]
