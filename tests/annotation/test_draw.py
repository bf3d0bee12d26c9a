"""The draw: the study's sample and allocation, chance that is a seed and nothing else, and equal chances for all."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import ceil
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from crane_core.annotation.draw import (
    GUESSABLE,
    STRATA,
    CampaignRequest,
    can_be_guessed,
    draw_plan,
    fresh_seed,
)
from crane_core.annotation.plan import (
    Design,
    DrawKind,
    LabelledVerdict,
    Overlap,
    Plan,
    Population,
)
from tests.examples import examples

PlanOf = Callable[..., Plan]
VerdictsOf = Callable[..., list[LabelledVerdict]]
PAPER_STRATA = {
    ("gemini-2.5-flash", "code"): 90,
    ("gemini-2.5-flash", "runtime"): 99,
    ("qwen-2.5-32b-instruct", "code"): 71,
    ("qwen-2.5-32b-instruct", "runtime"): 74,
    ("gpt-5", "code"): 79,
    ("gpt-5", "runtime"): 88,
}
PAPER_ALLOCATION = {
    "gemini-2.5-flash · code": 40,
    "gemini-2.5-flash · runtime": 44,
    "qwen-2.5-32b-instruct · code": 31,
    "qwen-2.5-32b-instruct · runtime": 33,
    "gpt-5 · code": 35,
    "gpt-5 · runtime": 39,
}
ALL = {"kind": DrawKind.ALL}


def names_of(plan: Plan, annotator: str) -> list[str]:
    """Items that an annotator labels, repeats left out."""
    return [
        showing.item
        for showing in plan.orders[annotator]
        if showing.showing == 1
    ]


def test_the_study_draws_222_of_501_where_equation_1_asks_for_218(
    plan_of: PlanOf,
) -> None:
    """Paper, 4.5, table 1: 40, 44, 31, 33, 35 and 39 of 90, 99, 71, 74, 79 and 88."""
    plan = plan_of(PAPER_STRATA, seed=2025)
    assert (plan.population_size, plan.required, len(plan.items)) == (
        501,
        218,
        222,
    )
    assert {
        stratum.name: stratum.sampled for stratum in plan.strata
    } == PAPER_ALLOCATION
    assert {stratum.name: stratum.population for stratum in plan.strata} == {
        f"{detector} · {setting}": size
        for (detector, setting), size in PAPER_STRATA.items()
    }
    drawn = Counter(
        f"{item.verdict.detector} · {item.verdict.setting}"
        for item in plan.items
    )
    assert drawn == PAPER_ALLOCATION


def test_inclusion_probabilities_give_back_the_population(
    plan_of: PlanOf,
) -> None:
    plan = plan_of(PAPER_STRATA)
    for place, stratum in enumerate(plan.strata):
        items = [item for item in plan.items if item.stratum == place]
        assert {item.inclusion_probability for item in items} == {
            stratum.sampled / stratum.population
        }
        assert sum(
            1 / item.inclusion_probability for item in items
        ) == pytest.approx(stratum.population)


def test_the_seed_says_everything_and_the_order_of_verdicts_nothing(
    plan_of: PlanOf, verdicts_of: VerdictsOf
) -> None:
    wish = CampaignRequest(
        "pilot", ("ana", "ben"), Population("made", "study"), seed=7
    )
    plan = plan_of(PAPER_STRATA, seed=7)
    verdicts = verdicts_of(PAPER_STRATA)
    random.Random(1).shuffle(verdicts)
    again = draw_plan(
        wish, verdicts, guideline="g1", created_at=plan.created_at, left_out=0
    )
    assert again == plan


def test_another_seed_is_another_draw_other_names_and_other_orders(
    plan_of: PlanOf,
) -> None:
    one, other = plan_of(PAPER_STRATA, seed=7), plan_of(PAPER_STRATA, seed=8)
    assert {item.verdict for item in one.items} != {
        item.verdict for item in other.items
    }
    assert {item.item for item in one.items}.isdisjoint(
        item.item for item in other.items
    )
    assert one.population_sha256 == other.population_sha256
    assert [stratum.sampled for stratum in one.strata] == [
        stratum.sampled for stratum in other.strata
    ]


def test_another_campaign_of_the_same_seed_has_other_names(
    plan_of: PlanOf,
) -> None:
    one, other = plan_of(60, seed=7), plan_of(60, seed=7, campaign="second")
    assert [item.verdict for item in one.items] == [
        item.verdict for item in other.items
    ]
    assert {item.item for item in one.items}.isdisjoint(
        item.item for item in other.items
    )


def test_names_of_items_are_opaque(plan_of: PlanOf) -> None:
    plan = plan_of(PAPER_STRATA)
    assert all(re.fullmatch(r"[0-9a-f]{12}", item.item) for item in plan.items)
    assert len({item.item for item in plan.items}) == len(plan.items)


def test_annotators_have_the_same_items_in_orders_of_their_own(
    plan_of: PlanOf,
) -> None:
    plan = plan_of(PAPER_STRATA, annotators=("ana", "ben", "eva"))
    orders = [names_of(plan, annotator) for annotator in plan.annotators]
    assert [sorted(order) for order in orders] == [
        sorted(item.item for item in plan.items)
    ] * 3
    assert len({tuple(order) for order in orders}) == 3
    assert all(stratum.overlap == stratum.sampled for stratum in plan.strata)


def test_an_order_does_not_follow_the_strata(plan_of: PlanOf) -> None:
    """Ranks of a stratum's items would lie together if the shuffle left them as they were drawn."""
    plan = plan_of(PAPER_STRATA)
    stratum_of = {item.item: item.stratum for item in plan.items}
    order = [stratum_of[name] for name in names_of(plan, "ana")]
    n_changes = sum(a != b for a, b in pairwise(order))
    assert (
        n_changes > 150
    )  # 5 in the drawn order; 184 expected of a shuffled one


N_SEEDS = 600
ALPHA = 1e-3


def test_every_item_of_a_stratum_is_drawn_equally_often(
    plan_of: PlanOf,
) -> None:
    """Chi-square over 600 seeds; a draw without replacement varies less than a multinomial one, by 1 - n/N."""
    sizes = {("gpt-5", "code"): 12, ("gpt-5", "runtime"): 25}
    design = {"margin": 0.2}
    times: Counter[tuple[str, str]] = Counter()
    for seed in range(N_SEEDS):
        plan = plan_of(sizes, seed=seed, design=design)
        times.update(
            (item.verdict.setting, item.verdict.case_id) for item in plan.items
        )
    for (_, setting), size in sizes.items():
        sampled = next(
            s.sampled for s in plan.strata if s.name.endswith(setting)
        )
        assert 0 < sampled < size
        expected = N_SEEDS * sampled / size
        counts = [times[setting, f"case_{i}"] for i in range(size)]
        statistic = (
            sum((n - expected) ** 2 for n in counts)
            / (expected * (1 - sampled / size))
            * (size - 1)
            / size
        )
        assert ALPHA < chi2.sf(statistic, size - 1) < 1 - ALPHA


def test_strata_are_drawn_apart_from_each_other(plan_of: PlanOf) -> None:
    """One chance for all strata would draw the same cases from strata of one size, detector by detector."""
    plan = plan_of(
        {("gpt-5", "code"): 40, ("gpt-5", "runtime"): 40},
        design={"margin": 0.2},
    )
    code, runtime = (
        {
            item.verdict.case_id
            for item in plan.items
            if item.verdict.setting == setting
        }
        for setting in ("code", "runtime")
    )
    assert len(code) == len(runtime)
    assert code != runtime


def test_all_takes_every_item_with_certainty(plan_of: PlanOf) -> None:
    plan = plan_of(PAPER_STRATA, design=ALL)
    assert (len(plan.items), plan.required) == (501, 218)
    assert {item.inclusion_probability for item in plan.items} == {1.0}


def test_the_study_s_own_overlap_gives_the_second_annotator_the_sample(
    plan_of: PlanOf,
) -> None:
    """Paper, 4.4.3: one labels everything, a second one 222 of it."""
    plan = plan_of(
        PAPER_STRATA,
        design=ALL | {"overlap": Overlap.SAMPLE},
        annotators=("ana", "ben", "eva"),
    )
    assert len(names_of(plan, "ana")) == 501
    assert sorted(names_of(plan, "ben")) == sorted(names_of(plan, "eva"))
    shared = set(names_of(plan, "ben"))
    assert len(shared) == 222
    assert {
        stratum.name: stratum.overlap for stratum in plan.strata
    } == PAPER_ALLOCATION
    for place, stratum in enumerate(plan.strata):
        assert (
            sum(
                item.stratum == place and item.item in shared
                for item in plan.items
            )
            == stratum.overlap
        )


@pytest.mark.parametrize("n_annotators", [1, 2, 3, 7, 50])
def test_dealt_items_go_to_one_annotator_each(
    plan_of: PlanOf, n_annotators: int
) -> None:
    annotators = tuple(f"ann{i}" for i in range(n_annotators))
    plan = plan_of(
        40,
        annotators=annotators,
        design={"overlap": Overlap.NONE, "kind": DrawKind.ALL},
    )
    dealt = [names_of(plan, annotator) for annotator in annotators]
    assert sorted(name for names in dealt for name in names) == sorted(
        item.item for item in plan.items
    )
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1
    assert [stratum.overlap for stratum in plan.strata] == [0]


def test_one_annotator_alone_overlaps_with_nobody(plan_of: PlanOf) -> None:
    assert [
        stratum.overlap for stratum in plan_of(40, annotators=("ana",)).strata
    ] == [0]


@given(
    sizes=st.dictionaries(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.sampled_from(["code", "runtime"]),
        ),
        st.integers(1, 40),
        min_size=1,
    ),
    seed=st.integers(0, 2**31 - 1),
    margin=st.sampled_from([0.05, 0.1, 0.3]),
    overlap=st.sampled_from(Overlap),
    kind=st.sampled_from(DrawKind),
    n_annotators=st.integers(2, 4),
)
@examples(60)
def test_every_plan_is_whole(
    plan_of: PlanOf,
    sizes: dict[tuple[str, str], int],
    seed: int,
    margin: float,
    overlap: Overlap,
    kind: DrawKind,
    n_annotators: int,
) -> None:
    """Every drawn item is somebody's, nobody has another, and sizes add up."""
    if (overlap, kind) == (Overlap.SAMPLE, DrawKind.SAMPLE):
        overlap = Overlap.ALL
    annotators = tuple(f"ann{i}" for i in range(n_annotators))
    design = {"margin": margin, "overlap": overlap, "kind": kind}
    plan = plan_of(sizes, seed=seed, annotators=annotators, design=design)
    assert (
        sum(stratum.population for stratum in plan.strata)
        == plan.population_size
        == sum(sizes.values())
    )
    assert (
        sum(stratum.sampled for stratum in plan.strata)
        == len(plan.items)
        >= plan.required
    )
    assert len(plan.items) == plan.population_size or kind is DrawKind.SAMPLE
    given_out = Counter(
        name for annotator in annotators for name in names_of(plan, annotator)
    )
    assert given_out.keys() == {item.item for item in plan.items}
    assert sum(n > 1 for n in given_out.values()) == sum(
        stratum.overlap for stratum in plan.strata
    )


def test_one_verdict_alone_is_a_campaign(plan_of: PlanOf) -> None:
    plan = plan_of(1)
    assert (plan.required, len(plan.items), plan.orders["ana"]) == (
        1,
        1,
        plan.orders["ben"],
    )


def test_no_strata_are_one_stratum(plan_of: PlanOf) -> None:
    plan = plan_of(PAPER_STRATA, design={"strata": ()})
    assert [
        (stratum.name, stratum.population, stratum.sampled)
        for stratum in plan.strata
    ] == [("all", 501, 218)]


def test_what_is_not_known_of_a_case_is_a_stratum_of_its_own(
    plan_of: PlanOf,
) -> None:
    plan = plan_of(30, design={"strata": ("library", "root_cause")})
    assert [stratum.name for stratum in plan.strata] == [
        f"lib{i} · unknown" for i in range(3)
    ]
    assert set(STRATA) >= {"library", "root_cause"}


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.99])
def test_another_confidence_is_its_normal_quantile(
    plan_of: PlanOf, confidence: float
) -> None:
    """Equation 1 by hand: n0 / (1 + (n0 - 1) / N), with n0 = z² p (1 - p) / E²."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    n0 = z**2 * 0.5 * 0.5 / 0.05**2
    assert plan_of(
        PAPER_STRATA, design={"confidence": confidence}
    ).required == ceil(n0 / (1 + (n0 - 1) / 501))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"campaign": "Pilot"}, "is not a valid name for a campaign"),
        ({"campaign": "../pilot"}, "is not a valid name for a campaign"),
        ({"campaign": ""}, "is not a valid name for a campaign"),
        ({"campaign": "a" * 41}, "is not a valid name for a campaign"),
        ({"annotators": ()}, "needs annotators"),
        ({"annotators": ("ana", "ana")}, "each named once"),
        (
            {"annotators": ("ana", "ben/eva")},
            "is not a valid name for an annotator",
        ),
        (
            {"annotators": ("adjudication",)},
            "is not a valid name for an annotator",
        ),
        ({"annotators": (".ana",)}, "is not a valid name for an annotator"),
        ({"annotators": ("ana\n",)}, "is not a valid name for an annotator"),
        ({"design": {"confidence": 1.0}}, "confidence must be between"),
        (
            {"design": {"confidence": float("nan")}},
            "confidence must be between",
        ),
        ({"design": {"repeats": -0.01}}, "share of repeats"),
        ({"design": {"repeats": 0.51}}, "share of repeats"),
        ({"design": {"repeats": float("nan")}}, "share of repeats"),
        ({"design": {"margin": 0.0}}, "margin and p"),
        ({"design": {"p": 1.0}}, "margin and p"),
        ({"design": {"strata": ("case_id",)}}, "is not a stratum"),
        (
            {"design": {"overlap": Overlap.SOME, "per_item": 3}},
            "each item needs 3 annotators",
        ),
        ({"design": {"calibration": -1}}, "calibration round"),
        (
            {
                "design": {"overlap": Overlap.SAMPLE, "kind": DrawKind.ALL},
                "annotators": ("ana",),
            },
            "second annotator",
        ),
    ],
)
def test_a_wish_that_cannot_be_drawn_is_refused(
    plan_of: PlanOf, change: dict[str, object], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        plan_of(30, **change)


def test_a_verdict_that_stands_twice_in_a_population_is_refused() -> None:
    verdict = LabelledVerdict(
        "made", "case_1_reproduced", "gpt-5", "code", "study", "case_1"
    )
    wish = CampaignRequest(
        "pilot",
        ("ana",),
        Population("made", "study"),
        Design(kind=DrawKind.ALL),
    )
    with pytest.raises(ValueError, match="two items have the same name"):
        draw_plan(
            wish,
            [verdict, replace(verdict)],
            guideline="g",
            created_at="now",
            left_out=0,
        )


def test_fresh_seeds_differ_are_not_guessed_and_survive_as_doubles() -> None:
    seeds = {fresh_seed() for _ in range(1_000)}
    assert len(seeds) == 1_000
    assert not any(can_be_guessed(seed) for seed in seeds)
    assert all(int(float(seed)) == seed for seed in seeds)


def test_short_seeds_can_be_guessed_whatever_their_sign() -> None:
    assert [can_be_guessed(seed) for seed in (0, 7, -7, GUESSABLE - 1, GUESSABLE, -GUESSABLE)] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
