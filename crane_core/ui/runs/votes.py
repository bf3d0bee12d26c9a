"""The vote of an instance's answers in words, by the rule of `stats.vote`: a tie counts as no crash."""

from collections.abc import Mapping
from typing import Any

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
