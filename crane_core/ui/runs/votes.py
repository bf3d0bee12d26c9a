"""What repeated answers say, in words: the vote on an instance, and the run whose answers differ most often.

The vote is by the rule of `stats.vote`: a tie counts as no crash. Knows no widget.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from crane_core.pipeline.rows import as_rows
from crane_core.ui.words import count, quantity, setting_short

TIE = "tie, as no crash"


def vote_words(row: Mapping[str, Any]) -> str:
    """The majority, and whether it is right where that is known; row: n_crash, n_safe, truth."""
    n_crash, n_safe = row["n_crash"], row["n_safe"]
    if n_crash + n_safe == 0:
        return "no answer"
    is_crash = n_crash > n_safe
    words = "crash" if is_crash else "no crash"
    if n_crash == n_safe:
        words = TIE
    if row["truth"] is None:
        return words
    return f"{words} {'✓' if is_crash == row['truth'] else '✗'}"


def share_of_vote(row: Mapping[str, Any]) -> str:
    """How many of several answers say what the vote says: "4 of 5"; empty for one answer."""
    n_answers = row["n_crash"] + row["n_safe"]
    if n_answers < 2:
        return ""
    return f"{max(row['n_crash'], row['n_safe'])} of {n_answers}"


def runs_sentence(table: pd.DataFrame) -> str:
    """Which run has answers that differ on the largest share of its instances; without repeats, how many runs."""
    if table.empty:
        return "No runs yet"
    said = quantity(len(table), "run")
    n_repeated = table["agreement"].count()
    if not n_repeated:
        return said
    row = least_stable(table)
    if row is None:
        return f"{said}; none changes an answer when it is asked again"
    name = f"{row['detector_title']} {setting_short(row['setting'])}"
    where = f"on {count(int(row['n_flips']))} of {count(int(row['n_instances']))} notebooks"
    if n_repeated == 1:
        return f"{said}; the answers of {name} differ {where}"
    return f"{name} is the least stable: its answers differ {where}"


def least_stable(table: pd.DataFrame) -> dict[str, Any] | None:
    """The run whose answers differ on the largest share of its instances; None where no answers differ."""
    unstable = table[table["agreement"].notna() & (table["n_flips"] > 0)]
    if unstable.empty:
        return None
    share = unstable["n_flips"] / unstable["n_instances"]
    return as_rows(unstable.loc[[share.idxmax()]])[0]
