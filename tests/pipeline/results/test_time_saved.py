"""Time saved: the published times against what was published of them, and a captured job counted by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.time_saved import (
    PUBLISHED_TIMES,
    Account,
    published_times,
    time_saved,
    times_of,
)
from crane_core.storage.store import Store
from crane_core.ui.time_saved_words import finding, seconds

BENCHMARK, STUDY, GPT, SETTING = PUBLISHED_TIMES


def test_the_recorded_times_have_the_published_summary() -> None:
    times = published_times()
    crashing = times.dropna(subset="seconds_before")
    assert len(times) == 222
    assert len(crashing) == 111
    before, query = crashing["seconds_before"], crashing["seconds_of_query"]
    assert (before.sum(), query.sum()) == pytest.approx(
        (1300.5710, 197.7348), abs=5e-5
    )
    assert (
        before.mean(),
        before.median(),
        before.std(),
        before.max(),
    ) == pytest.approx((11.7169, 1.1649, 27.5601, 176.8312), abs=5e-5)
    assert (
        query.mean(),
        query.median(),
        query.std(),
        query.min(),
        query.max(),
    ) == pytest.approx((1.7814, 1.6435, 0.6094, 1.2061, 6.4449), abs=6e-5)


def test_the_papers_account_is_1103_seconds_and_half_of_the_crashes_lose(
    embedded_store: Store, study: pd.DataFrame
) -> None:
    [found] = time_saved(
        study,
        times_of(embedded_store, BENCHMARK, STUDY),
        rule=VoteRule.MAJORITY,
    )
    assert (found.detector, found.setting) == (GPT, SETTING)
    accounts = found.accounts.set_index("account")
    every = accounts.loc[str(Account.EVERY_CRASH)]
    assert every["total"] == pytest.approx(1102.8363, abs=5e-5)
    assert every["median"] == pytest.approx(-0.6035, abs=6e-5)
    assert (every["n_saving"], every["n"]) == (52, 111)
    predicted = accounts.loc[str(Account.PREDICTED)]
    by_hand = 0.0
    rows = study[
        (study["detector"] == GPT)
        & (study["setting"] == SETTING)
        & study["truth"]
    ].set_index("instance_id")
    for row in published_times().dropna().to_dict("records"):
        answers = rows.loc[row["instance_id"]]
        by_hand += (
            row["seconds_before"] * (answers["n_crash"] > answers["n_safe"])
            - row["seconds_of_query"]
        )
    assert predicted["total"] == pytest.approx(by_hand, abs=1e-9)
    assert predicted["low"] < predicted["mean"] < predicted["high"]


def job() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two crashes, one of which is missed, and a notebook without one; queries of two seconds."""
    frame = pd.DataFrame(
        {
            "case_id": ["a", "b", "a"],
            "instance_id": ["a_reproduced", "b_reproduced", "a_fixed"],
        }
        | {
            "detector": "m",
            "detector_title": "A model",
            "setting": "runtime",
            "truth": [True, True, False],
        }
        | {"n_crash": [1, 0, 0], "n_safe": [0, 1, 1]}
    )
    times = pd.DataFrame(
        {
            "instance_id": [
                "a_reproduced",
                "b_reproduced",
                "a_fixed",
                "c_reproduced",
            ],
            "detector": "m",
        }
        | {
            "setting": "runtime",
            "seconds_before": [30.0, 100.0, 29.0, 7.0],
            "seconds_of_query": 2.0,
        }
    )
    return frame, times


def test_a_missed_crash_saves_nothing_and_its_query_still_costs() -> None:
    [found] = time_saved(*job(), rule=VoteRule.MAJORITY)
    accounts = found.accounts.set_index("account")
    assert accounts["total"].tolist() == [126.0, 26.0]
    assert accounts["n_saving"].tolist() == [2, 1]
    assert accounts["pays_for"].tolist() == [31.5, 6.5]
    assert finding(found) == (
        "**A model +RT saves 26.0 s over 2 crashes** (126 s if it predicted every one of them), yet only 1 of them "
        "save any: the median crash saves 13.0 s. On average a crash saves 13.0 s (95% interval −2.0 s to 28.0 s). "
        "A crash pays for 6.5 queries about cells that do not crash."
    )


def test_what_was_not_timed_has_no_row() -> None:
    frame, times = job()
    assert (
        time_saved(
            frame,
            times[times["instance_id"] == "c_reproduced"],
            rule=VoteRule.MAJORITY,
        )
        == []
    )
    assert (
        time_saved(
            frame[~frame["truth"]],
            times.assign(seconds_before=None),
            rule=VoteRule.MAJORITY,
        )
        == []
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-0.6, "−0.6 s"),
        (1102.84, "1,103 s"),
        (99.5, "99.5 s"),
        (-250, "−250 s"),
    ],
)
def test_seconds_read_well(value: float, said: str) -> None:
    assert seconds(value) == said
