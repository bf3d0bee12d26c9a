"""Precision at other base rates and net benefit: by hand, by Bayes, and how often the interval holds the truth."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pytest

from crane_core.stats.prevalence import (
    Alarms,
    RatioEstimate,
    check_all,
    likelihood_ratio,
    net_benefit,
    precision_at,
)


def alarms(n_cases: int, found: int, false: int) -> Alarms:
    """Pairs of a crash and a fixed notebook; the first ones have alarms."""
    cases = np.arange(n_cases)
    raised = np.concatenate([cases < found, cases < false])
    is_crash = np.repeat([True, False], n_cases)
    return Alarms(raised.astype(float), is_crash, np.tile(cases, 2))


def test_by_hand() -> None:
    """80 of 100 crashes and 10 of 100 others: of 1,000 cells of which 50 crash, 40 + 95 alarms."""
    some = alarms(100, 80, 10)
    ratio = likelihood_ratio(some)
    assert ratio.value == pytest.approx(8)
    found = precision_at(ratio, 0.05)
    assert found.value == pytest.approx(40 / 135)
    assert found.low < found.value < found.high
    # Vickers and Elkin: 40 true alarms less 95 false ones at odds of 1 to 9.
    net = net_benefit(some, 0.05, 0.1)
    assert net.value == pytest.approx((40 - 95 / 9) / 1000)
    assert check_all(0.05, 0.1) == pytest.approx((50 - 950 / 9) / 1000)


def test_at_the_threshold_of_its_precision_a_look_gains_nothing() -> None:
    some = alarms(60, 40, 15)
    found = precision_at(likelihood_ratio(some), 0.03)
    for value in (found.low, found.value, found.high):
        net = net_benefit(some, 0.03, value)
        touched = {"low": net.low, "value": net.value, "high": net.high}
        assert min(map(abs, touched.values())) == pytest.approx(0, abs=1e-6)


def test_without_a_false_alarm_the_precision_is_still_uncertain() -> None:
    found = precision_at(likelihood_ratio(alarms(30, 20, 0)), 0.05)
    assert (found.value, found.high) == (1, 1)
    assert 0.05 < found.low < 0.9


def test_without_an_alarm_there_is_no_precision() -> None:
    ratio = likelihood_ratio(alarms(30, 0, 0))
    assert isnan(ratio.value)
    assert isnan(precision_at(ratio, 0.05).value)
    assert precision_at(RatioEstimate(inf, 0, inf), 0.5) == (1, 0, 1)


@pytest.mark.parametrize("share", [0, 1, -0.1, 2])
def test_shares_outside_are_refused(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        precision_at(RatioEstimate(1, 1, 1), share)
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_all(0.5, share)


@pytest.mark.parametrize("n_cases", [15, 60])
def test_the_interval_holds_the_truth(n_cases: int) -> None:
    """100 studies whose two notebooks of a case are alike: 0.7 of crashes and 0.2 of others have an alarm."""
    rng = np.random.default_rng(5)
    truth = precision_at(RatioEstimate(3.5, 3.5, 3.5), 0.05).value
    n_held = 0
    for _ in range(100):
        # The same draw for both notebooks of a case makes them as alike as they can be.
        drawn = rng.random(n_cases)
        raised = np.concatenate([drawn < 0.7, drawn < 0.2]).astype(float)
        is_crash = np.repeat([True, False], n_cases)
        of = Alarms(raised, is_crash, np.tile(np.arange(n_cases), 2))
        found = precision_at(likelihood_ratio(of), 0.05)
        n_held += found.low <= truth <= found.high
    assert n_held >= 90
