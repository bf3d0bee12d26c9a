"""What a campaign found: the share of each label among the verdicts that it drew from, with intervals.

An item with a final label represents as many verdicts as its stratum has per such item (Horvitz and Thompson 1952).
Knows labels and strata. Refuses to know what a label is worth: `pipeline.judging` counts credit for Results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crane_core.annotation.label_set import LabelSet
from crane_core.annotation.outcome import Final
from crane_core.annotation.plan import Item, Plan
from crane_core.stats.intervals import RateEstimate, clustered_rate


class GroupShares(NamedTuple):
    """The shares of a detector with an input, by code of the label; of all of them where both are None.

    Each estimate is a share in 0..1 over the n items with a final label, weighted, with a 95% interval by case.
    """

    detector: str | None
    setting: str | None
    shares: dict[str, RateEstimate]

    @property
    def n(self) -> int:
        """Items with a final label."""
        return next(iter(self.shares.values())).n

    @property
    def n_cases(self) -> int:
        """Cases of these items."""
        return next(iter(self.shares.values())).n_clusters


class CampaignResult(NamedTuple):
    """The whole, then each detector and input. `n_population`: verdicts that these labels represent.

    n_open: items without a final label. n_uncovered: verdicts of strata in which no item has one.
    """

    whole: GroupShares
    groups: tuple[GroupShares, ...]
    n_population: int
    n_open: int
    n_uncovered: int

    @property
    def is_empty(self) -> bool:
        """Whether no item has a final label."""
        return self.whole.n == 0


def result_of(plan: Plan, finals: Mapping[str, Final]) -> CampaignResult:
    """finals: the final outcome of every item of the plan, by its name."""
    labelled = [item for item in plan.items if finals[item.item].label]
    n_labelled = Counter(item.stratum for item in labelled)
    weights = {
        place: plan.strata[place].population / n
        for place, n in n_labelled.items()
    }
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in labelled:
        verdict = item.verdict
        groups.setdefault((verdict.detector, verdict.setting), []).append(item)

    def shares(items: Sequence[Item]) -> dict[str, RateEstimate]:
        return _shares(items, finals, weights, plan.labels)

    uncovered = [
        stratum.population
        for place, stratum in enumerate(plan.strata)
        if place not in n_labelled
    ]
    return CampaignResult(
        GroupShares(None, None, shares(labelled)),
        tuple(
            GroupShares(*key, shares(items))
            for key, items in sorted(groups.items())
        ),
        n_population=plan.population_size - sum(uncovered),
        n_open=len(plan.items) - len(labelled),
        n_uncovered=sum(uncovered),
    )


def _shares(
    items: Sequence[Item],
    finals: Mapping[str, Final],
    weights: Mapping[int, float],
    labels: LabelSet,
) -> dict[str, RateEstimate]:
    weight = np.array([weights[item.stratum] for item in items])
    given = np.array([finals[item.item].label for item in items], dtype=object)
    cases = [item.verdict.case for item in items]
    return {
        code: clustered_rate(weight * (given == code), weight, cases)
        for code in labels.codes
    }
