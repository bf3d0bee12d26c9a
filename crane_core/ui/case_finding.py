"""What the list of cases shows, in a sentence that names the cases and detectors it is about."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from crane_core.ui.words import count, listed, sentence_case

MOST_NAMES = 3
"""Detectors that a title names; more are counted."""
MOST_QUOTED = 40
"""Characters of a search that a title repeats."""


class CountedAnswers(NamedTuple):
    """What the filters leave, as people read it: detectors, inputs and experiments; none of a kind means all of it.

    library: the only library of the list, if it was chosen. is_of_all_cases: whether no other filter leaves out cases.
    """

    detectors: Sequence[str] = ()
    inputs: Sequence[str] = ()
    experiments: Sequence[str] = ()
    library: str = ""
    is_of_all_cases: bool = True

    @property
    def subject(self) -> str:
        """Whose answers are counted: "GPT-5, code only"; empty where all are."""
        n = len(self.detectors)
        detectors = (
            f"{count(n)} chosen detectors"
            if n > MOST_NAMES
            else _joined(self.detectors)
        )
        parts = (detectors, _joined(self.inputs), _joined(self.experiments))
        return ", ".join(part for part in parts if part)


class Search(NamedTuple):
    """What was searched for, how many of the listed cases have all its words, and how many contain it literally."""

    text: str
    n_words: int
    n_phrase: int
    is_of_all_cases: bool = True


EVERYTHING = CountedAnswers()


def finding(table: pd.DataFrame, counted: CountedAnswers = EVERYTHING) -> str:
    """table: the filtered pair table, whose counts are over the answers that are `counted`."""
    subject = counted.subject
    asked = table[table["n_asked"] > 0]
    if table.empty:
        return "No cases match these filters"
    if asked.empty:
        return (
            f"{sentence_case(subject)}: no answer about these cases"
            if subject
            else "No detector was asked about these cases"
        )
    told = _told(asked, counted)
    return f"{sentence_case(subject)}: {told}" if subject else told


def n_missed_and_alarms(answered: pd.DataFrame) -> tuple[int, int]:
    """Crashes that no counted detector predicts, and fixed versions with a false alarm."""
    return (
        int((answered["n_found"] == 0).sum()),
        int((answered["n_alarms"] > 0).sum()),
    )


def _told(answered: pd.DataFrame, counted: CountedAnswers) -> str:
    """The finding without its subject, from the rows of the pair table that have an answer, at least one."""
    n_missed, n_alarms = n_missed_and_alarms(answered)
    kind = f"{counted.library} " if counted.library else ""
    these = "" if counted.is_of_all_cases else "these "
    missed = f"{count(n_missed)} of {these}{count(len(answered))} {kind}{'crash' if len(answered) == 1 else 'crashes'}"
    if len(counted.detectors) == 1:
        # With several inputs or experiments a case has several answers: a crash is missed if all of them miss it.
        if answered["n_asked"].max() > 1:
            return f"misses {missed} every time; {_versions(n_alarms)} at least one false alarm"
        return f"misses {missed}, {count(n_alarms)} false {'alarm' if n_alarms == 1 else 'alarms'}"
    everybody, anybody = (
        ("every detector", "a false alarm")
        if not counted.detectors
        else ("all of them", "a false alarm of one of them")
    )
    verb = "escapes" if n_missed == 1 else "escape"
    sets = "sets" if n_alarms == 1 else "set"
    return (
        f"{missed} {verb} {everybody}; {count(n_alarms)} of {these}{count(len(answered))} fixed versions {sets} off "
        f"{anybody}"
    )


def _versions(n: int) -> str:
    return (
        f"{count(n)} fixed version has"
        if n == 1
        else f"{count(n)} fixed versions have"
    )


def search_finding(search: Search, library: str = "") -> str:
    """How many cases contain the text literally, and how many more contain its words in several places."""
    text = " ".join(search.text.split())
    quoted = f"“{text if len(text) <= MOST_QUOTED else text[:MOST_QUOTED].rstrip() + '…'}”"
    kind = f"{library} " if library else ""
    rest = "" if search.is_of_all_cases else " and match the other filters"
    if not search.n_words:
        under = "" if search.is_of_all_cases else " under the other filters"
        return f"No {kind}case{under} contains {quoted}"
    n_apart = search.n_words - search.n_phrase
    if not search.n_phrase:
        return f"{_cases(n_apart, kind)} the words of {quoted}{rest}, none together"
    more = f", {count(n_apart)} more only its words" if n_apart else ""
    return f"{_cases(search.n_phrase, kind)} {quoted}{more}{rest}"


def _cases(n: int, kind: str) -> str:
    return (
        f"{count(n)} {kind}case contains"
        if n == 1
        else f"{count(n)} {kind}cases contain"
    )


def _joined(names: Sequence[str]) -> str:
    return listed(names) if names else ""
