"""Everything that can be removed, with its size and date, and the acts of removing, restoring and renaming.

Raises CraneError for what does not exist, what the pages rest on, and what is being worked on.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from crane_core import ledger
from crane_core.domain import InventoryAct, InventoryAction, Listed
from crane_core.errors import StoreError
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.campaigns import campaigns
from crane_core.pipeline.inventory import inventory, inventory_file
from crane_core.pipeline.jobs.files import is_held, now, sayable
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.study.table_scores import STUDY
from crane_core.storage import inventory as stored
from crane_core.storage.store import Store

LONGEST_TITLE = 120
UNITS = {
    Listed.BENCHMARK: "case",
    Listed.SOURCE: "record",
    Listed.RUN: "answer",
    Listed.CAMPAIGN: "item",
}
"""What each holds a number of."""


class InventoryEntry(NamedTuple):
    """One thing: `held` in words, `since` as ISO 8601, "" where it ships. `removal` is the act that removed it."""

    kind: Listed
    name: str
    title: str
    held: str
    since: str
    removal: InventoryAct | None = None


def entries(store: Store, folder: DataFolder) -> list[InventoryEntry]:
    """What is there, by kind."""
    cursor = store.cursor()
    titles = inventory(folder).titles
    rows = [(Listed.BENCHMARK, row) for row in stored.benchmarks(cursor)]
    rows += [(Listed.SOURCE, row) for row in stored.sources(cursor)]
    rows += [(Listed.RUN, row) for row in stored.runs(cursor)]
    found = [_entry(kind, *row) for kind, row in rows]
    found += _campaigns(folder)
    return [
        entry._replace(title=titles.get((entry.kind, entry.name), entry.title))
        for entry in found
    ]


def _entry(
    kind: Listed,
    name: str,
    title: str,
    n: int,
    since: Any,
    n_unanswered: int = 0,
) -> InventoryEntry:
    held = _held(kind, n)
    if n_unanswered:
        held += f", {n_unanswered:,} without one"
    return InventoryEntry(
        kind, name, title, held, str(since or "").replace(" ", "T")[:19]
    )


def _held(kind: Listed, n: int) -> str:
    return f"{n:,} {UNITS[kind]}" + ("" if n == 1 else "s")


def _campaigns(folder: DataFolder) -> Iterator[InventoryEntry]:
    for name in campaigns.campaign_names(folder):
        plan = campaigns.kept_campaign(folder, name).plan
        yield InventoryEntry(
            Listed.CAMPAIGN,
            name,
            plan.title,
            _held(Listed.CAMPAIGN, len(plan.items)),
            plan.created_at[:19],
        )


def removed(folder: DataFolder) -> list[InventoryEntry]:
    """What is removed, the newest first."""
    held = inventory(folder)
    listed = [
        InventoryEntry(
            kind,
            name,
            held.titles.get((kind, name), name),
            act.held or "",
            act.acted_at[:19],
            act,
        )
        for (kind, name), act in held.removed.items()
    ]
    return sorted(listed, key=lambda entry: entry.since, reverse=True)


def remove(
    store: Store, folder: DataFolder, kind: Listed, name: str, *, by: str
) -> InventoryEntry:
    """Take it out of every view; nothing is deleted. `load.catch_up` then leaves it out. Raises StoreError."""
    entry = _there(store, folder, kind, name)
    if is_needed(kind, name):
        raise StoreError(
            f"The {kind} {name} ships with the app, and its pages rest on it.",
            remedy="It cannot be removed.",
        )
    # Its process would go on writing answers that no page shows.
    if kind is Listed.RUN and is_held(folder, name):
        raise StoreError(f"The run {name} is running.", remedy="Stop it first.")
    _act(folder, kind, name, InventoryAction.REMOVE, by, held=entry.held)
    return entry


def restore(
    folder: DataFolder, kind: Listed, name: str, *, by: str
) -> InventoryEntry:
    """Bring it back into every view. Raises StoreError if it is not removed."""
    entry = next(
        (
            entry
            for entry in removed(folder)
            if (entry.kind, entry.name) == (kind, name)
        ),
        None,
    )
    if entry is None:
        raise StoreError(
            f"No {kind} {name!r} is removed.", remedy="See `list --removed`."
        )
    _act(folder, kind, name, InventoryAction.RESTORE, by)
    return entry


def rename(
    store: Store,
    folder: DataFolder,
    kind: Listed,
    name: str,
    title: str,
    *,
    by: str,
) -> InventoryEntry:
    """Give it another name for people; its id stays. Raises StoreError."""
    entry = _there(store, folder, kind, name)
    title = " ".join(sayable(title).split())
    if not title or len(title) > LONGEST_TITLE:
        raise StoreError(
            f"A name has 1 to {LONGEST_TITLE} characters, not {len(title):,}.",
            remedy="Choose another name.",
        )
    _act(folder, kind, name, InventoryAction.RENAME, by, title=title)
    return entry


def _there(
    store: Store, folder: DataFolder, kind: Listed, name: str
) -> InventoryEntry:
    listed = [entry for entry in entries(store, folder) if entry.kind is kind]
    for entry in listed:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in listed[:8]) or "none"
    raise StoreError(
        f"There is no {kind} {name!r}; there are: {known}.",
        remedy="See `list`.",
    )


def is_needed(kind: Listed, name: str) -> bool:
    """Whether the pages rest on it, so that it cannot be removed."""
    needed = {(Listed.BENCHMARK, JUNOBENCH.benchmark), (Listed.RUN, STUDY)}
    return (kind, name) in needed or (
        kind is Listed.SOURCE and name in embedded()
    )


def _act(
    folder: DataFolder,
    kind: Listed,
    name: str,
    action: InventoryAction,
    by: str,
    **told: str,
) -> None:
    ledger.append(
        inventory_file(folder),
        InventoryAct(kind, name, action, now(), by, **told),
    )
