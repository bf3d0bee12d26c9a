"""Who sees notes on a case: everybody who may open it; only annotators and above write, and no blinded one reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crane_core.domain import NoteKind
from crane_core.identity.visitor import Role
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.notes.notes import (
    NoteSubject,
    add_note,
    note_file,
    remove_note,
)
from tests.ui.lab import PILOT, Lab

SAID = "Compare with the fixed notebook, @lea."
FORM = "write_note_"


@pytest.fixture
def about(lab: Lab) -> Iterator[NoteSubject]:
    """A case of the blind campaign with a comment and a tag."""
    verdict = kept_campaign(lab.folder, PILOT).plan.items[0].verdict
    case = NoteSubject(verdict.benchmark, verdict.case_id)
    texts = {NoteKind.COMMENT: SAID, NoteKind.TAG: "seen twice"}
    notes = [
        add_note(lab.folder, kind, case, text, by="cyd")
        for kind, text in texts.items()
    ]
    yield case
    for note in notes:
        remove_note(lab.folder, note.note, by="cyd")
    assert note_file(lab.folder).exists()


@pytest.mark.parametrize("role", list(Role))
def test_a_viewer_reads_and_an_annotator_writes(
    lab: Lab, about: NoteSubject, role: Role
) -> None:
    query = f"benchmark={about.benchmark}&case={about.case_id}"
    seen = lab.of(role).sees("cases", query)
    assert seen.shows("Compare with the fixed notebook, <b>@lea</b>.")
    assert seen.shows(FORM) is (role >= Role.ANNOTATOR)
    assert seen.shows("Add tag") is (role >= Role.ANNOTATOR)
    # cyd, who wrote it, and leads.
    assert seen.shows("seen twice ✕") is (role >= Role.ANNOTATOR)
    assert not seen.shows("exception {")


def test_an_annotator_of_the_blind_campaign_reads_nothing(
    lab: Lab, about: NoteSubject
) -> None:
    ana = lab.visitor("ana@lab.example")
    desk = ana.sees("annotate", f"campaign={PILOT}&annotator=ana")
    pages = [
        ana.sees("cases", f"benchmark={about.benchmark}&case={about.case_id}"),
        ana.sees("cases", "tag=seen twice"),
        desk,
    ]
    for seen in pages:
        assert not seen.shows("Compare with the fixed notebook")
        assert not seen.shows("seen twice")
    assert desk.shows("crane_desk")


def test_the_list_counts_filters_and_tells_who_is_mentioned(
    lab: Lab, about: NoteSubject
) -> None:
    of_benchmark = f"benchmark={about.benchmark}"
    seen = lab.of(Role.LEAD).sees("cases", f"{of_benchmark}&tag=seen+twice")
    assert seen.shows("1 comment, 1 tag on 1 case")
    assert seen.shows("chip_tag_seen twice")
    assert seen.shows("1 of ")
    assert seen.shows("Comments that mention you (1)")
    viewer = lab.of(Role.VIEWER).sees("cases", of_benchmark)
    assert viewer.shows(">seen twice</span>")
    assert not viewer.shows("Comments that mention you")
