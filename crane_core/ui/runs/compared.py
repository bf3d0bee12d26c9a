"""Runs against one baseline: who is right where, for which crashes, at which price.

Behind a number: its instances, and the answers of both runs to one of them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from crane_core.charts.drops import FEW_CASES, drops
from crane_core.charts.theme import detector_colours
from crane_core.pipeline.results import run_comparison
from crane_core.pipeline.results.run_comparison import GROUPS, Share
from crane_core.pipeline.rows import as_rows
from crane_core.storage.answers import AnswerPlace, RunKey
from crane_core.ui import caption, data, keys
from crane_core.ui.breakdown_words import GROUPINGS
from crane_core.ui.chart_box import draw_chart, draw_export, finished
from crane_core.ui.drops_words import drop_marks
from crane_core.ui.glossary import prose
from crane_core.ui.headline import draw_headline
from crane_core.ui.linked_html import address, draw_linked
from crane_core.ui.mark_list import draw_mark_list
from crane_core.ui.navigation import here, show_here, turn
from crane_core.ui.result_switches import BOUND_HELP, BOUNDS, points_words
from crane_core.ui.runs import compared_words, one_instance
from crane_core.ui.runs.address import (
    ADDRESS,
    PAGE,
    address_of,
    comparison_address,
    draw_pages,
    key_of,
    page_shown,
    remember_place,
    run_id,
)
from crane_core.ui.runs.compared_html import instances_html, versus_html
from crane_core.ui.runs.names import run_called, run_words, short_names
from crane_core.ui.url_state import (
    asked,
    held,
    last_held,
    many_of,
    one_of,
    switch,
)
from crane_core.ui.words import count, literal, sentence_case

MOST_AGAINST = 6
"""Runs that are compared with the baseline at once: as many as a chart tells apart."""
GROUP_KEY = {"library_group": keys.LIBRARY, "root_cause": keys.ROOT_CAUSE}
ONE_RIGHT = "one"
"""In the address, for the instances on which exactly one of two runs is right."""
NAME = "runs_compared"
"""The stem of the files to take."""


class ComparedRuns(NamedTuple):
    """The runs of a comparison, the baseline first: their `run_id`, their row in the list of runs, and their name."""

    ids: list[str]
    rows: list[Mapping[str, Any]]
    names: list[str]

    @property
    def keys(self) -> list[RunKey]:
        """Their keys, the baseline's first."""
        return [key_of(row) for row in self.rows]

    def found(self) -> run_comparison.RunComparison:
        """The comparison, computed once for these runs."""
        baseline, *against = self.keys
        bound = held(keys.SMALLEST, BOUNDS)
        return _compared(baseline, tuple(against), float(bound) / 100)


@data.kept(data.answers, 16)
def _compared(
    baseline: RunKey, against: tuple[RunKey, ...], bound: float
) -> run_comparison.RunComparison:
    return run_comparison.compare_runs(
        data.verdicts(),
        data.run_list(),
        baseline,
        against,
        bound,
    )


def compared_runs(table: pd.DataFrame) -> ComparedRuns | None:
    """The runs that the address compares; None where it names no baseline that is loaded.

    table: `pipeline.results.run_list`.
    """
    rows = _comparable(table)
    named = next(iter(asked(keys.RUN_BASELINE)), None)
    if named not in rows:
        return None
    against = [
        run
        for run in dict.fromkeys(asked(keys.RUN_AGAINST))
        if run in rows
        and run != named
        and rows[run]["benchmark"] == rows[named]["benchmark"]
    ]
    ids = [named, *against[:MOST_AGAINST]]
    meant = {run: rows[run] for run in ids}
    return ComparedRuns(
        ids, list(meant.values()), list(short_names(meant).values())
    )


def _comparable(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The runs that have an answer, by id."""
    return {
        run_id(key_of(row)): row for row in as_rows(table) if row["n_answers"]
    }


def _words_on(table: pd.DataFrame, benchmark: str) -> dict[str, str]:
    """Id to name of the runs on a benchmark that have an answer."""
    return {
        run: run_words(row)
        for run, row in _comparable(table).items()
        if row["benchmark"] == benchmark
    }


def read_old_comparison(table: pd.DataFrame) -> None:
    """Move an address that named one other run beside an open one, by its id or its words, to the comparison."""
    beside = st.query_params.get(keys.RUN_BESIDE)
    if not beside:
        return
    mine = [st.query_params.get(name, "") for name in ADDRESS.values()]
    words_of = _words_on(table, mine[0])
    other = run_called(beside, words_of)
    st.query_params.from_dict(
        comparison_address(run_id(RunKey(*mine)), [other])
    )


def draw_compared(table: pd.DataFrame, runs: ComparedRuns) -> None:
    """The view of a comparison; table: `pipeline.results.run_list`."""
    found = runs.found()
    turn("All runs", **last_held(keys.RUNS_ON, keys.RUNS_BY))
    differences = as_rows(found.differences)
    said = compared_words.headline(differences, runs.names)
    draw_headline(said, tab=f"{runs.names[0]} compared")
    _draw_choice(table, runs)
    if not differences:
        return
    quality = as_rows(found.runs)
    with st.container(horizontal=True, vertical_alignment="center"):
        ties = compared_words.ties_words(found.instances)
        prose(
            st.caption,
            f"{ties} 95% intervals by case. A number opens its instances.",
            width="stretch",
        )
        with st.container(width="content"):
            draw_export(
                compared_words.quality_table(differences, quality, runs.names),
                numbers=_named(
                    found.runs.merge(
                        found.differences.drop(columns="n"),
                        on="place",
                        how="left",
                    ),
                    "place",
                    runs,
                ),
                name=NAME,
                caption=_caption(runs, said, found.differences),
            )
    places = [int(row["place"]) for row in differences]
    html = versus_html(
        quality,
        differences,
        {place: found.counts(place) for place in places},
        runs.names,
        detector_colours([runs.names[place] for place in places]),
        run_links=[address(address_of(key)) for key in runs.keys],
        link_to=lambda place, share: address(
            here(**_list_of(runs, place, share))
        ),
    )
    draw_linked(html, key="compared")
    _draw_groups(runs, found)


def _draw_choice(table: pd.DataFrame, runs: ComparedRuns) -> None:
    """The baseline and the runs against it, all on one benchmark."""
    words_of = _words_on(table, runs.rows[0]["benchmark"])
    if len(st.query_params.get_all(keys.RUN_AGAINST)) > MOST_AGAINST:
        st.query_params[keys.RUN_AGAINST] = runs.ids[1:]
    with st.container(
        horizontal=True, vertical_alignment="bottom", key="compared_choice"
    ):
        baseline = one_of(
            st.selectbox,
            "Baseline",
            list(words_of),
            key=keys.RUN_BASELINE,
            default=None,
            width=420,
            format_func=words_of.get,
        )
        many_of(
            "Compared with it",
            [run for run in words_of if run != baseline],
            key=keys.RUN_AGAINST,
            placeholder="runs on the same benchmark",
            max_selections=MOST_AGAINST,
            width="stretch",
            format_func=words_of.get,
        )
        one_of(
            st.selectbox,
            "Smallest effect of interest",
            BOUNDS,
            key=keys.SMALLEST,
            default=BOUNDS[0],
            width=200,
            format_func=points_words,
            help=BOUND_HELP,
        )
        if len(runs.ids) == 2:
            st.button(
                "Swap",
                on_click=show_here,
                kwargs=comparison_address(runs.ids[1], [runs.ids[0]]),
            )


def _list_of(
    runs: ComparedRuns, place: int, share: run_comparison.Share | None
) -> dict[str, str | list[str]]:
    """The parameters of the list of these instances; None: those on which one of the two is right."""
    return {
        keys.RUN_OTHER: runs.ids[place],
        keys.RUN_SHARE: ONE_RIGHT if share is None else str(share),
    }


def _draw_groups(
    runs: ComparedRuns, found: run_comparison.RunComparison
) -> None:
    if found.groups.empty:
        return
    st.header("For which crashes?", anchor="groups")
    said = compared_words.groups_finding(found.groups, runs.names)
    st.markdown(said)
    drawn = compared_words.drawn_groups(
        found.differences, found.groups, runs.names
    )
    note = (
        f"Right of 0: more often right than {literal(runs.names[0])}. Lines: 95% intervals by case. Faded: at most "
        f"{FEW_CASES} cases, without one. p in the table: Benjamini-Hochberg over the {len(found.groups)} rows by "
        "library and root cause. Click a diamond to see the instances on which one of the two runs is right."
    )
    numbers = pd.concat(
        [
            found.differences.assign(
                by="all", group="", detector=found.differences["place"]
            ),
            found.groups,
        ],
        ignore_index=True,
    )
    draw_chart(
        finished(
            drops,
            drawn.table,
            labels=drawn.labels,
            headings=drawn.headings,
            rate="detection accuracy",
        ),
        compared_words.grouped_table(
            found.differences, found.groups, runs.names
        ),
        numbers=_named(numbers.drop(columns="place"), "detector", runs),
        name=f"{NAME}_by_group",
        caption=_caption(runs, said, found.groups),
        note=note,
        on_pick=lambda point: _open_group(runs, drawn, point),
    )
    draw_mark_list(
        drop_marks(drawn.table),
        lambda point: _open_group(runs, drawn, point),
        name=f"{NAME}_by_group",
    )


def _open_group(
    runs: ComparedRuns, drawn: compared_words.DrawnGroups, point: dict[str, Any]
) -> None:
    place = runs.names.index(point["detector_title"])
    query = here(**_list_of(runs, place, None))
    group = drawn.meant[point["label"]]
    if group is not None:
        query[GROUP_KEY[group[0]]] = group[1]
    st.query_params.from_dict(query)
    st.rerun()


def _named(
    numbers: pd.DataFrame, column: str, runs: ComparedRuns
) -> pd.DataFrame:
    """Numbers to take, with the ids and names of their runs in the place of a number."""
    places = numbers[column].astype(int)
    rest = numbers.drop(columns=column)
    rest.insert(0, "run", [runs.ids[place] for place in places])
    rest.insert(1, "name", [runs.names[place] for place in places])
    return rest.assign(baseline=runs.ids[0])


def _caption(
    runs: ComparedRuns, said: str, tested: pd.DataFrame
) -> caption.Caption:
    named = "place" if "place" in tested else "detector"
    titled = tested.assign(
        detector_title=[runs.names[int(place)] for place in tested[named]]
    )
    return caption.captioned(
        said,
        [
            f"Baseline: {runs.names[0]}.",
            compared_words.ties_words(runs.found().instances),
            caption.sampled(tested),
            caption.p_sentence(titled, by="group" if "group" in tested else ""),
        ],
        source=caption.source_words(
            data.benchmark_title(runs.rows[0]["benchmark"]),
            *(row["experiment"] for row in runs.rows),
        ),
    )


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
