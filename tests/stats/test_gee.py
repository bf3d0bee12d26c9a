"""Odds ratios against 2x2 tables, the Wald test against statsmodels' formula interface, and how often it is wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy.typing import NDArray
from scipy.stats import norm
from statsmodels.stats.contingency_tables import Table2x2

from crane_core.stats.gee import Unfit, odds_ratios


class Answers(NamedTuple):
    right: NDArray[np.float64]
    treated: NDArray[np.bool_]
    group: NDArray[np.str_]
    case: NDArray[np.int64]


def drawn(
    rng: np.random.Generator,
    n_cases: int,
    gains: tuple[float, ...],
    *,
    spread: float = 1.0,
) -> Answers:
    """Two instances of each case, asked of every group with and without the treatment; alike within case and pair."""
    shape = (n_cases, 2, len(gains), 2)
    case, _, group, treated = np.indices(shape)
    alike = rng.normal(0, spread, (n_cases, 1, 1, 1)) + rng.normal(
        0, spread, (n_cases, 2, len(gains), 1)
    )
    chance = 1 / (1 + np.exp(-(0.6 + np.array(gains)[group] * treated + alike)))
    right = (rng.random(shape) < chance).astype(float)
    names = np.array([f"model {index}" for index in range(len(gains))])[group]
    return Answers(
        right.ravel(), treated.ravel() == 1, names.ravel(), case.ravel()
    )


@pytest.fixture(scope="module")
def answers() -> Answers:
    return drawn(np.random.default_rng(3), 60, (0.2, 0.9, 0.5))


def test_odds_ratios_are_those_of_the_2x2_tables(answers: Answers) -> None:
    found = odds_ratios(*answers)
    assert found.groups.tolist() == ["model 0", "model 1", "model 2"]
    assert (found.n, found.n_clusters, found.df, found.unfit) == (
        60 * 2 * 3 * 2,
        60,
        2,
        None,
    )
    for name, ratio, low, high in zip(
        found.groups, found.odds_ratio, found.low, found.high, strict=True
    ):
        mine = answers.group == name
        [a, b], [c, d] = [
            [
                np.sum(
                    answers.right[mine & (answers.treated == with_it)]
                    == is_right
                )
                for is_right in (1, 0)
            ]
            for with_it in (True, False)
        ]
        assert ratio == pytest.approx(a * d / (b * c), rel=1e-6)
        assert ratio == pytest.approx(
            Table2x2(np.array([[a, b], [c, d]])).oddsratio, rel=1e-6
        )
        assert low < ratio < high


def by_formula(answers: Answers) -> sm.genmod.GEEResults:
    """The same model, written with a reference group and its interactions."""
    frame = pd.DataFrame(
        {
            "y": answers.right,
            "t": answers.treated.astype(float),
            "g": answers.group,
        }
    )
    model = smf.gee(
        "y ~ C(g) * t", answers.case, frame, family=sm.families.Binomial()
    )
    return model.fit(cov_type="bias_reduced")


@pytest.mark.parametrize("as_shares", [False, True])
@pytest.mark.parametrize("kept", [1.0, 0.6])
def test_the_wald_test_is_that_of_the_interaction_terms(
    answers: Answers, *, as_shares: bool, kept: float
) -> None:
    """By statsmodels' wald_test, of yes or no and of shares of five runs, also where answers are missing."""
    is_kept = np.random.default_rng(8).random(len(answers.right)) < kept
    answers = Answers(*(array[is_kept] for array in answers))
    if as_shares:
        noise = np.random.default_rng(5).integers(0, 3, len(answers.right)) / 5
        answers = answers._replace(right=np.abs(answers.right - noise))
    found, expected = odds_ratios(*answers), by_formula(answers)
    terms = [name for name in expected.params.index if ":t" in name]
    test = expected.wald_test(
        [f"{name} = 0" for name in terms], scalar=True, use_f=False
    )
    wald = ", ".join(f"{name} = 0" for name in terms)
    assert (
        test.statistic
        == expected.wald_test(wald, scalar=True, use_f=False).statistic
    )
    assert found.chi2 == pytest.approx(float(test.statistic), rel=1e-6)
    assert found.p_value == pytest.approx(float(test.pvalue), rel=1e-6)
    assert found.df == len(terms)
    assert np.log(found.odds_ratio[0]) == pytest.approx(
        expected.params["t"], abs=1e-8
    )
    low, high = np.exp(expected.conf_int().loc["t"])
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), rel=1e-6)


def test_the_variance_of_two_alike_answers_per_case_is_the_one_by_hand() -> (
    None
):
    """Every case answers everything twice, the same: as sure as the cases alone, with Mancl and DeRouen's n / (n - 1).

    Of one group's cell with share p over n cases, the variance of its log odds is sum (y - p)^2 / (n p q)^2, times
    (n / (n - 1))^2; both cells of a case covary by the product of their residuals.
    """
    rng = np.random.default_rng(11)
    n = 40
    wide = (rng.random((n, 2, 2)) < [[0.5, 0.7], [0.6, 0.65]]).astype(float)
    case, _, group, treated = np.indices((n, 2, 2, 2))
    right = np.repeat(wide[:, None], 2, axis=1)
    found = odds_ratios(
        right.ravel(), treated.ravel() == 1, group.ravel(), case.ravel()
    )
    for index in (0, 1):
        share = wide[:, index].mean(axis=0)
        residual = (
            (wide[:, index] - share) / (n * share * (1 - share)) * n / (n - 1)
        )
        reach = norm.ppf(0.975) * np.sqrt(
            np.sum((residual[:, 1] - residual[:, 0]) ** 2)
        )
        log_ratio = np.log(share / (1 - share)) @ [-1, 1]
        expected = np.exp([log_ratio - reach, log_ratio + reach])
        assert [found.low[index], found.high[index]] == pytest.approx(
            expected.tolist(), rel=1e-6
        )


def test_of_groups_that_gain_alike_one_test_in_twenty_says_otherwise() -> None:
    """At 0.05, of 200 draws: 10 are expected, and 2 to 19 are within three standard errors of it."""
    rng = np.random.default_rng(2026)
    found = [
        odds_ratios(*drawn(rng, 60, (0.5, 0.5, 0.5))).p_value
        for _ in range(200)
    ]
    assert 2 <= np.sum(np.array(found) < 0.05) <= 19
    assert np.mean(found) == pytest.approx(0.5, abs=0.06)


def test_groups_that_gain_differently_are_found() -> None:
    assert (
        odds_ratios(*drawn(np.random.default_rng(1), 100, (0.0, 2.0))).p_value
        < 0.01
    )


def test_a_single_group_has_nothing_to_differ_from(answers: Answers) -> None:
    mine = answers.group == "model 0"
    found = odds_ratios(*(array[mine] for array in answers))
    assert (found.unfit, found.df) == (Unfit.ONE_GROUP, 0)
    assert np.isnan([*found.odds_ratio, found.chi2, found.p_value]).all()


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_a_group_that_is_always_right_or_wrong_has_no_odds(
    answers: Answers, outcome: float
) -> None:
    always = (answers.group == "model 1") & answers.treated
    found = odds_ratios(
        *answers._replace(right=np.where(always, outcome, answers.right))
    )
    assert (found.unfit, found.unfit_groups) == (Unfit.SEPARATED, ("model 1",))
    assert np.isnan(found.odds_ratio).all()


@pytest.mark.parametrize(
    ("n_changed", "unfit"),
    [(0, Unfit.FEW_CHANGED), (4, Unfit.FEW_CHANGED), (5, None)],
)
def test_a_treatment_that_changes_little_has_no_interval(
    answers: Answers, n_changed: int, unfit: Unfit | None
) -> None:
    mine = answers.group == "model 2"
    same = answers.right.copy()
    without, with_it = (
        np.flatnonzero(mine & (answers.treated == is_treated))
        for is_treated in (False, True)
    )
    same[with_it] = same[without]
    same[with_it[: 2 * n_changed : 2]] = 1 - same[without[: 2 * n_changed : 2]]
    found = odds_ratios(*answers._replace(right=same))
    assert (found.unfit, found.unfit_groups) == (
        unfit,
        ("model 2",) if unfit else (),
    )


def test_two_groups_with_the_same_outcomes_cannot_be_told_apart(
    answers: Answers,
) -> None:
    same = answers.right.copy()
    same[answers.group == "model 1"] = same[answers.group == "model 0"]
    assert odds_ratios(*answers._replace(right=same)).unfit is Unfit.NO_VARIANCE


def test_too_few_cases_give_no_numbers(answers: Answers) -> None:
    few = odds_ratios(*(array[answers.case < 6] for array in answers))
    assert (few.unfit, few.n_clusters) == (Unfit.FEW_CLUSTERS, 6)
    once = (answers.group != "model 1") | (answers.case == 0)
    lonely = odds_ratios(*(array[once] for array in answers))
    assert (lonely.unfit, lonely.unfit_groups) == (
        Unfit.FEW_CLUSTERS,
        ("model 1",),
    )


def test_what_cannot_be_is_refused(answers: Answers) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        odds_ratios(*answers._replace(right=answers.right * 2))
    with pytest.raises(ValueError, match="unequal lengths"):
        odds_ratios(*answers._replace(case=answers.case[1:]))
