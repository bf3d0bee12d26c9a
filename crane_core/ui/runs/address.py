"""The URL parameters of a run, of one of its instances, and of a comparison of runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from crane_core.storage.answers import Only, RunKey
from crane_core.storage.search import phrase_of
from crane_core.ui import keys
from crane_core.ui.url_state import read_old

ADDRESS = {
    "benchmark": keys.BENCHMARK,
    "experiment": keys.EXPERIMENT,
    "detector": keys.DETECTOR,
    "setting": keys.SETTING,
}
"""Columns that name a run, each with its place in the address."""
PAGE = 100
"""Instances that are listed at once."""
ONLY_WORDS = {
    Only.ALL: "all",
    Only.WRONG: "wrong vote",
    Only.FLIPS: "answers differ",
    Only.UNANSWERED: "without an answer",
}
_OLD_ONLY = {
    "wrong vote": Only.WRONG,
    "runs differ": Only.FLIPS,
    "without an answer": Only.UNANSWERED,
}
"""Filters as addresses named them by their words; bookmarks keep these."""


def key_of(row: Mapping[str, Any]) -> RunKey:
    """row: one of `pipeline.results.run_list`."""
    return RunKey(*(str(row[name]) for name in ADDRESS))


def run_id(run: RunKey) -> str:
    """The run as the value of one parameter: its four ids, which no title or setting's sign changes."""
    return "~".join(run)


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


def comparison_address(
    baseline: str, against: Sequence[str]
) -> dict[str, str | list[str]]:
    """The query parameters that compare runs with a baseline, each by its `run_id`."""
    return {keys.RUN_BASELINE: baseline, keys.RUN_AGAINST: list(against)}


def page_shown(list_key: str) -> int:
    """The page (from 1) of a list of instances: the chosen one, or that of the instance that was read last."""
    key = f"{keys.RUN_PAGE}_{list_key}"
    # A widget that is not drawn loses its value, so a list that is left for an answer keeps its page beside it.
    left_at = st.session_state.get(f"{key}_left", 1)
    return int(st.session_state.get(key, left_at))


def draw_pages(list_key: str, n_rows: int) -> None:
    """The pages to turn, where there are several."""
    if n_rows > PAGE:
        key = f"{keys.RUN_PAGE}_{list_key}"
        st.session_state[key] = page_shown(list_key)
        st.pagination(-(-n_rows // PAGE), key=key)


def remember_place(list_key: str, place: int) -> None:
    """Have the list show the page of this place (from 1) when it is drawn again."""
    st.session_state[f"{keys.RUN_PAGE}_{list_key}_left"] = (
        1 + max(place - 1, 0) // PAGE
    )


def list_key(run: RunKey, only: Only, find: str) -> str:
    """The list of a run under a filter and a search: page nine of a long one may lie beyond the end of a short one."""
    return f"{run_id(run)}_{only}_{find}"


def asked_only() -> Only:
    """The filter that the address names; all instances where it names none, or one that there is not."""
    read_old_only()
    named = st.query_params.get(keys.RUN_ONLY)
    return Only(named) if named in list(Only) else Only.ALL


def asked_find() -> str:
    """The words of the address that answers are searched for."""
    return phrase_of(st.query_params.get(keys.SEARCH, ""))


def read_old_only() -> None:
    """Give the filter its id where an old address names it by words."""
    read_old(keys.RUN_ONLY, _OLD_ONLY)
