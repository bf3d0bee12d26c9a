"""How often the 95% intervals of the two models of all answers hold the truth.

python -m benchmarks.one_model_coverage [--samples 200]

Six groups of 1 to 30 cases with a crashing and a fixed notebook each, two detectors, with and without the treatment.
Groups differ in difficulty and in gain; outcomes of a case and of an instance depend on each other. By how many cases a
group has: the interval of its gain in the one model, beside that of the group by itself
(`intervals.clustered_difference`), and the mean error of both. Then the odds ratio of each detector over all cases
(`gee.odds_ratios`). The truth is that of new cases of the groups, over 4,000 drawn ones of each.
"""

from __future__ import annotations

import numpy as np

from benchmarks._timing import machine, options
from crane_core.stats.gee import odds_ratios
from crane_core.stats.intervals import clustered_difference
from crane_core.stats.one_model import one_model

N_CASES = (1, 3, 5, 10, 20, 30)
DETECTORS = np.array([0.3, 0.8])
"""Log odds of being right without the treatment."""
GAIN = 0.5
# Standard deviations of what differs, in log odds.
OF_GROUP = 0.4
OF_GAIN = 0.4
OF_CASE = 0.8
OF_SLOPE = 0.3
OF_INSTANCE = 0.8
N_TRUTH = 4_000


def chances(
    rng: np.random.Generator, base: float, gain: float, n_cases: int
) -> np.ndarray:
    """Of being right, shape (n_cases, 2 instances, 2 detectors, 2 inputs)."""
    case = rng.normal(0, OF_CASE, (n_cases, 1, 1, 1))
    slope = rng.normal(0, OF_SLOPE, (n_cases, 1, 1, 1))
    instance = rng.normal(0, OF_INSTANCE, (n_cases, 2, 1, 1))
    treated = np.array([0.0, 1.0])
    linear = base + DETECTORS[:, None] + (gain + slope) * treated
    return 1 / (1 + np.exp(-(linear + case + instance)))


def sample(rng: np.random.Generator) -> tuple[np.ndarray, list[bool]]:
    """A row per group: whether both intervals hold, and the error of both; then whether odds ratios hold."""
    parts, of_new = [], []
    for n_cases in N_CASES:
        base = rng.normal(0, OF_GROUP)
        gain = rng.normal(GAIN, OF_GAIN)
        of_many = chances(rng, base, gain, N_TRUTH)
        of_new.append(of_many.mean(axis=(0, 1)))
        chance = chances(rng, base, gain, n_cases)
        parts.append((rng.random(chance.shape) < chance).astype(float))
    right = np.concatenate(parts)
    case, version, detector, treated = (
        one.ravel() for one in np.indices(right.shape)
    )
    group = np.repeat(np.arange(len(N_CASES)), N_CASES)[case]
    found = one_model(
        right.ravel(),
        treated == 1,
        detector.astype(str).tolist(),
        case.astype(str).tolist(),
        (2 * case + version).astype(str).tolist(),
        {"group": group.astype(str).tolist()},
    ).groups["group"]
    rows = []
    for place, part in enumerate(parts):
        truth = np.diff(of_new[place].mean(axis=0))[0]
        mine = part.reshape(-1, 2)
        ones = np.ones(len(mine))
        alone = clustered_difference(
            mine[:, 0], ones, mine[:, 1], ones, np.arange(len(mine)) // 4
        )
        rows.append(
            (
                found.low[place] <= truth <= found.high[place],
                alone.low <= truth <= alone.high,
                abs(found.value[place] - truth),
                abs(alone.value - truth),
            )
        )
    ratios = odds_ratios(right.ravel(), treated == 1, detector, case)
    share = np.average(of_new, axis=0, weights=N_CASES)
    odds = share / (1 - share)
    held = [
        low <= after / before <= high
        for low, high, (before, after) in zip(
            ratios.low, ratios.high, odds, strict=True
        )
    ]
    return np.array(rows, dtype=float), held


def main() -> None:
    n_samples = options(__doc__, samples=200).samples
    rng = np.random.default_rng(20251018)
    samples = [sample(rng) for _ in range(n_samples)]
    found = np.mean([rows for rows, _ in samples], axis=0)
    print(
        "cases   coverage: model   alone   mean error in points: model   alone"
    )
    for n_cases, row in zip(N_CASES, found, strict=True):
        model, alone, error, error_alone = row
        print(
            f"{n_cases:5}{model:18.3f}{alone:8.3f}"
            f"{100 * error:30.1f}{100 * error_alone:8.1f}"
        )
    held = np.mean([of_sample for _, of_sample in samples])
    print(f"odds ratios of a detector over all cases: coverage {held:.3f}")
    print(f"{n_samples:,} samples; {machine()}")


if __name__ == "__main__":
    main()
