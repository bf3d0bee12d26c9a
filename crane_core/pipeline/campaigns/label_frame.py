"""Every label of every annotator in one tidy frame: imported people and judges, campaigns, their final outcomes.

Agreement and Results start from it and treat all annotators alike.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import pandas as pd

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import Final, final_outcome
from crane_core.annotation.plan import LabelledVerdict, Plan
from crane_core.domain import Annotation
from crane_core.errors import CampaignError
from crane_core.importers.crane_llm_workbooks import SETTLED
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.loading.editions import without_edition
from crane_core.pipeline.places import DataFolder
from crane_core.storage import labels
from crane_core.storage.store import Store

KEY = ["benchmark", "instance_id", "detector", "setting", "experiment"]
"""The key of a verdict."""
COLUMNS = [
    *KEY,
    *("annotator", "kind", "label", "campaign", "provenance", "why", "weight"),
]
DIFFERENCES_ONLY = (
    "labels only the verdicts where the person and the LLM judge differed, with both labels in view, which is not a "
    "random sample"
)
"""What must be said beside every number over the labels that `labels_differences_only`."""


class LabellerKind(StrEnum):
    """The kind of annotator. HUMAN and JUDGE come with imported studies; ANNOTATOR and FINAL belong to a campaign."""

    HUMAN = "human"
    JUDGE = "judge"
    ANNOTATOR = "annotator"
    FINAL = "final"


def labels_differences_only(annotator: str) -> bool:
    """Whether this is the published validation of differences between a person and the LLM judge, of any edition."""
    return without_edition(annotator)[0] == SETTLED


def label_frame(store: Store, folder: DataFolder) -> pd.DataFrame:
    """One row per verdict and annotator, columns as in COLUMNS; each annotator has one label per verdict.

    `annotator` is the name that pages show: "published human", "published judge, repetition 3, reversed",
    "pilot: ana", "pilot: final". campaign, provenance and why are None outside of campaigns; a judge has a campaign
    where it uses the own labels of one. Hidden repeats are not in it; see `repeat_frame`. A campaign that is not
    locked is in it too: who may see what of it is for the caller. weight: 1 / chance of a second label that was drawn,
    else 1.
    """
    return with_campaigns(labels.verdict_labels(store.cursor()), folder)


def judges_of_verdicts(
    store: Store, wanted: Iterable[LabelledVerdict]
) -> list[str]:
    """The judges that `labels_of_judge` knows for these verdicts, by name."""
    keys = pd.DataFrame([verdict.key for verdict in wanted], columns=KEY)
    return labels.judges_of(store.cursor(), keys)


def labels_of_judge(store: Store, plan: Plan, judge: str) -> dict[str, str]:
    """Item to the label of a judge, where it has one of the plan's. Raises CampaignError if it has none at all."""
    frame = labels.verdict_labels(store.cursor())
    judges = frame[frame["kind"] == LabellerKind.JUDGE]
    said = {
        tuple(key): str(label)
        for *key, label in judges.loc[
            judges["annotator"] == judge, [*KEY, "label"]
        ].to_numpy()
    }
    found = {
        item.item: said[item.verdict.key]
        for item in plan.items
        if said.get(item.verdict.key) in plan.labels
    }
    if not found:
        known = ", ".join(sorted(set(judges["annotator"]))) or "none"
        raise CampaignError(
            f"No judge {judge[:80]!r} labelled items of {plan.campaign}; judges here: {known}.",
            remedy="Name one of them as it is written, or none.",
        )
    return found


def with_campaigns(imported: pd.DataFrame, folder: DataFolder) -> pd.DataFrame:
    """Imported labels, and after them those of the campaigns."""
    imported = with_judged_campaigns(imported)[COLUMNS]
    # The types of the imported, because columns of a list of tuples have others and concat would mix them.
    of_campaigns = pd.DataFrame(
        list(_campaign_rows(folder)), columns=COLUMNS
    ).astype(imported.dtypes)
    return (
        # A concat with an empty frame may change types, by the release of pandas.
        pd.concat([imported, of_campaigns], ignore_index=True)
        if len(of_campaigns)
        else imported
    )


def with_judged_campaigns(imported: pd.DataFrame) -> pd.DataFrame:
    """Labels of the store in the columns of the frame; `campaign` is that of a judge that uses its own labels."""
    campaign = (
        imported["campaign"]
        .astype(object)
        .where(imported["campaign"].notna(), None)
    )
    return imported.assign(
        campaign=campaign, provenance=None, why=None, weight=1.0
    )


def _campaign_rows(folder: DataFolder) -> Iterator[tuple[object, ...]]:
    for campaign in campaigns.campaign_names(folder):
        plan = campaigns.kept_campaign(folder, campaign).plan
        verdict_of = {item.item: item.verdict.key for item in plan.items}
        drawn = plan.second
        for annotator in plan.annotators:
            for showing, given in campaigns.journal_of(
                folder, plan, annotator
            ).given.items():
                # Gold items are in the journal too, but not among the items of the plan.
                if showing.showing == 1 and showing.item in verdict_of:
                    who = (
                        f"{campaign}: {annotator}",
                        LabellerKind.ANNOTATOR,
                        str(given.label),
                    )
                    draw = drawn.get(showing.item)
                    is_second = draw is not None and draw.first != annotator
                    yield (
                        *verdict_of[showing.item],
                        *who,
                        campaign,
                        None,
                        None,
                        1 / draw.chance if draw and is_second else 1.0,
                    )
        for item, final in final_outcomes(folder, plan).items():
            if final.label is not None:
                who = (
                    f"{campaign}: final",
                    LabellerKind.FINAL,
                    str(final.label),
                )
                yield (
                    *verdict_of[item],
                    *who,
                    campaign,
                    str(final.provenance),
                    final.why,
                    1.0,
                )


def final_outcomes(folder: DataFolder, plan: Plan) -> dict[str, Final]:
    """The final outcome of every item of a campaign, by its name; see `annotation.outcome`."""
    return finals_of(
        plan,
        campaigns.journals_of(folder, plan),
        campaigns.decisions_of(folder, plan),
    )


def finals_of(
    plan: Plan,
    journals: Mapping[str, Journal],
    decisions: Mapping[str, Annotation],
) -> dict[str, Final]:
    """The same from what the caller has of the ledger."""
    return {
        name: final_outcome(
            campaigns.labels_of(journals, name), decisions.get(name)
        )
        for name in (item.item for item in plan.items)
    }


def repeat_frame(folder: DataFolder) -> pd.DataFrame:
    """Hidden repeats that were labelled: campaign, annotator, case_id, first and again (labels), benchmark."""
    rows = []
    for campaign in campaigns.campaign_names(folder):
        plan = campaigns.kept_campaign(folder, campaign).plan
        verdict_of = {item.item: item.verdict for item in plan.items}
        for annotator in plan.annotators:
            given = campaigns.journal_of(folder, plan, annotator).given
            for showing, again in given.items():
                first = given.get(Showing(showing.item, 1))
                # The first showing may have been undone since.
                if showing.showing == 2 and first is not None:
                    verdict = verdict_of[showing.item]
                    who = (
                        campaign,
                        f"{campaign}: {annotator}",
                        verdict.benchmark,
                        verdict.case_id,
                    )
                    rows.append((*who, str(first.label), str(again.label)))
    return pd.DataFrame(
        rows,
        columns=[
            "campaign",
            "annotator",
            "benchmark",
            "case_id",
            "first",
            "again",
        ],
    )
