"""Seeds: a fresh one is never one that can be tried out, and JSON readers elsewhere keep it."""

from __future__ import annotations

from crane_core.annotation.seed import GUESSABLE, can_be_guessed, fresh_seed


def test_fresh_seeds_differ_are_not_guessed_and_survive_as_doubles() -> None:
    seeds = {fresh_seed() for _ in range(1_000)}
    assert len(seeds) == 1_000
    assert not any(can_be_guessed(seed) for seed in seeds)
    assert all(int(float(seed)) == seed for seed in seeds)


def test_short_seeds_can_be_guessed_whatever_their_sign() -> None:
    assert [can_be_guessed(seed) for seed in (0, 7, -7, GUESSABLE - 1, GUESSABLE, -GUESSABLE)] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
