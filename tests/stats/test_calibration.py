"""Calibration against scikit-learn and by hand; intervals hold the truth and never lack width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from crane_core.stats.calibration import (
    brier_score,
    reliability_points,
    risk_coverage_points,
)

ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.55, 0.9, 0.95, 1.0]),
        st.booleans(),
        st.integers(1, 6),
    ),
    min_size=1,
    max_size=60,
)


@given(ANSWERS)
@settings(max_examples=60, deadline=None)
def test_points_are_those_of_scikit_learn(
    answers: list[tuple[float, bool, int]],
) -> None:
    stated, right, case = map(np.array, zip(*answers, strict=True))
    rates, means = calibration_curve(right, stated, n_bins=10, pos_label=1)
    points = reliability_points(stated, right, case)
    assert [point.stated for point in points] == pytest.approx(list(means))
    assert [point.right.value for point in points] == pytest.approx(list(rates))
    assert sum(point.right.n for point in points) == len(answers)
    score = brier_score(stated, right, case)
    expected = brier_score_loss(right, stated, pos_label=1)
    assert score.value == pytest.approx(expected)
    for rate in (score, *(point.right for point in points)):
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        assert rate.low < rate.high


@given(ANSWERS)
@settings(max_examples=60, deadline=None)
def test_the_last_threshold_keeps_every_answer(
    answers: list[tuple[float, bool, int]],
) -> None:
    stated, right, case = map(np.array, zip(*answers, strict=True))
    points = risk_coverage_points(stated, right, case)
    coverages = [point.coverage for point in points]
    assert coverages == sorted(set(coverages)) and coverages[-1] == 1
    assert points[-1].risk.value == pytest.approx(1 - right.mean())
    assert [point.threshold for point in points] == sorted(set(stated))[::-1]


def test_surer_answers_by_hand() -> None:
    stated = [0.9, 0.9, 0.6, 0.6]
    points = risk_coverage_points(stated, [1, 1, 1, 0], [1, 2, 3, 4])
    assert [
        (point.threshold, point.coverage, point.risk.value) for point in points
    ] == [(0.9, 0.5, 0.0), (0.6, 1.0, 0.25)]
    # (0.01 + 0.01 + 0.16 + 0.36) / 4
    score = brier_score(stated, [1, 1, 1, 0], [1, 2, 3, 4])
    assert score.value == pytest.approx(0.135)


def test_many_different_confidences_have_a_point_per_hundredth() -> None:
    """Of 1,000 answers with confidences 0.001 to 1, of which the 500 least sure are wrong."""
    stated = np.arange(1, 1_001) / 1_000
    right = (stated > 0.5).astype(float)
    points = risk_coverage_points(stated, right, np.arange(1_000))
    assert [round(point.coverage, 3) for point in points] == [
        round(share / 100, 3) for share in range(1, 101)
    ]
    assert [points[place].risk.value for place in (0, 49, 99)] == [0, 0, 0.5]
    assert points[74].risk.value == pytest.approx(250 / 750)


def test_without_an_answer_everything_is_undefined() -> None:
    assert np.isnan(brier_score([], [], []).value)
    assert reliability_points([], [], []) == []
    assert risk_coverage_points([], [], []) == []


@pytest.mark.parametrize("stated", [[1.2], [-0.1], [float("nan")], [0.1, 0.2]])
def test_what_is_no_probability_is_refused(stated: list[float]) -> None:
    with pytest.raises(ValueError, match="confidence"):
        brier_score(stated, [1], [1])
