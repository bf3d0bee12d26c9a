"""How many items a second annotator must see. Knows counts; refuses to draw the sample.

Source: paper, section 4.4.3, Equation 1 (Cochran's size with the correction for a finite population), and section
4.5, table 1, for the allocation: 501 diagnoses give 218, rounded up per stratum 222.
"""

from collections.abc import Mapping
from math import ceil
from typing import TypeVar

Stratum = TypeVar("Stratum")

Z_95 = 1.96
MARGIN = 0.05


def required_sample(
    population: int,
    *,
    z: float = Z_95,
    margin: float = MARGIN,
    p: float = 0.5,
) -> int:
    """Sample size n = N z^2 p (1 - p) / (E^2 (N - 1) + z^2 p (1 - p)), rounded up; 0 of an empty population.

    z: normal quantile of the confidence level; margin: half width E as a share; p: expected share, 0.5 being the
    worst case.
    """
    if population < 0 or not 0 < margin < 1 or not 0 < p < 1:
        raise ValueError(
            "population must be at least 0, and margin and p between 0 and 1"
        )
    spread = z**2 * p * (1 - p)
    return (
        ceil(population * spread / (margin**2 * (population - 1) + spread))
        if population
        else 0
    )


def allocate(sample: int, strata: Mapping[Stratum, int]) -> dict[Stratum, int]:
    """Items per stratum in proportion to its size, each rounded up, so the sum may exceed `sample`.

    Exact integer arithmetic. Never more than a stratum holds (its whole size when `sample` exceeds the population).
    """
    population = sum(strata.values())
    if population == 0:
        return dict.fromkeys(strata, 0)
    return {
        stratum: min(size, -(-sample * size // population))
        for stratum, size in strata.items()
    }
