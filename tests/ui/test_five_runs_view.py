"""The sentence about votes: how often all of them, and one fewer, are right."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.results.five_runs import VOTE_COLUMNS, Measure
from crane_core.ui.five_runs_view import (
    finding,
    readable_runs,
    summed_up,
    title,
)


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
        "Model: if 5 of 5 answers predict a crash, **91.3%** are real (85.0 to 95.0%, n 1,500); if 4 of 5, "
        "**56.3%** (40.0 to 70.0%, n 32)."
    )


def test_where_runs_never_agree_on_a_crash_it_says_so() -> None:
    assert (
        finding(votes((0, 1, 0.1, 0.0, 0.3, 10)))
        == "Model: no instance has 4 crash votes or more."
    )


def test_the_title_has_the_range_of_all_detectors() -> None:
    both = votes(
        (4, 18, 0.5625, 0.4, 0.7, 32),
        (4, 1, 0.333, 0.02, 0.94, 3),
        (5, 137, 0.913, 0.85, 0.95, 150),
        (5, 100, 0.68, 0.6, 0.75, 147),
    )
    assert title(both) == (
        "If all 5 answers predict a crash, 68 to 91% are real; if 4 of 5, 56% (n\xa032)"
    )
    assert title(votes((0, 1, 0.1, 0.0, 0.3, 10))) is None


def measured(*measures: tuple[Measure, int, float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "detector_title": "Model",
            "setting": "code",
            "measure": measure,
            "k": k,
            "value": value,
            "low": value - 0.05,
            "high": value + 0.05,
            "n": 1222,
            "n_cases": 111,
        }
        for measure, k, value in measures
    )


def test_a_row_sums_up_what_single_answers_and_several_reach() -> None:
    runs = measured(
        (Measure.RUN, 1, 0.68),
        (Measure.RUN, 2, 0.703),
        (Measure.PASS, 1, 0.69),
        (Measure.PASS, 2, 0.75),
        (Measure.ALL, 2, 0.6),
        (Measure.BETWEEN, 0, 0.9),
    )
    [row] = summed_up(runs).to_dict("records")
    assert row == {
        "Detector and input": "Model −RT",
        "One answer": "68.0 to 70.3%",
        "Any of 2": "75.0% (70.0 to 80.0%)",
        "All right": "60.0% (55.0 to 65.0%)",
        "Between instances": "90.0% (85.0 to 95.0%)",
        "Instances": "1,222",
    }
    every = readable_runs(runs)
    assert list(every) == ["Measure", "Model −RT"]
    assert every["Measure"].tolist() == [
        "Answer 1", "Answer 2", "Any of 1", "Any of 2", "All right", "Between instances",
    ]  # fmt: skip
