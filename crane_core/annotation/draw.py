"""From a population to a plan: sample size, allocation, the draw, names of items, orders. The seed decides everything.

Sample size by the paper's Equation 1, proportional allocation over strata, each rounded up (paper, 4.5, table 1: 501
diagnoses give 218, allocated 222). Items of a stratum have equal probability, n_h / N_h.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import NormalDist

from crane_core.annotation.guideline import version_of
from crane_core.annotation.order import annotator_order
from crane_core.annotation.plan import (
    Design,
    Item,
    Kind,
    Overlap,
    Plan,
    Population,
    Stratum,
    Verdict,
    check_name,
    population_sha256,
)
from crane_core.stats.sample_size import Z_95, allocate, required_sample

STRATA = ("detector", "setting", "library", "root_cause")
"""What a sample may be stratified by."""
SEPARATOR = " · "
"""Between the values in a stratum's name."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody asks of a campaign, before chance has spoken."""

    campaign: str
    annotators: tuple[str, ...]
    population: Population
    design: Design = field(default_factory=Design)
    seed: int = 0
    title: str = ""
    blind: bool = True
    created_by: str = ""


def draw_plan(wish: Wish, verdicts: Sequence[Verdict], *, guideline: str, created_at: str, left_out: int) -> Plan:
    """The plan for a population. The same wish, verdicts and seed give the same items, names and orders.

    verdicts: the whole population, in any order. guideline: the text that annotators will read. left_out: verdicts that
    cannot be labelled, for want of a text.
    Raises ValueError where a name, a number or the number of annotators does not do.
    """
    _check(wish)
    ordered = sorted(verdicts, key=lambda verdict: verdict.key)
    groups = _groups(ordered, wish.design.strata)
    required = _required(len(ordered), wish.design)
    sizes = {name: len(group) for name, group in groups.items()}
    sampled = allocate(required, sizes) if wish.design.kind is Kind.SAMPLE else sizes
    drawn = {name: _draw(group, sampled[name], f"{wish.seed}/items/{name}") for name, group in groups.items()}
    shared = allocate(required, sizes) if wish.design.overlap is Overlap.SAMPLE else sampled
    names = list(groups)
    items = tuple(
        Item(item_name(wish, verdict), verdict, place, sampled[name] / sizes[name])
        for place, name in enumerate(names)
        for verdict in drawn[name]
    )
    assigned = _assigned(wish, items, [min(shared[name], sampled[name]) for name in names])
    if len({item.item for item in items}) != len(items):
        raise ValueError("two items have the same name; choose another seed")
    return Plan(
        campaign=wish.campaign,
        title=wish.title or wish.campaign,
        created_at=created_at,
        created_by=wish.created_by,
        population=wish.population,
        population_size=len(ordered),
        population_sha256=population_sha256(ordered),
        left_out=left_out,
        design=wish.design,
        seed=wish.seed,
        annotators=wish.annotators,
        guideline=version_of(guideline),
        guideline_text=guideline,
        blind=wish.blind,
        required=required,
        strata=tuple(_stratum(name, place, sizes, items, assigned) for place, name in enumerate(names)),
        items=items,
        orders={
            annotator: annotator_order(assigned[annotator], seed=f"{wish.seed}/{annotator}", share=wish.design.repeats)
            for annotator in wish.annotators
        },
    )


def item_name(wish: Wish, verdict: Verdict) -> str:
    """Twelve hex digits that tell nothing of the verdict without campaign, seed and the verdict itself."""
    text = "\0".join((wish.campaign, str(wish.seed), *verdict.key))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _check(wish: Wish) -> None:
    check_name(wish.campaign, "a campaign")
    for annotator in wish.annotators:
        check_name(annotator, "an annotator")
    if not wish.annotators or len(set(wish.annotators)) != len(wish.annotators):
        raise ValueError("a campaign needs annotators, each named once")
    design = wish.design
    if not 0 < design.confidence < 1 or not 0 <= design.repeats <= 0.5:
        raise ValueError("confidence must be between 0 and 1, and the share of repeats between 0 and 0.5")
    if unknown := [name for name in design.strata if name not in STRATA]:
        raise ValueError(f"{unknown[0]!r} is not a stratum; choose from {', '.join(STRATA)}")
    if design.overlap is Overlap.SAMPLE and len(wish.annotators) < 2:
        raise ValueError("an overlap sample needs a second annotator")
    if design.overlap is Overlap.SAMPLE and design.kind is Kind.SAMPLE:
        raise ValueError("a sample cannot be sampled again: draw all items, or let every annotator label all")


def _required(population: int, design: Design) -> int:
    """Equation 1. The study's z of 1.96 for 95%, else the normal quantile."""
    z = Z_95 if design.confidence == 0.95 else -NormalDist().inv_cdf((1 - design.confidence) / 2)
    return required_sample(population, z=z, margin=design.margin, p=design.p)


def _groups(verdicts: list[Verdict], strata: tuple[str, ...]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        groups[stratum_name(verdict, strata)].append(verdict)
    return dict(sorted(groups.items()))


def stratum_name(verdict: Verdict, strata: tuple[str, ...]) -> str:
    """The stratum that a verdict falls into: "gpt-5 · code"."""
    return SEPARATOR.join(str(getattr(verdict, name) or "unknown") for name in strata) or "all"


def _draw(group: list[Verdict], n: int, seed: str) -> list[Verdict]:
    return Random(seed).sample(group, n)


def _assigned(wish: Wish, items: tuple[Item, ...], shared: list[int]) -> dict[str, list[str]]:
    """Names of the items that each annotator labels."""
    everything = [item.item for item in items]
    overlap = wish.design.overlap
    if overlap is Overlap.NONE:
        dealt = Random(f"{wish.seed}/dealt").sample(everything, len(everything))
        n = len(wish.annotators)
        return {annotator: dealt[place::n] for place, annotator in enumerate(wish.annotators)}
    first, *others = wish.annotators
    of_stratum: dict[int, list[str]] = defaultdict(list)
    for item in items:
        of_stratum[item.stratum].append(item.item)
    # Items of a stratum stand in the order of the draw, so its first ones are a sample of it.
    second = [name for place, names in sorted(of_stratum.items()) for name in names[: shared[place]]]
    return {first: everything} | {annotator: list(second) for annotator in others}


def _stratum(
    name: str, place: int, sizes: dict[str, int], items: tuple[Item, ...], assigned: dict[str, list[str]]
) -> Stratum:
    mine = {item.item for item in items if item.stratum == place}
    times: dict[str, int] = defaultdict(int)
    for names in assigned.values():
        for item in mine.intersection(names):
            times[item] += 1
    return Stratum(name, sizes[name], len(mine), sum(n > 1 for n in times.values()))
