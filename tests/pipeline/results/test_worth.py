"""Alarms in a working day, counted by hand, and on the study's answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.worth import (
    ALL,
    NONE,
    Day,
    decision_curve,
    worth,
)
from crane_core.ui.worth_words import readable_worth


def answers() -> pd.DataFrame:
    """Ten cases: eight crashes are predicted, a tie raises no alarm, and two fixed notebooks have a false alarm."""
    frame = pd.DataFrame(
        {
            "case_id": [f"c{i}" for i in range(10)] * 2,
            "truth": [True] * 10 + [False] * 10,
            "n_crash": [3] * 8 + [1, 0] + [3] * 2 + [0] * 8,
            "n_safe": [0] * 8 + [1, 3] + [0] * 2 + [3] * 8,
        }
    )
    return frame.assign(detector="m", detector_title="A model", setting="code")


def test_a_day_by_hand() -> None:
    """Of 200 cells 20 crash: 16 alarms are real and 36 false; a look costs a tenth of a crash, a query 2 s."""
    day = Day(cells=200, base_rate=0.1, crash_s=300, look_s=30)
    query = pd.Series({("m", "code"): 2.0})
    [row] = worth(
        answers(), day, rule=VoteRule.MAJORITY, query_s=query
    ).itertuples()
    assert row.precision == pytest.approx(16 / 52)
    assert (row.alarms, row.false_alarms) == pytest.approx((52, 36))
    assert row.net_benefit == pytest.approx((16 - 36 / 9) / 200)
    # 16 crashes prevented, 52 looks, 200 queries.
    assert row.saved == pytest.approx(16 * 300 - 52 * 30 - 200 * 2)
    assert (row.n, row.n_cases) == (20, 10)
    [cells] = readable_worth(
        worth(answers(), day, rule=VoteRule.MAJORITY)
    ).to_dict("records")
    assert (cells["Precision"], cells["False"]) == ("30.8%", "36.0")
    assert (cells["Saved a day"], cells["A query"]) == ("3,240 s", "–")


def test_a_detector_that_saw_no_fixed_notebook_has_no_row() -> None:
    frame = answers()
    crashes = frame[frame["truth"]]
    assert worth(crashes, Day(), rule=VoteRule.MAJORITY).empty


def test_the_curve_has_every_cell_and_no_cell_beside_it() -> None:
    curve = decision_curve(answers(), 0.1, rule=VoteRule.MAJORITY)
    assert set(curve["detector_title"]) == {"A model", ALL, NONE}
    every = curve[curve["detector_title"] == ALL].set_index("threshold")[
        "value"
    ]
    assert every[0.1] == pytest.approx(0)
    assert every[0.5] == pytest.approx(-0.8)
    assert (curve.loc[curve["detector_title"] == NONE, "value"] == 0).all()


def test_where_half_of_the_cells_crash_it_is_the_precision_of_the_benchmark(
    study: pd.DataFrame,
) -> None:
    mine = study[
        (study["detector"] == "gpt-5") & (study["setting"] == "runtime")
    ]
    [row] = worth(mine, Day(base_rate=0.5), rule=VoteRule.MAJORITY).itertuples()
    is_alarm = (mine["n_crash"] > mine["n_safe"]).to_numpy()
    expected = np.mean(mine["truth"].to_numpy(dtype=bool)[is_alarm])
    assert row.precision == pytest.approx(expected)
    assert row.low < expected < row.high
