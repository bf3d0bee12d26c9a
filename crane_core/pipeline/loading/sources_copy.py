"""A copy of the database as it is after all sources and before the ledger, so that these need not be read again.

Whatever is removed or restored, and whatever is asked beside a running app, begins with the sources. Reading them takes
most of the time, and they seldom change. The copy is a file beside the database, which may be deleted at any time. Its
name says what it was made from: this code, the embedded data, the kept sources and the names that people gave them.
It is taken only where loading everything again would give the same rows; `rebuild` never takes it.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from uuid import uuid4

from crane_core.domain import Listed
from crane_core.errors import StoreError
from crane_core.pipeline.inventory import MEMBERS, Inventory, ListedName
from crane_core.pipeline.loading.sources import staged_sources
from crane_core.pipeline.places import DataFolder
from crane_core.storage.copied import copy_rows, may_be_about
from crane_core.storage.schema import VERSION
from crane_core.storage.store import Store, open_store, open_to_read

_PACKAGE = Path(__file__).resolve().parents[2]
_SUFFIX = ".copy"
KEPT = 2
"""Copies: one of everything, and one without what is removed now."""
Removed = frozenset[tuple[str, str]]


def take_copy(
    store: Store, folder: DataFolder, kept: Inventory, embedded: Iterable[Path]
) -> bool:
    """Fill the empty store from a copy that fits; whether there was one."""
    removed = _removed(kept)
    for note in sorted(
        folder.path.glob(f"{_stem(folder, kept, embedded)}-*.json")
    ):
        dropped = frozenset(
            (kind, name) for kind, name in json.loads(note.read_text("utf-8"))
        )
        # A copy without something that is wanted again cannot be completed.
        if dropped <= removed and _fill(
            store, note.with_suffix(_SUFFIX), removed - dropped
        ):
            return True
    return False


def _fill(store: Store, copy: Path, others: Removed) -> bool:
    """Whether the copy could be opened, and holds nothing of what else is removed."""
    try:
        held = open_to_read(copy)
    except StoreError:
        return False  # another process has just replaced it: everything is loaded, as without a copy
    try:
        cursor = held.bare_cursor()
        if any(_is_in(kind, name, held) for kind, name in others):
            return False
        store.write(lambda target: copy_rows(cursor, target))
    finally:
        held.close()
    return True


def _is_in(kind: str, name: str, held: Store) -> bool:
    cursor = held.bare_cursor()
    return any(
        may_be_about(cursor, member, name)
        for member, listed in MEMBERS
        if listed == kind
    )


def keep_copy(
    store: Store,
    folder: DataFolder,
    kept: Inventory,
    embedded: Iterable[Path],
    dropped: Collection[ListedName],
) -> None:
    """Keep what the store holds, which is everything of the sources and nothing of the ledger; older copies go.

    dropped: what is removed and would have brought rows of a source.
    A copy that cannot be written, as on a full disk, is left out: it only saves time.
    """
    removed = sorted((str(kind), name) for kind, name in dropped)
    which = hashlib.sha256(json.dumps(removed).encode()).hexdigest()[:8]
    note = folder.path / f"{_stem(folder, kept, embedded)}-{which}.json"
    part = folder.path / f"{folder.database.name}.{uuid4().hex}.part"
    try:
        copy = open_store(part)
        try:
            cursor = store.bare_cursor()
            copy.write(lambda target: copy_rows(cursor, target))
        finally:
            copy.close()
        _drop_all_but(KEPT - 1, note, folder)
        # The copy first and its note last: a note promises a copy that is whole.
        part.replace(note.with_suffix(_SUFFIX))
        part.write_text(json.dumps(removed), "utf-8")
        part.replace(note)
    except (OSError, StoreError):
        note.unlink(missing_ok=True)
    finally:
        for left in (part, part.with_name(f"{part.name}.wal")):
            left.unlink(missing_ok=True)


def _drop_all_but(n_kept: int, note: Path, folder: DataFolder) -> None:
    """Remove copies that were made from something else, and of the others all but the newest."""
    stem = note.stem.rpartition("-")[0]
    notes = sorted(
        folder.path.glob(f"{_prefix(folder)}*.json"),
        key=lambda path: path.stat().st_mtime_ns,
    )
    same = [
        path
        for path in notes
        if path != note and path.stem.startswith(f"{stem}-")
    ]
    fitting = set(same[-n_kept:])
    for old in notes:
        if old not in fitting:
            old.unlink(missing_ok=True)
            old.with_suffix(_SUFFIX).unlink(missing_ok=True)


def _prefix(folder: DataFolder) -> str:
    return f"{folder.database.name}.sources-"


def _removed(kept: Inventory) -> Removed:
    """What is removed record by record. Removed sources are not read at all: the file's name leaves them out."""
    return frozenset(
        (str(kind), name)
        for kind, name in kept.removed
        # Invalidated answers are in the copy, and taken out after it is used.
        if kind not in (Listed.SOURCE, Listed.ANSWER)
    )


def _stem(folder: DataFolder, kept: Inventory, embedded: Iterable[Path]) -> str:
    """The file name up to what was removed. Files are told apart by size and time, not read: that would take longer."""
    sources = [
        one
        for one in staged_sources(folder.sources)
        if kept.has(Listed.SOURCE, one.source_id)
    ]
    titles = [
        (kind, name, title)
        for (kind, name), title in kept.titles.items()
        if kind in _WITH_TITLES
    ]
    files = [
        *_stamps(_PACKAGE, "*.py"),
        *_stamps(_PACKAGE, "*.sql"),
        *(stamp for path in embedded for stamp in _stamps(path, "*")),
        *(
            stamp
            for one in sources
            for stamp in _stamps(folder.sources / one.source_id, "*")
        ),
    ]
    made_from = json.dumps(
        [VERSION, [one.source_id for one in sources], sorted(titles), files]
    )
    return f"{_prefix(folder)}{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"


_WITH_TITLES = (Listed.BENCHMARK, Listed.SOURCE)
"""Their names are stored with their rows."""


def _stamps(top: Path, pattern: str) -> Iterator[tuple[str, int, int]]:
    for path in sorted(path for path in top.rglob(pattern) if path.is_file()):
        stat = path.stat()
        yield str(path), stat.st_size, stat.st_mtime_ns
