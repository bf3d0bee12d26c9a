"""What labels of one case cost when an annotator follows the label before: a model of anchoring and its simulation.

Knows labels 1 and 0 of items in cases. Refuses to know how often annotators follow: that is measured, or assumed.

The model: the items of a case are labelled in a random order, and each but the first repeats the label before it with
probability `followed`, whatever it deserves. Then for items i and j of one case

    E[y_i - y_j] = (1 - followed) (p_i - p_j),    E[mean of the case] = mean of p

so shares keep their expectation and differences within cases shrink. Anchoring: Tversky and Kahneman 1974, Science 185.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats


class AnchoringCost(NamedTuple):
    """`share`: mean label; `difference`: first minus second column of `simulated_anchoring`; each a mean over draws."""

    share: float
    difference: float


def difference_left(followed: float) -> float:
    """The part of a difference between two items of a case that is left; followed in 0..1. Raises ValueError."""
    if not 0 <= followed <= 1:
        raise ValueError("the share of labels that follow must be 0 to 1")
    return 1 - followed


def simulated_anchoring(
    chances: ArrayLike, followed: float, *, seed: int, n_draws: int = 20_000
) -> AnchoringCost:
    """The model drawn `n_draws` times for one case.

    chances: shape (n_items,), n_items at least 2, the probability that each item deserves a 1. Raises ValueError.
    """
    difference_left(followed)
    deserved = floats(chances)
    if deserved.ndim != 1 or len(deserved) < 2:
        raise ValueError("a case needs two items or more")
    labels = _labels(deserved, followed, seed, n_draws)
    means = labels.mean(axis=0)
    difference = means[0] - means[1]
    return AnchoringCost(
        share=float(means.mean()),
        difference=float(difference),
    )


def _labels(deserved: Array, followed: float, seed: int, n_draws: int) -> Array:
    """Shape (n_draws, n_items): the labels of each item, in the order of `deserved`."""
    chance = np.random.default_rng(seed)
    n_items = len(deserved)
    shape = n_draws, n_items
    unshuffled = np.tile(np.arange(n_items), (n_draws, 1))
    orders = chance.permuted(unshuffled, axis=1)
    own = chance.random(shape) < deserved[orders]
    follows = chance.random(shape) < followed
    for place in range(1, n_items):
        own[:, place] = np.where(
            follows[:, place],
            own[:, place - 1],
            own[:, place],
        )
    labels = np.empty(shape)
    np.put_along_axis(labels, orders, own.astype(np.float64), axis=1)
    return labels
