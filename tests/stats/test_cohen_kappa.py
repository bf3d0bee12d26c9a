"""Cohen's kappa against scikit-learn and printed examples."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from crane_core.stats import cohen_kappa
from crane_core.stats.agreement import Statistic, Why

SCALE = ["correct", "partial", "wrong", "unused"]
pairs = st.lists(
    st.tuples(st.sampled_from(SCALE[:3]), st.sampled_from(SCALE[:3])),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize(
    ("statistic", "weights"),
    [(cohen_kappa.NOMINAL, None), (cohen_kappa.LINEAR, "linear")],
)
@given(labels=pairs)
def test_agrees_with_scikit_learn(
    statistic: Statistic, weights: str | None, labels: list[tuple[str, str]]
) -> None:
    first, second = zip(*labels, strict=True)
    found = statistic(labels, SCALE)
    if len(set(first + second)) == 1:
        assert math.isnan(found.value)
        assert found.why is Why.NO_VARIATION
    else:
        assert found.value == pytest.approx(
            cohen_kappa_score(first, second, labels=SCALE, weights=weights)
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
    assert cohen_kappa.NOMINAL(labels, "ean").value == pytest.approx(
        0.7964094, abs=5e-8
    )


def test_hand_worked_linear_weights() -> None:
    """Observed distances 0, 0, 1, 2 of 4 items; expected 17 / 16 by the margins (2, 1, 1) and (1, 1, 2)."""
    labels = [
        ["correct", "correct"],
        ["wrong", "wrong"],
        ["partial", "wrong"],
        ["correct", "partial"],
    ]
    expected = (2 * (0 + 1 + 2 * 2) + 1 * (1 + 0 + 2) + 1 * (2 + 1 + 0)) / 16
    assert cohen_kappa.LINEAR(labels, SCALE[:3]).value == pytest.approx(
        1 - (2 / 4) / expected
    )


def test_annotators_who_always_give_one_label_each_do_not_agree_beyond_chance() -> None:
    assert cohen_kappa.NOMINAL([["correct", "wrong"]] * 5, SCALE) == (0, 5, None)


def test_items_that_one_left_unlabelled_do_not_count() -> None:
    labels = [["correct", "correct"], ["wrong", "correct"], ["wrong", "wrong"]]
    more = [*labels, ["wrong", None], [None, "partial"], [None, None]]
    assert cohen_kappa.LINEAR(more, SCALE) == cohen_kappa.LINEAR(labels, SCALE)


def test_an_unused_category_changes_nothing_unless_it_keeps_neighbours_apart() -> None:
    labels = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "a"], ["c", "c"]]
    assert cohen_kappa.NOMINAL(labels, "axbc") == cohen_kappa.NOMINAL(labels, "abc")
    assert cohen_kappa.LINEAR(labels, "abcx") == cohen_kappa.LINEAR(labels, "abc")
    assert cohen_kappa.LINEAR(labels, "axbc").value != pytest.approx(
        cohen_kappa.LINEAR(labels, "abc").value
    )


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


def test_three_annotators_are_refused() -> None:
    with pytest.raises(ValueError, match="two annotators, not 3"):
        cohen_kappa.NOMINAL([["correct", "correct", "wrong"]], SCALE)
