"""The label model of a locked campaign: what its labels say together, beside the final labels and never in their place.

Gold items have a known label and anchor the model. Hidden repeats are not independent labels, so they stay outside of
it; how often an annotator repeated a label is listed beside the ability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import final_outcome
from crane_core.annotation.plan import Gold, Item, Plan
from crane_core.errors import CampaignError
from crane_core.pipeline.campaigns.campaigns import (
    decisions_of,
    journals_of,
    kept_campaign,
    labels_of,
)
from crane_core.pipeline.places import DataFolder
from crane_core.stats.dawid_skene import NONE, dawid_skene, refitted

SEED = 0
MIN_ANNOTATORS = 3
"""Without gold items: labels of two fit many models equally well."""


class CampaignLabelModel(NamedTuple):
    """items: item, case, likely (label), probability, low, high, final (None: none), provenance; surest last.

    people: annotator, n, ability, low, high, n_gold, n_gold_right, n_repeats, n_same. Probabilities and abilities in
    0..1, with 95% bounds from refits on resampled cases. n_unlike: items whose final label is not the likely one.
    """

    items: pd.DataFrame
    people: pd.DataFrame
    n_gold: int
    n_unlike: int
    has_converged: bool


def campaign_label_model(
    folder: DataFolder, campaign: str
) -> CampaignLabelModel:
    """The model of a campaign. Raises CampaignError before the lock, and where labels of too few people are there."""
    plan, lock = kept_campaign(folder, campaign)
    if lock is None:
        raise CampaignError(
            f"{campaign} is not locked, and a label model would reveal labels.",
            remedy="Lock it first.",
        )
    journals = journals_of(folder, plan)
    entries: tuple[Item | Gold, ...] = (*plan.items, *plan.gold)
    labelled = [entry for entry in entries if labels_of(journals, entry.item)]
    known = [
        entry.label if isinstance(entry, Gold) else None for entry in labelled
    ]
    codes = pd.Index(plan.labels.codes)
    people = [name for name in plan.annotators if journals[name].given]
    n_gold = sum(label is not None for label in known)
    if len(people) < (2 if n_gold else MIN_ANNOTATORS) or not labelled:
        raise CampaignError(
            f"{campaign} has labels of {len(people)} annotators and {n_gold} labelled gold items.",
            remedy=f"A label model needs {MIN_ANNOTATORS} annotators, or 2 and gold items.",
        )
    given = np.array(
        [
            codes.get_indexer(
                pd.Index(
                    [_label(journals[who], one.item) for who in people],
                    dtype=object,
                )
            )
            for one in labelled
        ]
    )
    truth = codes.get_indexer(pd.Index(known, dtype=object))
    cases = [one.verdict.case for one in labelled]
    model = dawid_skene(given, len(codes), known=truth)
    bounds = refitted(given, len(codes), cases, known=truth, seed=SEED)
    decisions = decisions_of(folder, plan)
    likely = model.posterior.argmax(axis=1)
    rows = np.arange(len(labelled))
    finals = [
        final_outcome(labels_of(journals, one.item), decisions.get(one.item))
        for one in labelled
    ]
    items = pd.DataFrame(
        {
            "item": [one.item for one in labelled],
            "case": cases,
            "likely": codes[likely],
            "probability": model.posterior[rows, likely],
            "low": bounds.posterior_low[rows, likely],
            "high": bounds.posterior_high[rows, likely],
            "final": pd.Series([one.label for one in finals], dtype=object),
            "provenance": [str(one.provenance) for one in finals],
        }
    )
    # Gold items have no outcome to compare with.
    items = items[truth == NONE].sort_values("probability", kind="stable")
    return CampaignLabelModel(
        items=items.reset_index(drop=True),
        people=pd.DataFrame(
            {
                "annotator": people,
                "n": (given != NONE).sum(axis=0),
                "ability": model.ability,
                "low": bounds.ability_low,
                "high": bounds.ability_high,
                **_anchors(plan, journals, people),
            }
        ),
        n_gold=n_gold,
        n_unlike=int(
            (items["final"].notna() & (items["final"] != items["likely"])).sum()
        ),
        has_converged=model.has_converged,
    )


def _label(journal: Journal, item: str) -> str | None:
    given = journal.given.get(Showing(item, 1))
    return given.label if given else None


def _anchors(
    plan: Plan, journals: dict[str, Journal], people: list[str]
) -> dict[str, list[int]]:
    """Per annotator: labelled gold items and those labelled right, labelled repeats and those with the same label."""
    found: dict[str, list[int]] = {
        name: [] for name in ("n_gold", "n_gold_right", "n_repeats", "n_same")
    }
    for who in people:
        journal = journals[who]
        gold = [
            label == entry.label
            for entry in plan.gold
            if (label := _label(journal, entry.item)) is not None
        ]
        repeats = [
            given.label == _label(journal, showing.item)
            for showing, given in journal.given.items()
            if showing.showing == 2
            and _label(journal, showing.item) is not None
        ]
        found["n_gold"].append(len(gold))
        found["n_gold_right"].append(sum(gold))
        found["n_repeats"].append(len(repeats))
        found["n_same"].append(sum(repeats))
    return found
