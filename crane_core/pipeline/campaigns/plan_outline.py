"""An outline of a plan before it is stored: population, sample, strata, work of each annotator, effective sample size.

The command line and the page show the same sentences and the same tables.
"""

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, NamedTuple

from crane_core.annotation.draw import can_be_guessed
from crane_core.annotation.label_set import means_the_study
from crane_core.annotation.order import n_readings
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    Overlap,
    Plan,
    Population,
    PopulationOutcome,
    Texts,
    cases_of,
)
from crane_core.pipeline.campaigns.clustering import Clustering, Weight
from crane_core.pipeline.campaigns.label_sets import standing_words
from crane_core.pipeline.campaigns.population_choices import FILTERS
from crane_core.stats.anchoring import difference_left
from crane_core.stats.two_phase import FLOOR

_VERDICTS = {
    PopulationOutcome.DETECTED: "detected crashes of {}",
    PopulationOutcome.PREDICTED: "predicted crashes of {}; right or wrong",
}
NO_TITLES: Mapping[str, str] = MappingProxyType({})
SECONDS_PER_ITEM = 60.0
"""Assumed for the estimate of hours; a running campaign shows its measured median."""
EXAMPLE_FOLLOWED = 0.1
"""Labels that follow the one before, as an example of what that costs; the true share differs between people."""


class StratumRow(NamedTuple):
    """A stratum of a plan: its population, how many are drawn, and how many several people label."""

    stratum: str
    population: int
    drawn: int
    twice_or_more: int
    inclusion_probability: float


class LoadRow(NamedTuple):
    """One annotator's work: items, hidden repeats among them, and hours at SECONDS_PER_ITEM."""

    annotator: str
    items: int
    repeats: int
    hours: float


class Outline(NamedTuple):
    """The summary of a plan: its size in a line, and `sentences` and `dependence` in plain text, one thought each."""

    size: str
    sentences: tuple[str, ...]
    strata: tuple[StratumRow, ...]
    load: tuple[LoadRow, ...]
    dependence: tuple[str, ...]
    remarks: tuple[str, ...]


def outline(
    plan: Plan, weight: Clustering, titles: Mapping[str, str] = NO_TITLES
) -> Outline:
    """The outline of a plan and of its effective sample size."""
    strata = tuple(
        StratumRow(
            s.name, s.population, s.sampled, s.overlap, s.sampled / s.population
        )
        for s in plan.strata
    )
    return Outline(
        size=_size(plan, weight),
        sentences=(
            *(
                _population(plan, titles),
                _sample(plan),
                _overlap(plan),
                _texts(plan),
            ),
            *_order(plan),
            *_labels(plan),
            *((_gold(plan),) if plan.gold else ()),
            *_shown_after(plan),
            _stop_rule(plan),
            _judge_gate(plan),
            _seed(plan),
        ),
        strata=strata,
        load=workload(plan),
        dependence=_dependence(plan, weight),
        remarks=_remarks(plan),
    )


def _size(plan: Plan, weight: Clustering) -> str:
    """What a lead decides on: items, their cases, both margins, and the hours of who labels most."""
    margins = [entry.margin for entry in weight.weights]
    bounds = sorted({f"±{one:.1%}" for one in (min(margins), max(margins))})
    hours = max(row.hours for row in workload(plan))
    n, n_here = len(plan.annotators), plan.population_size
    here = "this verdict" if n_here == 1 else f"these {n_here:,} verdicts"
    whom = "one annotator" if n == 1 else f"each of {n} annotators"
    return (
        f"{len(plan.items):,} items of {weight.n_cases:,} cases, margin ±{weight.margin_here:.1%} for {here}, "
        f"{' to '.join(bounds)} for new cases, about {hours:.1f} h for {whom}"
    )


def _population(plan: Plan, titles: Mapping[str, str]) -> str:
    left_out = (
        f"; {plan.left_out:,} more are excluded, because their texts are not loaded"
        if plan.left_out
        else ""
    )
    return f"Population: {plan.population_size:,} {query_words(plan.population, titles)}{left_out}."


def query_words(
    asked: Population, titles: Mapping[str, str] = NO_TITLES
) -> str:
    """A population query in words; filters that ask for everything are not named.

    titles: what a page calls a benchmark, an experiment or a value of a filter; others keep their ids.
    """
    filters = {name.replace("_", " "): getattr(asked, name) for name in FILTERS}
    named = [
        f"{name} {', '.join(titles.get(one, one) for one in values)}"
        for name, values in filters.items()
        if values
    ]
    where = ", ".join(
        titles.get(one, one) for one in (asked.benchmark, asked.experiment)
    )
    return "; ".join([_VERDICTS[asked.outcome].format(where), *named])


def _sample(plan: Plan) -> str:
    n, design = len(plan.items), plan.design
    # Equation 1 has no say where all are labelled and no sample of them twice.
    if design.kind is DrawKind.ALL and design.overlap is not Overlap.SAMPLE:
        return f"Design: all {n:,} are labelled."
    size = (
        f"margin of {design.margin * 100:g}% with {design.confidence * 100:g}% confidence and an expected share of "
        f"{design.p * 100:g}% needs {plan.required:,}"
    )
    by = _by(design)
    if design.kind is DrawKind.ALL:
        shared = sum(stratum.overlap for stratum in plan.strata)
        return f"Design: all {n:,} are labelled; a {size} labelled twice, {by} {shared:,}."
    return f"Design: a sample. A {size}; {by} {n:,} are drawn."


def _by(design: Design) -> str:
    strata = " × ".join(name.replace("_", " ") for name in design.strata)
    return (
        f"in proportion over {strata}, rounded up in each stratum,"
        if design.strata
        else "without strata"
    )


def _overlap(plan: Plan) -> str:
    if len(plan.annotators) == 1:
        return (
            "Annotators: one, so inter-annotator agreement cannot be measured."
        )
    design = plan.design
    words = str(design.overlap)
    if design.overlap is Overlap.SOME:
        words = f"each item by {design.per_item} of them"
    if design.overlap is Overlap.ADAPTIVE:
        least = FLOOR * design.second_share
        words = (
            f"each item by one of them, and {design.second_share:.0%} by a second one. The lead draws these in "
            f"batches, uncertain items more often, each with a chance of {least:.0%} or more; shares and agreement "
            "weight them by it"
        )
    first = f" All label the same {design.calibration:,} items first; then the lead opens the main round."
    return f"Annotators: {len(plan.annotators)}; {words}.{first if design.calibration else ''}"


def _texts(plan: Plan) -> str:
    shown = "one text per item, drawn at random from the runs that predict the crash, without counts"
    shown = (
        shown
        if plan.design.texts is Texts.ONE
        else "all texts of an item, with the number of runs of each"
    )
    plain = (
        " Marks of style (quotes, dashes, emphasis, lists, line breaks) are made alike."
        if plan.design.plain
        else ""
    )
    style = (
        " The style of a text can still reveal its model." if plan.blind else ""
    )
    return f"Texts: {shown}.{plain}{style}"


def _order(plan: Plan) -> tuple[str, ...]:
    """What an order by case saves and costs; nothing where items are shuffled."""
    case_of = cases_of((*plan.items, *plan.gold), plan.design)
    if case_of is None:
        return ()
    # Of the person with the most items; others have the same cases or fewer.
    order = max(plan.orders.values(), key=len)
    left = difference_left(EXAMPLE_FOLLOWED)
    return (
        f"Order: by case. An annotator begins a case {n_readings(order, case_of):,} times in {len(order):,} items and "
        f"repeats. Cost: a label may follow the one before (anchoring). If {EXAMPLE_FOLLOWED:.0%} do, shares stay "
        f"right on average, and a difference of 10 points on the same cases becomes {10 * left:g}.",
    )


def _labels(plan: Plan) -> tuple[str, ...]:
    """What is another set than the study's, and what it counts for."""
    if means_the_study(plan.labels):
        return ()
    listed = ", ".join(label.words for label in plan.labels.labels)
    return (
        f"Labels: {plan.labels.name} ({plan.labels.scale}), {listed}. {standing_words(plan.labels)}",
    )


def _gold(plan: Plan) -> str:
    origins = ", ".join(sorted({entry.origin for entry in plan.gold}))
    told = (
        "annotators are told after each label"
        if plan.gold_feedback
        else "annotators are not told"
    )
    n = len(plan.gold)
    return (
        f"Gold: {n:,} item{'s' * (n > 1)} with a known label ({origins}), once in everybody's order; {told}. "
        "They are not part of the population, outcomes or estimates."
    )


def _shown_after(plan: Plan) -> tuple[str, ...]:
    """Whose labels are shown after one's own, and what that costs."""
    if plan.shown_after is None:
        return ()
    origin, n = plan.shown_after.origin, len(plan.shown_after.labels)
    moved = 10 * EXAMPLE_FOLLOWED
    return (
        f"Pre-labels: after a label, the annotator sees that of “{origin}” ({n:,} of {len(plan.items):,} items). "
        "It is for training. Cost: later labels may follow it (anchoring). "
        f"If {EXAMPLE_FOLLOWED:.0%} do, a share that is 10 points from that of “{origin}” moves {moved:g} point "
        "towards it, and agreement with it and between annotators is too high.",
    )


def _stop_rule(plan: Plan) -> str:
    if plan.design.overlap is Overlap.ADAPTIVE:
        return "Stop rule: none, because first labels wait for the draw of second ones; lock when both are there."
    margin = plan.design.margin
    return (
        f"Stop rule: the lead may stop once the margin of each share is ±{margin * 100:g} points for this population. "
        "Orders are random, so the items labelled until then keep equal probabilities within each stratum."
    )


def _judge_gate(plan: Plan) -> str:
    gate = plan.design.judge_gate * 100
    return (
        f"Judges: a model is certified to label for this campaign where the bounds of its sensitivity and specificity "
        f"reach {gate:g}%."
    )


def _seed(plan: Plan) -> str:
    return f"Seed: {plan.seed}. Guideline: version {plan.guideline}. {'Blind' if plan.blind else 'Not blind'}."


def _load(plan: Plan, annotator: str) -> LoadRow:
    order = plan.orders[annotator]
    repeats = sum(showing.showing > 1 for showing in order)
    return LoadRow(
        annotator,
        len(order) - repeats,
        repeats,
        len(order) * SECONDS_PER_ITEM / 3600,
    )


def _dependence(plan: Plan, weight: Clustering) -> tuple[str, ...]:
    # Without two items of one case there is nothing to be correlated, and rho changes no number.
    if weight.n_cases == weight.n_items:
        return (
            f"Each of the {weight.n_items:,} items is another case, so the items are independent. For the "
            f"{plan.population_size:,} verdicts of this population, the margin of a share is "
            f"±{weight.margin_here:.1%}; for new cases of this kind it is ±{weight.margin_apart:.1%}.",
        )
    opening = (
        f"{weight.n_items:,} items belong to {weight.n_cases:,} cases. The runs of a verdict are one item, but the "
        "verdicts of one case (several models, several inputs, both versions) are not independent."
    )
    here = (
        f"For the {plan.population_size:,} verdicts of this population, the margin of a share is "
        f"±{weight.margin_here:.1%}; for new cases of this kind it would be ±{weight.margin_apart:.1%} "
        "if all items were independent."
    )
    weighed = [
        f"a correlation within a case of {entry.rho:.2f}{{}}, {_weighs(entry, weight.margin_apart)}."
        for entry in weight.weights
    ]
    if weight.likeness is None:
        unknown = "No human labels exist yet to estimate the correlation within a case."
        return (
            opening,
            here,
            unknown,
            *(f"Assuming {entry.format('')}" for entry in weighed),
        )
    rho, source = weight.likeness
    known = f" ({rho.low:.2f} to {rho.high:.2f}; {rho.n:,} labels of '{source}' in {rho.n_clusters:,} cases)"
    return opening, here, f"With {weighed[0].format(known)}"


def _weighs(entry: Weight, margin_apart: float) -> str:
    return (
        f"the effective sample size is {entry.effect.n_effective:,.0f} (design effect {entry.effect.deff:.2f}), "
        f"and the margin is ±{entry.margin:.1%} instead of ±{margin_apart:.1%}"
    )


def _remarks(plan: Plan) -> tuple[str, ...]:
    remarks = []
    # The names of items hide the detector by the seed; see the draw.
    if plan.blind and can_be_guessed(plan.seed):
        remarks.append(
            "A seed this short can be guessed, which reveals what an item's name hides."
        )
    if plan.design.repeats and (
        none := [row.annotator for row in workload(plan) if not row.repeats]
    ):
        remarks.append(
            f"No hidden repeats for {', '.join(none)}: too few items to separate the two showings."
        )
    return tuple(remarks)


def workload(plan: Plan) -> tuple[LoadRow, ...]:
    """The work of each annotator, in the plan's order of annotators."""
    return tuple(_load(plan, annotator) for annotator in plan.annotators)


def in_words(plan: Plan, told: Outline) -> str:
    """The outline as lines for a terminal."""
    width = max(len(row.stratum) for row in told.strata)
    title = f": {plan.title}" if plan.title != plan.campaign else ""
    lines = [f"Campaign {plan.campaign}{title}", told.size, *told.sentences, ""]
    lines.append(
        f"{'stratum':<{width}}  population  drawn  labelled twice or more  inclusion probability"
    )
    lines += [
        f"{row.stratum:<{width}}  {row.population:>10,}  {row.drawn:>5,}  {row.twice_or_more:>22,}"
        f"  {row.inclusion_probability:>21.4f}"
        for row in told.strata
    ]
    lines += ["", *(load_words(row) for row in told.load), "", *told.dependence]
    return "\n".join([*lines, *(f"Note: {remark}" for remark in told.remarks)])


def load_words(row: LoadRow) -> str:
    """One annotator's work in words."""
    return f"{row.annotator}: {size_words(row)}, about {row.hours:.1f} h at {SECONDS_PER_ITEM:.0f} s an item"


def size_words(row: LoadRow) -> str:
    """How many items, and how many of them come back."""
    items = f"{row.items:,} item{'s' * (row.items != 1)}"
    return (
        f"{items} and {row.repeats:,} hidden repeat{'s' * (row.repeats != 1)}"
    )


def as_json(plan: Plan, told: Outline, weight: Clustering) -> dict[str, Any]:
    """The outline as plain members."""
    return {
        "campaign": plan.campaign,
        "title": plan.title,
        "population": asdict(plan.population),
        "population_size": plan.population_size,
        "population_sha256": plan.population_sha256,
        "left_out": plan.left_out,
        "design": asdict(plan.design),
        "seed": plan.seed,
        "guideline": plan.guideline,
        "blind": plan.blind,
        "required": plan.required,
        "items": len(plan.items),
        "gold": len(plan.gold),
        "gold_feedback": plan.gold_feedback,
        "shown_after": plan.shown_after
        and {
            "origin": plan.shown_after.origin,
            "items": len(plan.shown_after.labels),
        },
        "cases": weight.n_cases,
        "strata": [row._asdict() for row in told.strata],
        "annotators": [row._asdict() for row in told.load],
        "seconds_per_item": SECONDS_PER_ITEM,
        "margin": {
            "of_population": weight.margin_here,
            "of_further_cases_if_independent": weight.margin_apart,
        },
        "rho": _rho_json(weight),
        "design_effects": [
            {
                "rho": entry.rho,
                **entry.effect._asdict(),
                "margin_of_further_cases": entry.margin,
            }
            for entry in weight.weights
        ],
        "remarks": list(told.remarks),
    }


def _rho_json(weight: Clustering) -> dict[str, Any] | None:
    return (
        weight.likeness.rho._asdict() | {"source": weight.likeness.source}
        if weight.likeness
        else None
    )
