"""Which items of a case have nearly the same text: their labels should agree, or there is a reason.

The desk offers the label of the item before in campaigns by case, and lists such items with unlike labels. Both need
one text of each item. Texts are compared as annotators see them.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from crane_core.annotation.plan import Gold, Item, Plan, Texts
from crane_core.pipeline.campaigns.cards import shown_texts
from crane_core.stats.text_likeness import NEAR, text_cosines
from crane_core.storage.store import Store


class CaseTexts(NamedTuple):
    """The text of each item of a case, by its name, and the pairs of items whose texts are nearly the same."""

    text_of: Mapping[str, str]
    near: frozenset[frozenset[str]]

    def are_near(self, one: str, other: str) -> bool:
        """Whether two items have nearly the same text."""
        return frozenset((one, other)) in self.near


def offers_last_label(plan: Plan) -> bool:
    """Whether the desk of this campaign offers the label of the item before."""
    return plan.design.by_case and plan.design.texts is Texts.ONE


def case_texts(store: Store, plan: Plan, case: str) -> CaseTexts:
    """The texts of a case (`LabelledVerdict.case`), gold items among them; items without a text are left out."""
    entries: tuple[Item | Gold, ...] = (*plan.items, *plan.gold)
    shown = {
        entry.item: shown_texts(store, plan, entry.item)
        for entry in entries
        if entry.verdict.case == case
    }
    text_of = {item: texts[0].text for item, texts in shown.items() if texts}
    names = list(text_of)
    cosines = text_cosines(list(text_of.values()))
    near = frozenset(
        frozenset((names[i], names[j]))
        for i, j in combinations(range(len(names)), 2)
        if cosines[i, j] >= NEAR
    )
    return CaseTexts(text_of, near)


def unlike_labels(
    store: Store, plan: Plan, labels: Mapping[str, str]
) -> frozenset[str]:
    """Items with nearly the same text as another item of their case, and another label. labels: item to label."""
    found: set[str] = set()
    for case in sorted({plan.item(item).verdict.case for item in labels}):
        for pair in case_texts(store, plan, case).near:
            given = [labels[item] for item in pair if item in labels]
            if len(set(given)) > 1:
                found |= pair
    return frozenset(found)
