"""The one model against statsmodels' posterior, numerical slopes of its evidence, and estimating equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from crane_core.stats import one_model as fitted
from crane_core.stats.gee import odds_ratios
from crane_core.stats.one_model import FIXED_SD, OneModel, one_model


class Outcomes(NamedTuple):
    right: NDArray[np.float64]
    treated: NDArray[np.bool_]
    detector: list[str]
    case: list[str]
    instance: list[str]
    groups: dict[str, list[str]]


def drawn(n_cases: int, seed: int = 1) -> Outcomes:
    """Two instances per case, two detectors, six groups of cases of which the last is small."""
    rng = np.random.default_rng(seed)
    instance, detector, treated = (
        one.ravel() for one in np.indices((2 * n_cases, 2, 2))
    )
    case = instance // 2
    group = np.minimum(case * 5 // (n_cases - 2), 5)
    gain = rng.normal(0.6, 0.3, 6)
    alike = rng.normal(0, 0.7, n_cases)[case] + rng.normal(0, 0.7, 2 * n_cases)[instance]  # fmt: skip
    chance = expit(0.4 + 0.3 * detector + gain[group] * treated + alike)
    return Outcomes(
        (rng.random(len(chance)) < chance).astype(float),
        treated == 1,
        detector.astype(str).tolist(),
        case.astype(str).tolist(),
        instance.astype(str).tolist(),
        {"group": group.astype(str).tolist()},
    )


@pytest.fixture(scope="module")
def answers() -> Outcomes:
    return drawn(42)


@pytest.fixture(scope="module")
def found(answers: Outcomes) -> OneModel:
    return one_model(*answers)


def design(answers: Outcomes) -> fitted._Design:
    return fitted._design(
        answers.right,
        answers.treated.astype(float),
        *answers[2:],
    )


def test_the_mode_is_that_of_the_posterior_of_statsmodels(
    answers: Outcomes,
) -> None:
    of = design(answers)
    log_sd = np.linspace(-1.0, 0.4, len(of.families))
    mode = fitted._mode(of, log_sd)
    of_families = [family.columns for family in of.families]
    sizes = [len(columns) for columns in of_families]
    order = np.concatenate([np.arange(of.n_fixed), *of_families])
    dense = of.effects.matrix.toarray()[:, order]
    other = BinomialBayesMixedGLM(
        answers.right,
        dense[:, : of.n_fixed],
        sparse.csr_matrix(dense[:, of.n_fixed :]),
        np.repeat(np.arange(len(sizes)), sizes),
        fe_p=FIXED_SD,
    )
    fixed, random = np.split(mode.effects[order], [of.n_fixed])
    slopes = other.logposterior_grad(np.concatenate([fixed, log_sd, random]))
    is_effect = np.ones(len(slopes), dtype=bool)
    is_effect[of.n_fixed : of.n_fixed + len(sizes)] = False
    assert np.abs(slopes[is_effect]).max() < 1e-4


def test_the_slope_of_the_evidence_is_the_numerical_one(
    answers: Outcomes,
) -> None:
    of = design(answers)
    log_sd = np.linspace(-1.0, 0.4, len(of.families))
    step = 1e-4
    numerical = [
        (
            fitted._mode(of, log_sd + move).evidence
            - fitted._mode(of, log_sd - move).evidence
        )
        / (2 * step)
        for move in step * np.eye(len(log_sd))
    ]
    slopes = fitted._evidence_slopes(of, log_sd, fitted._mode(of, log_sd))
    assert slopes == pytest.approx(numerical, abs=1e-3)


@pytest.mark.parametrize("spread", [0.3, 1.0, 1.5])
def test_an_average_over_cases_is_the_integral(spread: float) -> None:
    """Zeger, Liang and Albert's constant, to a hundredth."""
    for linear in (-1.0, 0.3, 2.0):
        exact, _ = quad(
            lambda u, at=linear: expit(at + spread * u) * norm.pdf(u), -9, 9
        )
        close = expit(linear / np.sqrt(1 + fitted._ZEGER * spread**2))
        assert close == pytest.approx(exact, abs=0.01)


def test_odds_ratios_agree_with_the_estimating_equations(
    answers: Outcomes, found: OneModel
) -> None:
    by_gee = odds_ratios(*answers[:4])
    for place in range(2):
        ratio, low, high = found.odds_ratio[place]
        assert by_gee.low[place] < ratio < by_gee.high[place]
        assert low < by_gee.odds_ratio[place] < high


def test_a_small_group_is_drawn_further_towards_the_others(
    found: OneModel,
) -> None:
    gains = found.groups["group"]
    assert gains.names == ("0", "1", "2", "3", "4", "5")
    middle = np.mean(found.detectors.value)
    shrunk = np.abs(gains.value - middle) <= np.abs(gains.observed - middle)
    assert shrunk.sum() >= 5
    width = gains.high - gains.low
    assert width[5] == max(width)
    assert gains.is_expected.all()


def test_the_same_data_give_the_same_digits(answers: Outcomes) -> None:
    one, other = (one_model(*answers) for _ in range(2))
    assert (one.detectors.low == other.detectors.low).all()
    assert one.sd == other.sd


def test_equal_cases_are_fitted_as_one_with_the_same_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = drawn(12)
    copies = range(3)
    answers = Outcomes(
        np.tile(one.right, 3),
        np.tile(one.treated, 3),
        one.detector * 3,
        [f"{case} of {copy}" for copy in copies for case in one.case],
        [f"{name} of {copy}" for copy in copies for name in one.instance],
        {"group": one.groups["group"] * 3},
    )
    of = design(answers)
    kinds, kind_of_case = fitted._kinds_of_cases(of)
    assert kinds.effects.times.sum() == 36
    assert (kinds.effects.times >= 3).all()
    assert len(kind_of_case) == 36
    together = one_model(*answers)

    each = np.arange(36)
    monkeypatch.setattr(fitted, "_kinds_of_cases", lambda of: (of, each))
    apart = one_model(*answers)
    for found, expected in zip(
        (together.detectors, together.groups["group"]),
        (apart.detectors, apart.groups["group"]),
        strict=True,
    ):
        for name, values in expected._asdict().items():
            if name != "names":
                assert getattr(found, name) == pytest.approx(
                    values, rel=1e-10, abs=1e-10
                )
    assert together.sd == pytest.approx(apart.sd, rel=1e-9)


def test_of_groups_that_do_not_differ_the_intervals_hold_the_truth() -> None:
    """Of 12 small studies with six groups each; `benchmarks.one_model_coverage` counts 200."""
    rng = np.random.default_rng(5)
    held = []
    for _ in range(12):
        answers = drawn(22)
        chance = expit(0.4 + 0.6 * answers.treated)
        right = (rng.random(len(chance)) < chance).astype(float)
        gains = one_model(*answers._replace(right=right)).groups["group"]
        truth = expit(1.0) - expit(0.4)
        held += ((gains.low <= truth) & (truth <= gains.high)).tolist()
    assert np.mean(held) >= 0.9


def test_what_cannot_be_is_refused(answers: Outcomes) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        one_model(*answers._replace(right=answers.right * 2))
    with pytest.raises(ValueError, match="unequal lengths"):
        one_model(*answers._replace(case=answers.case[1:]))
    with pytest.raises(ValueError, match="with or without"):
        one_model(*answers._replace(treated=np.ones_like(answers.treated)))
    with pytest.raises(ValueError, match="of two cases"):
        one_model(*answers._replace(case=["0", *answers.case[:-1]]))
