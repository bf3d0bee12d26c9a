"""The published five runs: each run, pass@k and votes, counted here and by scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f_oneway
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score

from crane_core.pipeline.results.five_runs import (
    Measure,
    answers_by_run,
    run_table,
    vote_table,
)
from crane_core.storage.store import Store

STUDY = "crane-llm-2025-10"


@pytest.fixture(scope="module")
def by_run(embedded_store: Store) -> pd.DataFrame:
    return answers_by_run(embedded_store, "junobench", STUDY)


@pytest.fixture(scope="module")
def table(models: pd.DataFrame, by_run: pd.DataFrame) -> pd.DataFrame:
    return run_table(models, by_run).set_index(
        ["detector", "setting", "measure", "k"]
    )


def test_accuracy_of_each_run_is_scikit_learns(
    table: pd.DataFrame, by_run: pd.DataFrame
) -> None:
    asked = by_run[by_run["detector"].isin(table.index.unique("detector"))]
    for (detector, setting, index), run in asked.groupby(
        ["detector", "setting", "run_index"]
    ):
        row = table.loc[(detector, setting, Measure.RUN, index)]
        assert row["value"] == pytest.approx(
            accuracy_score(
                run["truth"].astype(bool), run["crashes"].astype(bool)
            )
        )
        assert row["low"] < row["value"] < row["high"]
    assert (table[["n", "n_cases", "left_out"]] == [222, 111, 0]).all().all()
    assert len(table) == 3 * 2 * (5 + 5 + 1 + 1)


def test_one_of_one_is_the_mean_of_the_runs_and_one_of_five_is_any(
    table: pd.DataFrame, by_run: pd.DataFrame
) -> None:
    right = by_run.assign(right=by_run["crashes"] == by_run["truth"]).dropna(
        subset="crashes"
    )
    per = right.groupby(["detector", "setting", "instance_id"])["right"].agg(
        ["mean", "max", "min"]
    )
    means = per.astype(float).groupby(["detector", "setting"]).mean()
    for who in table.index.droplevel(["measure", "k"]).unique():
        of = table.loc[who]
        assert of.loc[(Measure.PASS, 1), "value"] == pytest.approx(
            means.loc[who, "mean"]
        )
        assert of.loc[(Measure.PASS, 5), "value"] == pytest.approx(
            means.loc[who, "max"]
        )
        assert of.loc[(Measure.ALL, 5), "value"] == pytest.approx(
            means.loc[who, "min"]
        )
        assert of.loc[Measure.PASS, "value"].is_monotonic_increasing


def test_share_of_variance_follows_from_scipys_f(
    table: pd.DataFrame, by_run: pd.DataFrame
) -> None:
    mine = by_run[
        (by_run["detector"] == "gpt-5") & (by_run["setting"] == "runtime")
    ]
    right = (
        (mine["crashes"] == mine["truth"]).to_numpy(dtype=float).reshape(222, 5)
    )
    f = f_oneway(
        *[runs for runs in right if np.ptp(runs)],
        *[runs for runs in right if not np.ptp(runs)],
    ).statistic
    row = table.loc[("gpt-5", "runtime", Measure.BETWEEN, 0)]
    assert row["value"] == pytest.approx((f - 1) / (f + 4))
    assert row["low"] < row["value"] < row["high"]


def test_five_of_five_votes_of_gpt_5_are_a_crash_far_more_often_than_four(
    models: pd.DataFrame,
) -> None:
    """Over both inputs: 137 of 150 and 18 of 32 (91% and 56%)."""
    votes = vote_table(models).set_index(["detector", "votes"]).loc["gpt-5"]
    assert votes.loc[[4, 5], ["n_real", "n"]].to_numpy().tolist() == [
        [18, 32],
        [137, 150],
    ]
    assert [f"{share:.0%}" for share in votes.loc[[4, 5], "value"]] == [
        "56%",
        "91%",
    ]
    assert votes.loc[4, "high"] < votes.loc[5, "value"]
    mine = models[models["detector"] == "gpt-5"]
    share, said = calibration_curve(
        mine["truth"].astype(int), mine["n_crash"] / 5, n_bins=6
    )
    assert votes["value"].tolist() == pytest.approx(share.tolist())
    assert (votes.index / 5).tolist() == pytest.approx(said.tolist())


def test_votes_with_one_input_are_part_of_both(models: pd.DataFrame) -> None:
    parts = [
        vote_table(models[models["setting"] == s]).set_index(
            ["detector", "votes"]
        )
        for s in ("code", "runtime")
    ]
    both = vote_table(models).set_index(["detector", "votes"])[["n_real", "n"]]
    assert (
        (
            parts[0][["n_real", "n"]].add(
                parts[1][["n_real", "n"]], fill_value=0
            )
            == both
        )
        .all()
        .all()
    )


def test_an_instance_that_lacks_an_answer_is_left_out_and_counted(
    models: pd.DataFrame, by_run: pd.DataFrame
) -> None:
    mine = models[
        (models["detector"] == "gpt-5") & (models["setting"] == "code")
    ].copy()
    gone = mine.index[:3]
    mine.loc[gone, "n_crash"] = 0
    mine.loc[gone, "n_safe"] = 2
    table = run_table(mine, by_run)
    assert set(table["n"]) == {219}
    assert set(table["left_out"]) == {3}


def test_one_run_has_nothing_to_agree_with(
    models: pd.DataFrame, by_run: pd.DataFrame
) -> None:
    once = models.assign(n_crash=1, n_safe=0)
    assert run_table(once, by_run).empty
    assert vote_table(once).empty
