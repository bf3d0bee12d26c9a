"""From a population to a plan: sample size, allocation, the draw, names of items, orders. The seed decides everything.

Sample size by the paper's Equation 1, proportional allocation over strata, each rounded up (paper, 4.5, table 1: 501
diagnoses give 218, allocated 222). Items of a stratum have equal probability, n_h / N_h.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import NormalDist

from crane_core.annotation.assign import assigned, calibration_first
from crane_core.annotation.guideline import version_of
from crane_core.annotation.label_set import LabelSet, study_labels
from crane_core.annotation.order import annotator_order
from crane_core.annotation.plan import (
    Design,
    Gold,
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
    """The settings of a campaign before the draw."""

    campaign: str
    annotators: tuple[str, ...]
    population: Population
    design: Design = field(default_factory=Design)
    seed: int = 0
    title: str = ""
    blind: bool = True
    created_by: str = ""
    labels: LabelSet = field(default_factory=study_labels)
    gold: tuple[Gold, ...] = ()
    """Not named yet: the draw names them like other items."""
    gold_feedback: bool = False


def draw_plan(wish: Wish, verdicts: Sequence[Verdict], *, guideline: str, created_at: str, left_out: int) -> Plan:
    """The plan for a population. The same wish, verdicts and seed give the same items, names and orders.

    verdicts: the whole population, in any order. guideline: the text that annotators will read. left_out: verdicts that
    cannot be labelled because they have no text. Gold items come with the main round. Raises ValueError if a name, a
    number or the number of annotators is invalid.
    """
    _check(wish)
    gold = tuple(replace(entry, item=item_name(wish, entry.verdict)) for entry in wish.gold)
    ordered = sorted(without_gold(verdicts, gold), key=lambda verdict: verdict.key)
    groups = _groups(ordered, wish.design.strata)
    required = _required(len(ordered), wish.design)
    sizes = {name: len(group) for name, group in groups.items()}
    sampled = allocate(required, sizes) if wish.design.kind is Kind.SAMPLE else sizes
    drawn = {name: _draw(group, sampled[name], f"{wish.seed}/items/{name}") for name, group in groups.items()}
    shared = _shared(required, sizes, sampled, wish.design)
    names = list(groups)
    items = tuple(
        Item(item_name(wish, verdict), verdict, place, sampled[name] / sizes[name])
        for place, name in enumerate(names)
        for verdict in drawn[name]
    )
    n_first = wish.design.calibration
    items = calibration_first(items, n_first, seed=f"{wish.seed}/calibration")
    of_all = [shared[name] for name in names]
    theirs = whole_assignment(items, wish.annotators, wish.design, shared=of_all, seed=wish.seed)
    now = {person: [item.item for item in items[:n_first]] for person in theirs} if n_first else theirs
    if len({item.item for item in items} | {entry.item for entry in gold}) != len(items) + len(gold):
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
        labels=wish.labels,
        blind=wish.blind,
        required=required,
        strata=tuple(_stratum(name, place, sizes, items, theirs) for place, name in enumerate(names)),
        items=items,
        orders={
            person: annotator_order(
                names,
                seed=f"{wish.seed}/{person}",
                share=wish.design.repeats,
                once=() if n_first else [entry.item for entry in gold],
            )
            for person, names in now.items()
        },
        gold=gold,
        gold_feedback=wish.gold_feedback,
    )


def without_gold(verdicts: Sequence[Verdict], gold: Sequence[Gold]) -> list[Verdict]:
    """The verdicts whose label is not known beforehand."""
    known = {entry.verdict.key for entry in gold}
    return [verdict for verdict in verdicts if verdict.key not in known]


def whole_assignment(
    items: Sequence[Item], people: Sequence[str], design: Design, *, shared: Sequence[int], seed: int
) -> dict[str, list[str]]:
    """Who labels what in calibration and main round together; `items` begin with those of the calibration.

    shared: per stratum, how many items several people label where the overlap is SAMPLE, calibration included.
    """
    first, rest = items[: design.calibration], items[design.calibration :]
    more = [max(0, n - sum(item.stratum == place for item in first)) for place, n in enumerate(shared)]
    of_rest = assigned(rest, people, design.overlap, shared=more, per_item=design.per_item, seed=str(seed))
    return {person: [item.item for item in first] + names for person, names in of_rest.items()}


def _shared(required: int, sizes: dict[str, int], sampled: dict[str, int], design: Design) -> dict[str, int]:
    """Per stratum, how many items the others label besides the first annotator; for a sample, again by Equation 1."""
    if design.overlap is not Overlap.SAMPLE:
        return sampled
    if design.kind is Kind.SAMPLE:
        required = _required(sum(sampled.values()), design)
        sizes = sampled
    return {name: min(n, sampled[name]) for name, n in allocate(required, sizes).items()}


def item_name(wish: Wish, verdict: Verdict) -> str:
    """Twelve hex digits that reveal nothing about the verdict without campaign, seed and the verdict itself."""
    text = "\0".join((wish.campaign, str(wish.seed), *verdict.key))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _check(wish: Wish) -> None:
    check_name(wish.campaign, "a campaign")
    for annotator in wish.annotators:
        check_name(annotator, "an annotator")
    if not wish.annotators or len(set(wish.annotators)) != len(wish.annotators):
        raise ValueError("a campaign needs annotators, each named once")
    if len({entry.verdict.key for entry in wish.gold}) != len(wish.gold):
        raise ValueError("a verdict is named as gold twice")
    if strange := [entry.label for entry in wish.gold if entry.label not in wish.labels]:
        raise ValueError(f"the gold label {strange[0]!r} is none of {wish.labels.listed()}")
    design = wish.design
    if not 0 < design.confidence < 1 or not 0 <= design.repeats <= 0.5:
        raise ValueError("confidence must be between 0 and 1, and the share of repeats between 0 and 0.5")
    if unknown := [name for name in design.strata if name not in STRATA]:
        raise ValueError(f"{unknown[0]!r} is not a stratum; choose from {', '.join(STRATA)}")
    if design.overlap is Overlap.SAMPLE and len(wish.annotators) < 2:
        raise ValueError("an overlap sample needs a second annotator")
    if design.overlap is Overlap.SOME and not 1 <= design.per_item <= len(wish.annotators):
        raise ValueError(f"each item needs {design.per_item:,} annotators, and there are {len(wish.annotators):,}")


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


def _stratum(
    name: str, place: int, sizes: dict[str, int], items: tuple[Item, ...], assigned: dict[str, list[str]]
) -> Stratum:
    mine = {item.item for item in items if item.stratum == place}
    times: dict[str, int] = defaultdict(int)
    for names in assigned.values():
        for item in mine.intersection(names):
            times[item] += 1
    return Stratum(name, sizes[name], len(mine), sum(n > 1 for n in times.values()))
