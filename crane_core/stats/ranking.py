"""Which of several things stand apart on the same instances. Knows pairs that differ; refuses to know why.

Ranks are claimed only as far as the adjusted tests of all pairs reach: a rank range for each, and groups within which
no pair is shown to differ. "Not shown to differ" is not transitive, so a thing may be in several groups.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.multiplicity import holm
from crane_core.stats.outcome import Outcome, outcome
from crane_core.stats.paired import discordance, mcnemar
from crane_core.stats.sign_flip import sign_flip

MOST_GROUPS = 200
"""No reader follows more brackets, and their number can grow as a power of the rows."""


class RankRange(NamedTuple):
    """The best and the worst rank, from 1, that the tests leave open."""

    best: int
    worst: int


class PairTest(NamedTuple):
    """Two rows, by place, on the instances that both have.

    difference: the mean outcome of `second` minus that of `first`, nan without a common instance. p_mcnemar: nan where
    outcomes are shares; p_by_case: of the sign-flip test. Both are adjusted by Holm over all pairs. outcome: of second
    against first.
    """

    first: int
    second: int
    n: int
    n_clusters: int
    difference: float
    p_mcnemar: float
    p_by_case: float
    outcome: Outcome


def pair_tests(
    right: ArrayLike,
    cluster: ArrayLike,
    *,
    seed: int,
) -> list[PairTest]:
    """Every pair of rows tested, m (m - 1) / 2 of them, in the order of `itertools.combinations`.

    right: outcomes in 0..1, shape (m, n), one column per instance, nan where a row has none. cluster: the case of each
    instance, shape (n,). McNemar's exact test is made where all outcomes are 0 or 1, the sign-flip test always.
    """
    table = np.atleast_2d(np.asarray(right, dtype=np.float64))
    cases = np.asarray(cluster)
    if cases.shape != table.shape[1:]:
        raise ValueError(
            f"{cases.shape} cases for outcomes of shape {table.shape}"
        )
    is_yes_or_no = bool((np.isnan(table) | (table == 0) | (table == 1)).all())
    pairs = list(combinations(range(len(table)), 2))
    raw = [
        _raw(
            table[first],
            table[second],
            cases,
            is_yes_or_no=is_yes_or_no,
            seed=seed,
        )
        for first, second in pairs
    ]
    p_mcnemar = holm([one[3] for one in raw])
    p_by_case = holm([one[4] for one in raw])
    found = []
    for place, (first, second) in enumerate(pairs):
        n, n_clusters, difference = raw[place][:3]
        p = float(p_mcnemar[place]), float(p_by_case[place])
        decided = outcome(difference, p)
        found.append(
            PairTest(first, second, n, n_clusters, difference, *p, decided)
        )
    return found


def _raw(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    cases: NDArray[np.generic],
    *,
    is_yes_or_no: bool,
    seed: int,
) -> tuple[int, int, float, float, float]:
    """n, cases, difference, and both p-values before Holm."""
    common = ~np.isnan(a) & ~np.isnan(b)
    n, nan = int(np.count_nonzero(common)), float("nan")
    if not n:
        return 0, 0, nan, nan, nan
    a, b, cases = a[common], b[common], cases[common]
    exact = nan
    if is_yes_or_no:
        counts = discordance(a == 1, b == 1)
        exact = mcnemar(counts.only_a, counts.only_b)
    by_case = sign_flip(b - a, cases, seed=seed)
    return n, len(np.unique(cases)), float(np.mean(b - a)), exact, by_case


def shown_better(n: int, tests: list[PairTest]) -> NDArray[np.bool_]:
    """Shape (n, n): whether the row is shown to be better than the column, by the outcome of their test."""
    better = np.zeros((n, n), dtype=bool)
    for one in tests:
        better[one.second, one.first] = one.outcome is Outcome.GAIN
        better[one.first, one.second] = one.outcome is Outcome.LOSS
    return better


def rank_ranges(better: ArrayLike) -> list[RankRange]:
    """1 + how many are shown to be better, to m - how many are shown to be worse, for each of m.

    better: shape (m, m), the row is shown to be better than the column. If the tests hold the family-wise error rate at
    5%, all ranges hold the true ranks together with 95% (Al Mohamad, Goeman and van Zwet 2022).
    """
    table = np.asarray(better, dtype=bool)
    n_better, n_worse = table.sum(axis=0), table.sum(axis=1)
    return [
        RankRange(1 + int(above), len(table) - int(below))
        for above, below in zip(n_better, n_worse, strict=True)
    ]


def letter_groups(differs: ArrayLike) -> list[tuple[int, ...]]:
    """The compact letter display: groups of rows, each as large as it can be, in which no pair differs.

    differs: symmetric, shape (m, m). Every pair that does not differ shares a group, and no pair that differs does.
    Insert and absorb (Piepho 2004): begin with one group of all; a pair that differs splits each group that
    holds both; a group within another is dropped. Groups come in the order of their first members; none where there
    would be more than MOST_GROUPS on the way.
    """
    table = np.asarray(differs, dtype=bool)
    groups = {frozenset(range(len(table)))} if len(table) else set()
    for i, j in np.argwhere(np.triu(table, 1)).tolist():
        both = {group for group in groups if i in group and j in group}
        split = {group - {one} for group in both for one in (i, j)}
        groups = (groups - both) | split
        groups = {
            group
            for group in groups
            if not any(group < other for other in groups)
        }
        if len(groups) > MOST_GROUPS:
            return []
    return sorted(tuple(sorted(group)) for group in groups)
