"""A folder that was imported before and holds other files now: what changed, and the new content in place of the old.

The old source is removed as `remove` does it: an act in the ledger that `restore` undoes.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crane_core import ledger
from crane_core.domain import InventoryAct, InventoryAction, Listed
from crane_core.errors import SourceError
from crane_core.importers.filetree import open_tree
from crane_core.pipeline.inventory import inventory, inventory_file
from crane_core.pipeline.jobs.files import now, sayable
from crane_core.pipeline.loading.sources import StagedSource, staged_sources
from crane_core.pipeline.places import DataFolder

SHOWN_FILES = 3


class SourceChange(NamedTuple):
    """What differs from `source`, which the same folder was when it was imported; paths, sorted."""

    source: StagedSource
    added: list[str]
    changed: list[str]
    removed: list[str]

    def __str__(self) -> str:
        parts = (
            ("added", self.added),
            ("changed", self.changed),
            ("removed", self.removed),
        )
        return ", ".join(
            f"{len(paths):,} {what} ({_some(paths)})"
            for what, paths in parts
            if paths
        )


def _by_name(paths: Iterable[str]) -> dict[str, str]:
    """Paths by file name: a single common folder is not part of a kept path."""
    return {path.rpartition("/")[2]: path for path in paths}


def _some(paths: list[str]) -> str:
    more = (
        f" and {len(paths) - SHOWN_FILES:,} more"
        if len(paths) > SHOWN_FILES
        else ""
    )
    return f"{', '.join(paths[:SHOWN_FILES])}{more}"


def change_since_import(
    origin: Path, files: Mapping[str, bytes], folder: DataFolder
) -> SourceChange | None:
    """How `files`, read from `origin`, differ from its newest source that is not removed; None if they do not."""
    kept = inventory(folder)
    place = str(origin.resolve())
    before = [
        source
        for source in staged_sources(folder.sources)
        if source.origin == place and kept.has(Listed.SOURCE, source.source_id)
    ]
    if not before:
        return None
    tree = open_tree(folder.sources / before[-1].source_id / before[-1].file)
    earlier, later = _by_name(tree.paths), _by_name(files)
    if len(earlier) < len(tree.paths) or len(later) < len(files):
        earlier, later = (
            {path: path for path in tree.paths},
            {path: path for path in files},
        )
    old, new = set(earlier), set(later)
    changed = sorted(
        name
        for name in old & new
        if tree.read(earlier[name]) != files[later[name]]
    )
    change = SourceChange(
        before[-1], sorted(new - old), changed, sorted(old - new)
    )
    return change if str(change) else None


def refuse_change(origin: Path, change: SourceChange) -> SourceError:
    """The error for a changed folder that is not to be replaced."""
    at = change.source.imported_at[:16]
    return SourceError(
        f"{origin} changed since it was imported as source {change.source.source_id} at {at}: {change}.",
        remedy="Nothing was loaded; `import --replace` takes the new content, and removes the old source (`restore`"
        " brings it back).",
    )


@contextmanager
def replaced(
    folder: DataFolder, change: SourceChange, by: str
) -> Iterator[None]:
    """The old source is removed while the body loads the new one; when the body raises, it is back."""
    act(folder, change.source, InventoryAction.REMOVE, by)
    try:
        yield
    except BaseException:
        act(folder, change.source, InventoryAction.RESTORE, by)
        raise


def act(
    folder: DataFolder, source: StagedSource, action: InventoryAction, by: str
) -> None:
    """Remove or restore a source."""
    held = (
        f"replaced: {source.name}" if action is InventoryAction.REMOVE else None
    )
    ledger.append(
        inventory_file(folder),
        InventoryAct(
            Listed.SOURCE,
            source.source_id,
            action,
            now(),
            by,
            held=sayable(held) if held else None,
        ),
    )
