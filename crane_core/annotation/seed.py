"""The seed of a plan: with it, the names of items and what a blind campaign hides can be computed."""

from __future__ import annotations

import secrets

SEED_BITS = 53
"""As many bits as every reader of JSON keeps exactly."""
GUESSABLE = 10**9
"""A seed below this can be found by trying them all."""


def fresh_seed() -> int:
    """A seed that cannot be guessed."""
    return GUESSABLE + secrets.randbelow(2**SEED_BITS - GUESSABLE)


def can_be_guessed(seed: int) -> bool:
    """Whether the seed can be found by trying."""
    return abs(seed) < GUESSABLE
