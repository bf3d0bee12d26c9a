"""Notes for a reader: which they may see, which tags there are, and who is mentioned."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from crane_core.annotation.plan import NAME
from crane_core.domain import NoteKind
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.notes.notes import Note
from crane_core.pipeline.places import DataFolder

MENTION = re.compile(rf"(?<![\w@.+-])@({NAME.pattern})(?<![._-])")
"""A name after an at sign, without the end of a sentence; what is part of an e-mail address is none."""


class NotesFor(NamedTuple):
    """The notes that a person may read; the notes on `hidden_cases`, if there are any, are kept from them."""

    notes: tuple[Note, ...]
    hidden_cases: frozenset[tuple[str, str]]


def notes_for(
    folder: DataFolder, notes: Iterable[Note], person: str
) -> NotesFor:
    """The notes without those on cases that the person labels in a campaign that is blind and not locked.

    What others think of a case would be known before it is labelled, and an answer's name tells its detector. The
    cases are named whether they have notes or not, so that a reader cannot learn that one was written. Raises
    CampaignError on a damaged campaign.
    """
    hidden = cases_labelled_by(folder, person)
    shown = tuple(note for note in notes if note.subject[:2] not in hidden)
    return NotesFor(shown, hidden)


def cases_labelled_by(
    folder: DataFolder, person: str
) -> frozenset[tuple[str, str]]:
    """Benchmark and case of all items of the blind, open campaigns that this person labels in."""
    plans = []
    for name in campaigns.campaign_names(folder) if person else []:
        plan, lock = campaigns.kept_campaign(folder, name)
        if plan.blind and lock is None and person in plan.annotators:
            plans.append(plan)
    verdicts = [item.verdict for plan in plans for item in plan.items]
    # Gold items too: an annotator must not tell them from others.
    verdicts += [gold.verdict for plan in plans for gold in plan.gold]
    return frozenset((one.benchmark, one.case_id) for one in verdicts)


def cases_by_tag(
    notes: Iterable[Note], benchmark: str
) -> dict[str, frozenset[str]]:
    """Each tag, as it was written first, to the cases that have it, also on an answer or label; in order."""
    spelled: dict[str, str] = {}
    cases: dict[str, set[str]] = {}
    for note in notes:
        if note.kind is NoteKind.TAG and note.subject.benchmark == benchmark:
            tag = spelled.setdefault(note.text.casefold(), note.text)
            cases.setdefault(tag, set()).add(note.subject.case_id)
    return {
        tag: frozenset(cases[tag]) for tag in sorted(cases, key=str.casefold)
    }


def mentioned(text: str) -> list[str]:
    """The names after an at sign, each once, in the order of the text."""
    return list(dict.fromkeys(MENTION.findall(text)))


def mentioning(notes: Iterable[Note], person: str) -> list[Note]:
    """The comments and corrections that mention a person, the newest first."""
    found = [
        note
        for note in notes
        if note.kind is not NoteKind.TAG and person in mentioned(note.text)
    ]
    return found[::-1] if person else []
