"""What was removed, restored and renamed: acts in the ledger, and what follows for every record that is loaded.

What is removed stays on the disk and is not loaded, so that no page, export or statistic can count it; its restoration
loads it again. A new name is for people: files, links and commands keep the id.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from crane_core import domain, ledger
from crane_core.domain import (
    Benchmark,
    InventoryAct,
    InventoryAction,
    Listed,
    Record,
)
from crane_core.pipeline.places import DataFolder

FILE = "inventory.jsonl"
ListedName = tuple[Listed, str]
_OF_CAMPAIGN = (
    domain.Annotation,
    domain.Campaign,
    domain.CampaignGuideline,
    domain.CampaignLock,
    domain.CampaignMessage,
    domain.CampaignRound,
)


MEMBERS = (
    ("benchmark", Listed.BENCHMARK),
    ("experiment", Listed.RUN),
    ("job", Listed.RUN),
    ("campaign", Listed.CAMPAIGN),
)
"""Members of records that say what they belong to; `campaign` does so for the records of campaigns alone."""
_FOLDERS = {
    "runs": Listed.RUN,
    "campaigns": Listed.CAMPAIGN,
    "labels": Listed.CAMPAIGN,
    "messages": Listed.CAMPAIGN,
}


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is removed now, each with the act that did it, and the names that were given."""

    removed: Mapping[ListedName, InventoryAct]
    titles: Mapping[ListedName, str]

    def has(self, kind: Listed, name: str) -> bool:
        """Whether this one is not removed."""
        return (kind, name) not in self.removed

    def of_kind(self, kind: Listed) -> list[str]:
        """The names of what is removed of this kind, in order."""
        return sorted(name for one, name in self.removed if one is kind)

    def title(self, kind: Listed, name: str) -> str | None:
        """The name that a user chose for it."""
        return self.titles.get((kind, name))

    def has_file(self, name: str) -> bool:
        """Whether a ledger file, named by its path in the ledger, is not that of a removed run or campaign."""
        folder, _, rest = name.partition("/")
        kind = _FOLDERS.get(folder)
        return kind is None or self.has(
            kind, rest.partition("/")[0].removesuffix(".jsonl")
        )

    def taken(self, record: Record) -> Record | None:
        """The record as it is loaded; None if it belongs to something that is removed."""
        if self.removed and any(
            thing in self.removed for thing in names_of(record)
        ):
            return None
        if isinstance(record, Benchmark) and (
            title := self.title(Listed.BENCHMARK, record.benchmark)
        ):
            return replace(record, title=title)
        return record


def names_of(record: Record) -> list[ListedName]:
    """What a record belongs to that could be removed."""
    found: list[ListedName] = []
    for member, kind in MEMBERS:
        if kind is Listed.CAMPAIGN and not isinstance(record, _OF_CAMPAIGN):
            continue
        if isinstance(name := getattr(record, member, None), str):
            found.append((kind, name))
    return found


def inventory_file(folder: DataFolder) -> Path:
    """The ledger file of what was removed, restored and renamed."""
    return folder.ledger / FILE


def inventory(folder: DataFolder) -> Inventory:
    """What the acts of the ledger come to."""
    removed: dict[ListedName, InventoryAct] = {}
    titles: dict[ListedName, str] = {}
    for act in acts(folder):
        thing = (act.kind, act.name)
        if act.action is InventoryAction.REMOVE:
            removed[thing] = act
        elif act.action is InventoryAction.RESTORE:
            removed.pop(thing, None)
        elif act.title:
            titles[thing] = act.title
    return Inventory(removed, titles)


def acts(folder: DataFolder) -> list[InventoryAct]:
    """All of them, the oldest first."""
    file = inventory_file(folder)
    records = ledger.tail(file).records if file.is_file() else []
    return [record for record in records if isinstance(record, InventoryAct)]
