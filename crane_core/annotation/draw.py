"""From a population to a plan: sample size, allocation, the draw, names of items, orders. The seed decides everything.

Sample size by the paper's Equation 1, proportional allocation over strata, each rounded up (paper, 4.5, table 1: 501
diagnoses give 218, allocated 222). Items of a stratum have equal probability, n_h / N_h.
"""

import hashlib
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from statistics import NormalDist

from crane_core.annotation import assign, label_set, order, plan
from crane_core.annotation.guideline import version_of
from crane_core.stats.sample_size import Z_95, allocate, required_sample

STRATA = ("detector", "setting", "library", "root_cause")
"""What a sample may be stratified by."""
SEPARATOR = " · "
"""Between the values in a stratum's name."""
SEED_BITS = 53
"""As many bits as every reader of JSON keeps exactly."""
GUESSABLE = 10**9
"""A seed below this can be found by trying them all."""


@dataclass(frozen=True, slots=True)
class CampaignRequest:
    """The settings of a campaign before the draw."""

    campaign: str
    annotators: tuple[str, ...]
    population: plan.Population
    design: plan.Design = field(default_factory=plan.Design)
    seed: int = 0
    title: str = ""
    blind: bool = True
    created_by: str = ""
    labels: label_set.LabelSet = field(default_factory=label_set.study_labels)
    gold: tuple[plan.Gold, ...] = ()
    """Not named yet: the draw names them like other items."""
    gold_feedback: bool = False


def fresh_seed() -> int:
    """A seed that cannot be guessed."""
    return GUESSABLE + secrets.randbelow(2**SEED_BITS - GUESSABLE)


def can_be_guessed(seed: int) -> bool:
    """Whether the seed can be found by trying."""
    return abs(seed) < GUESSABLE


def draw_plan(
    request: CampaignRequest,
    verdicts: Sequence[plan.LabelledVerdict],
    *,
    guideline: str,
    created_at: str,
    left_out: int,
) -> plan.Plan:
    """The plan for a population. The same request, verdicts and seed give the same items, names and orders.

    verdicts: the whole population, in any order. guideline: the text that annotators will read. left_out: verdicts that
    cannot be labelled because they have no text. Gold items come with the main round. Raises ValueError if a name, a
    number or the number of annotators is invalid.
    """
    _check(request)
    design = request.design
    gold = tuple(
        replace(entry, item=item_name(request, entry.verdict))
        for entry in request.gold
    )
    ordered = sorted(
        without_gold(verdicts, gold), key=lambda verdict: verdict.key
    )
    groups = _groups(ordered, design.strata)
    required = _required(len(ordered), design)
    sizes = {name: len(group) for name, group in groups.items()}
    is_sample = design.kind is plan.DrawKind.SAMPLE
    sampled = allocate(required, sizes) if is_sample else sizes
    items = _drawn(request, groups, sampled)
    _refuse_shared_names(items, gold)
    shared = _shared(required, sizes, sampled, design)
    theirs = whole_assignment(
        items,
        request.annotators,
        design,
        shared=[shared[name] for name in groups],
        seed=request.seed,
    )
    return plan.Plan(
        campaign=request.campaign,
        title=request.title or request.campaign,
        created_at=created_at,
        created_by=request.created_by,
        population=request.population,
        population_size=len(ordered),
        population_sha256=plan.population_sha256(ordered),
        left_out=left_out,
        design=design,
        seed=request.seed,
        annotators=request.annotators,
        guideline=version_of(guideline),
        guideline_text=guideline,
        labels=request.labels,
        blind=request.blind,
        required=required,
        strata=tuple(
            _stratum(name, place, sizes, items, theirs)
            for place, name in enumerate(groups)
        ),
        items=items,
        orders=_first_orders(request, items, gold, theirs),
        gold=gold,
        gold_feedback=request.gold_feedback,
    )


def _drawn(
    request: CampaignRequest,
    groups: dict[str, list[plan.LabelledVerdict]],
    sampled: dict[str, int],
) -> tuple[plan.Item, ...]:
    """The items stratum by stratum, in the order of their draw; those of the calibration come first."""
    items = []
    for place, (name, group) in enumerate(groups.items()):
        # Each stratum has a separate seed, so that another stratum's size does not change what is drawn here.
        chance = Random(f"{request.seed}/items/{name}")
        for verdict in chance.sample(group, sampled[name]):
            probability = sampled[name] / len(group)
            items.append(
                plan.Item(
                    item_name(request, verdict), verdict, place, probability
                )
            )
    return assign.calibration_first(
        items, request.design.calibration, seed=f"{request.seed}/calibration"
    )


def _refuse_shared_names(
    items: Sequence[plan.Item], gold: Sequence[plan.Gold]
) -> None:
    names = [item.item for item in items]
    names += [entry.item for entry in gold]
    if len(set(names)) != len(names):
        raise ValueError("two items have the same name; choose another seed")


def _first_orders(
    request: CampaignRequest,
    items: Sequence[plan.Item],
    gold: Sequence[plan.Gold],
    theirs: dict[str, list[str]],
) -> dict[str, tuple[order.Showing, ...]]:
    """Each annotator's order of the first round: of calibration if there is one, else of everything, with gold."""
    n_first = request.design.calibration
    case_of = plan.cases_of([*items, *gold], request.design)
    first = [item.item for item in items[:n_first]]
    return {
        person: order.annotator_order(
            first if n_first else names,
            seed=f"{request.seed}/{person}",
            share=request.design.repeats,
            once=() if n_first else [entry.item for entry in gold],
            case_of=case_of,
        )
        for person, names in theirs.items()
    }


def without_gold(
    verdicts: Sequence[plan.LabelledVerdict], gold: Sequence[plan.Gold]
) -> list[plan.LabelledVerdict]:
    """The verdicts whose label is not known beforehand."""
    known = {entry.verdict.key for entry in gold}
    return [verdict for verdict in verdicts if verdict.key not in known]


def whole_assignment(
    items: Sequence[plan.Item],
    people: Sequence[str],
    design: plan.Design,
    *,
    shared: Sequence[int],
    seed: int,
) -> dict[str, list[str]]:
    """Who labels what in calibration and main round together; `items` begin with those of the calibration.

    shared: per stratum, how many items several people label where the overlap is SAMPLE, calibration included.
    """
    first = items[: design.calibration]
    rest = items[design.calibration :]
    more = [
        max(0, n - sum(item.stratum == place for item in first))
        for place, n in enumerate(shared)
    ]
    of_rest = assign.assigned(
        rest,
        people,
        design.overlap,
        shared=more,
        per_item=design.per_item,
        seed=str(seed),
        case_of=plan.cases_of(rest, design),
    )
    return {
        person: [item.item for item in first] + names
        for person, names in of_rest.items()
    }


def _shared(
    required: int,
    sizes: dict[str, int],
    sampled: dict[str, int],
    design: plan.Design,
) -> dict[str, int]:
    """Per stratum, how many items the others label besides the first annotator; for a sample, again by Equation 1."""
    if design.overlap is not plan.Overlap.SAMPLE:
        return sampled
    if design.kind is plan.DrawKind.SAMPLE:
        required = _required(sum(sampled.values()), design)
        sizes = sampled
    shared = allocate(required, sizes)
    return {name: min(n, sampled[name]) for name, n in shared.items()}


def item_name(request: CampaignRequest, verdict: plan.LabelledVerdict) -> str:
    """Twelve hex digits that reveal nothing about the verdict without campaign, seed and the verdict itself."""
    # A separator that no name can hold, so that no two verdicts make one text.
    text = "\0".join((request.campaign, str(request.seed), *verdict.key))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _check(request: CampaignRequest) -> None:
    plan.check_name(request.campaign, "a campaign")
    for annotator in request.annotators:
        plan.check_name(annotator, "an annotator")
    n_people = len(request.annotators)
    if not n_people or len(set(request.annotators)) != n_people:
        raise ValueError("a campaign needs annotators, each named once")
    if len({entry.verdict.key for entry in request.gold}) != len(request.gold):
        raise ValueError("a verdict is named as gold twice")
    for entry in request.gold:
        if entry.label not in request.labels:
            raise ValueError(
                f"the gold label {entry.label!r} is none of {request.labels.listed()}"
            )
    _check_design(request.design, n_people)


def _check_design(design: plan.Design, n_people: int) -> None:
    if not 0 < design.confidence < 1 or not 0 <= design.repeats <= 0.5:
        raise ValueError(
            "confidence must be between 0 and 1, and the share of repeats between 0 and 0.5"
        )
    for name in design.strata:
        if name not in STRATA:
            raise ValueError(
                f"{name!r} is not a stratum; choose from {', '.join(STRATA)}"
            )
    if design.overlap is plan.Overlap.SAMPLE and n_people < 2:
        raise ValueError("an overlap sample needs a second annotator")
    if design.overlap is plan.Overlap.SOME:
        assign.check_per_item(design.per_item, n_people)
    if design.overlap is plan.Overlap.ADAPTIVE:
        _check_adaptive(design, n_people)


def _check_adaptive(design: plan.Design, n_people: int) -> None:
    if not 0 < design.second_share <= 1:
        raise ValueError("the share of second labels is above 0, at most 1")
    if n_people < 2:
        raise ValueError("second labels need a second annotator")
    if design.by_case:
        raise ValueError(
            "second labels are drawn item by item, which an order by case does not allow"
        )


def _required(population: int, design: plan.Design) -> int:
    """Equation 1. The study's z of 1.96 for 95%, else the normal quantile."""
    z = (
        Z_95
        if design.confidence == 0.95
        else -NormalDist().inv_cdf((1 - design.confidence) / 2)
    )
    return required_sample(population, z=z, margin=design.margin, p=design.p)


def _groups(
    verdicts: list[plan.LabelledVerdict], strata: tuple[str, ...]
) -> dict[str, list[plan.LabelledVerdict]]:
    groups: dict[str, list[plan.LabelledVerdict]] = {}
    for verdict in verdicts:
        name = stratum_name(verdict, strata)
        groups.setdefault(name, []).append(verdict)
    return dict(sorted(groups.items()))


def stratum_name(verdict: plan.LabelledVerdict, strata: tuple[str, ...]) -> str:
    """The stratum that a verdict falls into: "gpt-5 · code"."""
    return (
        SEPARATOR.join(
            str(getattr(verdict, name) or "unknown") for name in strata
        )
        or "all"
    )


def _stratum(
    name: str,
    place: int,
    sizes: dict[str, int],
    items: tuple[plan.Item, ...],
    assigned: dict[str, list[str]],
) -> plan.Stratum:
    mine = {item.item for item in items if item.stratum == place}
    times: Counter[str] = Counter()
    for names in assigned.values():
        times.update(names)
    n_shared = sum(times[item] > 1 for item in mine)
    return plan.Stratum(name, sizes[name], len(mine), n_shared)
