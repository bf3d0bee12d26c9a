"""The URL parameters of a run and of one of its instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crane_core.storage.answers import RunKey
from crane_core.ui import keys

ADDRESS = {
    "benchmark": keys.BENCHMARK,
    "experiment": keys.EXPERIMENT,
    "detector": keys.DETECTOR,
    "setting": keys.SETTING,
}
"""Columns that name a run, each with its place in the address."""


def key_of(row: Mapping[str, Any]) -> RunKey:
    """row: one of `pipeline.results.run_list`."""
    return RunKey(*(str(row[name]) for name in ADDRESS))


def address_of(run: RunKey, instance: str | None = None) -> dict[str, str]:
    """The query parameters that open the run, or one instance of it."""
    query = dict(zip(ADDRESS.values(), run, strict=True))
    return query if instance is None else query | {keys.INSTANCE: instance}
