"""What may be said of a coefficient of agreement: where it lies against chance, and why a kappa is low.

Knows values, intervals and a confusion matrix; refuses to know annotators and words. No test is made: the 95% interval
decides. Kappa is below 0 exactly where two annotators agree less often than chance at their own frequencies of the
labels would have it. Skewed labels make a low kappa of high agreement (Feinstein and Cicchetti 1990, J Clin Epidemiol
43, the first paradox); they do not explain one of low agreement.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats
from crane_core.stats.resampling import ratio_of_sums


class AgainstChance(StrEnum):
    """Where the interval of a coefficient lies, whose 0 is agreement by chance."""

    MORE = "more than chance"
    LESS = "less than chance"
    NO_EVIDENCE = "no evidence"
    NO_INTERVAL = "too few for an interval"
    UNDEFINED = "not defined"


def against_chance(
    value: float | None, low: float | None, high: float | None
) -> AgainstChance:
    """By the value and the ends of its 95% interval, None or nan where there is none."""
    if value is None or np.isnan(value):
        return AgainstChance.UNDEFINED
    if low is None or high is None or np.isnan([low, high]).any():
        return AgainstChance.NO_INTERVAL
    if low > 0:
        return AgainstChance.MORE
    return AgainstChance.LESS if high < 0 else AgainstChance.NO_EVIDENCE


class LowKappa(StrEnum):
    """What a kappa that is negative, or far below AC1, comes from."""

    LESS_THAN_CHANCE = "the two agree less often than chance"
    SKEWED = "the two agree often, and one label is most of what both give"
    MORE_EXPECTED = "kappa expects more agreement by chance than AC1"
    NOTHING = "kappa is neither negative nor far below AC1"


class KappaReading(NamedTuple):
    """Why kappa is low, with shares in 0..1: agreed, expected by chance, and those of the most frequent label.

    most: the place of that label in the matrix; of_first, of_second: its share of each annotator's labels.
    """

    why: LowKappa
    agreed: float
    expected: float
    ac1: float
    most: int
    of_first: float
    of_second: float


FAR_APART = 0.3
"""From this difference of AC1 and kappa on, a reader asks where it comes from."""
SKEW = 2 / 3
"""Labels are skewed where one label is more than this share of the labels of both annotators."""
HIGH = 0.75
"""Agreement is high from this share on. The paradox is of high agreement: two who agree on 40% have none."""


def kappa_reading(counts: ArrayLike, high: float | None) -> KappaReading:
    """`counts`: items by the label of the first (rows) and the second annotator (columns), shape (q, q), not all 0.

    high: the upper end of kappa's 95% interval, None or nan without one.
    """
    shares = floats(counts)
    shares = shares / shares.sum()
    first, second = shares.sum(axis=1), shares.sum(axis=0)
    agreed, expected = float(np.trace(shares)), float(first @ second)
    kappa = float(ratio_of_sums(agreed - expected, 1 - expected))
    most = int((first + second).argmax())
    found = KappaReading(
        why=LowKappa.NOTHING,
        agreed=agreed,
        expected=expected,
        ac1=_ac1(agreed, (first + second) / 2),
        most=most,
        of_first=float(first[most]),
        of_second=float(second[most]),
    )
    is_far_below = found.ac1 - kappa >= FAR_APART
    is_skewed = min(found.of_first, found.of_second) > SKEW
    is_paradox = is_far_below and is_skewed and agreed >= HIGH
    is_shown_negative = high is not None and high < 0
    if is_shown_negative or (kappa < 0 and not is_paradox):
        return found._replace(why=LowKappa.LESS_THAN_CHANCE)
    if is_paradox:
        return found._replace(why=LowKappa.SKEWED)
    if is_far_below:
        return found._replace(why=LowKappa.MORE_EXPECTED)
    return found


def _ac1(agreed: float, prevalence: Array) -> float:
    """Gwet's AC1 of two annotators (`gwet_ac`), from their agreement and the mean share of each label."""
    chance = float((prevalence * (1 - prevalence)).sum()) / (
        len(prevalence) - 1
    )
    return (agreed - chance) / (1 - chance)


RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff 2004, "Content Analysis", p. 241: alpha from 0.8 on; tentative conclusions from 0.667 on."""


def krippendorff_words(alpha: float) -> str:
    """What Krippendorff says of an alpha: a convention, not a test."""
    if alpha >= RELIABLE:
        return "reliable"
    if alpha >= TENTATIVE:
        return "enough for tentative conclusions"
    return "too low even for tentative conclusions"
