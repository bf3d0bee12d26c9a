"""Agreement of the published labels, recomputed from the imported archive.

The printed figures are those of the study's agreement_rate_between_judges.xlsx: how often its judge says the same of
an answer when the two texts to compare come in the other order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

from crane_core.domain import Judgement, Label, Record
from crane_core.stats import cohen_kappa, gwet_ac, krippendorff_alpha
from crane_core.stats.agreement import (
    PERCENT_AGREEMENT,
    bootstrap,
    confusion_matrix,
)

from .conftest import of

SCALE = list(Label)
Item = tuple[str, str, str]
PRINTED = {
    "gemini-2.5-flash": 0.668918918918919,
    "qwen-2.5-32b-instruct": 0.7635135135135135,
    "gpt-5": 0.7387387387387387,
    "pylint": 0.9301801801801802,
    "pyright": 0.795045045045045,
}
PRINTED_WITH_HUMAN = {
    "gemini-2.5-flash": (0.786036036036036, 0.5990990990990991),
    "qwen-2.5-32b-instruct": (0.8716216216216216, 0.7432432432432432),
    "gpt-5": (0.8761261261261262, 0.6846846846846847),
    "pylint": (0.9144144144144144, 0.8986486486486487),
    "pyright": (0.6238738738738738, 0.6486486486486487),
}
"""How often the judge says what the human says, normal and reversed: results_summary.xlsx, sheet Results_summary."""
PRINTED_OVERALL = 0.7993447993447993


def item(judgement: Judgement) -> Item:
    return judgement.detector, judgement.setting, judgement.instance_id


def first_most_common(labels: Iterable[Label]) -> Label:
    """The mode; among equals the one that came first, as `Counter` keeps them."""
    return Counter(labels).most_common(1)[0][0]


@pytest.fixture(scope="module")
def judgements(october: list[Record]) -> list[Judgement]:
    return of(october, Judgement)


@pytest.fixture(scope="module")
def both_orders(judgements: list[Judgement]) -> dict[Item, tuple[Label, Label]]:
    """What the judge said most often of an item, normal and reversed, over all repetitions and runs in that order."""
    said: dict[tuple[str, Item], list[Label]] = defaultdict(list)
    judged = [
        judgement
        for judgement in judgements
        if judgement.annotator == "published judge"
    ]
    for judgement in sorted(
        judged,
        key=lambda judgement: (judgement.repetition, judgement.run_index),
    ):
        said[judgement.presentation, item(judgement)].append(judgement.label)
    items = sorted({place for _, place in said})
    return {
        place: (
            first_most_common(said["normal", place]),
            first_most_common(said["reversed", place]),
        )
        for place in items
    }


@pytest.mark.parametrize(("detector", "printed"), PRINTED.items())
def test_agreement_of_the_judges_two_orders_is_as_printed(
    both_orders: dict[Item, tuple[Label, Label]], detector: str, printed: float
) -> None:
    pairs = [
        labels for place, labels in both_orders.items() if place[0] == detector
    ]
    assert PERCENT_AGREEMENT(pairs, SCALE) == (
        pytest.approx(printed, abs=1e-12),
        444,
        None,
    )


def test_the_printed_overall_agreement_is_theirs_with_222_names_of_instances_counted_as_agreeing(
    both_orders: dict[Item, tuple[Label, Label]],
) -> None:
    """Printed is 1,952 / 2,442: 1,730 of ten columns of 222 labels, and 222 of 222 in a column that always agrees."""
    overall = PERCENT_AGREEMENT(list(both_orders.values()), SCALE)
    assert overall == (pytest.approx(1730 / 2220), 2220, None)
    with_names = (1730 + 222) / (2220 + 222)
    assert with_names == pytest.approx(PRINTED_OVERALL, abs=1e-12)


@pytest.mark.parametrize(("detector", "printed"), PRINTED_WITH_HUMAN.items())
@pytest.mark.parametrize("order", [0, 1], ids=["normal", "reversed"])
def test_agreement_of_judge_and_human_is_as_printed(
    judgements: list[Judgement],
    both_orders: dict[Item, tuple[Label, Label]],
    detector: str,
    printed: tuple[float, float],
    order: int,
) -> None:
    human = {
        item(judgement): judgement.label
        for judgement in judgements
        if judgement.annotator == "published human"
    }
    pairs = [
        (human[place], labels[order])
        for place, labels in both_orders.items()
        if place[0] == detector
    ]
    assert PERCENT_AGREEMENT(pairs, SCALE) == (
        pytest.approx(printed[order], abs=1e-12),
        444,
        None,
    )


def test_kappa_of_the_two_orders_is_far_below_their_percent_agreement(
    both_orders: dict[Item, tuple[Label, Label]],
) -> None:
    pairs = [
        labels
        for place, labels in both_orders.items()
        if place[0] == "gemini-2.5-flash"
    ]
    case = [
        place[2].rsplit("_", 1)[0]
        for place in both_orders
        if place[0] == "gemini-2.5-flash"
    ]
    found = bootstrap(cohen_kappa.NOMINAL, pairs, SCALE, case, seed=1)
    assert (found.n, found.n_clusters, found.n_undefined, found.why) == (
        444,
        111,
        0,
        None,
    )
    assert found.low < found.value < found.high < 0.669


def test_the_two_published_human_passes_differ_in_one_label(
    judgements: list[Judgement],
) -> None:
    passes: dict[str, dict[Item, Label]] = defaultdict(dict)
    for judgement in judgements:
        passes[judgement.annotator][item(judgement)] = judgement.label
    final, earlier = (
        passes["published human"],
        passes["published human, earlier pass"],
    )
    items = sorted(final)
    pairs = [[earlier[place], final[place]] for place in items]
    differing = [
        (place, *labels)
        for place, labels in zip(items, pairs, strict=True)
        if labels[0] != labels[1]
    ]
    assert differing == [
        (("gpt-5", "code", "sklearn_15_reproduced"), Label.CORRECT, Label.WRONG)
    ]
    before, after = zip(*pairs, strict=True)
    matrix = confusion_matrix(before, after, SCALE)
    assert (matrix.sum(), matrix.trace(), matrix[0, 2]) == (2220, 2219, 1)
    for statistic in (
        cohen_kappa.NOMINAL,
        krippendorff_alpha.NOMINAL,
        gwet_ac.AC1,
    ):
        assert 0.999 < statistic(pairs, SCALE).value < 1
