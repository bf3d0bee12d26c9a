"""Which of several things stand apart on the same instances. Knows pairs that differ; refuses to know why.

Ranks are claimed only as far as the adjusted tests of all pairs reach: a rank range for each, and groups within which
no pair is shown to differ. "Not shown to differ" is not transitive, so a thing may be in several groups.
"""

from itertools import combinations
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, floats
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
    table = np.atleast_2d(floats(right))
    cases = np.asarray(cluster)
    if cases.shape != table.shape[1:]:
        raise ValueError(
            f"{cases.shape} cases for outcomes of shape {table.shape}"
        )
    is_fit = np.isnan(table) | (table == 0) | (table == 1)
    is_yes_or_no = bool(is_fit.all())
    rows = range(len(table))
    raw = [
        _raw(
            table,
            pair,
            cases,
            is_yes_or_no=is_yes_or_no,
            seed=seed,
        )
        for pair in combinations(rows, 2)
    ]
    p_mcnemar = holm([test.p_mcnemar for test in raw])
    p_by_case = holm([test.p_by_case for test in raw])
    found = []
    for test, *p in zip(raw, p_mcnemar, p_by_case, strict=True):
        exact, by_case = map(float, p)
        adjusted = test._replace(
            p_mcnemar=exact,
            p_by_case=by_case,
            outcome=outcome(test.difference, (exact, by_case)),
        )
        found.append(adjusted)
    return found


def _raw(
    table: Array,
    pair: tuple[int, int],
    cases: NDArray[np.generic],
    *,
    is_yes_or_no: bool,
    seed: int,
) -> PairTest:
    """The test before Holm, and so without an outcome."""
    first, second = pair
    difference = table[second] - table[first]
    is_common = ~np.isnan(difference)
    test = PairTest(
        first=first,
        second=second,
        n=int(np.count_nonzero(is_common)),
        n_clusters=0,
        difference=nan,
        p_mcnemar=nan,
        p_by_case=nan,
        outcome=Outcome.NOTHING,
    )
    if not test.n:
        return test
    if is_yes_or_no:
        counts = discordance(
            table[first, is_common] == 1,
            table[second, is_common] == 1,
        )
        exact = mcnemar(counts.only_a, counts.only_b)
        test = test._replace(p_mcnemar=exact)
    difference = difference[is_common]
    cases = cases[is_common]
    return test._replace(
        n_clusters=len(np.unique(cases)),
        difference=float(np.mean(difference)),
        p_by_case=sign_flip(difference, cases, seed=seed),
    )


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
    n_better = table.sum(axis=0)
    n_worse = table.sum(axis=1)
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
    if not len(table):
        return []
    groups = {frozenset(range(len(table)))}
    differing = np.argwhere(np.triu(table, 1))
    for i, j in differing.tolist():
        groups = _largest(_split(groups, i, j))
        if len(groups) > MOST_GROUPS:
            return []
    return sorted(tuple(sorted(group)) for group in groups)


def _split(groups: set[frozenset[int]], i: int, j: int) -> set[frozenset[int]]:
    """Insert: each group that holds both rows becomes two, without the one and without the other."""
    found = set()
    for group in groups:
        if i in group and j in group:
            found |= {group - {i}, group - {j}}
        else:
            found.add(group)
    return found


def _largest(groups: set[frozenset[int]]) -> set[frozenset[int]]:
    """Absorb: the groups that are within no other."""
    found = set()
    for group in groups:
        is_within = any(group < other for other in groups)
        if not is_within:
            found.add(group)
    return found
