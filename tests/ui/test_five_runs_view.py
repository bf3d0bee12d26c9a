"""The sentence about votes: how often all of them, and one fewer, are right."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.results.five_runs import VOTE_COLUMNS
from crane_core.ui.five_runs_view import finding


def votes(*rows: tuple[int, int, float, float, float, int]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            ("m", "Model", 5, of, real, value, low, high, n, 9)
            for of, real, value, low, high, n in rows
        ],
        columns=VOTE_COLUMNS,
    )


def test_all_votes_stand_before_one_fewer() -> None:
    said = finding(
        votes(
            (0, 1, 0.1, 0.0, 0.3, 10),
            (4, 18, 0.5625, 0.4, 0.7, 32),
            (5, 137, 0.913, 0.85, 0.95, 1500),
        )
    )
    assert said == (
        "Model: 5 of 5 crash votes are a real crash **91.3%** of the time (85.0 to 95.0%, n 1,500); 4 of 5 are one "
        "**56.3%** of the time (40.0 to 70.0%, n 32)."
    )


def test_where_runs_never_agree_on_a_crash_it_says_so() -> None:
    assert (
        finding(votes((0, 1, 0.1, 0.0, 0.3, 10)))
        == "Model: no instance has 4 crash votes or more."
    )
