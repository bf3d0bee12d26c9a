"""What a campaign found: the share of each label among the verdicts that it drew from, with intervals.

An item with a final label represents as many verdicts as its stratum has per such item (Horvitz and Thompson 1952).
Where second labels were drawn by chance, a share is that of first labels, corrected by what second labels changed
(`stats.two_phase`). Knows labels and strata. Refuses to know what a label is worth: `pipeline.judging` counts credit
for Results.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crane_core.annotation.outcome import Final
from crane_core.annotation.plan import Item, Plan
from crane_core.annotation.second import FirstLabel
from crane_core.stats.intervals import RateEstimate, clustered_rate
from crane_core.stats.two_phase import two_phase_share


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


def result_of(
    plan: Plan, finals: Mapping[str, Final], firsts: Mapping[str, FirstLabel]
) -> CampaignResult:
    """finals: the final outcome of every item of the plan, by its name; firsts: the first label of those with one."""
    labelled = _counted(plan, finals, firsts)
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
        return _shares(plan, items, finals, firsts=firsts, weights=weights)

    uncovered = [
        stratum.population
        for place, stratum in enumerate(plan.strata)
        if place not in n_labelled
    ]
    of_groups = [
        GroupShares(*key, shares(items))
        for key, items in sorted(groups.items())
    ]
    return CampaignResult(
        GroupShares(None, None, shares(labelled)),
        # Where second labels are drawn, a group may have none, and so no share.
        tuple(group for group in of_groups if group.n),
        n_population=plan.population_size - sum(uncovered),
        n_open=len(plan.items) - len(labelled),
        n_uncovered=sum(uncovered),
    )


def _counted(
    plan: Plan, finals: Mapping[str, Final], firsts: Mapping[str, FirstLabel]
) -> list[Item]:
    """The items with a final label; where second labels are drawn, those that were drawn for, or labelled by all."""
    drawn_for = plan.second.keys()
    if not drawn_for:
        return [
            item for item in plan.items if finals[item.item].label is not None
        ]
    counting = firsts.keys() & (drawn_for | plan.calibration)
    return [item for item in plan.items if item.item in counting]


def _shares(
    plan: Plan,
    items: Sequence[Item],
    finals: Mapping[str, Final],
    *,
    firsts: Mapping[str, FirstLabel],
    weights: Mapping[int, float],
) -> dict[str, RateEstimate]:
    weight = np.array([weights[item.stratum] for item in items])
    names = [item.item for item in items]
    given = np.array([finals[name].label for name in names], dtype=object)
    cases = [item.verdict.case for item in items]
    drawn = plan.second
    if not drawn:
        return {
            code: clustered_rate(weight * (given == code), weight, cases)
            for code in plan.labels.codes
        }
    first = np.array([firsts[name].label for name in names], dtype=object)
    has_both = [
        firsts[name].is_unlike is not None and finals[name].label is not None
        for name in names
    ]
    # All items of the calibration have a second label.
    chance = [drawn[name].chance if name in drawn else 1.0 for name in names]
    return {
        code: two_phase_share(
            first == code,
            np.where(has_both, given == code, np.nan),
            chance,
            weight,
            cases,
        )
        for code in plan.labels.codes
    }
