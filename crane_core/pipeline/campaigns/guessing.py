"""Can annotators of a blind campaign guess which model wrote a text? Measured on its items, as they are shown."""

import numpy as np

from crane_core.annotation.plan import Plan
from crane_core.pipeline.campaigns.cards import shown_texts
from crane_core.rounding import digits
from crane_core.stats.guessability import Guessability, guessability
from crane_core.storage.store import Store

MOST_TEXTS = 2_000
"""Of a large campaign a random part answers as well."""


def guessed(store: Store, plan: Plan) -> Guessability | None:
    """How often the detector of an item is guessed from its first text.

    None for a campaign that is not blind, and where it cannot be estimated (see `stats.guessability`).
    """
    if not plan.blind:
        return None
    items = list(plan.items)
    if len(items) > MOST_TEXTS:
        chosen = np.random.default_rng(plan.seed).choice(
            len(items), MOST_TEXTS, replace=False
        )
        items = [items[place] for place in sorted(chosen)]
    texts: list[str] = []
    read = []
    for item in items:
        shown = shown_texts(store, plan, item.item)
        if shown:
            texts.append(shown[0].text)
            read.append(item.verdict)
    return guessability(
        texts,
        [verdict.detector for verdict in read],
        [verdict.case for verdict in read],
    )


def guess_words(found: Guessability) -> str:
    """One sentence, for the outline of a plan."""
    share = found.share
    return (
        f"Style: from these texts a classifier guesses the detector of {_percent(share.value)} of the items "
        f"({_percent(share.low)} to {_percent(share.high)}); without reading, the most frequent one is right for "
        f"{_percent(found.most_frequent)}."
    )


def _percent(share: float) -> str:
    return f"{digits(share * 100, 0)}%"
