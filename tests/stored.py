"""What a data folder holds, as tests compare it: the rows of its store, and what `losses` says is gone."""

from __future__ import annotations

from pathlib import Path

from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.loading.losses import losses
from crane_core.pipeline.places import DataFolder
from crane_core.storage import state

Content = dict[str, list[tuple[object, ...]]]
"""Rows by table."""


def content(folder: DataFolder) -> Content:
    """Every row of the store."""
    store = prepare(folder)
    found = state.content(store.cursor())
    store.close()
    return found


def counts(folder: DataFolder) -> dict[str, int]:
    """Rows in each table of the store."""
    store = prepare(folder)
    found = state.table_counts(store.cursor())
    store.close()
    return found


def told(folder: DataFolder) -> list[str]:
    """Each loss in words."""
    return [str(loss) for loss in losses(folder)]


def labels_of(folder: DataFolder) -> Path:
    """The file with what `ann` labelled in the campaign `pilot`."""
    return folder.ledger / "labels" / "pilot" / "ann.jsonl"
