"""The URL parameters of a run and of one of its instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from crane_core.storage.answers import Only, RunKey
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


def address_of(
    run: RunKey, instance: str | None = None, only: Only = Only.ALL
) -> dict[str, str]:
    """The query parameters that open the run, or one instance of it; `only` is the filter of its instances."""
    query = dict(zip(ADDRESS.values(), run, strict=True))
    if instance is not None:
        query[keys.INSTANCE] = instance
    if only is not Only.ALL:
        query[keys.RUN_ONLY] = str(only)
    return query


def asked_only() -> Only:
    """The filter that the address names; all instances where it names none, or one that there is not."""
    named = st.query_params.get(keys.RUN_ONLY)
    return Only(named) if named in list(Only) else Only.ALL
