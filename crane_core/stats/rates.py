"""Confusion counts and the four rates of the study. Knows arrays; refuses to know records, votes or intervals.

Source: paper, sections 4.4 (formulas), 4.4.1 (detection alone) and 4.4.2 (end to end).

Everything is a ratio of two sums over instances: `confusion_parts` computes each instance's share in the four counts,
`total` adds them up, and a rate is a `Ratio` of counts or, before adding, of arrays (what the clustered bootstrap
of `intervals` takes).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crane_core.stats.arrays import Array, floats

Count = float | Array

DIAGNOSIS_CREDIT = {"correct": 1.0, "wrong": 0.0, "misdetected": 0.0}
"""Credit of an outcome whatever the rule; "partial" depends on the rule, every other word is not an outcome."""


class Confusion(NamedTuple):
    """Counts, or one share per instance in each. `left_out` counts instances without an answer or a diagnosis."""

    tp: Count
    fp: Count
    tn: Count
    fn: Count
    left_out: Count


class Ratio(NamedTuple):
    """A rate as part / whole, so that n travels with it and exact arithmetic stays possible."""

    part: Count
    whole: Count

    @property
    def value(self) -> float:
        """The rate in 0..1 from the sums of both; nan when the whole is 0 (nothing to have a rate of)."""
        whole = float(np.sum(self.whole))
        return float(np.sum(self.part)) / whole if whole else float("nan")


def diagnosis_credit(
    outcomes: Iterable[str | None], *, partial: float = 0.0
) -> Array:
    """Credit per instance for the diagnosis, in 0..1, from outcome words.

    correct 1, wrong and misdetected 0, partial as given: 0 is the paper's strict rule (section 4.4.2), 0.5 is half
    credit. None, "unverifiable" and any other word give nan: not judged.
    """
    known = DIAGNOSIS_CREDIT | {"partial": partial}
    return np.array(
        [known.get(str(outcome), np.nan) for outcome in outcomes],
        dtype=np.float64,
    )


def confusion_parts(
    truth: ArrayLike,
    detected: ArrayLike,
    *,
    credit: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Confusion:
    """Each instance's share in TP, FP, TN and FN; all arrays have shape (n,).

    truth: the target cell crashes. detected: 0/1 from a vote, or the share of runs that predict a crash (mean of
    runs); nan means no answer. credit: share of a detected crash that counts as found, for end-to-end scores; what is
    withheld is a false negative, and without it (None) detection alone counts. weight: weight of the instance.

        TP = w t d c    FN = w t (1 - d c)    FP = w (1 - t) d    TN = w (1 - t)(1 - d)

    An instance without an answer, or a detected crash whose diagnosis has no label (credit nan), adds to
    `left_out` only. Raises ValueError on unequal lengths or values outside 0..1.
    """
    crashes = np.atleast_1d(np.asarray(truth, dtype=bool)).astype(np.float64)
    predicted = _same_length(crashes, detected, "detected")
    credits = (
        np.ones_like(crashes)
        if credit is None
        else _same_length(crashes, credit, "credit")
    )
    weights = (
        np.ones_like(crashes)
        if weight is None
        else _same_length(
            crashes,
            weight,
            "weight",
            upper=np.inf,
        )
    )
    # A missed crash and a safe cell have no diagnosis to judge, so their credit does not matter.
    found = np.where((crashes == 1) & (predicted > 0), predicted * credits, 0.0)
    unknown = np.isnan(predicted) | np.isnan(found)
    used = np.where(unknown, 0.0, weights)
    predicted, found = np.nan_to_num(predicted), np.nan_to_num(found)
    return Confusion(
        tp=used * crashes * found,
        fp=used * (1 - crashes) * predicted,
        tn=used * (1 - crashes) * (1 - predicted),
        fn=used * crashes * (1 - found),
        left_out=np.where(unknown, weights, 0.0),
    )


def _same_length(
    like: Array,
    values: ArrayLike,
    name: str,
    *,
    upper: float = 1.0,
) -> Array:
    array = np.atleast_1d(floats(values))
    if array.shape != like.shape:
        raise ValueError(
            f"{name} has shape {array.shape}, truth has {like.shape}"
        )
    if ((array < 0) | (array > upper)).any():
        raise ValueError(f"{name} must be between 0 and {upper:g}")
    return array


def total(parts: Confusion) -> Confusion:
    """The parts added up over instances."""
    return Confusion(*(float(np.sum(part)) for part in parts))


def confusion(
    truth: ArrayLike,
    detected: ArrayLike,
    *,
    credit: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Confusion:
    """The confusion counts of a set of instances; see `confusion_parts`."""
    return total(
        confusion_parts(
            truth,
            detected,
            credit=credit,
            weight=weight,
        )
    )


def precision(counts: Confusion) -> Ratio:
    """TP / (TP + FP) (paper, 4.4). Undefined (nan) if nothing was predicted."""
    return Ratio(counts.tp, counts.tp + counts.fp)


def recall(counts: Confusion) -> Ratio:
    """TP / (TP + FN) (paper, 4.4). Undefined (nan) if nothing crashes."""
    return Ratio(counts.tp, counts.tp + counts.fn)


def f1(counts: Confusion) -> Ratio:
    """2 TP / (2 TP + FP + FN): the harmonic mean of precision and recall (paper, 4.4).

    The paper's form is 0/0 where TP = 0; this one is 0 there, and nan only where nothing crashes and nothing was
    predicted.
    """
    return Ratio(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn)


def accuracy(counts: Confusion) -> Ratio:
    """(TP + TN) / (TP + FP + TN + FN) (paper, 4.4). Undefined (nan) for no instance."""
    return Ratio(
        counts.tp + counts.tn, counts.tp + counts.fp + counts.tn + counts.fn
    )


RATES = {
    "Precision": precision,
    "Recall": recall,
    "F1": f1,
    "Accuracy": accuracy,
}
"""The rates by the names and in the order that the paper prints."""
