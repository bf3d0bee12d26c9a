"""Who is right when annotators differ: the model of Dawid and Skene, fitted by expectation maximisation.

Knows places of labels on a scale; refuses to know what a label says. Source: Dawid and Skene 1979, Applied Statistics
28, equations 2.3 to 2.5. Items with a known label are fixed at it and anchor what each annotator means by a label.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crane_core.stats.arrays import Array, floats
from crane_core.stats.resampling import CONFIDENCE, resampled_rows

Places = NDArray[np.intp]
NONE = -1
"""The place of a label that is missing or unknown."""
MOST_STEPS = 500
PRECISE = 1e-8
"""The change of a posterior at which the fit ends."""
SMOOTHING = 0.5
"""Labels added to each cell of a confusion matrix, so that few labels make no annotator certain (Jeffreys)."""
N_REFITS = 200


class LabelModel(NamedTuple):
    """posterior: shape (n_items, n_labels). prior: (n_labels,). confusion: (n_annotators, true, given).

    has_converged: whether the posteriors stopped changing within MOST_STEPS.
    """

    posterior: Array
    prior: Array
    confusion: Array
    has_converged: bool

    @property
    def ability(self) -> Array:
        """The probability that an annotator's label is right, shape (n_annotators,), for labels as frequent as here."""
        right: Array = (
            np.diagonal(self.confusion, axis1=1, axis2=2) @ self.prior
        )
        return right


class Bounds(NamedTuple):
    """Percentile bounds from refits: of posteriors, shape (n_items, n_labels), and of abilities, (n_annotators,)."""

    posterior_low: Array
    posterior_high: Array
    ability_low: Array
    ability_high: Array


def dawid_skene(
    labels: ArrayLike,
    n_labels: int,
    *,
    known: ArrayLike | None = None,
    smoothing: float = SMOOTHING,
) -> LabelModel:
    """The fit. labels: shape (n_items, n_annotators), places 0..n_labels-1, or NONE.

    known: shape (n_items,), the true label of an item, or NONE. Starts from the shares of the labels of each item.
    Raises ValueError without an item, for a place outside of the scale, and for an item without any label.
    """
    given = np.asarray(labels, dtype=np.intp)
    if given.ndim != 2 or not given.size:
        raise ValueError("a label model needs items and annotators")
    truth = _truth(known, len(given))
    places = np.concatenate([given.ravel(), truth])
    if places.min() < NONE or places.max() >= n_labels:
        raise ValueError("a label is not on the scale")
    chosen = _one_hot(given, n_labels)
    votes = chosen.sum(axis=1)
    if not votes.sum(axis=1).all():
        raise ValueError("an item has no label")
    fixed = _one_hot(truth, n_labels)
    is_fixed = truth != NONE
    posterior = votes / votes.sum(axis=1, keepdims=True)
    posterior[is_fixed] = fixed[is_fixed]
    for _ in range(MOST_STEPS):
        prior, confusion = _maximised(chosen, posterior, smoothing)
        following = _expected(chosen, prior, confusion)
        following[is_fixed] = fixed[is_fixed]
        change = float(np.abs(following - posterior).max())
        posterior = following
        if change < PRECISE:
            break
    return LabelModel(posterior, prior, confusion, change < PRECISE)


def refitted(
    labels: ArrayLike,
    n_labels: int,
    cluster: ArrayLike,
    *,
    known: ArrayLike | None = None,
    seed: int,
    n_refits: int = N_REFITS,
) -> Bounds:
    """Bounds of `dawid_skene` from fits on resampled clusters; each fit is applied to the items themselves.

    cluster: shape (n_items,). Raises ValueError as `dawid_skene` does.
    """
    given = np.asarray(labels, dtype=np.intp)
    truth = _truth(known, len(given))
    chosen = _one_hot(given, n_labels)
    posteriors = []
    abilities = []
    for rows in resampled_rows(cluster, seed, n_refits):
        model = dawid_skene(given[rows], n_labels, known=truth[rows])
        posterior = _expected(chosen, model.prior, model.confusion)
        posteriors.append(posterior)
        abilities.append(model.ability)
    return bounds_of(posteriors, abilities)


def bounds_of(posteriors: ArrayLike, abilities: ArrayLike) -> Bounds:
    """Percentiles over refits, whose first axis they are; nan where a refit says nothing of an item."""
    tail = (1 - CONFIDENCE) / 2
    ends = [tail, 1 - tail]
    low, high = np.nanquantile(np.asarray(posteriors), ends, axis=0)
    ability = np.nanquantile(np.asarray(abilities), ends, axis=0)
    return Bounds(low, high, *ability)


def _truth(known: ArrayLike | None, n_items: int) -> Places:
    """The true label of each item, or NONE."""
    if known is None:
        return np.full(n_items, NONE, dtype=np.intp)
    return np.asarray(known, dtype=np.intp)


def _one_hot(places: Places, n_labels: int) -> Array:
    """A further axis of n_labels; all 0 for NONE."""
    is_here = places[..., None] == np.arange(n_labels)
    return floats(is_here)


def _maximised(
    chosen: Array, posterior: Array, smoothing: float
) -> tuple[Array, Array]:
    """Prior and confusion matrices of these posteriors (equations 2.3 and 2.4)."""
    counts = np.einsum("ik,ial->akl", posterior, chosen) + smoothing
    totals = counts.sum(axis=2, keepdims=True)
    # An annotator who never met a label that is true means nothing by it: all labels are equally likely.
    n_labels = counts.shape[2]
    confusion = np.divide(
        counts,
        totals,
        out=np.full_like(counts, 1 / n_labels),
        where=totals > 0,
    )
    return posterior.mean(axis=0), confusion


def _expected(chosen: Array, prior: Array, confusion: Array) -> Array:
    """Posteriors of the items (equation 2.5)."""
    tiny = np.finfo(np.float64).tiny
    log_confusion = np.log(confusion + tiny)
    evidence = np.einsum("ial,akl->ik", chosen, log_confusion)
    log_posterior = np.log(prior + tiny) + evidence
    log_posterior -= log_posterior.max(axis=1, keepdims=True)
    likelihood = np.exp(log_posterior)
    found: Array = likelihood / likelihood.sum(axis=1, keepdims=True)
    return found
