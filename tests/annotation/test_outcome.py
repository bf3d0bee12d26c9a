"""One final label per item: the whole table of labels and outcomes."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.outcome import (
    ADJUDICATION_REASONS,
    Final,
    Provenance,
    final_outcome,
)
from crane_core.domain import Annotation, AnnotationAction, Label

C, P, W = Label.CORRECT, Label.PARTIAL, Label.WRONG
GIVEN = (C, P, W)


def decided(
    label: Label | None, reason: str | None = "b", note: str | None = None
) -> Annotation:
    return Annotation(
        campaign="pilot",
        annotator="eva",
        event="event-01",
        sequence=1,
        action=AnnotationAction.ADJUDICATE,
        item="0a1b2c3d4e5f",
        showing=1,
        guideline="g1",
        submitted_at="2026-01-01T00:00:00Z",
        label=label,
        reason=reason,
        note=note,
    )


@pytest.mark.parametrize(
    ("labels", "final"),
    [
        ({}, Final(None, Provenance.UNLABELLED)),
        ({"ana": C}, Final(C, Provenance.SINGLE)),
        ({"ana": W}, Final(W, Provenance.SINGLE)),
        ({"ana": P, "ben": P, "eva": P}, Final(P, Provenance.UNANIMOUS)),
        ({"ana": C, "ben": C, "eva": W}, Final(None, Provenance.OPEN)),
        ({"ana": C, "ben": P, "eva": W}, Final(None, Provenance.OPEN)),
    ],
)
def test_without_a_decision_only_agreement_makes_a_label(
    labels: dict[str, Label], final: Final
) -> None:
    assert final_outcome(labels) == final


def test_two_annotators_every_pair_of_labels() -> None:
    for a, b in product(GIVEN, GIVEN):
        wanted = (
            Final(a, Provenance.UNANIMOUS)
            if a == b
            else Final(None, Provenance.OPEN)
        )
        assert final_outcome({"ana": a, "ben": b}) == wanted


@given(
    labels=st.dictionaries(
        st.sampled_from(["ana", "ben", "eva"]), st.sampled_from(GIVEN)
    ),
    word=st.sampled_from(GIVEN),
)
def test_a_decision_stands_whatever_the_labels_say(
    labels: dict[str, Label], word: Label
) -> None:
    final = final_outcome(labels, decided(word))
    assert final == Final(
        word, Provenance.ADJUDICATED, f"eva, {ADJUDICATION_REASONS['b']}"
    )


def test_a_decision_tells_its_note_and_a_reason_that_nobody_knows() -> None:
    assert (
        final_outcome({}, decided(W, "a", "a typo")).why
        == "eva, one label was a mistake: a typo"
    )
    assert final_outcome({}, decided(W, "z")).why == "eva, z"


def test_a_decision_without_a_label_decides_nothing() -> None:
    assert final_outcome({"ana": C}, decided(None)) == Final(
        C, Provenance.SINGLE
    )
