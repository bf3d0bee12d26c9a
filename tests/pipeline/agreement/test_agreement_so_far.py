"""Agreement while a campaign runs: the coefficient of all common items, or why there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.metrics import cohen_kappa_score

from crane_core.annotation.plan import Plan
from crane_core.pipeline.agreement.agreement import MIN_COMMON_WHEN_BLIND
from crane_core.pipeline.agreement.so_far import agreement_so_far
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder

Pilot = Callable[..., tuple[DataFolder, Plan]]
WORDS = ("correct", "partial", "wrong")


def label(
    folder: DataFolder, annotator: str, items: list[str], said: list[str]
) -> None:
    acts = [
        {
            "event": f"{annotator}-{item}",
            "action": "label",
            "item": item,
            "showing": 1,
            "label": word,
        }
        for item, word in zip(items, said, strict=True)
    ]
    assert LabelStore(folder, "pilot").take(annotator, acts).refused == {}


def test_kappa_of_two_is_scikit_learns_with_an_interval_over_cases(
    pilot: Pilot,
) -> None:
    folder, plan = pilot(60)
    items = [item.item for item in plan.items][:40]
    first = [WORDS[place % 3] for place in range(40)]
    second = [
        word if place % 4 else WORDS[place % 2]
        for place, word in enumerate(first)
    ]
    label(folder, "ana", items, first)
    label(folder, "ben", items[:30], second[:30])
    so_far = agreement_so_far(folder, plan, locked=False)
    assert (so_far.coefficient, so_far.n_common) == ("Cohen's kappa", 30)
    assert so_far.found is not None
    assert so_far.found.value == pytest.approx(
        cohen_kappa_score(first[:30], second[:30])
    )
    assert so_far.found.low < so_far.found.value < so_far.found.high
    assert (so_far.found.n, so_far.found.n_clusters) == (30, 30)


def test_three_annotators_have_an_alpha(pilot: Pilot) -> None:
    folder, plan = pilot(60, ("ana", "ben", "cleo"))
    items = [item.item for item in plan.items][:12]
    for annotator in plan.annotators:
        label(
            folder, annotator, items, [WORDS[place % 3] for place in range(12)]
        )
    so_far = agreement_so_far(folder, plan, locked=False)
    assert so_far.coefficient.startswith("Krippendorff's alpha")
    assert so_far.found is not None and so_far.found.value == 1


def test_few_common_items_of_a_blind_campaign_have_no_value_until_the_lock(
    pilot: Pilot,
) -> None:
    folder, plan = pilot(60)
    items = [item.item for item in plan.items][: MIN_COMMON_WHEN_BLIND - 1]
    assert agreement_so_far(folder, plan, locked=False)[1:] == (0, None)
    for annotator in plan.annotators:
        label(
            folder,
            annotator,
            items,
            [WORDS[place % 3] for place in range(len(items))],
        )
    assert agreement_so_far(folder, plan, locked=False)[1:] == (
        len(items),
        None,
    )
    locked = agreement_so_far(folder, plan, locked=True)
    assert locked.found is not None and locked.found.n == len(items)
