"""The texts of a campaign's items as its annotators see them: what happened, and what the detector said.

Those of a blind campaign are masked, and one text is drawn of each item where the plan says so, as on the card. They
belong to the authors of notebooks and to models, so no export holds them without a request.
"""

from typing import NamedTuple

from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.cards import Text, card
from crane_core.storage.store import Store


class ItemTexts(NamedTuple):
    """None where the text is not on this machine. `diagnosis` holds all texts where annotators see all of them."""

    ground_truth: str | None
    message: str | None
    target_code: str | None
    diagnosis: str | None


def item_texts(store: Store, plan: Plan) -> dict[str, ItemTexts]:
    """The texts of every item, by its name."""
    return {item.item: _texts(store, plan, item.item) for item in plan.items}


def _texts(store: Store, plan: Plan, item: str) -> ItemTexts:
    shown = card(store, plan, item)
    return ItemTexts(
        shown.truth, shown.message, shown.code, _diagnosis(shown.texts)
    )


def _diagnosis(texts: tuple[Text, ...]) -> str | None:
    told = [
        text.text
        if text.n_runs is None
        else f"[{text.n_runs} runs] {text.text}"
        for text in texts
    ]
    return "\n\n".join(told) or None
