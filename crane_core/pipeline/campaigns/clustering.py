"""The effective sample size of a plan: several verdicts belong to one case, and verdicts of one case are alike.

The likeness is estimated from human labels of the plan's population, if the store has some.
"""

from collections import Counter
from math import isnan
from typing import NamedTuple

import pandas as pd

from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.plan import Plan
from crane_core.domain import Label
from crane_core.pipeline.campaigns.campaigns import MatchingVerdicts, population
from crane_core.stats.design_effect import (
    DesignEffect,
    Estimate,
    correlation_of_cases,
    design_effect,
    margin,
)
from crane_core.storage import labels
from crane_core.storage.store import Store

ASSUMED_RHO = (0.1, 0.3, 0.5)
"""Assumed if there are no labels: weak, medium and strong likeness."""
SEED = 0


class Likeness(NamedTuple):
    """How alike "correct" is within a case, estimated from the labels of `source`."""

    rho: Estimate
    source: str


class Weight(NamedTuple):
    """What the items weigh for one rho, and the half width of a share over further cases of this kind."""

    rho: float
    effect: DesignEffect
    margin: float


class Clustering(NamedTuple):
    """`likeness` is None if no label tells; then `weights` has one entry per assumed rho, else one.

    `margin_here` is about the plan's own population, `margin_apart` about further cases, were all items independent.
    """

    n_items: int
    n_cases: int
    likeness: Likeness | None
    weights: tuple[Weight, ...]
    margin_here: float
    margin_apart: float


def clustering(
    store: Store, plan: Plan, found: MatchingVerdicts | None = None
) -> Clustering:
    """The design effect of a plan's items; see `stats.design_effect`.

    found: the plan's population, where the caller has it.
    """
    sizes = list(
        Counter(
            (item.verdict.benchmark, item.verdict.case_id)
            for item in plan.items
        ).values()
    )
    n = len(plan.items)
    likeness = _likeness(
        store, plan, found or population(store, plan.population)
    )
    rhos = [likeness.rho.value] if likeness else list(ASSUMED_RHO)
    return Clustering(
        n_items=n,
        n_cases=len(sizes),
        likeness=likeness,
        weights=tuple(_weight(sizes, rho) for rho in rhos),
        margin_here=margin(n, population=plan.population_size),
        margin_apart=margin(n),
    )


def _weight(sizes: list[int], rho: float) -> Weight:
    effect = design_effect(sizes, rho)
    return Weight(rho, effect, margin(effect.n_effective))


def _likeness(
    store: Store, plan: Plan, found: MatchingVerdicts
) -> Likeness | None:
    """From the person who labelled most of the population; None if there is none or nothing varies."""
    asked = plan.population
    columns = ["instance_id", "detector", "setting", "case_id"]
    verdicts = pd.DataFrame(
        {
            name: [getattr(one, name) for one in found.verdicts]
            for name in columns
        }
    )
    counts = labels.counts_by_case(
        store.cursor(),
        asked.benchmark,
        asked.experiment,
        verdicts,
        label=Label.CORRECT,
        among=DIAGNOSIS_LABELS,
    )
    if counts.empty:
        return None
    n_of = (
        (counts["n_labels"] * counts["n_cases"])
        .groupby(counts["annotator"])
        .sum()
    )
    source = str(min(n_of.index, key=lambda name: (-n_of[name], name)))
    mine = counts[counts["annotator"] == source]
    rho = correlation_of_cases(
        mine["n_given"], mine["n_labels"], mine["n_cases"], seed=SEED
    )
    return None if isnan(rho.value) else Likeness(rho, source)
