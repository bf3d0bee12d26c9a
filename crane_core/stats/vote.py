"""The majority vote over repeated answers, and how far they agree. Refuses to know who answered or what is true.

Source: paper, section 4.3 (five queries per instance, majority decides). The paper has no word on missing answers:
here an answer that cannot be read is not an answer, and the majority is that of the answered runs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array


class Vote(NamedTuple):
    """Four boolean arrays of one shape; for every instance exactly one is true."""

    crash: NDArray[np.bool_]
    safe: NDArray[np.bool_]
    tie: NDArray[np.bool_]
    unanswered: NDArray[np.bool_]


def answers(
    n_crash: ArrayLike, n_safe: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both counts as integer arrays of one shape. Raises ValueError on a negative count."""
    crash, safe = np.broadcast_arrays(
        np.asarray(n_crash, dtype=np.int64), np.asarray(n_safe, dtype=np.int64)
    )
    if (crash < 0).any() or (safe < 0).any():
        raise ValueError("counts of answers cannot be negative")
    return crash, safe


def majority(n_crash: ArrayLike, n_safe: ArrayLike) -> Vote:
    """The vote per instance: crash iff n_crash > (n_crash + n_safe) / 2.

    Inputs are counts of any one shape. Equal counts are a tie, no count at all is unanswered; neither is a verdict.
    A score that needs one treats a tie as "no crash predicted", because more than half is needed (`vote.crash`),
    and leaves the unanswered out.
    """
    crash, safe = answers(n_crash, n_safe)
    # 0 : 0 is not a tie: there is no vote.
    silent = (crash + safe) == 0
    return Vote(
        crash > safe,
        safe > crash,
        (crash == safe) & ~silent,
        silent,
    )


def unanimous(n_crash: ArrayLike, n_safe: ArrayLike) -> NDArray[np.bool_]:
    """True where at least one run answered and all that answered say the same."""
    crash, safe = answers(n_crash, n_safe)
    no_crash = crash == 0
    no_safe = safe == 0
    one_sided: NDArray[np.bool_] = no_crash ^ no_safe
    return one_sided


def crash_share(n_crash: ArrayLike, n_safe: ArrayLike) -> Array:
    """Share of the answered runs that predict a crash, the mean of answers; nan if none answered."""
    crash, safe = answers(n_crash, n_safe)
    answered = crash + safe
    share = np.full(answered.shape, np.nan)
    np.divide(
        crash,
        answered,
        out=share,
        where=answered > 0,
    )
    return share


class RunPairs(NamedTuple):
    """Shape (n,) each: pairs of runs that say the same, and all pairs. An instance with one run has no pair."""

    agreeing: Array
    pairs: Array


def run_pairs(n_crash: ArrayLike, n_safe: ArrayLike) -> RunPairs:
    """How far the runs of one detector agree with each other about one instance, from their counts by answer.

        pairs(c, s) = (c + s)(c + s - 1) / 2,    agreeing(c, s) = c(c - 1)/2 + s(s - 1)/2

    The rate is the sum of agreeing pairs over the sum of pairs, the observed agreement of Fleiss (1971, equation 3)
    when every instance has the same number of runs. Raises ValueError on a negative count.
    """
    crash, safe = answers(n_crash, n_safe)
    return RunPairs(
        agreeing=_pairs(crash) + _pairs(safe),
        pairs=_pairs(crash + safe),
    )


def _pairs(n: NDArray[np.int64]) -> Array:
    return n * (n - 1) / 2
