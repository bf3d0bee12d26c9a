"""The verdict frame with the diagnoses judged by a chosen annotator, and the weights of a sample of labels.

A campaign that drew a sample leaves detected crashes without a label. Leaving them out would drop detected crashes, so
each label also represents others of its stratum; `measures.label_weights` says for how many. All other outcomes are
computed and known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.annotation.outcome import Provenance
from crane_core.annotation.plan import Plan
from crane_core.domain import Label
from crane_core.pipeline.campaigns import label_frame, label_sets
from crane_core.pipeline.campaigns.campaigns import (
    asked_for,
    campaign_names,
    kept_campaign,
)
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import measures
from crane_core.stats import vote
from crane_core.storage.verdicts import PUBLISHED_HUMAN

NOT_DRAWN = "not sampled"
"""Stratum of detected crashes outside of the campaign's population: no label represents them."""
ORDER = (
    label_frame.LabellerKind.HUMAN,
    label_frame.LabellerKind.FINAL,
    label_frame.LabellerKind.JUDGE,
)
"""The sources of labels for results, in display order. Single annotators of a campaign cannot."""
WORD_OF_CREDIT = {
    None: Label.UNVERIFIABLE,
    1.0: Label.CORRECT,
    0.0: Label.WRONG,
}
"""The study's word for a label of another set by its credit; every other credit is a partial one."""


class Coverage(NamedTuple):
    """Detected crashes, how many of them have a label, and how many no label represents.

    n_open: drawn by the campaign and left without a final label. provenance: how the labels came about (unanimous,
    adjudicated, single) and how many; empty for imported ones.
    """

    n_detected: int
    n_labelled: int
    n_uncovered: int
    n_open: int
    provenance: dict[str, int]

    @property
    def is_sample(self) -> bool:
        """Whether some detected crash has no label."""
        return self.n_labelled < self.n_detected


def locked_campaigns(folder: DataFolder) -> frozenset[str]:
    """Campaigns with final outcomes."""
    names = campaign_names(folder)
    return frozenset(
        name for name in names if kept_campaign(folder, name).lock is not None
    )


def judging_campaigns(folder: DataFolder) -> frozenset[str]:
    """Those whose labels the study's scores can count; see `label_sets.enters_results`."""
    return frozenset(
        name
        for name in locked_campaigns(folder)
        if label_sets.enters_results(kept_campaign(folder, name).plan.labels)
    )


def annotators_of(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    judging: frozenset[str],
) -> list[str]:
    """Whose labels can judge these verdicts: imported people, final outcomes of `judging_campaigns`, judges.

    Not judges that give the own labels of a campaign, and not the published validation of differences from the judge:
    its verdicts were chosen because two labels differed, so scores over them would be of the hard cases alone.
    labels: `label_frame`, or `judges.who_labelled`.
    """
    is_final = labels["kind"] == label_frame.LabellerKind.FINAL
    usable = labels["campaign"].isna() | (
        is_final & labels["campaign"].isin(judging)
    )
    is_whole = ~labels["annotator"].map(
        label_frame.labels_differences_only
    ).astype(bool)
    known = labels[labels["kind"].isin(ORDER) & usable & is_whole]
    asked = verdicts.loc[
        verdicts["instance_id"].isin(known["instance_id"].unique()),
        label_frame.KEY,
    ]
    known = known.merge(asked.drop_duplicates(), on=label_frame.KEY)
    found = []
    for kind in ORDER:
        found += known.loc[known["kind"] == kind, "annotator"].unique().tolist()
    return list(map(str, dict.fromkeys(found)))


def judged_rows(
    verdicts: pd.DataFrame,
    labels: pd.DataFrame,
    annotator: str,
    folder: DataFolder,
) -> pd.DataFrame:
    """Rows of the verdict frame with this annotator's labels, whether of a study, a judge, or a locked campaign.

    labels: of `judges.labels_with_pooled_judges`.
    """
    # The verdict frame holds these labels already.
    if annotator == PUBLISHED_HUMAN:
        return verdicts
    mine = labels[labels["annotator"] == annotator]
    campaigns = mine["campaign"].dropna().unique().tolist()
    plan = kept_campaign(folder, campaigns[0]).plan if campaigns else None
    return judged_by(verdicts, mine, annotator, plan)


def judged_by(
    verdicts: pd.DataFrame,
    labels: pd.DataFrame,
    annotator: str,
    plan: Plan | None = None,
) -> pd.DataFrame:
    """The verdict frame with `human` and `label_stratum` of this annotator, and `provenance` of the labels.

    plan: of the campaign whose final outcomes these are; None for imported annotators, whose missing labels are left
    out as they always were. With a plan, a crash that was not detected is "misdetected", which needs no annotator;
    label_stratum names what a detected crash was drawn from, or that the campaign did not draw from it, and is None
    for everything else; provenance is "open" for one that was drawn and has no final label. Labels of another set than
    the study's count by credit: 1 as correct, 0 as wrong, anything between as partial with its share in label_credit,
    and one without credit as unverifiable.
    """
    mine = labels.loc[
        labels["annotator"] == annotator,
        [*label_frame.KEY, "label", "provenance"],
    ]
    frame = verdicts.drop(columns=["human", "provenance"]).merge(
        mine,
        on=label_frame.KEY,
        how="left",
        validate="one_to_one",
    )
    frame = frame.rename(columns={"label": "human"})
    human = frame["human"].astype(object).where(frame["human"].notna(), None)
    frame = frame.assign(human=human)
    return frame if plan is None else _of_campaign(frame, plan)


def _of_campaign(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    frame = (
        frame
        if means_the_study(plan.labels)
        else _by_credit(frame, plan.labels)
    )
    asked = asked_for(frame, plan.population)
    # Gold items were taken out before the draw, so no stratum stands for them.
    gold = [entry.verdict.key for entry in plan.gold]
    is_gold = pd.MultiIndex.from_frame(asked[label_frame.KEY]).isin(gold)
    drawn_from = asked[asked["truth"] & ~is_gold]
    drawn = [item.verdict.key for item in plan.items]
    is_drawn = pd.MultiIndex.from_frame(frame[label_frame.KEY]).isin(drawn)
    is_open = is_drawn & frame["human"].isna().to_numpy()
    return frame.assign(
        human=_with_misses(frame, plan),
        label_stratum=_strata(frame, drawn_from, plan),
        provenance=frame["provenance"].mask(is_open, str(Provenance.OPEN)),
    )


def _by_credit(frame: pd.DataFrame, labels: LabelSet) -> pd.DataFrame:
    credits, words = {}, {}
    for label in labels.labels:
        credits[label.code] = np.nan if label.credit is None else label.credit
        words[label.code] = str(WORD_OF_CREDIT.get(label.credit, Label.PARTIAL))
    said = [words.get(code) for code in frame["human"]]
    return frame.assign(
        human=pd.Series(said, index=frame.index, dtype=object),
        label_credit=frame["human"].map(credits).astype(float),
    )


def _with_misses(frame: pd.DataFrame, plan: Plan) -> pd.Series[str]:
    """The labels, and "misdetected" for every crash of the experiment that was not detected."""
    is_here = frame["benchmark"] == plan.population.benchmark
    is_here &= frame["experiment"] == plan.population.experiment
    is_missed = is_here & frame["truth"] & ~_predicted(frame)
    return frame["human"].mask(is_missed, str(Label.MISDETECTED))


def _strata(
    frame: pd.DataFrame,
    drawn_from: pd.DataFrame,
    plan: Plan,
) -> pd.Series[str]:
    """drawn_from: the detected crashes that the plan could draw."""
    strata = pd.Series(None, index=frame.index, dtype=object)
    strata[detected_crashes(frame)] = NOT_DRAWN
    values = (
        drawn_from[list(plan.design.strata)].astype(object).fillna("unknown")
    )
    strata[drawn_from.index] = [
        f"drawn: {', '.join(map(str, row))}"
        for row in values.itertuples(index=False)
    ]
    return strata


def coverage(
    rows: pd.DataFrame, rule: measures.VoteRule = measures.VoteRule.MAJORITY
) -> Coverage:
    """The coverage of the labels of these rows; `rows` as `judged_by` returns them."""
    crashes = rows[measures.asks_for_label(rows, rule)]
    labelled = crashes[crashes["human"].notna()]
    found = labelled["provenance"].dropna().value_counts().to_dict()
    drawn = crashes[
        crashes["label_stratum"].notna()
    ]  # others stand for themselves
    weights = [
        measures.label_weights(group, rule)
        for _, group in drawn.groupby(["experiment", "detector", "setting"])
    ]
    return Coverage(
        n_detected=len(crashes),
        n_labelled=len(labelled),
        n_uncovered=sum(int(np.isnan(of_group).sum()) for of_group in weights),
        n_open=int((crashes["provenance"] == Provenance.OPEN).sum()),
        provenance={str(name): int(n) for name, n in found.items()},
    )


def detected_crashes(frame: pd.DataFrame) -> pd.Series[bool]:
    """Rows whose outcome depends on a label: the crash happens and most runs predicted it."""
    return frame["truth"] & _predicted(frame)


def _predicted(frame: pd.DataFrame) -> pd.Series[bool]:
    return pd.Series(
        vote.majority(frame["n_crash"], frame["n_safe"]).crash,
        index=frame.index,
    )
