"""How often intervals hold the truth if second labels go to uncertain items, and how many labels that saves.

python -m benchmarks.second_label_coverage [--samples 2000]

Campaigns of 600 items of 200 cases: 40 in calibration, the others in four batches, in which 15% have a second label. A
judge differs from the first label at 15% of the items; there, 40% of first labels are wrong, elsewhere 3%. The truth
is the share of new cases. The labels that a uniform draw needs for the same variance of the correction are in
proportion to the variances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import machine, options
from crane_core.stats.two_phase import (
    second_chances,
    systematic_draw,
    two_phase_share,
    unlike_rate,
)

Array = NDArray[np.float64]

N_ITEMS = 600
PER_CASE = 3
SHARE = 0.15
N_FIRST = 40
"""Items of the calibration round, which all have a second label."""
N_BATCHES = 4
P_CORRECT = 0.65
DIFFERS = 0.15
ERRORS = {True: 0.4, False: 0.03}
"""How often a first label is wrong, by whether a judge says otherwise."""


class Campaigns(NamedTuple):
    """Of simulated campaigns: the share of intervals that hold the truth, the mean error, the correction's variance."""

    coverage: float
    bias: float
    variance: float


def campaign(
    rng: np.random.Generator, *, is_adaptive: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """First, final, chance, case and truth of one campaign with calibration and batches."""
    n_cases = N_ITEMS // PER_CASE
    case = np.repeat(np.arange(n_cases), PER_CASE)
    of_case = rng.beta(4 * P_CORRECT, 4 * (1 - P_CORRECT), n_cases)
    truth = (rng.random(N_ITEMS) < of_case[case]).astype(float)
    differs = rng.random(N_ITEMS) < DIFFERS
    is_wrong = rng.random(N_ITEMS) < np.where(
        differs, ERRORS[True], ERRORS[False]
    )
    first = np.where(is_wrong, 1 - truth, truth)
    order = rng.permutation(N_ITEMS)
    chance = np.ones(N_ITEMS)
    has_both = np.zeros(N_ITEMS, dtype=bool)
    has_both[order[:N_FIRST]] = True
    for batch in np.array_split(order[N_FIRST:], N_BATCHES):
        if is_adaptive:
            rates = [
                unlike_rate(int(pairs.sum()), int((pairs & is_wrong).sum()))
                for pairs in (has_both & ~differs, has_both & differs)
            ]
            need = np.array([one.need for one in rates])
            chance[batch] = second_chances(
                need[differs[batch].astype(int)], SHARE
            )
        else:
            chance[batch] = SHARE
        has_both[batch] = systematic_draw(chance[batch], rng.random())
    return first, np.where(has_both, truth, np.nan), chance, case, truth


def simulated(n_campaigns: int, *, is_adaptive: bool) -> Campaigns:
    """Of campaigns with second labels by need, or with as many by a uniform draw."""
    rng = np.random.default_rng(20261128)
    held, off, apart = [], [], []
    for _ in range(n_campaigns):
        first, final, chance, case, truth = campaign(
            rng, is_adaptive=is_adaptive
        )
        found = two_phase_share(first, final, chance, np.ones(N_ITEMS), case)
        held.append(found.low <= P_CORRECT <= found.high)
        off.append(found.value - P_CORRECT)
        apart.append(found.value - truth.mean())
    return Campaigns(
        float(np.mean(held)), float(np.mean(off)), float(np.var(apart))
    )


def main() -> None:
    """Print the coverage of both draws and the labels that the uniform one needs."""
    n_samples = options(__doc__, samples=2_000).samples
    found = {
        name: simulated(n_samples, is_adaptive=name == "adaptive")
        for name in ("adaptive", "uniform")
    }
    for name, one in found.items():
        print(
            f"{name:9} coverage {one.coverage:.3f}, mean error "
            f"{100 * one.bias:+.2f} points"
        )
    ratio = found["uniform"].variance / found["adaptive"].variance
    print(
        f"the uniform draw needs {ratio:.2f} times as many second "
        f"labels for "
        f"the same variance"
    )
    print(f"{n_samples:,} campaigns each; {machine()}")


if __name__ == "__main__":
    main()
