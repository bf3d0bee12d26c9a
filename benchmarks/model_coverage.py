"""How often the 95% intervals of the model over all detectors hold the truth, by how many cases change.

python -m benchmarks.model_coverage [--samples 400]

Pairs of a crashing and a fixed notebook, two detectors, outcomes of a case that depend on each other. The rule that a
detector needs `stats.gee.LEAST_CHANGED` changed cases is lifted here, so that the table says what it is worth: coverage
below it and above it, and how often the test of two equal effects finds a difference (5% is as it should be).
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks._timing import machine, options
from crane_core.stats import gee

RIGHT, GAINED = 0.6, 0.7
"""Share that is right without runtime state; share of the changed outcomes that become right."""
CHANGED = (0.02, 0.04, 0.06, 0.1, 0.16, 0.25)
N_CASES = (20, 40, 111)
CORRELATION = 0.4
BANDS = ((2, 4), (5, 9), (10, 14), (15, 24), (25, max(N_CASES)))
"""Changed cases from and to."""


class Sample(NamedTuple):
    """The fewest changed cases of a detector, the share of its intervals that hold, whether the test rejects."""

    n_changed: int
    holds: float
    rejects: bool


def outcomes(
    rng: np.random.Generator, n_cases: int, changed: float
) -> tuple[np.ndarray, np.ndarray]:
    """Right or wrong without and with it, shape (n_cases, 2): both instances of a case share what decides at times."""
    shared = rng.random((n_cases, 1)) < CORRELATION
    chance, chance_again = (
        np.where(shared, rng.random((n_cases, 1)), rng.random((n_cases, 2)))
        for _ in range(2)
    )
    without = chance < RIGHT
    to_right = changed * GAINED / (1 - RIGHT)
    to_wrong = changed * (1 - GAINED) / RIGHT
    with_it = np.where(
        without, chance_again >= to_wrong, chance_again < to_right
    )
    return without, with_it


def truth(changed: float) -> float:
    """The odds ratio that the outcomes are drawn with."""
    after = RIGHT + changed * (2 * GAINED - 1)
    return after / (1 - after) / (RIGHT / (1 - RIGHT))


def sample(
    rng: np.random.Generator, n_cases: int, changed: float
) -> Sample | None:
    """One simulated benchmark with two detectors of the same effect; None if there is no model."""
    parts = [outcomes(rng, n_cases, changed) for _ in range(2)]
    right = np.concatenate(
        [side.ravel() for part in parts for side in part]
    ).astype(float)
    treated = np.tile(np.repeat([False, True], 2 * n_cases), 2)
    group = np.repeat(["a", "b"], 4 * n_cases)
    case = np.tile(np.repeat(np.arange(n_cases), 2), 4)
    with patch.object(gee, "LEAST_CHANGED", 1):
        found = gee.odds_ratios(right, treated, group, case)
    if found.unfit:
        return None
    n_changed = min(
        int((a.sum(axis=1) != b.sum(axis=1)).sum()) for a, b in parts
    )
    true = truth(changed)
    holds = (np.array(found.low) <= true) & (true <= np.array(found.high))
    return Sample(n_changed, float(holds.mean()), found.p_value < 0.05)


def main() -> None:
    n_samples = options(__doc__, samples=400).samples
    rng = np.random.default_rng(20251018)
    drawn = [
        sample(rng, n_cases, changed)
        for n_cases, changed in product(N_CASES, CHANGED)
        for _ in range(n_samples)
    ]
    models = [one for one in drawn if one is not None]
    print(
        "changed cases of the detector with fewest   samples   coverage   "
        "test of equal effects finds a difference"
    )
    for low, high in BANDS:
        found = [one for one in models if low <= one.n_changed <= high]
        if found:
            covered = np.mean([one.holds for one in found])
            rejected = np.mean([one.rejects for one in found])
            print(
                f"{f'{low} to {high}':43}{len(found):8,}   "
                f"{covered:8.3f}   "
                f"{rejected:.3f}"
            )
    n_unfit = len(drawn) - len(models)
    print(f"{n_unfit:,} samples have no model; {machine()}")


if __name__ == "__main__":
    main()
