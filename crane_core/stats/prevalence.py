"""What a detector's alarms are worth where crashes are rarer than in a benchmark. Knows alarms and a share of crashes.

Half of a benchmark's instances crash; few cells of a working day do. The rates of a detector among crashes and among
other instances are taken to be the same there (as Altman and Bland 1994 take them), its precision is not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan, nan
from typing import NamedTuple

from numpy.typing import ArrayLike

from crane_core.stats import arrays, intervals

_LEAST, _MOST = 1e-6, 1e6
"""Likelihood ratios beyond these are as good as 0 and infinity."""
_STEPS = 50


@dataclass(frozen=True)
class Alarms:
    """Alarms (shares in 0..1) and whether a crash came, of the same n instances, and the case of each."""

    raised: ArrayLike
    is_crash: ArrayLike
    cluster: ArrayLike

    @cached_property
    def _rates(self) -> intervals.ClusteredRates:
        """Summed by case once: an end of an interval is found in a hundred contrasts."""
        raised = arrays.floats(self.raised)
        crash = arrays.floats(self.is_crash)
        wholes = [crash, 1 - crash]
        parts = [raised * whole for whole in wholes]
        return intervals.clustered_rates(parts, wholes, self.cluster)

    def contrast(
        self, of_crashes: float, of_others: float
    ) -> intervals.RateEstimate:
        """A weighted sum of the share of crashes and the share of other instances with an alarm.

        The imaginary case of the interval has the larger weight, so that the interval scales with the weights.
        """
        scale = max(abs(of_crashes), abs(of_others))
        found = self._rates.contrast((of_crashes / scale, of_others / scale))
        return found._replace(
            value=scale * found.value,
            low=scale * found.low,
            high=scale * found.high,
        )


class RatioEstimate(NamedTuple):
    """A value with its 95% interval; nan where undefined, an end may be infinite."""

    value: float
    low: float
    high: float


def likelihood_ratio(alarms: Alarms) -> RatioEstimate:
    """Share of crashes with an alarm over that of other instances; the interval by Fieller's argument, by case.

    Fieller 1954: a ratio k is in the interval if that of (share of crashes) - k (share of others) includes 0.
    """
    found, others = alarms.contrast(1, 0).value, alarms.contrast(0, 1).value
    if isnan(found) or isnan(others) or found == others == 0:
        return RatioEstimate(nan, nan, nan)
    value = found / others if others else inf

    def is_above(ratio: float) -> bool:
        return alarms.contrast(1, -ratio).low > 0

    def is_not_below(ratio: float) -> bool:
        return alarms.contrast(1, -ratio).high >= 0

    middle = min(max(value, _LEAST), _MOST)
    low = _last(is_above, _LEAST, middle) if is_above(_LEAST) else 0.0
    high = inf if is_not_below(_MOST) else _last(is_not_below, middle, _MOST)
    return RatioEstimate(value, low, high)


def _last(holds: Callable[[float], bool], least: float, most: float) -> float:
    """The largest ratio for which it holds, by halving on a logarithmic scale; it holds at `least`, not at `most`."""
    for _ in range(_STEPS):
        middle = (least * most) ** 0.5
        least, most = (middle, most) if holds(middle) else (least, middle)
    return least


def precision_at(ratio: RatioEstimate, base_rate: float) -> RatioEstimate:
    """Share of alarms that are real where a share `base_rate` of cells crashes, with its interval (Bayes).

        precision = b k / (b k + 1 - b),   k the likelihood ratio

    Raises ValueError for a base rate outside 0..1.
    """
    if not 0 < base_rate < 1:
        raise ValueError(
            f"a base rate must be between 0 and 1, not {base_rate}"
        )
    odds = base_rate / (1 - base_rate)
    # k odds / (k odds + 1), written so that an infinite k gives 1.
    return RatioEstimate(
        *(1 / (1 + 1 / (odds * k)) if k else 0.0 for k in ratio)
    )


def net_benefit(
    alarms: Alarms, base_rate: float, threshold: float
) -> intervals.RateEstimate:
    """Net benefit of a look at every alarm, per cell, in units of one crash that is prevented (Vickers and Elkin 2006).

        b (share of crashes with an alarm) - (1 - b) (share of others with one) t / (1 - t)

    threshold: t, the lowest chance of a crash at which a look pays: what a look costs over what a crash costs. A look
    at no cell has a net benefit of 0. Raises ValueError for a threshold outside 0..1.
    """
    odds = _odds(threshold)
    return alarms.contrast(base_rate, -(1 - base_rate) * odds)


def check_all(base_rate: float, threshold: float) -> float:
    """Net benefit of a look at every cell, without a detector."""
    return base_rate - (1 - base_rate) * _odds(threshold)


def _odds(threshold: float) -> float:
    if not 0 < threshold < 1:
        raise ValueError(
            f"a threshold must be between 0 and 1, not {threshold}"
        )
    return threshold / (1 - threshold)
