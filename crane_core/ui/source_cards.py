"""Sources as cards, published by others or loaded: what each unlocks, its records, licence and state."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import pandas as pd
import streamlit as st

from crane_core.pipeline.loading.sources import StagedSource, staged_sources
from crane_core.pipeline.rows import as_rows
from crane_core.releases import PUBLISHED, SHORT, is_commit
from crane_core.storage import state
from crane_core.storage.tables import noun
from crane_core.ui import data, keys
from crane_core.ui.words import count, quantity

MOST_CARDS = 24
"""Sources that have a card; the table has all."""
MOST_RECORDS = 4
"""Kinds of records that a card counts, the most frequent first."""
NOT_COUNTED = ("benchmarks", "detectors")
"""Records that say nothing of a source's size."""
RECORD_WORDS = {
    "runs": "answers",
    "judgements": "labels",
    "kernel_states": "kernel_snapshots",
    "instances": "notebooks",
}
"""Tables whose records people call otherwise."""
FACTS = "published-facts"
SHIPS = "ships with the app"
TITLES = {
    "published": "Published figures",
    "minibench-states": "minibench: states",
    "minibench-results": "minibench: answers",
    "minibench": "minibench: pairs",
}
"""What people call the sources that ship with the app, by their names."""
FIRST = "crane-llm"
"""What a newcomer should fetch first."""


class PublishedByOthers(NamedTuple):
    """What an archive of others unlocks here, its licence, and how much is downloaded."""

    unlocks: str
    licence: str
    size: str


OTHERS = {
    "crane-llm": PublishedByOthers(
        "Code, kernel states, prompts and reasoning of the study: pairs can be read and labelled.",
        "BSD-3-Clause",
        "about 2\u00a0MB",
    ),
    "junobench": PublishedByOthers(
        "Whole notebooks of JunoBench's 111 cases, with the cells that the study left out.",
        "CC-BY-4.0",
        "222 notebooks and a table",
    ),
    "junobench-construct": PublishedByOthers(
        "Answers and texts of two open models in the first exploration.",
        "MIT",
        "about 1\u00a0MB",
    ),
}
UNLOCKS = {
    "captured-states": "Kernel states of cases that are loaded.",
    "crane-dataset": "Cases, answers and labels from another data folder.",
    "inspect-log": "Answers of models: Results, Runs and Cases.",
    "notebook-column": "Own notebooks as cases.",
    "notebook-pairs": "Pairs of notebooks: Cases, and what detectors run on.",
    "predictions": "Answers of detectors: Results, Runs and Cases.",
    FACTS: "Labels, votes, outcomes and printed numbers of the study: Results, Ablations, Agreement.",
}
"""Kind of a source to what it opens in the app."""


class RecordCount(NamedTuple):
    """Records of one table in a source, and those of them that no source had before."""

    n_read: int
    n_new: int


class LoadedSource(NamedTuple):
    """A source in the store. records: by name of a table; staged: its kept copy, if it has one."""

    source_id: str
    kind: str
    name: str
    sha256: str
    n_bytes: int
    loaded: str
    n_problems: int
    records: dict[str, RecordCount]
    staged: StagedSource | None


@data.kept(data.version)
def loaded_sources() -> list[LoadedSource]:
    """Every source, oldest first; those that ship with the app before all others."""
    cursor = data.store().cursor()
    kept = {
        source.source_id: source
        for source in staged_sources(data.folder().sources)
    }
    read: dict[str, dict[str, RecordCount]] = {}
    for row in as_rows(state.source_counts(cursor)):
        counted = RecordCount(row["n_read"], row["n_new"])
        read.setdefault(row["source_id"], {})[row["record"]] = counted
    return [
        LoadedSource(
            source_id=row["source_id"],
            kind=row["kind"],
            name=row["name"],
            sha256=row["sha256"],
            n_bytes=row["n_bytes"],
            loaded=SHIPS
            if pd.isna(row["imported_at"])
            else f"{row['imported_at']:%Y-%m-%d %H:%M} UTC",
            n_problems=row["n_problems"],
            records=read.get(row["source_id"], {}),
            staged=kept.get(row["source_id"]),
        )
        for row in as_rows(state.sources(cursor))
    ]


def of_published(
    name: str, sources: Sequence[LoadedSource]
) -> list[LoadedSource]:
    """The sources that are this archive of others, by the release that was fetched or by what they are."""
    kinds = PUBLISHED[name].kinds
    return [
        source
        for source in sources
        if source.kind in kinds
        or (
            source.staged
            and source.staged.release
            and source.staged.release.name == name
        )
    ]


def n_missing(sources: Sequence[LoadedSource]) -> int:
    """How many archives of others the store does not have."""
    return sum(not of_published(name, sources) for name in OTHERS)


def records_words(records: dict[str, RecordCount]) -> str:
    """The most frequent records: "80,076 labels, 7,548 answers"; how many are new is in the table of records."""
    counted = [
        (of, name)
        for name, of in records.items()
        if of.n_read and name not in NOT_COUNTED
    ]
    counted.sort(key=lambda one: -one[0].n_read)
    words = [
        f"{count(of.n_read)} {record_noun(of.n_read, name)}"
        for of, name in counted[:MOST_RECORDS]
    ]
    return ", ".join(words)


def record_noun(n: int, table: str) -> str:
    """So many records of a table, as people call them."""
    return noun(n, RECORD_WORDS.get(table, table))


def published_card(
    name: str, sources: Sequence[LoadedSource], release: tuple[str, str]
) -> str:
    """The HTML of an archive of others; release: what the button brings, in words, and its address."""
    published, loaded = OTHERS[name], of_published(name, sources)
    words, address = release
    brings = f'<a href="{escape(address)}">{escape(words)}</a>'
    if loaded:
        status = '<b class="cw-right">✓ loaded</b>'
        facts = _facts(loaded[-1])
    else:
        status = '<b class="cw-dim">○ not fetched</b>'
        facts = [f"Licence: {published.licence}"]
    return _card(
        name,
        status=status,
        unlocks=published.unlocks,
        facts=[*facts, f"Download: {published.size}, {brings}"],
    )


def source_card(source: LoadedSource) -> str:
    """The HTML of a loaded source."""
    published = _of_others(source)
    return _card(
        source.name,
        status=f'<span class="cw-tag">{escape(source.kind.replace("-", " "))}</span>',
        unlocks=published.unlocks
        if published
        else UNLOCKS.get(source.kind, ""),
        facts=_facts(source),
    )


def _facts(source: LoadedSource) -> list[str]:
    """What is known of a loaded source; its checksum is a tooltip, which opens by keyboard focus too.

    A phone leaves out size and checksum.
    """
    published = _of_others(source)
    checksum = f'<abbr class="cw-term" tabindex="0" title="sha256 {escape(source.sha256)}">checksum</abbr>'
    return [
        escape(records_words(source.records)),
        f"<time>Loaded {escape(source.loaded)}</time>"
        * (source.loaded != SHIPS)
        + f'<span class="cw-aside">{size_words(source.n_bytes)}, {checksum}</span>',
        _release_html(source),
        f"Licence: {published.licence}" if published else "",
        f'<a href="#problems">{quantity(source.n_problems, "difference")} from printed numbers</a>'
        if _is_facts(source)
        else "",
    ]


def _card(name: str, *, status: str, unlocks: str, facts: list[str]) -> str:
    """status and facts: HTML; empty facts are left out."""
    lines = "".join(f"<div>{fact}</div>" for fact in facts if fact)
    title = f'<b title="{escape(name)}">{escape(TITLES.get(name, name))}</b>'
    return (
        f'<div class="cw-card"><div class="cw-card-head">{title} <span>{status}</span></div>'
        f'<p>{escape(unlocks)}</p><div class="cw-dim">{lines}</div></div>'
    )


def _is_facts(source: LoadedSource) -> bool:
    """Whether the problems of a source are printed numbers that differ from its data."""
    return source.kind == FACTS and source.n_problems > 0


def _of_others(source: LoadedSource) -> PublishedByOthers | None:
    """The archive of others that a source is, if it is one; of own data no licence is known."""
    return next(
        (of for name, of in OTHERS.items() if of_published(name, [source])),
        None,
    )


def release_words(source: StagedSource) -> str:
    """The chosen release: the default release, or another one by its branch or tag."""
    if not source.edition:
        return "default"
    ref = source.release.ref if source.release else ""
    return "other" if is_commit(ref) or not ref else ref


def _release_html(source: LoadedSource) -> str:
    staged = source.staged
    if not staged or not staged.release:
        return ""
    commit = (staged.release.commit or "")[:SHORT] or "its page"
    return (
        f"release {escape(release_words(staged))}, "
        f'<a href="{escape(staged.release.page)}">{escape(commit)}</a>'
    )


def size_words(n_bytes: int) -> str:
    """A size in MB or kB with one decimal."""
    return (
        f"{n_bytes / 1e6:.1f} MB"
        if n_bytes >= 100_000
        else f"{n_bytes / 1e3:.1f} kB"
    )


def draw_problems_button(source_id: str, words: str) -> None:
    """A button that opens the problems of one source; the page draws them at its end."""
    st.button(
        words,
        key=f"problems_{words}_{source_id}",
        on_click=_show_problems,
        args=(source_id,),
    )


def _show_problems(source_id: str) -> None:
    st.session_state[keys.PROBLEMS_OF] = source_id


def draw_source_cards(sources: Sequence[LoadedSource]) -> None:
    """A card per source, the last import first, each with a button to its problems.

    The archives of others have a card of their own above, which shows the newest copy.
    """
    above = [of_published(name, sources)[-1:] for name in OTHERS]
    listed = [source for source in sources if [source] not in above]
    is_shipped = all(source.loaded == SHIPS for source in listed)
    st.header(
        "Shipped with the app"
        if is_shipped
        else "Imported, or shipped with the app",
        anchor="sources",
    )
    with st.container(key="cards_of_sources"):
        for source in list(reversed(listed))[:MOST_CARDS]:
            with st.container(border=True, key=f"source_{source.source_id}"):
                st.html(source_card(source))
                draw_problems(source)


def draw_problems(source: LoadedSource) -> None:
    """The button to the problems of a source; nothing without a problem, or where its card leads to them."""
    n = source.n_problems
    if n and not _is_facts(source):
        draw_problems_button(source.source_id, quantity(n, "problem"))
