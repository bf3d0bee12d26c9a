"""The instances behind a number of a comparison, and the answers of both runs to one of them."""

from typing import Any

import pandas as pd
import streamlit as st

from crane_core.pipeline.results.run_comparison import GROUPS, Share
from crane_core.pipeline.rows import as_rows
from crane_core.storage.answers import AnswerPlace
from crane_core.ui import keys
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.glossary import prose
from crane_core.ui.headline import draw_headline
from crane_core.ui.linked_html import address, draw_linked
from crane_core.ui.navigation import here, show_here
from crane_core.ui.runs import compared_words, one_instance
from crane_core.ui.runs.address import (
    PAGE,
    draw_pages,
    page_shown,
    remember_place,
)
from crane_core.ui.runs.compared import GROUP_KEY, ONE_RIGHT, ComparedRuns
from crane_core.ui.runs.compared_html import instances_html
from crane_core.ui.url_state import asked, held, one_of, switch
from crane_core.ui.words import count, sentence_case

SHARES = (ONE_RIGHT, Share.BASELINE, Share.OTHER, Share.BOTH, Share.NEITHER)


def _place_of_other(runs: ComparedRuns) -> int:
    """Which run the list is about beside the baseline: the one that the address names, else the first."""
    named = st.query_params.get(keys.RUN_OTHER)
    return runs.ids.index(named) if named in runs.ids[1:] else 1


def _asked_share() -> str:
    return held(keys.RUN_SHARE, [str(share) for share in SHARES])


def _meant() -> Share | None:
    """The share that the address names; None: one of the two runs is right."""
    share = _asked_share()
    return None if share == ONE_RIGHT else Share(share)


def listed_instances(
    instances: pd.DataFrame, share: str, groups: dict[str, str | None]
) -> pd.DataFrame:
    """Those of a share (of one right, where it is `ONE_RIGHT`) and of groups, by the column that holds them."""
    wanted = [Share.BASELINE, Share.OTHER] if share == ONE_RIGHT else [share]
    kept = instances[instances["share"].isin(wanted)]
    for by, group in groups.items():
        kept = kept if group is None else kept[kept[by] == group]
    return kept


def _asked_list(runs: ComparedRuns) -> pd.DataFrame:
    """The instances that the address means."""
    found = runs.found().instances
    mine = found[found["place"] == _place_of_other(runs)]
    groups = {by: next(iter(asked(key)), None) for by, key in GROUP_KEY.items()}
    return listed_instances(mine, _asked_share(), groups)


def draw_list(runs: ComparedRuns) -> None:
    """The instances of a number, each with the votes of both runs."""
    place = _place_of_other(runs)
    base, other = runs.names[0], runs.names[place]
    rows = _asked_list(runs)
    list_keys = (keys.RUN_SHARE, keys.RUN_OTHER, *GROUP_KEY.values())
    st.button(
        "Back to the comparison",
        on_click=show_here,
        kwargs=here(**dict.fromkeys(list_keys, "")),
        icon=":material/arrow_back:",
        shortcut="escape",
    )
    said = compared_words.list_headline(_meant(), len(rows), base, other)
    draw_headline(said, tab=said)
    _draw_filters(runs, place)
    prose(st.caption, compared_words.ties_words(rows))
    if rows.empty:
        st.info("No instance matches these filters.")
        return
    shown = _list_key(runs)
    page = page_shown(shown)
    html = instances_html(
        as_rows(rows.iloc[(page - 1) * PAGE : page * PAGE]),
        (base, other),
        [sentence_case(GROUPINGS[by]) for by in GROUPS],
        link_to=lambda name: address(here(**{keys.INSTANCE: name})),
    )
    draw_linked(html, key="compared_instances")
    draw_pages(shown, len(rows))


def _list_key(runs: ComparedRuns) -> str:
    """The list that the address means, as far as its length depends on it."""
    groups = [group for key in GROUP_KEY.values() for group in asked(key)]
    ids = runs.ids[0], runs.ids[_place_of_other(runs)]
    return "_".join([*ids, _asked_share(), *groups])


def _draw_filters(runs: ComparedRuns, place: int) -> None:
    found = runs.found()
    counts = found.counts(place)
    words: dict[str, str] = {
        str(share): said
        for share, said in compared_words.share_words(
            runs.names[0], runs.names[place]
        ).items()
    }
    words[ONE_RIGHT] = "one of the two right"
    n_of = {str(share): n for share, n in counts.items()}
    n_of[ONE_RIGHT] = counts[Share.BASELINE] + counts[Share.OTHER]
    switch(
        "Who is right",
        [str(share) for share in SHARES],
        key=keys.RUN_SHARE,
        format_func=lambda share: f"{words[share]} · {count(n_of[share])}",
    )
    mine = found.instances[found.instances["place"] == place]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for by, key in GROUP_KEY.items():
            one_of(
                st.selectbox,
                sentence_case(GROUPINGS[by]),
                sorted(mine[by].dropna().unique()),
                key=key,
                default=None,
                index=None,
                placeholder="all",
                width=320,
            )


def draw_compared_instance(runs: ComparedRuns, instance_id: str) -> None:
    """The answers of the baseline and of the other run side by side; J and K walk the list."""
    place = _place_of_other(runs)
    names = _asked_list(runs)["instance_id"].tolist()
    within_list = _place_in(names, instance_id)
    remember_place(_list_key(runs), within_list.place)
    within = one_instance.InstanceList(
        within_list,
        f"where {compared_words.right_words(_meant(), runs.names[0], runs.names[place])}",
        "Back to the list",
        here(**{keys.INSTANCE: ""}),
    )
    shown = [
        one_instance.ShownRun(runs.keys[which], runs.names[which])
        for which in (0, place)
    ]
    one_instance.draw_instance(shown, instance_id, within)


def _place_in(names: list[Any], name: str) -> AnswerPlace:
    """The place of an instance among names in their order; what is none of them has no neighbours."""
    if name not in names:
        return AnswerPlace(None, None, 0, len(names))
    at = names.index(name)
    before = names[at - 1] if at else None
    after = names[at + 1] if at + 1 < len(names) else None
    return AnswerPlace(before, after, at + 1, len(names))
