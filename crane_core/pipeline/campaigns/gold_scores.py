"""How annotators label gold items: each one's accuracy with an interval over cases. For the lead alone.

Where annotators see the known label, the first label of an item counts, because a later one follows the answer;
else the label in force counts.
"""

from collections.abc import Iterator
from typing import NamedTuple

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.plan import Gold, Plan
from crane_core.domain import Annotation, AnnotationAction
from crane_core.pipeline.campaigns.campaigns import acts_of, journal_of
from crane_core.pipeline.places import DataFolder
from crane_core.stats.intervals import RateEstimate, clustered_rate

COLUMNS = (
    "annotator", "item", "label", "gold_label", "agrees", "why", "origin", "benchmark", "case", "instance", "detector",
    "setting", "experiment", "run",
)  # fmt: skip
"""Of the table of gold items in an export."""


class GoldScore(NamedTuple):
    """One annotator: the share of labelled gold items with the known label, of `n_all` items."""

    annotator: str
    n_right: int
    n_all: int
    accuracy: RateEstimate


def gold_scores(folder: DataFolder, plan: Plan) -> list[GoldScore]:
    """Every annotator's score, in the plan's order; none if the plan has no gold."""
    return (
        [_score(name, counted(folder, plan, name)) for name in plan.annotators]
        if plan.gold
        else []
    )


def _score(annotator: str, labels: list[tuple[Gold, str | None]]) -> GoldScore:
    given = [(entry, label) for entry, label in labels if label is not None]
    right = [float(label == entry.label) for entry, label in given]
    cases = [
        f"{entry.verdict.benchmark}/{entry.verdict.case_id}"
        for entry, _ in given
    ]
    return GoldScore(
        annotator,
        int(sum(right)),
        len(labels),
        clustered_rate(right, [1.0] * len(right), cases),
    )


def counted(
    folder: DataFolder, plan: Plan, annotator: str
) -> list[tuple[Gold, str | None]]:
    """The annotator's gold items with the label that counts; None for items that are not labelled yet."""
    order = {showing.item for showing in plan.orders[annotator]}
    mine = [entry for entry in plan.gold if entry.item in order]
    if plan.gold_feedback:
        first = first_labels(acts_of(folder, plan, annotator))
        return [(entry, first.get(entry.item)) for entry in mine]
    return [
        (entry, _in_force(journal_of(folder, plan, annotator), entry.item))
        for entry in mine
    ]


def first_labels(acts: list[Annotation]) -> dict[str, str]:
    """The label that was given first, by item."""
    found: dict[str, str] = {}
    for act in acts:
        if act.action is AnnotationAction.LABEL and act.label is not None:
            found.setdefault(act.item, str(act.label))
    return found


def _in_force(journal: Journal, item: str) -> str | None:
    given = journal.given.get(Showing(item, 1))
    return str(given.label) if given else None


def gold_rows(folder: DataFolder, plan: Plan) -> Iterator[tuple[object, ...]]:
    """A row per annotator and gold item, as COLUMNS says."""
    for annotator in plan.annotators:
        for entry, label in counted(folder, plan, annotator):
            agrees = None if label is None else int(label == entry.label)
            verdict = entry.verdict
            known = (
                annotator,
                entry.item,
                label,
                entry.label,
                agrees,
                entry.why,
                entry.origin,
            )
            where = (
                verdict.benchmark,
                verdict.case_id,
                verdict.instance_id,
                verdict.detector,
                str(verdict.setting),
            )
            yield (*known, *where, verdict.experiment, entry.run)
