"""Combinations, the specification curve and time saved as exported: the values of their own functions."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.judging import choices
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import combinations, time_saved
from crane_core.pipeline.results.combinations import (
    Member,
    rules_in,
    with_rules,
)
from crane_core.pipeline.results.exported_statistic import BOTH_INPUTS
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.results.specification_curve import (
    NOBODY,
    curve_of,
    joint_curve,
    pairs_of,
    specification_curve,
)
from crane_core.pipeline.results.time_saved import Account
from crane_core.pipeline.rows import as_rows
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

from .conftest import only


def test_every_test_of_the_specification_curve(study_models: Material) -> None:
    found_of_all = list(choices.exported_choices(study_models))
    mine = [
        one for one in found_of_all if one.statistic == "difference of accuracy"
    ]
    curve = specification_curve({PUBLISHED_HUMAN: study_models.verdicts})
    assert len(mine) == len(curve) == 39
    for row in as_rows(curve):
        judge = None if row["judged_by"] == NOBODY else row["judged_by"]
        of = {
            "runs": row["rule"],
            "credit": row["credit"],
            "judged_by": judge,
            "test": row["test"],
        }
        one = only(
            mine, **of, detector=row["detector_title"], input=BOTH_INPUTS
        )
        found = (one.value, one.low, one.high, one.p_adjusted, one.outcome)
        assert found == (
            row["difference"],
            row["low"],
            row["high"],
            row["p_value"],
            row["conclusion"],
        )


def test_all_readings_together_are_exported_once(
    study_models: Material,
) -> None:
    mine = list(choices.exported_choices(study_models))
    pairs = pairs_of({PUBLISHED_HUMAN: study_models.verdicts})
    joint = joint_curve(curve_of(pairs), pairs)
    assert joint is not None
    of_all = only(mine, statistic="median difference over all readings")
    assert (of_all.value, of_all.p) == (joint.median, joint.p_value)
    each = [
        (one.detector, one.runs, one.credit, one.low, one.high)
        for one in mine
        if one.statistic == "difference, one of all readings"
    ]
    assert each == [
        (
            row["detector_title"],
            row["rule"],
            row["credit"],
            row["joint_low"],
            row["joint_high"],
        )
        for row in as_rows(joint.table)
    ]


def test_seconds_saved(study_models: Material) -> None:
    mine = list(time_saved.exported_times(study_models))
    of = {
        "runs": VoteRule.MAJORITY,
        "group": Account.EVERY_CRASH,
        "detector": "GPT-5",
    }
    total = only(mine, **of, statistic="saved in total")
    assert (total.value, total.unit, total.n) == (
        pytest.approx(1102.8363, abs=5e-5),
        "s",
        111,
    )
    mean = only(mine, **of, statistic="saved per crash, mean")
    assert mean.low is not None and mean.seed is not None


def test_the_rules_before_each_model(
    embedded_store: Store, prepared_folder: DataFolder, verdicts: pd.DataFrame
) -> None:
    mine = list(
        combinations.exported_combinations(
            Material(embedded_store, prepared_folder)
        )
    )
    frame = verdicts[
        verdicts["experiment"].isin(
            ["crane-llm-2025-10", "rules-on-published-states"]
        )
    ]
    rules = rules_in(frame)
    assert rules is not None
    table = as_rows(with_rules(frame, rules, rule=VoteRule.MAJORITY))
    [row] = [
        one
        for one in table
        if one["members"] == (rules, Member("gpt-5", "code"))
    ]
    of = {
        "experiment": "crane-llm-2025-10",
        "runs": VoteRule.MAJORITY,
        "group": "cascade",
    }
    of |= {"detector": "Certain-crash rules (runtime) + GPT-5 (code)"}
    accuracy = only(mine, **of, statistic="accuracy")
    assert (accuracy.value, accuracy.low, accuracy.n) == (
        row["accuracy"],
        row["accuracy_low"],
        222,
    )
    tested = [
        one
        for one in mine
        if one.family == "the rules before each model"
        and one.test == "exact McNemar test"
    ]
    mine_of = only(tested, **of)
    assert (mine_of.value, mine_of.p, mine_of.p_adjusted) == (
        row["difference"],
        row["p_value"],
        row["p_holm"],
    )
