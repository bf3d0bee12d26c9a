"""Gains by a judge's labels with its errors taken out, on the published answers with made-up judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crane_core.pipeline.results.judge_error import COLUMNS, judge_error
from crane_core.pipeline.results.measures import Credit, VoteRule, gain_table
from crane_core.pipeline.results.specification_curve import specification_curve
from crane_core.ui.judge_error_words import errors_sentence, label_sources


@pytest.fixture(scope="module")
def noisy(models: pd.DataFrame) -> pd.DataFrame:
    """A judge that calls a quarter of the correct diagnoses wrong, whatever the input."""
    is_missed = np.random.default_rng(6).random(len(models)) < 0.25
    is_correct = (models["human"] == "correct").to_numpy()
    return models.assign(
        human=models["human"].mask(is_missed & is_correct, "wrong")
    )


def test_the_person_as_judge_has_the_gains_of_the_headline(
    models: pd.DataFrame,
) -> None:
    found = judge_error({"p": models, "j": models}, "p", ["j"])
    gains = gain_table(models, rule=VoteRule.MAJORITY, credit=Credit.STRICT)
    assert list(found.columns) == COLUMNS
    assert found["difference"].tolist() == pytest.approx(
        gains["difference"].tolist()
    )
    assert (found[["sensitivity", "specificity"]] == 1).all(axis=None)
    assert found["n"].tolist() == gains["n"].tolist()


def test_a_noisy_judge_is_corrected_towards_the_person(
    models: pd.DataFrame, noisy: pd.DataFrame
) -> None:
    found = judge_error({"p": models, "j": noisy}, "p", ["j"])
    policy = {"rule": VoteRule.MAJORITY, "credit": Credit.STRICT}
    by_person = gain_table(models, **policy)["difference"]
    by_judge = gain_table(noisy, **policy)["difference"]
    assert found["sensitivity"].iloc[0] == pytest.approx(0.75, abs=0.05)
    # Over the three detectors: what chance does to one of them is not the judge's error.
    off = abs(found["difference"].mean() - by_person.mean())
    assert off < abs(by_judge.mean() - by_person.mean())
    assert (found["low"] < by_person).all()
    assert (found["high"] > by_person).all()


def test_crashes_that_the_judge_did_not_label_are_left_out_in_pairs(
    models: pd.DataFrame,
) -> None:
    first = models[models["human"].notna() & models["truth"]].iloc[0]
    is_first = models["instance_id"] == first["instance_id"]
    fewer = models.assign(human=models["human"].mask(is_first))
    found = judge_error({"p": models, "j": fewer}, "p", ["j"])
    whole = judge_error({"p": models, "j": models}, "p", ["j"])
    assert (whole["n"] - found["n"]).sum() >= 1
    assert (whole["n"] - found["n"]).isin([0, 1]).all()


def test_the_table_has_a_row_per_detector_and_source_of_labels(
    models: pd.DataFrame, noisy: pd.DataFrame
) -> None:
    judged = {"p": models, "j": noisy}
    errors = judge_error(judged, "p", ["j"])
    shown = label_sources(specification_curve(judged), errors)
    assert shown["Labels of"].tolist() == ["p", "j", "j, corrected"] * 3
    assert "“j” calls 7" in errors_sentence(errors, "p")


def test_without_judges_there_is_no_row(models: pd.DataFrame) -> None:
    assert judge_error({"p": models}, "p", []).empty
