"""How often the 95% intervals of the model over all detectors hold the truth, by how many cases change.

python -m benchmarks.model_coverage [--samples 400]

Pairs of a crashing and a fixed notebook, two detectors, outcomes of a case that depend on each other. The rule that a
detector needs `stats.gee.LEAST_CHANGED` changed cases is lifted here, so that the table says what it is worth: coverage
below it and above it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
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
) -> tuple[int, float] | None:
    """Of two detectors of one effect the fewest changed cases, and the share of intervals that hold; None if unfit."""
    # By detector, whether treated, case and instance.
    right = np.array([outcomes(rng, n_cases, changed) for _ in range(2)])
    detector, treated, case, _ = (
        one.ravel() for one in np.indices(right.shape)
    )
    with patch.object(gee, "LEAST_CHANGED", 1):
        found = gee.odds_ratios(
            right.ravel().astype(float),
            treated == 1,
            detector.astype(str),
            case,
        )
    if found.unfit:
        return None
    n_right = right.sum(axis=3)
    n_changed = (n_right[:, 0] != n_right[:, 1]).sum(axis=1).min()
    true = truth(changed)
    holds = (np.array(found.low) <= true) & (true <= np.array(found.high))
    return int(n_changed), float(holds.mean())


def main() -> None:
    n_samples = options(__doc__, samples=400).samples
    rng = np.random.default_rng(20251018)
    holds: dict[tuple[int, int], list[float]] = defaultdict(list)
    n_unfit = 0
    for n_cases, changed in product(N_CASES, CHANGED):
        for _ in range(n_samples):
            found = sample(rng, n_cases, changed)
            n_unfit += found is None
            for low, high in BANDS:
                if found and low <= found[0] <= high:
                    holds[low, high].append(found[1])
    print("changed cases of the detector with fewest   samples   coverage")
    for (low, high), held in sorted(holds.items()):
        print(f"{f'{low} to {high}':43}{len(held):8,}   {np.mean(held):8.3f}")
    print(f"{n_unfit:,} samples have no model; {machine()}")


if __name__ == "__main__":
    main()
