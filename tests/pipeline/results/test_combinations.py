"""Combinations on the published answers: counted here from the tables that ship, and tested against statsmodels."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from crane_core.pipeline.results.beside import beside
from crane_core.pipeline.results.combinations import (
    Member,
    Way,
    combine,
    members_of,
    rules_in,
    usual_members,
    ways_for,
    with_rules,
)
from crane_core.pipeline.results.measures import VoteRule
from crane_core.pipeline.study.table_scores import STUDY, STUDY_LLMS
from crane_core.stats.outcome import Outcome

PUBLISHED = Path(__file__).resolve().parents[3] / "data" / "published"
RULES = Member("rules", "runtime")
GEMINI, QWEN, GPT = (Member(name, "runtime") for name in STUDY_LLMS)
GPT_CODE = Member("gpt-5", "code")
Predictions = dict[Member, dict[str, bool]]


@pytest.fixture(scope="module")
def study(verdicts: pd.DataFrame) -> pd.DataFrame:
    of_benchmark = verdicts[verdicts["benchmark"] == "junobench"]
    return beside(of_benchmark, STUDY, [])


@pytest.fixture(scope="module")
def counted() -> Predictions:
    """What each predicts of each instance, read from the files that ship, with nothing of crane_core."""
    said: Predictions = defaultdict(dict)
    for row in (
        pd.read_csv(PUBLISHED / "detections.csv")
        .query("experiment == @STUDY")
        .itertuples()
    ):
        runs = [run for run in row[5:] if not np.isnan(run)]
        said[Member(row.detector, row.setting)][row.instance] = (
            sum(runs) > len(runs) / 2
        )
    for row in pd.read_csv(PUBLISHED / "rules.csv").itertuples():
        said[Member("rules", row.setting)][row.instance] = row.crashes == 1
    return said


def n_right(said: dict[str, bool]) -> int:
    return sum(
        crash == instance.endswith("_reproduced")
        for instance, crash in said.items()
    )


def in_cascade(
    counted: Predictions, first: Member, *others: Member
) -> dict[str, bool]:
    return {
        name: crash
        or 2 * sum(counted[other][name] for other in others) > len(others)
        for name, crash in counted[first].items()
    }


@pytest.mark.parametrize(
    ("others", "percent"),
    [
        ((GPT_CODE,), 80.6),
        ((GPT,), 82.9),
        ((QWEN,), 82.4),
        ((GEMINI, QWEN, GPT), 83.8),
    ],
)
def test_the_rules_before_models(
    study: pd.DataFrame,
    counted: Predictions,
    others: tuple[Member, ...],
    percent: float,
) -> None:
    table = with_rules(study, RULES, rule=VoteRule.MAJORITY)
    row = next(
        row
        for _, row in table.iterrows()
        if set(row["members"]) == {RULES, *others}
    )
    expected = n_right(in_cascade(counted, RULES, *others))
    assert row["accuracy"] == pytest.approx(expected / 222)
    assert round(100 * row["accuracy"], 1) == percent
    assert (row["n"], row["n_cases"], row["n_asked"], row["left_out"]) == (
        222,
        111,
        173,
        0,
    )


def test_members_alone(study: pd.DataFrame, counted: Predictions) -> None:
    table = combine(study, [RULES, GPT, QWEN], rule=VoteRule.MAJORITY)
    alone = {
        row["members"][0]: row
        for _, row in table[table["way"].isna()].iterrows()
    }
    assert {
        member: round(100 * row["accuracy"], 1) for member, row in alone.items()
    } == {
        RULES: 72.1,
        GPT: 80.6,
        QWEN: 77.9,
    }
    assert (alone[RULES]["precision"], alone[RULES]["recall"]) == (
        1.0,
        pytest.approx(49 / 111),
    )
    assert [n_right(counted[member]) for member in (RULES, GPT, QWEN)] == [
        160,
        179,
        173,
    ]


@pytest.mark.parametrize("way", Way)
def test_each_way_against_the_best_member(
    study: pd.DataFrame, counted: Predictions, way: Way
) -> None:
    members = (RULES, GEMINI, QWEN, GPT)
    table = combine(study, members, rule=VoteRule.MAJORITY)
    rows = table[table["way"].notna()].set_index("way")
    row = rows.loc[way]
    votes = {
        name: [counted[member][name] for member in members]
        for name in counted[RULES]
    }
    said = {
        Way.ANY: {name: any(of) for name, of in votes.items()},
        Way.MAJORITY: {name: sum(of) > 2 for name, of in votes.items()},
        Way.CASCADE: in_cascade(counted, *members),
    }[way]
    crashes = {name: name.endswith("_reproduced") for name in said}
    right = [
        (said[name] == truth, counted[GPT][name] == truth)
        for name, truth in crashes.items()
    ]
    gained = sum(ours and not best for ours, best in right)
    lost = sum(best and not ours for ours, best in right)
    assert row["best"] == GPT
    assert (row["gained"], row["lost"]) == (gained, lost)
    assert row["difference"] == pytest.approx((gained - lost) / 222)
    assert row["p_value"] == pytest.approx(
        mcnemar([[0, lost], [gained, 0]], exact=True).pvalue
    )
    assert rows["p_holm"].tolist() == pytest.approx(
        multipletests(rows["p_value"].astype(float), method="holm")[1]
    )


def test_a_p_value_by_case_flips_whole_cases(
    study: pd.DataFrame, counted: Predictions
) -> None:
    """All 2^k signs of the k cases that differ, one by one."""
    table = with_rules(study, RULES, rule=VoteRule.MAJORITY)
    row = next(
        row for _, row in table.iterrows() if row["members"] == (RULES, GPT)
    )
    both = in_cascade(counted, RULES, GPT)
    change: dict[str, int] = defaultdict(int)
    for name, crash in both.items():
        truth = name.endswith("_reproduced")
        change[name.rpartition("_")[0]] += int(crash == truth) - int(
            counted[GPT][name] == truth
        )
    moved = [value for value in change.values() if value]
    sums = [
        abs(sum(v if mask >> i & 1 else -v for i, v in enumerate(moved)))
        for mask in range(2 ** len(moved))
    ]
    assert row["p_by_case"] == pytest.approx(
        np.mean(np.array(sums) >= abs(sum(moved)))
    )


def test_what_holds_up_is_what_both_tests_support(study: pd.DataFrame) -> None:
    table = with_rules(study, RULES, rule=VoteRule.MAJORITY)
    held = table.loc[table["outcome"] == Outcome.GAIN, "members"].str[1:]
    assert set(held) == {(GPT_CODE,), (QWEN,)}
    both = table[["p_holm", "p_by_case_holm"]].max(axis=1) < 0.05
    assert (
        (table["outcome"] == Outcome.GAIN) == both & (table["difference"] > 0)
    ).all()
    assert len(table) == 8
    assert table["p_holm"].tolist() == pytest.approx(
        multipletests(table["p_value"].astype(float), method="holm")[1]
    )


def test_only_instances_that_every_member_answered_count(
    study: pd.DataFrame,
) -> None:
    silent = (study["detector"] == "gpt-5") & study["instance_id"].isin(
        ["numpy_1_fixed", "numpy_2_reproduced"]
    )
    shorter = study.assign(
        n_crash=study["n_crash"].mask(silent, 0),
        n_safe=study["n_safe"].mask(silent, 0),
    )
    table = combine(shorter, [RULES, GPT], rule=VoteRule.MAJORITY)
    assert set(table["n"]) == {220}
    assert set(table["left_out"]) == {2}
    assert set(
        combine(shorter, [RULES, QWEN], rule=VoteRule.MAJORITY)["n"]
    ) == {222}


def test_nothing_is_combined_of_one_member_or_of_strangers(
    study: pd.DataFrame,
) -> None:
    for members in (
        [],
        [RULES],
        [RULES, RULES],
        [RULES, Member("nobody", "code")],
    ):
        assert combine(study, members, rule=VoteRule.MAJORITY).empty
    assert with_rules(
        study, Member("nobody", "code"), rule=VoteRule.MAJORITY
    ).empty


def test_rules_come_first_and_stand_with_the_models_of_one_input(
    study: pd.DataFrame,
) -> None:
    assert rules_in(study) == RULES
    assert rules_in(study[study["detector_kind"] == "llm"]) is None
    assert members_of(study)[:2] == [Member("rules", "code"), RULES]
    assert set(usual_members(study)) == {RULES, GEMINI, QWEN, GPT}
    assert usual_members(study)[0] == RULES
    analyzers = study[study["detector_kind"] == "analyzer"]
    assert usual_members(analyzers) == members_of(analyzers)[:2]


def test_two_have_two_ways() -> None:
    assert ways_for(2) == (Way.ANY, Way.MAJORITY)
    assert ways_for(3) == tuple(Way)


def test_the_smallest_effect_of_interest_decides_outcomes(
    study: pd.DataFrame,
) -> None:
    usual, wide = (
        with_rules(study, RULES, rule=VoteRule.MAJORITY, bound=bound)
        for bound in (0.05, 0.5)
    )
    is_gain = usual["outcome"] == Outcome.GAIN
    assert set(wide.loc[~is_gain, "outcome"]) == {"smaller than 50 points"}
    assert (wide.loc[is_gain, "outcome"] == Outcome.GAIN).all()
