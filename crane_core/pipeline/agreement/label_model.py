"""Label models of a locked campaign: what its labels say together, beside the final labels and never in their place.

Gold items have a known label and anchor the model of Dawid and Skene; to GLAD and MACE they are items as others. Hidden
repeats are not independent labels, so they stay outside; how often an annotator repeated a label is listed beside the
ability.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from crane_core.annotation.journal import Journal
from crane_core.annotation.order import Showing
from crane_core.annotation.outcome import final_outcome
from crane_core.annotation.plan import Gold, Item, Plan
from crane_core.errors import CampaignError
from crane_core.pipeline.agreement import crowd_kit
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.measures import estimate_row
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits
from crane_core.stats.dawid_skene import (
    N_REFITS,
    NONE,
    Places,
    dawid_skene,
    refitted,
)
from crane_core.stats.intervals import clustered_rate

DAWID_SKENE = "Dawid-Skene"
MODELS = (DAWID_SKENE, *crowd_kit.CROWD_MODELS)
FINAL, KNOWN = "final labels", "gold items"
SEED = 0
MIN_ANNOTATORS = 3
"""Without gold items: labels of two fit many models equally well."""


class CampaignLabelModel(NamedTuple):
    """items: item, case, likely (label), probability, low, high, final (None: none), provenance; surest last.

    people: annotator, n, ability, low, high, parameter (of the model, if it has one), n_gold, n_gold_right, n_repeats,
    n_same. Probabilities and abilities in 0..1, with 95% bounds from n_refits fits on resampled cases. gold: as items,
    with the known label as final. n_unlike: items whose final label is not the likely one.
    """

    model: str
    items: pd.DataFrame
    gold: pd.DataFrame
    people: pd.DataFrame
    n_unlike: int
    n_refits: int
    has_converged: bool

    @property
    def is_anchored(self) -> bool:
        """Whether gold items are fixed at their label, and not labelled by the model as the others are."""
        return self.model == DAWID_SKENE


def campaign_label_model(
    folder: DataFolder, campaign: str, model: str = DAWID_SKENE
) -> CampaignLabelModel:
    """One of MODELS of a campaign.

    Raises CampaignError before the lock, where labels of too few people are there, and as `crowd_fit` does.
    """
    plan, lock = campaigns.kept_campaign(folder, campaign)
    if lock is None:
        raise CampaignError(
            f"{campaign} is not locked, and a label model would reveal labels.",
            remedy="Lock it first.",
        )
    journals = campaigns.journals_of(folder, plan)
    entries: tuple[Item | Gold, ...] = (*plan.items, *plan.gold)
    labelled = [
        entry for entry in entries if campaigns.labels_of(journals, entry.item)
    ]
    known = [
        entry.label if isinstance(entry, Gold) else None for entry in labelled
    ]
    codes = pd.Index(plan.labels.codes)
    people = [name for name in plan.annotators if journals[name].given]
    n_gold = sum(label is not None for label in known)
    has_anchors = n_gold > 0 and model == DAWID_SKENE
    if len(people) < (2 if has_anchors else MIN_ANNOTATORS) or not labelled:
        raise CampaignError(
            f"{campaign} has labels of {len(people)} annotators and {n_gold} labelled gold items.",
            remedy=f"A label model needs {MIN_ANNOTATORS} annotators; {DAWID_SKENE} also takes 2 and gold items.",
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
    fit, has_converged = _fitted(model, given, len(codes), cases, truth)
    decisions = campaigns.decisions_of(folder, plan)
    likely = fit.posterior.argmax(axis=1)
    rows = np.arange(len(labelled))
    finals = [
        final_outcome(
            campaigns.labels_of(journals, one.item), decisions.get(one.item)
        )
        for one in labelled
    ]
    table = pd.DataFrame(
        {
            "item": [one.item for one in labelled],
            "case": cases,
            "likely": codes[likely],
            "probability": fit.posterior[rows, likely],
            "low": fit.bounds.posterior_low[rows, likely],
            "high": fit.bounds.posterior_high[rows, likely],
            # Gold items have no outcome to compare with, but their known label.
            "final": pd.Series(
                [
                    label or one.label
                    for label, one in zip(known, finals, strict=True)
                ],
                dtype=object,
            ),
            "provenance": [str(one.provenance) for one in finals],
        }
    )
    items = table[truth == NONE].sort_values("probability", kind="stable")
    return CampaignLabelModel(
        model=model,
        items=items.reset_index(drop=True),
        gold=table[truth != NONE].reset_index(drop=True),
        people=pd.DataFrame(
            {
                "annotator": people,
                "n": (given != NONE).sum(axis=0),
                "ability": fit.ability,
                "low": fit.bounds.ability_low,
                "high": fit.bounds.ability_high,
                "parameter": fit.parameter,
                **_anchors(plan, journals, people),
            }
        ),
        n_unlike=int(
            (items["final"].notna() & (items["final"] != items["likely"])).sum()
        ),
        n_refits=fit.n_refits,
        has_converged=has_converged,
    )


def _fitted(
    model: str,
    given: Places,
    n_labels: int,
    cases: list[str],
    truth: Places,
) -> tuple[crowd_kit.CrowdFit, bool]:
    """The fit, and whether it has converged."""
    if model != DAWID_SKENE:
        return crowd_kit.crowd_fit(
            model, given, n_labels, cases, seed=SEED
        ), True
    ours = dawid_skene(given, n_labels, known=truth)
    bounds = refitted(given, n_labels, cases, known=truth, seed=SEED)
    fit = crowd_kit.CrowdFit(
        posterior=ours.posterior,
        ability=ours.ability,
        parameter=np.full(given.shape[1], np.nan),
        bounds=bounds,
        n_refits=N_REFITS,
    )
    return fit, ours.has_converged


def compared_models(models: Sequence[CampaignLabelModel]) -> pd.DataFrame:
    """How often models of one campaign name the same label as each other, as the final one, and as gold items have.

    Columns: first, second, value, low, high (in 0..1), n, n_cases.
    """
    finals = models[0].items.dropna(subset="final")
    said = [(one.model, one.items, "likely") for one in models]
    pairs = list(combinations([*said, (FINAL, finals, "final")], 2))
    pairs += [
        ((one.model, one.gold, "likely"), (KNOWN, one.gold, "final"))
        for one in models
        if not one.is_anchored
    ]
    rows = []
    for (first, some, of_first), (second, others, of_second) in pairs:
        both = some[["item", "case", of_first]].merge(
            others[["item", of_second]], on="item", suffixes=("", "_second")
        )
        if both.empty:
            continue
        mine, theirs = both.iloc[:, 2], both.iloc[:, 3]
        rate = clustered_rate(mine == theirs, np.ones(len(both)), both["case"])
        rows.append({"first": first, "second": second} | estimate_row(rate))
    return pd.DataFrame(rows)


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


def models_words(found: Sequence[CampaignLabelModel]) -> str:
    """Per model its annotators and how far it is from the final labels; of several also how far they agree."""
    lines = [line for one in found for line in _model_lines(one)]
    if len(found) > 1:
        lines.append("same label:")
        lines += [
            f"  {row['first']} and {row['second']}: {_share(row)}, n {row['n']:,}, {row['n_cases']:,} cases"
            for row in as_rows(compared_models(found))
        ]
    return "\n".join([*lines, "The final labels stay as they are."])


def _model_lines(one: CampaignLabelModel) -> list[str]:
    n_final = int(one.items["final"].notna().sum())
    gold = "fixed at their label" if one.is_anchored else "no anchors"
    lines = [
        f"{one.model}: the likely label of {one.n_unlike:,} of {n_final:,} items with a final label is not the final "
        f"one; {len(one.gold):,} gold items, {gold}; bounds from {one.n_refits:,} fits"
    ]
    if not one.has_converged:
        lines.append("  The fit did not converge; do not rely on it.")
    people = as_rows(one.people.rename(columns={"ability": "value"}))
    return lines + [
        f"  {row['annotator']}: ability {_share(row)}, n {row['n']:,}; gold right {row['n_gold_right']:,} of "
        f"{row['n_gold']:,}; repeats alike {row['n_same']:,} of {row['n_repeats']:,}"
        for row in people
    ]


def _share(row: dict[str, Any]) -> str:
    value, low, high = (
        digits(row[name] * 100, 1) for name in ("value", "low", "high")
    )
    return f"{value}% ({low} to {high}%)"


def models_json(
    found: Sequence[CampaignLabelModel],
) -> dict[str, Any]:
    """Models by name with their items, gold items and people, and of several how far they agree."""
    models = {
        one.model: one._asdict()
        | {
            name: as_rows(frame)
            for name, frame in one._asdict().items()
            if isinstance(frame, pd.DataFrame)
        }
        for one in found
    }
    compared = as_rows(compared_models(found)) if len(found) > 1 else []
    return {"models": models, "compared": compared}
