"""Dawid and Skene's model: crowd-kit's posteriors, recovery of simulated abilities, anchors, invalid input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from crane_core.stats.dawid_skene import NONE, dawid_skene, refitted

ABILITIES = (0.9, 0.8, 0.65)
BY_CROWD_KIT = [
    [0.0, 0.0, 1.0], [0.976, 0.0, 0.024], [0.991, 0.0, 0.009], [0.0, 0.145, 0.855],
    [0.961, 0.0, 0.039], [0.959, 0.0, 0.041], [0.0, 0.999, 0.001], [0.0, 0.0, 1.0],
]  # fmt: skip
"""The first posteriors of DawidSkene(n_iter=5000, tol=1e-13) of crowd-kit 1.4.2 on the labels of its test below."""


def simulated(
    seed: int, n: int, abilities: tuple[float, ...], n_labels: int = 3
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Truth and labels, in the draws' order that crowd-kit's figures were made with."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, n_labels, n)
    shape = (n, len(abilities))
    is_right = chance.random(shape) < np.array(abilities)
    others = chance.integers(0, n_labels, shape)
    return truth, np.where(is_right, truth[:, None], others)


def test_the_posteriors_are_those_of_crowd_kit() -> None:
    _, labels = simulated(8, 60, (0.7, 0.6, 0.5, 0.4))
    found = dawid_skene(labels, 3, smoothing=0)
    # Crowd-kit stops by its likelihood, so the posteriors differ in the third digit.
    assert found.posterior[:8] == pytest.approx(
        np.array(BY_CROWD_KIT), abs=0.005
    )


def test_abilities_of_a_simulation_are_found_again() -> None:
    truth, labels = simulated(3, 3_000, ABILITIES)
    found = dawid_skene(labels, 3)
    # Of the labels drawn at random, a third is right by chance.
    right = (labels == truth[:, None]).mean(axis=0)
    assert found.ability == pytest.approx(right, abs=0.03)
    assert found.has_converged
    assert found.posterior.sum(axis=1) == pytest.approx(1)
    votes_right = np.mean(found.posterior.argmax(axis=1) == truth)
    assert votes_right > right.max()


def test_posteriors_are_calibrated_where_the_model_holds() -> None:
    truth, labels = simulated(4, 3_000, (0.6, 0.5, 0.4))
    posterior = dawid_skene(labels, 3).posterior
    surest = posterior.max(axis=1)
    is_right = posterior.argmax(axis=1) == truth
    middle = (surest > 0.6) & (surest < 0.9)
    assert middle.sum() > 300
    assert is_right[middle].mean() == pytest.approx(
        surest[middle].mean(), abs=0.06
    )


def test_gold_items_anchor_two_annotators_who_always_differ() -> None:
    labels = [[0, 1], [1, 0]] * 20
    known = [0, 1] * 5 + [NONE] * 30
    found = dawid_skene(labels, 2, known=known)
    assert found.ability[0] > 0.9 > 0.1 > found.ability[1]
    assert found.posterior[10:].argmax(axis=1).tolist() == [0, 1] * 15
    # Without them, both are as good as each other.
    alone = dawid_skene(labels, 2)
    assert alone.ability == pytest.approx(0.5)


@pytest.mark.slow
def test_bounds_hold_the_ability_of_a_simulation() -> None:
    held = []
    for seed in range(20):
        _, labels = simulated(seed, 120, ABILITIES)
        bounds = refitted(labels, 3, range(120), seed=1, n_refits=60)
        real = np.array(ABILITIES) + (1 - np.array(ABILITIES)) / 3
        held += list(
            (bounds.ability_low <= real) & (real <= bounds.ability_high)
        )
        assert (bounds.posterior_low <= bounds.posterior_high).all()
    assert np.mean(held) > 0.85


@pytest.mark.parametrize(
    ("labels", "why"),
    [([], "items"), ([[0, 3]], "scale"), ([[0, -2]], "scale"), ([[NONE, NONE]], "no label")],
)  # fmt: skip
def test_labels_that_say_nothing_are_refused(
    labels: list[list[int]], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        dawid_skene(labels, 3)
