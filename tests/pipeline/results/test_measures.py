"""Rates and gains on the published answers, against scikit-learn and against what the paper states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, permutation_test
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    precision_score,
    recall_score,
)

from crane_core.domain import Setting
from crane_core.pipeline.results.measures import (
    Credit,
    Inputs,
    PairedTest,
    VoteRule,
    change_table,
    gain_table,
    paired_rows,
    rate_table,
)

STRICT: dict[str, Any] = {"rule": VoteRule.MAJORITY, "credit": Credit.STRICT}
DETECTION: dict[str, Any] = {
    "rule": VoteRule.MAJORITY,
    "credit": Credit.DETECTION,
}
SCORES = {
    "Accuracy": accuracy_score,
    "Precision": precision_score,
    "Recall": recall_score,
    "F1": f1_score,
}
BY = ["detector", "setting"]


def expanded(
    rows: pd.DataFrame, rule: VoteRule, credit: Credit
) -> tuple[list[bool], list[bool], list[float]]:
    """The same question as weighted plain yes and no answers, for scikit-learn.

    A detected crash with half credit is a hit and a miss of weight 1/2 each; the mean of answers is one answer per run.
    """
    worth = {"correct": 1.0, "partial": 0.5 if credit is Credit.HALF else 0.0}
    truths: list[bool] = []
    answers: list[bool] = []
    weights: list[float] = []
    for row in rows.itertuples():
        n = row.n_crash + row.n_safe
        detected = {
            VoteRule.MAJORITY: float(row.n_crash * 2 > n),
            VoteRule.ALL: float(row.n_crash == n),
            VoteRule.MEAN: row.n_crash / n,
        }[rule]
        if row.truth and credit is not Credit.DETECTION:
            detected *= worth.get(row.human, 0.0)
        for answer, weight in ((True, detected), (False, 1 - detected)):
            truths.append(bool(row.truth))
            answers.append(answer)
            weights.append(weight)
    return truths, answers, weights


@pytest.mark.parametrize("rate", SCORES)
@pytest.mark.parametrize("credit", Credit)
@pytest.mark.parametrize("rule", VoteRule)
def test_rates_agree_with_scikit_learn(
    models: pd.DataFrame, rule: VoteRule, credit: Credit, rate: str
) -> None:
    table = rate_table(
        models, by=BY, rate=rate, rule=rule, credit=credit
    ).set_index(BY)
    for group, rows in models.groupby(BY):
        truths, answers, weights = expanded(rows, rule, credit)
        expected = SCORES[rate](truths, answers, sample_weight=weights)
        assert table.loc[group, "value"] == pytest.approx(expected, abs=1e-12)
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert (table["left_out"] == 0).all()
    assert (table["n_cases"] <= 111).all()
    assert (
        rate == "Precision" or (table["n_cases"] == 111).all() or rate == "F1"
    )


def test_accuracy_is_over_all_instances_and_recall_over_those_that_crash(
    models: pd.DataFrame,
) -> None:
    for rate, n in (("Accuracy", 222), ("Recall", 111)):
        table = rate_table(models, by=BY, rate=rate, **STRICT)
        assert table["n"].eq(n).all()
        assert (table["whole"] == n).all()
        assert table["value"].tolist() == pytest.approx(
            (table["part"] / table["whole"]).tolist()
        )


def test_rates_by_library_add_up_to_the_whole(models: pd.DataFrame) -> None:
    by_library = rate_table(
        models, by=["library_group", *BY], rate="Accuracy", **STRICT
    )
    whole = rate_table(models, by=BY, rate="Accuracy", **STRICT).set_index(BY)
    sums = by_library.groupby(BY)[["part", "whole"]].sum()
    assert sums.loc[whole.index].equals(whole[["part", "whole"]])


GAINS = {
    "gemini-2.5-flash": (16, 7.2),
    "qwen-2.5-32b-instruct": (21, 9.5),
    "gpt-5": (17, 7.7),
}
"""Instances that runtime information wins on balance, of 222, and the points that the paper states."""


def test_gain_end_to_end_is_that_of_the_paper(models: pd.DataFrame) -> None:
    table = gain_table(models, **STRICT).set_index("detector")
    assert set(table.index) == set(GAINS)
    for detector, (on_balance, points) in GAINS.items():
        row = table.loc[detector]
        assert (row["n"], row["n_cases"]) == (222, 111)
        assert row["gained"] - row["lost"] == on_balance
        assert row["difference"] == pytest.approx(on_balance / 222)
        assert round(100 * row["difference"], 1) == points
        assert row["difference"] == pytest.approx(row["with_"] - row["without"])
        assert row["low"] < row["difference"] < row["high"]
        assert row["p_value"] <= row["p_holm"] <= 1


def test_gain_of_detection_alone_by_hand(models: pd.DataFrame) -> None:
    """Table 2b, accuracy: from the confusion of the votes, counted here without the code under test."""
    table = gain_table(models, **DETECTION).set_index("detector")
    right = (
        models["n_crash"] * 2 > models["n_crash"] + models["n_safe"]
    ) == models["truth"]
    wide = models.assign(right=right).pivot_table(
        index=["detector", "instance_id"], columns="setting", values="right"
    )
    for detector, row in table.iterrows():
        mine = wide.loc[detector].astype(bool)
        assert row["gained"] == (mine["runtime"] & ~mine["code"]).sum()
        assert row["lost"] == (mine["code"] & ~mine["runtime"]).sum()


def test_gains_by_library_add_up_to_the_whole(models: pd.DataFrame) -> None:
    groups = change_table(models, by="library_group", rate="Accuracy", **STRICT)
    sums = groups.groupby("detector")[["n", "gained", "lost"]].sum()
    whole = gain_table(models, **STRICT).set_index("detector")
    assert (sums == whole.loc[sums.index, ["n", "gained", "lost"]]).all().all()
    assert len(groups) == 3 * 7
    assert (groups["p_value"] <= groups["p_bh"]).all()


@pytest.mark.parametrize("rate", ["Recall", "Precision", "F1"])
def test_gain_of_any_rate_is_the_difference_of_both(
    models: pd.DataFrame, rate: str
) -> None:
    asked = STRICT | {"rate": rate}
    single = rate_table(models, by=BY, **asked).set_index(BY)["value"]
    for row in gain_table(models, **asked).to_dict("records"):
        expected = (
            single[row["detector"], "runtime"] - single[row["detector"], "code"]
        )
        assert row["difference"] == pytest.approx(expected)
        assert row["test"] == (
            PairedTest.MCNEMAR if rate == "Recall" else PairedTest.SWAP
        )
        assert 0 < row["p_value"] <= row["p_holm"] <= 1


@pytest.mark.parametrize(
    ("rule", "credit"),
    [(VoteRule.MEAN, Credit.STRICT), (VoteRule.MAJORITY, Credit.HALF)],
)
def test_where_right_is_no_yes_or_no_nothing_is_counted_and_signs_are_flipped(
    models: pd.DataFrame, rule: VoteRule, credit: Credit
) -> None:
    table = gain_table(models, rule=rule, credit=credit)
    assert table[["gained", "lost", "detectable"]].isna().all().all()
    assert set(table["test"]) == {PairedTest.SIGN_FLIP}
    assert (table["p_value"] <= table["p_holm"]).all()
    half = {
        "correct": 1.0,
        "partial": 0.5 if credit is Credit.HALF else 0.0,
        "wrong": 0.0,
        "misdetected": 0.0,
    }
    said = models["n_crash"] / (models["n_crash"] + models["n_safe"])
    said = said if rule is VoteRule.MEAN else (said > 0.5).astype(float)
    right = np.where(
        models["truth"], said * models["human"].map(half).fillna(0.0), 1 - said
    )
    wide = models.assign(right=right).pivot_table(
        index=["detector", "case_id", "instance_id"],
        columns="setting",
        values="right",
    )
    changes = (
        (wide["runtime"] - wide["code"]).groupby(["detector", "case_id"]).sum()
    )
    for row in table.itertuples():
        mine = changes.loc[row.detector].to_numpy()
        expected = permutation_test(
            (mine,),
            np.sum,
            permutation_type="samples",
            n_resamples=9_999,
            rng=np.random.default_rng(1),
        ).pvalue
        assert row.p_value == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "by", ["library_group", "root_cause", "crash_type", "stage"]
)
@pytest.mark.parametrize("rule", VoteRule)
@pytest.mark.parametrize("credit", Credit)
def test_the_family_of_tests_is_every_group_whatever_its_labels(
    models: pd.DataFrame, by: str, rule: VoteRule, credit: Credit
) -> None:
    table = change_table(
        models, by=by, rate="Accuracy", rule=rule, credit=credit
    )
    assert len(table) == models.groupby([by, "detector"]).ngroups
    assert table["p_value"].notna().all()
    assert table["test"].nunique() == 1
    assert table["gained"].notna().all() or table["gained"].isna().all()
    assert table["p_bh"].tolist() == pytest.approx(
        false_discovery_control(table["p_value"])
    )


def test_a_detector_asked_in_one_setting_has_no_gain(
    models: pd.DataFrame,
) -> None:
    alone = models[
        (models["detector"] == "gpt-5") & (models["setting"] == "code")
    ]
    assert gain_table(alone, **STRICT).empty


def test_rates_and_gain_are_over_the_same_pairs(models: pd.DataFrame) -> None:
    """A run of 222 with code only and of 30 with runtime state, one of them without an answer: 29 pairs."""
    mine = models[models["detector"] == "gpt-5"]
    few = mine.loc[mine["setting"] == "runtime", "instance_id"].head(30)
    rows = mine[
        (mine["setting"] == "code") | mine["instance_id"].isin(few)
    ].copy()
    silent = (rows["setting"] == "runtime") & (
        rows["instance_id"] == few.iloc[3]
    )
    rows.loc[silent, ["n_crash", "n_safe"]] = 0
    [gain] = gain_table(rows, **DETECTION).to_dict("records")
    table = rate_table(
        paired_rows(rows, **DETECTION),
        by=["setting"],
        rate="Accuracy",
        **DETECTION,
    ).set_index("setting")
    assert table["n"].tolist() == [29, 29]
    assert gain["n"] == 29
    assert table["value"].to_dict() == {
        "code": gain["without"],
        "runtime": gain["with_"],
    }
    alone = rows[rows["setting"] == "code"]
    assert len(paired_rows(alone, **DETECTION)) == 222


def test_any_two_inputs_are_compared_on_their_own_pairs(
    models: pd.DataFrame,
) -> None:
    """The rows with runtime state under another name give the numbers of the study; the base is never the other."""
    renamed = models.assign(
        setting=models["setting"].replace({"code": "runtime-V"})
    )
    inputs = Inputs(Setting.RUNTIME_WITHOUT_V, Setting.RUNTIME)
    pd.testing.assert_frame_equal(
        gain_table(renamed, inputs=inputs, **STRICT),
        gain_table(models, **STRICT),
    )
    turned = gain_table(renamed, inputs=Inputs(*reversed(inputs)), **STRICT)
    assert turned["difference"].tolist() == pytest.approx(
        (-gain_table(models, **STRICT)["difference"]).tolist()
    )
    assert gain_table(renamed, **STRICT).empty
    by_cause: dict[str, Any] = {"by": "root_cause", "rate": "Recall", **STRICT}
    pd.testing.assert_frame_equal(
        change_table(renamed, inputs=inputs, **by_cause),
        change_table(models, **by_cause),
    )


def answers(*rows: tuple[str, bool, int, int, str | None]) -> pd.DataFrame:
    columns = ["case_id", "truth", "n_crash", "n_safe", "human"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(
        benchmark="mine",
        detector="d",
        setting="code",
        instance_id=frame["case_id"],
        label_stratum=None,
    )


def test_ties_silence_and_unjudged_diagnoses_by_hand() -> None:
    frame = answers(
        ("a", True, 2, 2, None),  # a tie predicts nothing: false negative
        ("b", True, 0, 0, None),  # nobody answered: left out
        ("c", True, 3, 0, None),  # detected and not judged: left out
        ("d", True, 3, 2, "correct"),
        ("e", False, 1, 1, None),  # a tie again: true negative
    )
    [row] = rate_table(
        frame, by=["detector"], rate="Accuracy", **STRICT
    ).to_dict("records")
    assert (row["n"], row["left_out"], row["part"], row["whole"]) == (
        3,
        2,
        2.0,
        3.0,
    )
    [strict] = rate_table(
        frame,
        by=["detector"],
        rate="Recall",
        rule=VoteRule.ALL,
        credit=Credit.DETECTION,
    ).to_dict("records")
    assert (strict["part"], strict["whole"], strict["left_out"]) == (
        1.0,
        3.0,
        1,
    )


def test_a_rate_of_nothing_is_nan_and_an_empty_frame_has_no_rows() -> None:
    frame = answers(("a", False, 0, 3, None))
    [row] = rate_table(frame, by=["detector"], rate="Recall", **STRICT).to_dict(
        "records"
    )
    assert (row["n"], row["whole"]) == (0, 0.0)
    assert np.isnan([row["value"], row["low"], row["high"]]).all()
    empty = rate_table(
        frame.head(0), by=BY, rate="F1", rule=VoteRule.MEAN, credit=Credit.HALF
    )
    assert empty.empty
    assert list(empty.columns)[:3] == [*BY, "n"]
    assert gain_table(
        frame.head(0).assign(detector_title=""),
        rule=VoteRule.MEAN,
        credit=Credit.HALF,
    ).empty
