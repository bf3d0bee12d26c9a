"""Equation 1 and table 1 of the paper: 501 diagnoses, a sample of 218, allocated as 222."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.stats.sample_size import allocate, required_sample

PAPER_STRATA = {
    ("Gemini 2.5 Flash", "-RT"): 90,
    ("Gemini 2.5 Flash", "+RT"): 99,
    ("Qwen2.5-32B-Instruct", "-RT"): 71,
    ("Qwen2.5-32B-Instruct", "+RT"): 74,
    ("GPT-5", "-RT"): 79,
    ("GPT-5", "+RT"): 88,
}


def test_paper_sample_of_218_and_allocation_of_222() -> None:
    assert sum(PAPER_STRATA.values()) == 501
    assert required_sample(501) == 218
    assert list(allocate(218, PAPER_STRATA).values()) == [
        40,
        44,
        31,
        33,
        35,
        39,
    ]
    assert sum(allocate(218, PAPER_STRATA).values()) == 222


def test_an_unlimited_population_needs_cochrans_385() -> None:
    assert required_sample(10**9) == 385
    assert required_sample(0) == 0
    assert required_sample(1) == 1


@given(st.integers(1, 10**6))
def test_a_sample_is_never_larger_than_its_population(population: int) -> None:
    assert 1 <= required_sample(population) <= population


@given(
    st.dictionaries(st.text(max_size=3), st.integers(0, 500), max_size=8),
    st.integers(0, 400),
)
def test_allocation_rounds_every_stratum_up_and_stays_within_it(
    strata: dict[str, int], sample: int
) -> None:
    found = allocate(sample, strata)
    population = sum(strata.values())
    assert found.keys() == strata.keys()
    assert all(found[stratum] <= size for stratum, size in strata.items())
    assert sum(found.values()) >= min(sample, population)
    if population:
        exact = {
            stratum: sample * size / population
            for stratum, size in strata.items()
        }
        assert all(
            found[stratum] <= ceil(exact[stratum] + 1e-9) for stratum in strata
        )


@pytest.mark.parametrize("options", [{"margin": 0}, {"p": 1}, {"margin": 2}])
def test_impossible_designs_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        required_sample(100, **options)
