"""From the labels of several annotators to one final label per item, with its provenance (ux: annotating, 12)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from crane_core.annotation.label_set import study_labels
from crane_core.domain import Annotation

REASONS = study_labels().reason_words
"""Code to words of the study's label set. A campaign's are those of its plan."""

ADJUDICATION_REASONS = {
    "a": "one label was a mistake",
    "b": "evidence was overlooked",
    "c": "the guideline decides it",
    "d": "the guideline leaves it open",
    "e": "agreed after discussion",
}
"""Code to words, for the adjudicator."""


class Provenance(StrEnum):
    """The origin of a final label; OPEN and UNLABELLED have none yet."""

    UNANIMOUS = "unanimous"
    ADJUDICATED = "adjudicated"
    SINGLE = "single"
    OPEN = "open"
    UNLABELLED = "unlabelled"


class Final(NamedTuple):
    """The final label of an item. `why` names the adjudicator and the reason; None unless adjudicated."""

    label: str | None
    provenance: Provenance
    why: str | None = None


def final_outcome(
    labels: Mapping[str, str], decision: Annotation | None = None
) -> Final:
    """labels: annotator to label, first showings only. decision: the last adjudication of the item, if any.

    An adjudication decides, whatever the labels are. Without one: equal labels of two or more are unanimous, one label
    is single, differing labels are open.
    """
    if decision is not None and decision.label is not None:
        return Final(decision.label, Provenance.ADJUDICATED, _why(decision))
    if not labels:
        return Final(None, Provenance.UNLABELLED)
    said = set(labels.values())
    if len(said) > 1:
        return Final(None, Provenance.OPEN)
    return Final(
        said.pop(),
        Provenance.SINGLE if len(labels) == 1 else Provenance.UNANIMOUS,
    )


def _why(decision: Annotation) -> str:
    reason = ADJUDICATION_REASONS.get(
        str(decision.reason), str(decision.reason)
    )
    note = f": {decision.note}" if decision.note else ""
    return f"{decision.annotator}, {reason}{note}"
