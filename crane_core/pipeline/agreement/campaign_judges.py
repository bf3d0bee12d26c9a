"""LLM judges of a campaign beside its people: agreement with each, and the share of correct diagnoses with both.

Starts from the label frame and the verdict frame, restricted to the campaign's items.
"""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.annotation.label_set import LabelSet, means_the_study
from crane_core.annotation.plan import Plan
from crane_core.pipeline.agreement import agreement, judges_beside
from crane_core.pipeline.agreement.labelled import (
    LabelledVerdicts,
    labelled_verdicts,
)
from crane_core.pipeline.campaigns.label_frame import KEY, LabellerKind
from crane_core.pipeline.judging.judge import CAMPAIGN
from crane_core.pipeline.judging.judges import judge_passes, pooled_judges
from crane_core.pipeline.rows import as_rows
from crane_core.storage import jobs
from crane_core.storage.store import Store

AGREED = {agreement.PERCENT: "percent", agreement.KAPPA: "kappa"}
POWERED = {
    "n": "n_both", "n_more": "n_more", "alone": "alone", "alone_low": "alone_low", "alone_high": "alone_high",
    "value": "powered", "low": "powered_low", "high": "powered_high",
}  # fmt: skip
"""What is taken over from `judge_powered`, and what it is called here."""
COLUMNS = [
    "judge", "person", "n", "n_cases", "percent", "percent_low", "percent_high", "percent_why",
    "kappa", "kappa_low", "kappa_high", "kappa_why", *POWERED.values(),
]  # fmt: skip


class CampaignJudge(NamedTuple):
    """A judge in one order of texts, as the label frame names it, and the guideline that it was shown.

    labels_of: its name without repetition and order.
    """

    name: str
    guideline: str
    labels_of: str


def judges_of(store: Store, campaign: str) -> list[CampaignJudge]:
    """The judges of a campaign's items, the newest first; several repetitions count as one."""
    passes = judge_passes(store)
    pooled = passes[passes["annotator"].isin(pooled_judges(passes))]
    found = []
    for job in as_rows(jobs.judge_job_list(store.cursor())):
        options = json.loads(job["options"])
        if options.get(CAMPAIGN) == campaign:
            names = pooled.loc[pooled["judge"] == job["annotator"], "annotator"]
            found += [
                CampaignJudge(
                    str(name), str(options["guideline"]), job["annotator"]
                )
                for name in names
            ]
    return found


def beside_people(
    labels: pd.DataFrame,
    verdicts: pd.DataFrame,
    plan: Plan,
    judges: list[str],
    *,
    locked: bool,
) -> pd.DataFrame:
    """One row per judge and person, and per judge and the final labels; columns as in COLUMNS, shares in 0..1.

    n, n_cases, percent and kappa: over what both labelled; percent_why and kappa_why say why there is no interval.
    n_both, n_more, alone and powered: the share of correct diagnoses (or the mean credit, see `counted_words`) by the
    person's labels, and with the judge's labels of n_more others; nan for the final labels, and where the judge
    labelled nothing else. Without a lock a blind campaign has no rows of few items.
    """
    items = pd.MultiIndex.from_tuples([item.verdict.key for item in plan.items])
    verdicts = verdicts[pd.MultiIndex.from_frame(verdicts[KEY]).isin(items)]
    is_mine = labels["campaign"] == plan.campaign
    is_mine &= labels["kind"].isin([LabellerKind.ANNOTATOR, LabellerKind.FINAL])
    mine = labels[is_mine]
    kind_of = mine.drop_duplicates("annotator").set_index("annotator")["kind"]
    labelled = labelled_verdicts(labels, verdicts)
    rows = []
    for person in map(str, kind_of.index):
        rows += _rows(
            labelled,
            person,
            judges,
            plan.labels,
        )
    table = pd.DataFrame(rows, columns=COLUMNS)
    of_final = table["person"].map(kind_of) == LabellerKind.FINAL
    table.loc[of_final, list(POWERED.values())] = np.nan
    # Totals over few items would reveal single labels of a blind campaign.
    fewest = agreement.MIN_COMMON_WHEN_BLIND if plan.blind and not locked else 1
    return table[table["n"] >= fewest].reset_index(drop=True)


def counted_words(labels: LabelSet) -> str:
    """What the estimates count, in a sentence; empty for the study's labels, whose correct ones they count."""
    if means_the_study(labels):
        return ""
    counted = ", ".join(
        f"{label.word} {label.credit:g}"
        for label in labels.labels
        if label.credit is not None
    )
    if not counted:
        return "The labels of this campaign have no credit, so there is no share of correct diagnoses to estimate."
    silent = ", ".join(
        label.word for label in labels.labels if label.credit is None
    )
    left_out = f"; {silent}: left out" if silent else ""
    return f"Credit: the mean over the labels ({counted}; a judge's unverifiable 0{left_out})."


def _rows(
    labelled: LabelledVerdicts,
    person: str,
    judges: list[str],
    label_set: LabelSet,
) -> list[dict[str, object]]:
    found = agreement.common_items(
        labelled,
        [person, *judges],
        agreement.ComparedVerdicts.DIAGNOSES,
        label_set,
    )
    agreed = agreement.agreement_with_judges(found, person, judges)
    powered = judges_beside.judge_powered(
        labelled,
        person,
        judges,
        label_set,
    )
    rows: dict[str, dict[str, object]] = {
        judge: {"judge": judge, "person": person} for judge in judges
    }
    for one in agreed.to_dict("records"):
        name = AGREED[one["coefficient"]]
        rows[one["judge"]] |= {
            "n": one["n"],
            "n_cases": one["n_cases"],
            name: one["value"],
            f"{name}_low": one["low"],
            f"{name}_high": one["high"],
            f"{name}_why": one["why"],
        }
    for one in powered.to_dict("records"):
        rows[one["judge"]] |= {
            ours: one[theirs] for theirs, ours in POWERED.items()
        }
    return list(rows.values())
