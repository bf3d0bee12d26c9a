"""How often the 95% intervals of rates and of their differences hold the truth, over simulated cases.

python -m benchmarks.interval_coverage [--samples 2000]

For 1 to 111 cases of one or two instances, five effects (gained minus lost instances) or rates, and three correlations
within a case, with the lowest and highest coverage for each number of cases. Bands: at least 93% everywhere, at most
98% from 20 cases on; few cases may be told with caution. In the last table few instances differ: there every interval
that is valid covers more, so it has no upper band. Exits with 1 where a band is left.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import options
from crane_core.stats.intervals import clustered_difference, clustered_rate

N_CASES = (1, 2, 3, 5, 10, 15, 20, 40, 111)
SHAPES = ((1, 0.0), (2, 0.0), (2, 0.4), (2, 0.8))
"""Instances to a case and their correlation."""
EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.4)
LOST = 0.15
RARELY_LOST = 0.05
RATES = (0.3, 0.5, 0.7, 0.85, 0.95)
LOWEST = 0.93
HIGHEST = 0.98
FROM_CASES = 20
"""From so many on the upper band holds."""
NOISE = 3.0
"""Standard errors of a simulated coverage by which it may leave a band."""

Drawn = NDArray[np.float64]


class Scene(NamedTuple):
    """What is simulated: with `gained` and `lost` a difference, without `lost` a rate."""

    gained: float
    lost: float | None
    n_instances: int
    correlation: float

    @property
    def truth(self) -> float:
        return self.gained if self.lost is None else self.gained - self.lost


def uniform(
    rng: np.random.Generator, n_samples: int, n_cases: int, scene: Scene
) -> Drawn:
    """Shape (n_samples, n_cases * n_instances), instances of a case alike with the scene's correlation."""
    drawn, chance = rng.random((2, n_samples, n_cases, scene.n_instances))
    is_copied = chance < scene.correlation
    copied: Drawn = np.where(is_copied, drawn[:, :, :1], drawn)
    return copied.reshape(n_samples, -1)


def covers(row: Drawn, cases: NDArray[np.int64], scene: Scene) -> bool:
    ones = np.ones(len(row))
    if scene.lost is None:
        found = clustered_rate((row < scene.gained).astype(float), ones, cases)
    else:
        wins, loses = row < scene.gained, row > 1 - scene.lost
        found = clustered_difference(
            loses.astype(float), ones, wins.astype(float), ones, cases
        )
    return found.low <= scene.truth <= found.high


def coverage(n_cases: int, scene: Scene, n_samples: int) -> float:
    rng = np.random.default_rng(20_261_122)
    cases = np.repeat(np.arange(n_cases), scene.n_instances)
    rows = uniform(rng, n_samples, n_cases, scene)
    return float(np.mean([covers(row, cases, scene) for row in rows]))


def is_within(found: list[float], highest: float, n_samples: int) -> bool:
    """Whether coverages are within their band, but for the noise of the simulation."""
    low = LOWEST - noise(LOWEST, n_samples)
    return low <= min(found) and max(found) <= highest + noise(
        highest, n_samples
    )


def noise(level: float, n_samples: int) -> float:
    return NOISE * float(np.sqrt(level * (1 - level) / n_samples))


def scenes() -> dict[str, list[Scene]]:
    """By what is simulated, the last without an upper band."""
    return {
        "Rates": [
            Scene(rate, None, *shape) for rate, shape in product(RATES, SHAPES)
        ],
        **{
            f"Differences, {lost:.0%} of the instances lost": [
                Scene(lost + effect, lost, *shape)
                for effect, shape in product(EFFECTS, SHAPES)
            ]
            for lost in (LOST, RARELY_LOST)
        },
    }


def main() -> int:
    n_samples: int = options(__doc__, samples=2_000).samples
    n_outside = 0
    for title, of_title in scenes().items():
        print(f"{title}: {len(of_title)} scenes, {n_samples:,} samples of each")
        for n_cases in N_CASES:
            found = [coverage(n_cases, one, n_samples) for one in of_title]
            is_bounded = (
                n_cases >= FROM_CASES and of_title[0].lost != RARELY_LOST
            )
            highest = HIGHEST if is_bounded else 1.0
            is_inside = is_within(found, highest, n_samples)
            n_outside += not is_inside
            print(
                f"  {n_cases:3} cases: {min(found):.3f} to {max(found):.3f}  "
                f"(band {LOWEST:.0%} to {highest:.0%})"
                f"{'' if is_inside else ' OUTSIDE'}"
            )
    print(f"{n_outside} rows are outside of their bands")
    return 1 if n_outside else 0


if __name__ == "__main__":
    sys.exit(main())
