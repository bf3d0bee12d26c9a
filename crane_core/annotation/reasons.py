"""Why a diagnosis is not correct, and why an adjudicator decided: short codes, so that nobody has to type."""

from __future__ import annotations

REASONS = {
    "a": "another cause",
    "b": "symptom only",
    "c": "wrong place",
    "d": "contradicts the code",
    "e": "too vague",
    "f": "several causes",
}
"""Code to words, for the labels partial and wrong."""

ADJUDICATION_REASONS = {
    "a": "one label was a mistake",
    "b": "evidence was overlooked",
    "c": "the guideline decides it",
    "d": "the guideline leaves it open",
    "e": "agreed after discussion",
}
"""Code to words, for the one who decides between annotators."""
