"""Why a diagnosis is not correct, and why an adjudicator decided: short codes, so that no typing is needed."""

from __future__ import annotations

from crane_core.annotation.label_set import study_labels

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
