"""Gwet's AC1 and AC2 against printed examples, and figures of irrCAC.

irrCAC asks for one old release of scipy, so it cannot stand beside the project: its figures were computed once, by
irrCAC 0.4.4 with the five categories named.
"""

import numpy as np
import pytest

from crane_core.stats import cohen_kappa, gwet_ac
from crane_core.stats.agreement import Statistic

FOUR_RATERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
).T
"""Gwet 2014: 12 subjects, 4 raters, one subject with a single rating (R's irrCAC, cac.raw4raters)."""


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        (gwet_ac.AC1, 0.7754441),
        (gwet_ac.AC2_LINEAR, 0.8587391),
        (gwet_ac.AC2_ORDINAL, 0.8989398),
    ],
)
def test_agrees_with_irrcac_on_gwets_four_raters(
    statistic: Statistic, value: float
) -> None:
    assert statistic(FOUR_RATERS, [1, 2, 3, 4, 5]) == (
        pytest.approx(value, abs=5e-8),
        11,
        None,
    )


def test_printed_example_of_pregnancies() -> None:
    """100 pregnancies, two abstractors (Gwet 2014; the figure as printed in the vignette of R's irrCAC 1.0)."""
    counts = {
        ("e", "e"): 13,
        ("a", "a"): 20,
        ("a", "n"): 7,
        ("n", "a"): 4,
        ("n", "n"): 56,
    }
    labels = [pair for pair, times in counts.items() for _ in range(times)]
    assert gwet_ac.AC1(labels, "ean").value == pytest.approx(0.8493305, abs=5e-8)


def test_hand_worked_ordinal_weights() -> None:
    """Weights 1, 2/3, 0 of three categories: p_a = (1 + 2/3) / 2, pi = (3/4, 1/4, 0), T_w = 17/3."""
    chance = 17 / 3 / 6 * (3 / 4 * 1 / 4 + 1 / 4 * 3 / 4)
    expected = (5 / 6 - chance) / (1 - chance)
    assert gwet_ac.AC2_ORDINAL([["a", "a"], ["a", "b"]], "abc").value == pytest.approx(
        expected
    )


def test_on_two_categories_weights_make_no_difference() -> None:
    labels = [["a", "a"], ["a", "b"], ["b", "b"], ["a", "a"]]
    assert gwet_ac.AC2_LINEAR(labels, "ab").value == pytest.approx(
        gwet_ac.AC1(labels, "ab").value
    )
    assert gwet_ac.AC2_ORDINAL(labels, "ab").value == pytest.approx(
        gwet_ac.AC1(labels, "ab").value
    )


def test_an_unused_category_counts_because_an_annotator_could_have_chosen_it() -> None:
    labels = [["a", "a"], ["a", "b"], ["b", "b"]]
    assert gwet_ac.AC1(labels, "ab").value == pytest.approx(1 / 3)
    assert gwet_ac.AC1(labels, "abc").value == pytest.approx(
        (2 / 3 - 1 / 4) / (1 - 1 / 4)
    )


def test_agreement_where_nearly_all_is_one_label_is_not_lost() -> None:
    """118 of 125 items agree: pi = (0.972, 0.028), so p_e = 0.054432, where kappa is below 0."""
    labels = [["+", "+"]] * 118 + [["+", "-"]] * 5 + [["-", "+"]] * 2
    assert gwet_ac.AC1(labels, "+-").value == pytest.approx(
        (0.944 - 0.054432) / (1 - 0.054432)
    )
    assert cohen_kappa.NOMINAL(labels, "+-").value == pytest.approx(
        (0.944 - 0.94528) / (1 - 0.94528)
    )
