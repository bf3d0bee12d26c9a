"""Labels of several annotators on the same items: what every agreement coefficient is made of, and its interval.

Knows labels on a declared scale; refuses to know who gave them or what they judge. A coefficient is a `Statistic`:
summands per item, and a value from their sums. So all coefficients of the same labels share one count of them by
case and one draw of cases; the files of coefficients (`cohen_kappa`, `krippendorff_alpha`, `gwet_ac`) hold formulas.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats import intervals, resampling
from crane_core.stats.arrays import Array

Codes = NDArray[np.int64]
UNLABELLED = -1

SAME = 1e-12
"""Two values of a coefficient that differ by less differ by rounding only."""


class Why(StrEnum):
    """Why a coefficient has no value, or why its interval says less than it seems to."""

    NO_OVERLAP = "no item has labels of two annotators"
    NO_VARIATION = "all labels are equal, so chance agreement is complete"
    NO_INTERVAL = "no resample of the cases has a value"
    NO_WIDTH = "no interval, because all resamples of the cases give the same value: too little data, not certainty"


class Coefficient(NamedTuple):
    """A coefficient over `n` items with labels of two annotators or more. `why` is set where `value` is nan."""

    value: float
    n: int
    why: Why | None


class AgreementEstimate(NamedTuple):
    """A coefficient with its interval. `n_undefined` resamples had no value; `why` names the reason of a nan."""

    value: float
    low: float
    high: float
    n: int
    n_clusters: int
    n_undefined: int
    why: Why | None


@dataclass(frozen=True, slots=True)
class Statistic:
    """A coefficient in two steps. `name` as pages print it, `source` of its formula.

    summands: codes of shape (n_items, n_annotators) and the number of categories q to shape (n_items, m); column 0
    is 1 for an item that two annotators labelled, else 0. value: their sums over items, shape (..., m), to shape
    (...); nan if the coefficient has none. is_rate: the value is the sum of column 1 over that of column 0, a share of
    the items.
    """

    name: str
    source: str
    summands: Callable[[Codes, int], Array]
    value: Callable[[Array, int], Array]
    is_rate: bool = False

    def __call__(self, labels: ArrayLike, scale: Sequence[str]) -> Coefficient:
        """The coefficient of `labels`, shape (n_items, n_annotators), None or nan if one is missing.

        scale: all categories that an annotator could choose, in order, whether anybody did or not. Raises ValueError
        for a label outside of it and for fewer than two categories.
        """
        sums = self.summands(label_codes(labels, scale), len(scale)).sum(axis=0)
        value = float(self.value(sums, len(scale)))
        return Coefficient(
            value, round(float(sums[0])), _why_undefined(value, sums[0])
        )


def _why_undefined(value: float, n: float) -> Why | None:
    if not np.isnan(value):
        return None
    return Why.NO_VARIATION if n else Why.NO_OVERLAP


def label_codes(labels: ArrayLike, scale: Sequence[str]) -> Codes:
    """Places on the scale, counted from 0, in the shape (n_items, n_annotators) of `labels`; -1 for a missing one."""
    if len(set(scale)) != len(scale) or len(scale) < 2:
        raise ValueError(
            f"a scale needs at least two different categories, not {list(scale)}"
        )
    rows = np.asarray(labels, dtype=object)
    rows = rows.reshape(0, 2) if rows.size == 0 else rows
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(
            f"labels must be items by two or more annotators, not of shape {rows.shape}"
        )
    # nan is the one label that differs from itself.
    given = [None if label != label else label for label in rows.ravel()]
    place = {None: UNLABELLED} | {
        label: code for code, label in enumerate(scale)
    }
    unknown = set(given) - place.keys()
    if unknown:
        raise ValueError(
            f"not on the scale {list(scale)}: {sorted(map(repr, unknown))}"
        )
    return np.array([place[label] for label in given], dtype=np.int64).reshape(
        rows.shape
    )


def confusion_matrix(
    first: ArrayLike,
    second: ArrayLike,
    scale: Sequence[str],
) -> NDArray[np.int64]:
    """Items by the label of the first (rows) and the second annotator (columns), shape (q, q) in the scale's order.

    first, second: shape (n_items,); an item that either left unlabelled is not counted. All zeros without any.
    """
    codes = label_codes(
        np.column_stack(
            [np.asarray(first, dtype=object), np.asarray(second, dtype=object)]
        ),
        scale,
    )
    both = codes[(codes != UNLABELLED).all(axis=1)]
    q = len(scale)
    return np.bincount(both[:, 0] * q + both[:, 1], minlength=q * q).reshape(
        q, q
    )


@dataclass(frozen=True, eq=False, slots=True)
class LabelCounts:
    """Labels counted by case: all that a coefficient and its interval need, however many items there are.

    patterns: the different rows of labels, as codes, shape (n_patterns, n_annotators). by_case: how many items of a
    case have each pattern, one row per kind of case, shape (n_kinds, n_patterns). n_cases: how many cases are of that
    kind, shape (n_kinds,). n_categories: of the scale.
    """

    patterns: Codes
    by_case: Array
    n_cases: Codes
    n_categories: int


def count_labels(
    codes: Codes,
    cluster: ArrayLike,
    n_categories: int,
    weight: ArrayLike | None = None,
) -> LabelCounts:
    """Counts of labels as `label_codes` makes them; cluster: shape (n_items,), the case of each item.

    weight: shape (n_items,), how many items each counts as, where they were drawn with unequal chances; scaled to sum
    to n_items (Hajek 1971). Without it each item counts once.
    """
    patterns, pattern = np.unique(codes, axis=0, return_inverse=True)
    cases, case = np.unique(np.asarray(cluster), return_inverse=True)
    shape = len(cases), len(patterns)
    cell = case * shape[1] + pattern.ravel()
    counted = np.ones(len(codes)) if weight is None else np.asarray(weight)
    counted = counted * (len(codes) / max(counted.sum(), 1.0))
    by_case = np.bincount(
        cell, weights=counted, minlength=shape[0] * shape[1]
    ).reshape(shape)
    # Eleven thousand cases of some labels each differ in a few dozen ways.
    kinds, n_cases = np.unique(by_case, axis=0, return_counts=True)
    return LabelCounts(
        patterns, kinds.astype(np.float64), n_cases, n_categories
    )


def estimate(
    statistic: Statistic,
    labels: ArrayLike,
    scale: Sequence[str],
    cluster: ArrayLike,
    *,
    seed: int,
) -> AgreementEstimate:
    """`estimate_counted` of labels as a `Statistic` takes them; cluster: shape (n_items,), the case of each item."""
    codes = label_codes(labels, scale)
    return estimate_counted(
        statistic, count_labels(codes, cluster, len(scale)), seed=seed
    )


def estimate_counted(
    statistic: Statistic, counts: LabelCounts, *, seed: int
) -> AgreementEstimate:
    """The coefficient with the interval that fits it: of a rate `intervals.rate_of_cases`, else the bootstrap's.

    Resamples of few items often all agree, and an interval from them has no width: of 11 items that agree in 94.5% the
    bootstrap holds the truth in 45% of the samples, Wilson's interval in 97% (benchmarks/agreement_coverage.py).
    """
    if not statistic.is_rate:
        return _bootstrap(
            statistic,
            counts,
            seed,
            resampling.N_RESAMPLES,
        )
    sums = counts.by_case @ statistic.summands(
        counts.patterns, counts.n_categories
    )
    n_labelled, n_agreeing = np.repeat(sums, counts.n_cases, axis=0).T
    found = intervals.rate_of_cases(n_agreeing, n_labelled)
    return AgreementEstimate(
        *found, n_undefined=0, why=None if found.n else Why.NO_OVERLAP
    )


def bootstrap(
    statistic: Statistic,
    labels: ArrayLike,
    scale: Sequence[str],
    cluster: ArrayLike,
    *,
    seed: int,
    n_resamples: int = resampling.N_RESAMPLES,
) -> AgreementEstimate:
    """The coefficient with its BCa interval from resampled clusters (Efron and Tibshirani 1993, section 14.3).

    labels, scale: as a `Statistic` takes them. cluster: shape (n_items,), the case of each item. BCa, because the plain
    percentile interval holds the truth too rarely at 50 items (benchmarks/agreement_coverage.py); its acceleration
    comes from leaving out each cluster in turn. Clusters that add nothing (no labels, or no pairs) are not drawn.
    Resamples without a value are counted and left out. Degenerate: no value is nan throughout; where all resamples
    are alike (one case only, or full agreement) there is no interval, because one without width would claim certainty.
    """
    codes = label_codes(labels, scale)
    counts = count_labels(codes, cluster, len(scale))
    return _bootstrap(statistic, counts, seed, n_resamples)


def _bootstrap(
    statistic: Statistic,
    counts: LabelCounts,
    seed: int,
    n_resamples: int,
) -> AgreementEstimate:
    q = counts.n_categories
    summands = statistic.summands(counts.patterns, q)
    adds = summands.any(axis=1)
    summands = summands[adds]
    by_case = counts.by_case[:, adds]
    # A case without labels would widen the interval by being drawn in the place of one with labels.
    is_drawn = by_case.any(axis=1)
    by_case = by_case[is_drawn]
    n_cases = counts.n_cases[is_drawn]
    whole = n_cases @ by_case @ summands
    value = float(statistic.value(whole, q))
    drawn = statistic.value(
        resampling.resampled_sums(by_case, n_cases, seed, n_resamples)
        @ summands,
        q,
    )
    # Of counts, not of sums: a category without labels must be exactly 0.
    without_one = statistic.value(
        (n_cases @ by_case - by_case) @ summands, q
    ).repeat(n_cases)
    defined = drawn[~np.isnan(drawn)]
    low, high = _bca(
        value,
        defined,
        without_one[~np.isnan(without_one)],
    )
    why = _why_undefined(value, whole[0]) or _why_no_interval(low, high)
    if why is Why.NO_WIDTH:
        low = high = np.nan
    return AgreementEstimate(
        value,
        low,
        high,
        round(float(whole[0])),
        int(n_cases.sum()),
        n_resamples - len(defined),
        why,
    )


def _bca(
    value: float,
    drawn: Array,
    without_one: Array,
) -> resampling.Interval:
    if not len(drawn):
        return resampling.Interval(np.nan, np.nan)
    below = (drawn < value - SAME).sum()
    level = (np.abs(drawn - value) <= SAME).sum()
    share = (below + level / 2) / len(drawn)
    least = 0.5 / len(drawn)
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(share, least), 1 - least))
    reach = normal.inv_cdf((1 + resampling.CONFIDENCE) / 2)
    acceleration = _acceleration(without_one)
    places = []
    for shift in (bias - reach, bias + reach):
        moved = shift / (1 - acceleration * shift)
        places.append(normal.cdf(bias + moved))
    low, high = np.quantile(drawn, places)
    return resampling.Interval(float(low), float(high))


def _acceleration(without_one: Array) -> float:
    """sum d^3 / (6 (sum d^2)^(3/2)) with d the mean of the jackknife values minus each; 0 where they are alike."""
    if not len(without_one):
        return 0.0
    away = without_one.mean() - without_one
    spread = float((away**2).sum())
    return (
        float((away**3).sum()) / (6 * spread**1.5) if spread > SAME**2 else 0.0
    )


def _why_no_interval(low: float, high: float) -> Why | None:
    if np.isnan(low):
        return Why.NO_INTERVAL
    return Why.NO_WIDTH if high - low <= SAME else None


def label_counts(codes: Codes, n_categories: int) -> Array:
    """How many annotators gave each item each category: r_ik, shape (n_items, n_categories)."""
    counts: Array = (codes[:, :, None] == np.arange(n_categories)).sum(
        axis=1, dtype=np.float64
    )
    return counts


def square(sums: Array, n_categories: int) -> Array:
    """The columns after the first as matrices, shape (..., n_categories, n_categories)."""
    matrices: Array = sums[..., 1:].reshape(
        *sums.shape[:-1], n_categories, n_categories
    )
    return matrices


def category_distance(n_categories: int) -> Array:
    """How many steps of the scale lie between two categories, |k - l|, shape (n_categories, n_categories)."""
    places = np.arange(float(n_categories))
    return np.abs(places[:, None] - places)


def agreeing_share(counts: Array, weights: Array) -> Array:
    """Weighted share of the item's pairs of labels that agree, shape (n_items,); 0 with fewer than two labels.

    sum_k r_ik (sum_l w_kl r_il - 1) / (r_i (r_i - 1)), weights of shape (q, q) with 1 on the diagonal.
    """
    n_labels = counts.sum(axis=1)
    agreeing = (counts * (counts @ weights - 1)).sum(axis=1)
    shares = resampling.ratio_of_sums(agreeing, n_labels * (n_labels - 1))
    return np.where(n_labels >= 2, shares, 0.0)


def _pairs(codes: Codes, q: int) -> Array:
    counts = label_counts(codes, q)
    return np.column_stack(
        [counts.sum(axis=1) >= 2, agreeing_share(counts, np.eye(q))]
    )


PERCENT_AGREEMENT = Statistic(
    "Percent agreement",
    "Gwet 2014, observed agreement",
    _pairs,
    lambda sums, q: resampling.ratio_of_sums(sums[..., 1], sums[..., 0]),
    is_rate=True,
)
"""Share of items with equal labels, in 0..1; of more than two annotators the mean share of agreeing pairs.

Defined wherever an item has two labels; not corrected for chance.
"""
