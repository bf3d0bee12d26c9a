"""Labels that annotators give beside a running app, as another process would."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder


def give_labels(
    folder: DataFolder,
    campaign: str,
    annotator: str,
    labels: Mapping[str, str],
    **more: object,
) -> None:
    """Item to label; each at its first showing, with `more` in the act."""
    acts = [
        {
            "event": uuid4().hex,
            "action": "label",
            "item": item,
            "showing": 1,
            "label": label,
            **more,
        }
        for item, label in labels.items()
    ]
    assert LabelStore(folder, campaign).take(annotator, acts).refused == {}
