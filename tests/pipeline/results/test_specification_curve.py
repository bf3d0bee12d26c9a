"""The specification curve on the published answers, against statsmodels, and on judges who disagree."""

from __future__ import annotations

import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from crane_core.pipeline.results.specification_curve import (
    COLUMNS,
    NOBODY,
    Decisive,
    JointCurve,
    Option,
    curve_of,
    decisive,
    joint_curve,
    pairs_of,
    readings,
    specification_curve,
)
from crane_core.stats.outcome import Outcome
from crane_core.ui.specification_words import joint_finding


@pytest.fixture(scope="module")
def curve(models: pd.DataFrame) -> pd.DataFrame:
    return specification_curve({"people": models})


@pytest.fixture(scope="module")
def joint(models: pd.DataFrame) -> JointCurve:
    pairs = pairs_of({"people": models})
    found = joint_curve(curve_of(pairs), pairs)
    assert found is not None
    return found


def test_what_cases_add_is_the_difference_of_every_reading(
    models: pd.DataFrame, curve: pd.DataFrame
) -> None:
    once = curve.drop_duplicates(["detector", "rule", "credit"])
    difference = once.set_index(["rule", "credit", "detector"])["difference"]
    n_read = 0
    for reading in readings(pairs_of({"people": models})):
        shares = reading.pairs.case_shares(reading.rule, reading.credit)
        for detector, of_cases in shares.items():
            expected = difference[
                str(reading.rule), str(reading.credit), detector
            ]
            assert of_cases.sum() == pytest.approx(expected, abs=1e-12)
            assert len(of_cases) == 111
            n_read += 1
    assert n_read == len(once) == 27


def test_all_readings_of_the_study_together(
    joint: JointCurve, curve: pd.DataFrame
) -> None:
    once = curve.drop_duplicates(["detector", "rule", "credit"])
    assert joint.median == once["difference"].median()
    # 2 of the 9,999 drawn sets of signs reach the median, which is the number of this seed.
    assert joint.p_value == pytest.approx(3 / 10_000)
    assert joint.n_cases == 111
    table = joint.table
    assert (table["joint_low"] < table["low"]).all()
    assert (table["joint_high"] > table["high"]).all()
    largest = joint.largest()
    assert largest is not None
    assert largest["difference"] == curve["difference"].max()
    # The largest gain of the study is one also after it was picked.
    assert largest["joint_low"] > 0


def test_the_sentence_of_all_readings_names_the_largest_gain(
    joint: JointCurve,
) -> None:
    said = joint_finding(joint)
    assert said.startswith("All readings together: the median difference is +")
    assert (
        "p < 0.001 (27 differences, one of each detector and reading, over 111 cases;"
        in said
    )
    assert "holds for all of them together" in said
    turned = joint.table.assign(difference=-joint.table["difference"])
    assert "largest gain" not in joint_finding(joint._replace(table=turned))


def test_without_a_reading_there_is_nothing_to_infer() -> None:
    assert joint_curve(pd.DataFrame(columns=COLUMNS), {}) is None


def test_every_reading_has_the_tests_that_it_can_have(
    curve: pd.DataFrame,
) -> None:
    readings = curve.groupby(["rule", "credit", "judged_by"])["test"].nunique()
    by_case_alone = {
        (rule, credit) for (rule, credit, _), n in readings.items() if n == 1
    }  # shares are not right or wrong, so McNemar's test does not know them
    assert len(readings) == 9
    assert by_case_alone == {
        ("majority", "half credit for partial"),
        ("all answers", "half credit for partial"),
        ("mean of answers", "half credit for partial"),
        ("mean of answers", "correct diagnosis"),
        ("mean of answers", "detection only"),
    }
    assert list(curve.columns) == COLUMNS
    assert (curve["n"] == 222).all()


def right(rows: pd.DataFrame) -> pd.Series:
    """Right or wrong by the majority, a crash with its correct diagnosis; written again."""
    crash = rows["n_crash"] > rows["n_safe"]
    return (
        (crash & (rows["human"] == "correct"))
        .where(rows["truth"], ~crash)
        .set_axis(rows["instance_id"])
    )


def test_the_papers_reading_has_the_p_values_of_statsmodels(
    models: pd.DataFrame, curve: pd.DataFrame
) -> None:
    raw, names, differences = [], [], []
    for name, rows in models.groupby("detector"):
        without, with_ = (
            right(rows[rows["setting"] == setting]).sort_index()
            for setting in ("code", "runtime")
        )
        raw.append(mcnemar(pd.crosstab(without, with_), exact=True).pvalue)
        names.append(name)
        differences.append(with_.mean() - without.mean())
    found = curve.query(
        "rule == 'majority' and credit == 'correct diagnosis' and test == 'exact McNemar'"
    ).set_index("detector")
    expected = multipletests(raw, method="holm")[1]
    assert found.loc[names, "p_value"].tolist() == pytest.approx(
        expected.tolist(), abs=1e-9
    )
    assert found.loc[names, "difference"].tolist() == pytest.approx(
        differences, abs=1e-12
    )
    assert (found["conclusion"] == "gain").all()


def test_detection_is_read_once_whoever_judged(
    models: pd.DataFrame, curve: pd.DataFrame
) -> None:
    harsh = models.assign(
        human=models["human"].replace({"correct": "wrong", "partial": "wrong"})
    )
    both = specification_curve({"people": models, "a harsh judge": harsh})
    assert len(both[both["judged_by"] == NOBODY]) == len(
        curve[curve["judged_by"] == NOBODY]
    )
    assert (
        both["judged_by"].value_counts()["people"]
        == both["judged_by"].value_counts()["a harsh judge"]
    )
    assert (
        both[both["judged_by"] != "a harsh judge"]
        .reset_index(drop=True)
        .equals(curve)
    )


def test_without_labels_only_detection_is_read(models: pd.DataFrame) -> None:
    assert set(
        specification_curve({"nobody": models.assign(human=None)})["credit"]
    ) == {"detection only"}
    assert specification_curve(
        {"people": models[models["setting"] == "code"]}
    ).empty


def rows_of(
    outcome: Outcome = Outcome.GAIN, **found: tuple[int, int]
) -> pd.DataFrame:
    """A curve whose rules have the outcome so often of so many tests; the other choices are the same everywhere."""
    same = {"credit": "c", "judged_by": "j", "test": "t"}
    return pd.DataFrame(
        same
        | {"rule": rule, "conclusion": str(outcome) if i < n else "no evidence"}
        for rule, (n, of) in found.items()
        for i in range(of)
    )


def test_the_choice_that_decides_is_named() -> None:
    assert decisive(rows_of(a=(1, 4), b=(3, 4))) == Decisive(
        "rule", Outcome.GAIN, Option("b", 3, 4), Option("a", 1, 4)
    )
    assert decisive(rows_of(Outcome.LOSS, a=(1, 4), b=(3, 4))) == Decisive(
        "rule", Outcome.LOSS, Option("b", 3, 4), Option("a", 1, 4)
    )
    assert decisive(rows_of(a=(2, 4), b=(1, 2))) is None


def test_the_credit_decides_most_in_the_study(curve: pd.DataFrame) -> None:
    found = decisive(curve)
    assert found is not None
    assert (found.choice, found.least.name) == ("credit", "detection only")


def test_a_stated_credit_counts_as_it_does_elsewhere(
    models: pd.DataFrame, curve: pd.DataFrame
) -> None:
    """A fifth for partial stands between none, which strict counting gives, and half."""
    stated = models.assign(
        label_credit=models["human"].map(
            {"correct": 1.0, "partial": 0.2, "wrong": 0.0}
        )
    )
    read = ["rule", "credit", "judged_by", "test", "detector"]
    before, after = (
        one.set_index(read)["difference"]
        for one in (curve, specification_curve({"people": stated}))
    )
    is_half = (
        before.index.get_level_values("credit") == "half credit for partial"
    )
    strict = (
        before.xs("correct diagnosis", level="credit")
        .groupby(["rule", "detector"])
        .first()
    )
    half = before[is_half].groupby(["rule", "detector"]).first()
    found = after[is_half].groupby(["rule", "detector"]).first()
    assert after[~is_half].equals(before[~is_half])
    assert found.tolist() == pytest.approx(
        (0.6 * strict + 0.4 * half).tolist(), abs=1e-12
    )
