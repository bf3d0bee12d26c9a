"""A sample has whole cases, every group's share, and grows without changing; each case is as likely as any other."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from crane_core.pipeline.detection.sampled_cases import (
    CaseSample,
    SampledBy,
    of_sampled_cases,
)

SIZES = {"torch": 12, "pandas": 6, "sklearn": 2}
KNOWN = pd.DataFrame(
    [
        {
            "instance_id": f"{library}_{number}{version}",
            "case_id": f"{library}_{number}",
            "library": library,
            "root_cause": ("api", "data")[number % 2],
        }
        for library, n in SIZES.items()
        for number in range(n)
        for version in ("", "_fixed")
    ]
)
NAMES = sorted(KNOWN["instance_id"])
N_CASES = sum(SIZES.values())


def cases(sample: CaseSample, names: list[str] = NAMES) -> list[str]:
    found = of_sampled_cases(names, KNOWN, sample)
    assert found == [name for name in names if name in set(found)]
    whole = Counter(name.removesuffix("_fixed") for name in found)
    assert set(whole.values()) == {2}
    return list(whole)


@given(
    n=st.integers(1, N_CASES),
    seed=st.integers(0, 999),
    by=st.sampled_from([None, *SampledBy]),
)
def test_a_larger_sample_contains_the_smaller(
    n: int, seed: int, by: SampledBy | None
) -> None:
    larger = cases(CaseSample(n, seed, by))
    assert len(larger) == n
    if n > 1:
        assert set(cases(CaseSample(n - 1, seed, by))) < set(larger)


@given(n=st.integers(1, N_CASES), seed=st.integers(0, 999))
def test_each_group_has_its_share(n: int, seed: int) -> None:
    chosen = cases(CaseSample(n, seed, SampledBy.LIBRARY))
    counts = Counter(case.split("_")[0] for case in chosen)
    for library, size in SIZES.items():
        # One case for each group's random start, and one for the sample's own end.
        assert abs(counts[library] - n * size / N_CASES) < 2


def test_each_case_is_as_likely_as_any_other() -> None:
    n_seeds, n = 600, 5
    times = Counter(
        case
        for seed in range(n_seeds)
        for case in cases(CaseSample(n, seed, SampledBy.LIBRARY))
    )
    counts = [times[case] for case in sorted(set(KNOWN["case_id"]))]
    assert len(counts) == N_CASES
    assert chisquare(counts).pvalue > 0.01


def test_a_limit_takes_the_first_and_a_seed_does_not() -> None:
    first = sorted(set(KNOWN["case_id"]))[:4]
    assert cases(CaseSample(4)) == first
    assert cases(CaseSample(4, 1)) != cases(CaseSample(4, 2))


@pytest.mark.parametrize("n", [3, 99])
def test_it_draws_from_what_the_pattern_left(n: int) -> None:
    torch = [name for name in NAMES if name.startswith("torch")]
    chosen = cases(CaseSample(n, 1, SampledBy.ROOT_CAUSE), torch)
    assert len(chosen) == min(n, SIZES["torch"])
