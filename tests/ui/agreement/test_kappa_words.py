"""What is said of a kappa that is negative or far below AC1: what is true of the labels, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crane_core.stats import agreement, cohen_kappa, gwet_ac
from crane_core.stats.agreement_reading import (
    AgainstChance,
    LowKappa,
    against_chance,
    kappa_reading,
    krippendorff_words,
)
from crane_core.ui.agreement.phrases import kappa_words, reading

SCALE = ("correct", "partial", "wrong")
Matrix = tuple[tuple[int, int, int], ...]


def labels_of(matrix: Matrix) -> list[list[str]]:
    return [
        [one, other]
        for one, row in zip(SCALE, matrix, strict=True)
        for other, n in zip(SCALE, row, strict=True)
        for _ in range(n)
    ]


def told(matrix: Matrix) -> str:
    """The sentence about labels with this confusion matrix, one case to an item."""
    labels = labels_of(matrix)
    kappa = agreement.estimate(
        cohen_kappa.NOMINAL, labels, SCALE, np.arange(len(labels)), seed=1
    )
    low, high = (
        None if np.isnan(end) else end for end in (kappa.low, kappa.high)
    )
    counts = pd.DataFrame(
        matrix,
        index=pd.Index(SCALE, name="ada"),
        columns=pd.Index(SCALE, name="bo"),
    )
    return kappa_words(kappa.value, low, high, counts)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        # 46 of 50 alike, nearly all of them "correct": kappa 0.29, AC1 0.91.
        (((45, 2, 0), (2, 1, 0), (0, 0, 0)), LowKappa.SKEWED),
        # One stray label each: kappa -0.03 beside 95% agreement.
        (((38, 1, 0), (1, 0, 0), (0, 0, 0)), LowKappa.SKEWED),
        # 40.0% agreement, 53.3% by chance: kappa -0.29, though "correct" is most of what both give.
        (((12, 7, 2), (7, 0, 0), (1, 1, 0)), LowKappa.LESS_THAN_CHANCE),
        # Each uses all labels alike and they agree on none.
        (((0, 10, 10), (10, 0, 10), (10, 10, 0)), LowKappa.LESS_THAN_CHANCE),
        # Skewed and kappa near 0, but they agree on 56% only: no paradox.
        (((27, 11, 0), (11, 1, 0), (0, 0, 0)), LowKappa.LESS_THAN_CHANCE),
        (((27, 10, 0), (11, 6, 0), (0, 0, 0)), LowKappa.MORE_EXPECTED),
        # Agreement is plain: nothing to explain.
        (((20, 1, 0), (1, 20, 1), (0, 1, 20)), LowKappa.NOTHING),
        # Chance itself, no skew: kappa near 0, AC1 near it.
        (((10, 10, 10), (10, 10, 10), (10, 10, 10)), LowKappa.NOTHING),
    ],
)
def test_a_low_kappa_has_the_reason_that_is_true(
    matrix: Matrix, why: LowKappa
) -> None:
    found = kappa_reading(matrix, None)
    assert found.why is why
    assert found.ac1 == pytest.approx(
        gwet_ac.AC1(labels_of(matrix), SCALE).value
    )
    sentence = told(matrix)
    assert ("skewed" in sentence) == (why is LowKappa.SKEWED)
    assert ("labels of ada" in sentence) == (why is LowKappa.SKEWED)
    assert bool(sentence) == (why is not LowKappa.NOTHING)


def test_an_interval_below_0_is_less_than_chance_whatever_the_skew() -> None:
    matrix = ((380, 10, 0), (10, 0, 0), (0, 0, 0))
    assert kappa_reading(matrix, 0.01).why is LowKappa.SKEWED
    assert kappa_reading(matrix, -0.01).why is LowKappa.LESS_THAN_CHANCE


def test_less_than_chance_says_both_shares_and_what_the_interval_leaves_open() -> (
    None
):
    counts = pd.DataFrame(
        ((12, 7, 2), (7, 0, 0), (1, 1, 0)), index=SCALE, columns=SCALE
    )
    sentence = kappa_words(-0.29, -0.6, 0.05, counts)
    assert (
        "agree on 40.0%, less than the 53.3% that is expected by chance"
        in sentence
    )
    assert "includes 0, so chance may be the reason" in sentence
    assert "may be" not in kappa_words(-0.29, -0.6, -0.1, counts)
    assert "may be" not in kappa_words(-0.29, None, None, counts)


@pytest.mark.parametrize(
    ("interval", "where"),
    [
        ((0.3, 0.1, 0.5), AgainstChance.MORE),
        ((-0.3, -0.5, -0.1), AgainstChance.LESS),
        ((0.1, -0.1, 0.3), AgainstChance.NO_EVIDENCE),
        ((0.1, 0.0, 0.3), AgainstChance.NO_EVIDENCE),
        ((1.0, None, None), AgainstChance.NO_INTERVAL),
        ((1.0, np.nan, np.nan), AgainstChance.NO_INTERVAL),
        ((None, None, None), AgainstChance.UNDEFINED),
        ((np.nan, np.nan, np.nan), AgainstChance.UNDEFINED),
    ],
)
def test_the_interval_decides_where_a_coefficient_lies(
    interval: tuple[float | None, float | None, float | None],
    where: AgainstChance,
) -> None:
    assert against_chance(*interval) is where


def test_each_coefficient_is_read_by_its_own_convention() -> None:
    kappa = {"coefficient": "Cohen's kappa", "value": 0.7, "why": None}
    alpha = kappa | {"coefficient": "Krippendorff's alpha, ordinal"}
    ends = {"low": 0.5, "high": 0.8}
    assert reading(kappa | ends) == (
        "more than chance; substantial (Landis and Koch 1977)"
    )
    assert reading(alpha | {"low": None, "high": None}) == (
        "too few for an interval; enough for tentative conclusions (Krippendorff 2004)"
    )
    assert (
        reading(kappa | {"value": None, "why": "no order"})
        == "not defined, no order"
    )


def test_alpha_is_reliable_from_08_on() -> None:
    assert krippendorff_words(0.8) == "reliable"
    assert krippendorff_words(0.79).startswith("enough for tentative")
    assert krippendorff_words(0.66).startswith("too low")
