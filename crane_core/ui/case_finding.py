"""What the list of cases shows, in a sentence that names the cases and detectors it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from crane_core.ui.words import count, listed


class CountedAnswers(NamedTuple):
    """What the filters leave, as people read it: detectors, inputs and experiments; none of a kind means all of it.

    is_of_all_cases: whether no filter leaves out cases.
    """

    detectors: Sequence[str] = ()
    inputs: Sequence[str] = ()
    experiments: Sequence[str] = ()
    is_of_all_cases: bool = True

    @property
    def is_filtered(self) -> bool:
        """Whether the counts are of some detectors, inputs or experiments only."""
        return bool(self.detectors or self.inputs or self.experiments)


EVERYTHING = CountedAnswers()


def finding(table: pd.DataFrame, counted: CountedAnswers = EVERYTHING) -> str:
    """table: the filtered pair table, whose counts are over the answers that are `counted`."""
    asked = table[table["n_asked"] > 0]
    if asked.empty:
        if table.empty:
            return "No cases match these filters"
        return f"{_nobody(counted)} about these cases"
    n_missed, n_alarms = (
        int((asked["n_found"] == 0).sum()),
        int((asked["n_alarms"] > 0).sum()),
    )
    of = (
        f"of {count(len(asked))}"
        if counted.is_of_all_cases
        else f"of these {count(len(asked))}"
    )
    verb = "escapes" if n_missed == 1 else "escape"
    missed = f"{count(n_missed)} {of} crashes {verb} {_everybody(counted)}"
    return f"{missed}; {count(n_alarms)} {of} fixed versions set off {_alarm(counted)}"


def _everybody(counted: CountedAnswers) -> str:
    """Whom a crash must escape to be counted."""
    names = counted.detectors
    if not names:
        said = "every detector"
    elif len(names) == 1:
        said = names[0]
    elif len(names) == 2:
        said = f"both {names[0]} and {names[1]}"
    else:
        said = f"all {count(len(names))} chosen detectors"
    return said + _where(counted, "and")


def _nobody(counted: CountedAnswers) -> str:
    if not counted.is_filtered:
        return "No detector was asked"
    names = counted.detectors
    said = f" of {listed(names, 'or')}" if names else ""
    return f"No answer{said}{_where(counted, 'or')}"


def _alarm(counted: CountedAnswers) -> str:
    """What a fixed version sets off, by whom, without saying again with which inputs."""
    if not counted.is_filtered:
        return "a false alarm"
    if len(counted.detectors) == 1:
        return "its false alarm"
    return (
        "a false alarm of one of them"
        if counted.detectors
        else "a false alarm there"
    )


def _where(counted: CountedAnswers, word: str) -> str:
    inputs = f" with {listed(counted.inputs, word)}" if counted.inputs else ""
    experiments = (
        f" in {listed(counted.experiments, word)}"
        if counted.experiments
        else ""
    )
    return inputs + experiments
