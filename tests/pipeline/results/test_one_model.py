"""The one model on the study's answers: what is observed, what it is worth, and where there is no model."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.measures import Credit, VoteRule, gain_table
from crane_core.pipeline.results.model_across import (
    GROUPINGS,
    ModelOfAll,
    model_of_all,
)
from crane_core.stats.gee import Unfit
from crane_core.ui.one_model_words import (
    finding,
    gain_looks,
    readable_gains,
)

HOW = {"rule": VoteRule.MAJORITY, "credit": Credit.DETECTION}


@pytest.fixture(scope="module")
def found(models: pd.DataFrame) -> ModelOfAll:
    return model_of_all(models, **HOW)


def test_what_is_observed_is_what_the_other_tables_say(
    models: pd.DataFrame, found: ModelOfAll
) -> None:
    mine = found.gains[found.gains["by"] == "detector_title"].set_index("name")
    table = gain_table(models, with_power=False, **HOW)
    expected = table.set_index("detector_title")["difference"]
    assert mine["observed"].to_dict() == pytest.approx(expected.to_dict())
    assert set(mine["n"]) == {222}
    assert found.n_cases == 111


def test_a_gain_of_one_case_is_worth_little(found: ModelOfAll) -> None:
    rows = found.gains[found.gains["by"] == "root_cause"].set_index("name")
    lone = rows.loc["library cause"]
    assert (lone["n_cases"], lone["observed"]) == (1, pytest.approx(1 / 3))
    assert lone["value"] < 0.15
    assert set(found.gains["by"]) == {"detector_title", *GROUPINGS}
    assert found.gains["is_expected"].all()
    is_between = found.gains["value"].between(
        found.gains["least"], found.gains["most"]
    )
    assert is_between.all()
    # What one case shows is not what the sentence is about.
    assert "library cause" not in finding(found)
    shown = readable_gains(found).set_index("Group")
    assert len(shown) == len(found.gains)
    assert shown.loc["library cause", "Cases"] == "1 (few)"
    assert gain_looks(found)["Cases"].count("--few: 1") == 2


def test_there_is_no_model_without_two_inputs_or_ten_cases(
    models: pd.DataFrame,
) -> None:
    alone = models[models["setting"] == "code"]
    assert model_of_all(alone, **HOW).why_not == Unfit.ONE_GROUP
    some = models["case_id"].unique()[:9]
    few = model_of_all(models[models["case_id"].isin(some)], **HOW)
    assert few.why_not == Unfit.FEW_CLUSTERS
    assert "it needs 10 cases" in finding(few)
