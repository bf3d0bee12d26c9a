"""Each coefficient of agreement against libraries, printed examples, and values by hand.

irrCAC asks for one old release of scipy, so it cannot stand beside the project: its figures of Gwet's coefficients were
computed once, by irrCAC 0.4.4 with the five categories named.
"""

import math
from collections.abc import Sequence

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from crane_core.stats import cohen_kappa, gwet_ac, krippendorff_alpha
from crane_core.stats.agreement import Statistic, Why
from crane_core.stats.fleiss_kappa import FLEISS

SCALE = ["correct", "partial", "wrong"]
RATINGS = [1, 2, 3, 4, 5]
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
).T
"""Krippendorff 2011, section C: 12 units, 4 observers, missing values."""
FOUR_RATERS = FOUR_OBSERVERS.copy()
FOUR_RATERS[11] = [None, None, 3, None]
"""Gwet 2014: 12 subjects, 4 raters, one subject with a single rating (R's irrCAC, cac.raw4raters)."""
PREGNANCIES = (
    [("e", "e")] * 13
    + [("a", "a")] * 20
    + [("a", "n")] * 7
    + [("n", "a")] * 4
    + [("n", "n")] * 56
)
"""100 pregnancies, two abstractors (Gwet 2014; its figures as printed in the vignette of R's irrCAC 1.0)."""
TEXTBOOK = [
    category.split()
    for category in (
        "e e e e e e e e e e e e e e", "b b c c c c c c d d d d e e", "c c c d d d d d e e e e e e",
        "b b b c c c c c c c c c d d", "a a b b c c c c c c c c d e", "a a a a a a a b b b b b b b",
        "a a a b b c c c c c c d d d", "a a b b b b b c c c d d e e", "a a a a a a b b b b b c c d",
        "b b c c d d d e e e e e e e",
    )
]  # fmt: skip
"""Ten subjects, fourteen raters, five categories: the worked example of Fleiss' kappa in many textbooks."""
MOSTLY_PLUS = ["++"] * 118 + ["+-"] * 5 + ["-+"] * 2
"""118 of 125 items agree: pi = (0.972, 0.028), so p_e = 0.054432 for AC1, where kappa is below 0."""


def beyond_chance(observed: float, chance: float) -> float:
    return (observed - chance) / (1 - chance)


PRINTED = [
    (cohen_kappa.NOMINAL, PREGNANCIES, "ean", 0.7964094, 5e-8),
    (gwet_ac.AC1, PREGNANCIES, "ean", 0.8493305, 5e-8),
    (FLEISS, TEXTBOOK, "abcde", 0.20993, 5e-6),
    (krippendorff_alpha.NOMINAL, FOUR_OBSERVERS, RATINGS, 0.743, 5e-4),
    (krippendorff_alpha.ORDINAL, FOUR_OBSERVERS, RATINGS, 0.815, 5e-4),
    (gwet_ac.AC1, FOUR_RATERS, RATINGS, 0.7754441, 5e-8),
    (gwet_ac.AC2_LINEAR, FOUR_RATERS, RATINGS, 0.8587391, 5e-8),
    (gwet_ac.AC2_ORDINAL, FOUR_RATERS, RATINGS, 0.8989398, 5e-8),
]
BY_HAND = [
    # Observed distances 0, 0, 1, 2 of 4 items; expected 16 / 16 by the margins (2, 1, 1) and (1, 1, 2).
    (
        cohen_kappa.LINEAR,
        ["aa", "cc", "bc", "ab"],
        "abc",
        1 - (2 / 4) / (16 / 16),
    ),
    # Annotators who always give one label each, but not the same, do not agree more often than by chance.
    (cohen_kappa.NOMINAL, ["ac"] * 5, "abc", 0),
    # Of two annotators it is Scott's pi.
    (
        FLEISS,
        ["aa", "ac", "cc", "cc"],
        "abc",
        beyond_chance(3 / 4, (9 + 25) / 64),
    ),
    # Weights 1, 2/3, 0 of three categories: p_a = (1 + 2/3) / 2, pi = (3/4, 1/4, 0), T_w = 17/3.
    (
        gwet_ac.AC2_ORDINAL,
        ["aa", "ab"],
        "abc",
        beyond_chance(5 / 6, 17 / 18 * 6 / 16),
    ),
    # An unused category counts, because an annotator could have chosen it.
    (gwet_ac.AC1, ["aa", "ab", "bb"], "ab", 1 / 3),
    (gwet_ac.AC1, ["aa", "ab", "bb"], "abc", beyond_chance(2 / 3, 1 / 4)),
    # Agreement where nearly all is one label is not lost.
    (gwet_ac.AC1, MOSTLY_PLUS, "+-", beyond_chance(0.944, 0.054432)),
    (cohen_kappa.NOMINAL, MOSTLY_PLUS, "+-", beyond_chance(0.944, 0.94528)),
]


@pytest.mark.parametrize(
    ("statistic", "labels", "scale", "value", "digits"),
    [*PRINTED, *((*case, 1e-12) for case in BY_HAND)],
)
def test_printed_examples_and_values_by_hand(
    statistic: Statistic,
    labels: Sequence[Sequence[object]],
    scale: Sequence[str],
    value: float,
    digits: float,
) -> None:
    found = statistic([list(row) for row in labels], scale)
    assert found.value == pytest.approx(value, abs=digits)
    assert found.n == sum(
        sum(label is not None for label in row) > 1 for row in labels
    )


two_labels = st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE))


@pytest.mark.parametrize(
    ("statistic", "weights"),
    [(cohen_kappa.NOMINAL, None), (cohen_kappa.LINEAR, "linear")],
)
@given(labels=st.lists(two_labels, min_size=1, max_size=40))
def test_cohens_kappa_is_that_of_scikit_learn(
    statistic: Statistic, weights: str | None, labels: list[tuple[str, str]]
) -> None:
    scale = [*SCALE, "unused"]
    first, second = zip(*labels, strict=True)
    found = statistic(labels, scale)
    if len(set(first + second)) == 1:
        assert math.isnan(found.value)
        assert found.why is Why.NO_VARIATION
    else:
        expected = cohen_kappa_score(
            first, second, labels=scale, weights=weights
        )
        assert found.value == pytest.approx(expected)


four_codes = st.lists(st.integers(0, 2), min_size=4, max_size=4)


@given(st.lists(four_codes, min_size=2, max_size=40))
def test_fleiss_kappa_is_that_of_statsmodels(rows: list[list[int]]) -> None:
    assume(len({code for row in rows for code in row}) > 1)
    counts, _ = aggregate_raters(np.array(rows), n_cat=3)
    labels = [[SCALE[code] for code in row] for row in rows]
    expected = fleiss_of_statsmodels(counts)
    assert FLEISS(labels, SCALE).value == pytest.approx(expected, abs=1e-12)


three_ratings = st.lists(
    st.sampled_from([1, 2, 3, 5, None]), min_size=3, max_size=3
)


@pytest.mark.parametrize(
    ("statistic", "level"),
    [
        (krippendorff_alpha.NOMINAL, "nominal"),
        (krippendorff_alpha.ORDINAL, "ordinal"),
    ],
)
@given(rows=st.lists(three_ratings, min_size=1, max_size=30))
def test_alpha_is_that_of_the_library(
    statistic: Statistic, level: str, rows: list[list[int | None]]
) -> None:
    paired = [row for row in rows if row.count(None) < 2]
    assume(len({label for row in paired for label in row} - {None}) >= 2)
    expected = krippendorff.alpha(
        reliability_data=np.array(rows, dtype=float).T,
        value_domain=RATINGS,
        level_of_measurement=level,
    )
    assert statistic(rows, RATINGS).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("statistic", [gwet_ac.AC2_LINEAR, gwet_ac.AC2_ORDINAL])
def test_on_two_categories_weights_make_no_difference(
    statistic: Statistic,
) -> None:
    labels = [list(row) for row in ("aa", "ab", "bb", "aa")]
    assert statistic(labels, "ab").value == pytest.approx(
        gwet_ac.AC1(labels, "ab").value
    )


@pytest.mark.parametrize(
    "statistic",
    [
        cohen_kappa.LINEAR,
        FLEISS,
        krippendorff_alpha.NOMINAL,
        krippendorff_alpha.ORDINAL,
    ],
)
def test_items_with_one_label_and_unused_categories_change_nothing(
    statistic: Statistic,
) -> None:
    labels = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "a"], ["c", "c"]]
    more = [*labels, ["c", None], [None, "b"], [None, None]]
    assert statistic(more, "abcx") == statistic(labels, "abc")


def test_an_unused_category_keeps_its_neighbours_apart_in_the_linear_kappa() -> (
    None
):
    labels = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "a"], ["c", "c"]]
    assert cohen_kappa.NOMINAL(labels, "axbc") == cohen_kappa.NOMINAL(
        labels, "abc"
    )
    apart, together = (
        cohen_kappa.LINEAR(labels, scale) for scale in ("axbc", "abc")
    )
    assert apart.value != pytest.approx(together.value)


def test_cohens_kappa_refuses_three_annotators() -> None:
    with pytest.raises(ValueError, match="two annotators, not 3"):
        cohen_kappa.NOMINAL([["correct", "correct", "wrong"]], SCALE)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [(-0.01, "poor"), (0, "slight"), (0.2, "slight"), (0.21, "fair"), (0.4, "fair"), (0.41, "moderate"),
     (0.6, "moderate"), (0.61, "substantial"), (0.8, "substantial"), (0.81, "almost perfect"), (1, "almost perfect")],
)  # fmt: skip
def test_words_are_those_of_landis_and_koch(kappa: float, word: str) -> None:
    assert cohen_kappa.landis_koch(kappa) == word


@pytest.mark.parametrize("kappa", [math.nan, 1.1, -2])
def test_what_is_no_kappa_has_no_word(kappa: float) -> None:
    with pytest.raises(ValueError, match="kappa must be"):
        cohen_kappa.landis_koch(kappa)
