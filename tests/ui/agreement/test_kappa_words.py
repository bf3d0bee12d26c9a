"""What is said of a kappa far below AC1: skewed labels where they are, disagreement where it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crane_core.stats import agreement, cohen_kappa, gwet_ac
from crane_core.ui.agreement.phrases import PairAgreement, kappa_words

SCALE = ("correct", "partial", "wrong")
SKEW, DISAGREEMENT = (
    "because the labels are skewed",
    "This is disagreement, not an effect of skewed labels",
)
Matrix = tuple[tuple[int, int, int], ...]


def told(matrix: Matrix) -> str:
    """The sentence about labels with this confusion matrix, one case to an item."""
    counts = pd.DataFrame(matrix, index=SCALE, columns=SCALE)
    labels = [
        [one, other]
        for one in SCALE
        for other in SCALE
        for _ in range(int(counts.loc[one, other]))
    ]
    cases = np.arange(len(labels))
    kappa = agreement.estimate(
        cohen_kappa.NOMINAL, labels, SCALE, cases, seed=1
    )
    ac1 = gwet_ac.AC1(labels, SCALE).value
    agreed = agreement.PERCENT_AGREEMENT(labels, SCALE).value
    low, high = (
        None if np.isnan(end) else end for end in (kappa.low, kappa.high)
    )
    return kappa_words(
        PairAgreement(kappa.value, low, high, ac1, agreed), counts
    )


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        # 46 of 50 alike, nearly all of them "correct": kappa 0.29, AC1 0.91.
        (((45, 2, 0), (2, 1, 0), (0, 0, 0)), SKEW),
        # One stray label each: kappa -0.03 with an interval up to 0.
        (((38, 1, 0), (1, 0, 0), (0, 0, 0)), SKEW),
        # Kappa -0.29 beside an AC1 of 0.10: the first says "correct" where the second does not.
        (((14, 8, 5), (9, 0, 0), (4, 0, 0)), DISAGREEMENT),
        # Each uses all labels alike and they agree on none.
        (((0, 10, 10), (10, 0, 10), (10, 10, 0)), DISAGREEMENT),
        # Agreement is plain: nothing to explain.
        (((20, 1, 0), (1, 20, 1), (0, 1, 20)), ""),
        # Chance itself, no skew: kappa near 0, AC1 near it.
        (((10, 10, 10), (10, 10, 10), (10, 10, 10)), ""),
    ],
)
def test_kappa_is_explained_by_what_is_there(matrix: Matrix, said: str) -> None:
    sentence = told(matrix)
    assert said in sentence
    assert bool(sentence) == bool(said)
    assert not (SKEW in sentence and DISAGREEMENT in sentence)


def test_the_numbers_are_those_of_the_matrix() -> None:
    sentence = told(((14, 8, 5), (9, 0, 0), (4, 0, 0)))
    # Observed 14 of 40; by chance (27 x 27 + 9 x 8 + 4 x 5) / 40².
    assert (
        "agree on 35.0%, less than the 51.3% that is expected by chance"
        in sentence
    )


def test_without_a_label_that_prevails_skew_is_not_the_reason() -> None:
    """One says "correct" for nearly everything, the other for half of it."""
    found = PairAgreement(0.02, -0.1, 0.15, 0.4, 0.5)
    counts = pd.DataFrame(
        ((24, 1, 0), (20, 5, 0), (0, 0, 0)), index=SCALE, columns=SCALE
    ).T
    sentence = kappa_words(found, counts)
    assert "skewed labels are not the reason" in sentence
    assert SKEW not in sentence


def test_a_negative_kappa_without_an_interval_is_disagreement() -> None:
    sentence = kappa_words(
        PairAgreement(-1.0, None, None, -1 / 3, 0.0),
        pd.DataFrame(((0, 3, 0), (3, 0, 0), (0, 0, 0)), SCALE, SCALE),
    )
    assert DISAGREEMENT in sentence
    assert "–" not in sentence
