"""Label models of a campaign as text for a terminal, and as JSON with every item and annotator."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from crane_core.pipeline.agreement import label_model
from crane_core.pipeline.rows import as_rows
from crane_core.rounding import digits


def models_words(found: Sequence[label_model.CampaignLabelModel]) -> str:
    """Per model its annotators and how far it is from the final labels; of several also how far they agree."""
    lines = [line for one in found for line in _model_lines(one)]
    if len(found) > 1:
        lines.append("same label:")
        lines += [
            f"  {row['first']} and {row['second']}: {_share(row)}, n {row['n']:,}, {row['n_cases']:,} cases"
            for row in as_rows(label_model.compared_models(found))
        ]
    return "\n".join([*lines, "The final labels stay as they are."])


def _model_lines(one: label_model.CampaignLabelModel) -> list[str]:
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
    found: Sequence[label_model.CampaignLabelModel],
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
    compared = (
        as_rows(label_model.compared_models(found)) if len(found) > 1 else []
    )
    return {"models": models, "compared": compared}
