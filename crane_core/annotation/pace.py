"""Time per item and its use: the time left, quick decisions, the shift of labels over time.

Seconds are visible time, measured in the browser, with idle time capped; see `IDLE_CAP_S`.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

IDLE_CAP_S = 300.0
"""A pause counts for five minutes at most (ux: annotating, 11)."""
QUICK_S = 3.0
"""A label given faster than this is marked as a quick decision."""
N_FOR_ESTIMATE = 5
"""Labels before the time left is estimated."""
N_PARTS = 4


class Pace(NamedTuple):
    """One annotator's speed. `median_s` and `seconds_left` are None while there are too few labels."""

    n: int
    median_s: float | None
    total_s: float
    seconds_left: float | None
    n_quick: int


class Part(NamedTuple):
    """One stretch of an annotator's labels, in the order of labelling, with the share of each label in it."""

    first: int
    last: int
    median_s: float
    shares: dict[str, float]


def pace(seconds: Sequence[float], n_left: int) -> Pace:
    """seconds: visible time of each label, idle capped. n_left: items still to label."""
    if not seconds:
        return Pace(0, None, 0.0, None, 0)
    middle = median(seconds)
    left = middle * n_left if len(seconds) >= N_FOR_ESTIMATE else None
    return Pace(
        n=len(seconds),
        median_s=middle,
        total_s=sum(seconds),
        seconds_left=left,
        n_quick=sum(s < QUICK_S for s in seconds),
    )


def drift(
    labels: Sequence[str], seconds: Sequence[float], *, n_parts: int = N_PARTS
) -> list[Part]:
    """The label mix and speed over time, in `n_parts` stretches of equal length; fewer if there are few labels.

    labels and seconds: one entry per label in the order of labelling, of one length.
    """
    n = len(labels)
    edges = sorted({round(n * place / n_parts) for place in range(n_parts + 1)})
    parts = []
    for first, end in pairwise(edges):
        counts = Counter(str(label) for label in labels[first:end])
        size = end - first
        shares = {label: n / size for label, n in sorted(counts.items())}
        middle = median(seconds[first:end])
        parts.append(Part(first + 1, end, middle, shares))
    return parts
