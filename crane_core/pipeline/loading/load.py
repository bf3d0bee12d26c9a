"""The only writer of the database: sources and the new tail of ledger files go in, one transaction each.

Loaded data can always be dropped and loaded again (`rebuild`), because all of them are also in files.
"""

import gc
import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crane_core import domain, ledger
from crane_core.errors import LedgerError, SourceError, StoreError
from crane_core.given_path import refusal
from crane_core.importers import mapped_answers, predictions, registry
from crane_core.importers.filetree import open_files, open_tree
from crane_core.importers.instance_ids import JUNOBENCH
from crane_core.pipeline.audit import is_for_database
from crane_core.pipeline.inventory import FILE as INVENTORY
from crane_core.pipeline.inventory import (
    ListedName,
    inventory,
    inventory_file,
    names_of,
)
from crane_core.pipeline.jobs.reply_reading import with_what_they_say
from crane_core.pipeline.loading import (
    editions,
    losses,
    replacing,
    sources,
    sources_copy,
)
from crane_core.pipeline.places import DataFolder, embedded, read_only
from crane_core.releases import Release, commit_named_in, release_of_kind
from crane_core.replica import refuse_on_replica
from crane_core.storage import invalidated as stored_answers
from crane_core.storage import inventory as stored_inventory
from crane_core.storage import partitions, state, write
from crane_core.storage.schema import VERSION, OtherVersionError, version_of
from crane_core.storage.store import (
    IN_MEMORY,
    Cursor,
    DatabaseError,
    Store,
    StoreHeldError,
    open_as_it_is,
    open_store,
    open_to_read,
)
from crane_core.storage.tables import noun
from crane_core.storage.write import LEDGER_SOURCE, Added, SourceRow

Progress = Callable[[str], None]
SHOWN_LOSSES = 5
_HELP_ON_FILES = {
    predictions.KIND: f" {registry.OTHER_FILES}",
    mapped_answers.KIND: f" {mapped_answers.HOW_TO_MAP}",
}
"""What helps where a file of this kind holds nothing that can be loaded."""
_EMBEDDED = (".csv", ".ipynb", ".json", ".jsonl")
"""Files of the embedded data that hold records."""


class Imported(NamedTuple):
    """The outcome of one import. `added` is empty when the source had been loaded before.

    `problems` are those of the source, and answers and labels that wait for the instance they are about. `edition` is
    what its records are filed under; see `pipeline.loading.editions`. `benchmarks` are the ids of those that it is
    about, and `replaced` is the id of the source whose place it took.
    """

    source_id: str
    kind: str
    name: str
    added: list[Added]
    problems: list[domain.LoadProblem]
    already_loaded: bool = False
    waits_for_app: bool = False
    edition: str = ""
    benchmarks: tuple[str, ...] = ()
    replaced: str = ""


def prepare(folder: DataFolder, progress: Progress = lambda _: None) -> Store:
    """Open the store of `folder` and bring it up to date: embedded data, staged sources, ledger.

    A database made by an earlier version, or from other embedded data than this checkout's, is rebuilt. Raises
    StoreError.
    """
    refuse_on_replica()
    if folder.is_read_only:
        raise read_only(folder.path)
    try:
        store = open_store(folder.database, folder.sources, with_comments=True)
    except OtherVersionError as other:
        if not other.is_older:
            raise
        progress(
            "An earlier version made the database; building it again from sources and ledger"
        )
        rebuild(folder, progress)
        return open_store(folder.database, folder.sources, with_comments=True)
    try:
        if _embedded_changed(store):
            store.close()
            progress("The embedded data changed; rebuilding the store")
            rebuild(folder, progress)
            return open_store(
                folder.database, folder.sources, with_comments=True
            )
        catch_up(store, folder, progress)
        losses.keep_count(folder)
    # Also after Ctrl+C: an open store keeps the file locked for the next command.
    except BaseException:
        store.close()
        raise
    return store


def prepare_or_read(
    folder: DataFolder, progress: Progress = lambda _: None
) -> Store:
    """For readers: the store, or the same content read or built beside it.

    Beside it while another process holds it, and where the folder is read-only.
    """
    if folder.is_read_only:
        return _read_beside(folder) or _built_in_memory(folder, progress)
    try:
        return prepare(folder, progress)
    except StoreHeldError as held:
        if held.by_reader and (store := _read_beside(folder)):
            return store
        progress(f"{held.args[0]} Reading sources and ledger again, in memory")
        return _built_in_memory(folder, progress)


def _built_in_memory(folder: DataFolder, progress: Progress) -> Store:
    store = open_store(IN_MEMORY, folder.sources, with_comments=True)
    catch_up(store, folder, progress)
    return store


def _read_beside(folder: DataFolder) -> Store | None:
    """The database opened to read only, where it is of this version and holds everything that is on the disk."""
    try:
        store = open_to_read(folder.database, folder.sources)
    except StoreError:
        return None
    if _is_current(store, folder):
        return store
    store.close()
    return None


def _is_current(store: Store, folder: DataFolder) -> bool:
    cursor = store.bare_cursor()
    loaded = state.loaded_sources(cursor)
    # Sources that are removed are on the disk, but must not be in the database.
    wanted = {
        source_id for source_id, path in embedded().items() if path.is_dir()
    }
    kept = inventory(folder)
    staged = (
        source.source_id for source in sources.staged_sources(folder.sources)
    )
    wanted |= {
        source_id
        for source_id in staged
        if kept.has(domain.Listed.SOURCE, source_id)
    }
    return (
        wanted <= loaded
        and not _embedded_changed(store)
        and not any(_grown(folder, state.ledger_positions(cursor)))
    )


def rebuild(
    folder: DataFolder,
    progress: Progress = lambda _: None,
    *,
    accept_loss: bool = False,
) -> None:
    """Build the database again from sources and ledger, then put it in the old one's place.

    A database that cannot be opened is set aside, not lost. Raises StoreHeldError while another process has it open,
    and LedgerError where something of sources or ledger is gone or altered, unless that is accepted; it stays then.
    """
    # Counted before anything changes: a rebuild with fewer rows of the ledger means that evidence is gone.
    known = _known_before(folder.database, progress)
    before = _by_table(known.rows)
    # Whether something was removed or restored since the old database was loaded.
    is_outdated = folder.database.exists() and _inventory_grew(
        folder, ledger.Position(*known.positions.get(INVENTORY, ()))
    )
    lost = losses.losses(folder, known)
    if lost and not accept_loss:
        raise _refuse_loss(
            [str(loss) for loss in lost], {loss.remedy for loss in lost}
        )
    losses.set_aside_altered_sources(folder, lost)
    # Built beside the old one, which stays until the new one is whole.
    fresh = folder.database.with_suffix(".rebuilding")
    _remove_database(fresh)
    store = open_store(fresh, folder.sources, with_comments=True)
    try:
        # Everything is read from sources and ledger, because a copy may be what is wrong.
        catch_up(store, folder, progress, from_copy=False)
        fewer = list(
            _fewer(before, _by_table(state.rows_of_ledger(store.bare_cursor())))
        )
        if is_outdated:
            fewer = []  # rows of what was removed since are missed on purpose
    finally:
        store.close()
    if fewer and not accept_loss:
        _remove_database(fresh)
        raise _refuse_loss(fewer)
    _remove_database(folder.database)
    fresh.replace(folder.database)
    losses.accept(folder, lost)


def _known_before(database: Path, progress: Progress) -> losses.LoadedBefore:
    """What the old database had loaded. One that cannot be opened is set aside, and had nothing."""
    if not database.exists():
        return losses.LoadedBefore()
    try:
        store = open_as_it_is(database)
        try:
            version = version_of(store.bare_cursor())
            if version is None:
                return losses.LoadedBefore()  # a file without a table
            # One of an earlier version can be read: what the ledger brought to it is counted before it goes.
            if 0 < version <= VERSION:
                return losses.known_to(store)
        finally:
            store.close()
    except StoreHeldError:
        raise
    except (StoreError, DatabaseError):
        pass
    aside = database.with_suffix(".broken")
    _remove_database(aside)
    database.replace(aside)
    progress(f"The database cannot be opened; it is now {aside.name}")
    return losses.LoadedBefore()


def _by_table(rows: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    return sum((Counter(tables) for tables in rows.values()), Counter())


def _fewer(before: Counter[str], after: Counter[str]) -> Iterator[str]:
    for table, n_rows in before.items():
        if after[table] < n_rows:
            yield f"{table.replace('_', ' ')} of the ledger would drop from {n_rows:,} to {after[table]:,}"


def _refuse_loss(
    found: list[str], remedies: Collection[str] = (losses.RESTORE,)
) -> LedgerError:
    rest = (
        f"; and {len(found) - SHOWN_LOSSES:,} more"
        if len(found) > SHOWN_LOSSES
        else ""
    )
    return LedgerError(
        f"The database was not changed: a rebuild would lose evidence: {'; '.join(found[:SHOWN_LOSSES])}{rest}.",
        remedy=f"{' '.join(sorted(remedies))} `doctor` lists everything.",
    )


def _remove_database(path: Path) -> None:
    for file in (path, path.with_name(path.name + ".wal")):
        file.unlink(missing_ok=True)


def catch_up(
    store: Store,
    folder: DataFolder,
    progress: Progress = lambda _: None,
    *,
    from_copy: bool = True,
) -> bool:
    """Load what is on the disk and not in the store; whether anything was. One thread at a time.

    An empty store is filled from a copy of the sources' rows where one fits, unless everything is to be read again.
    """
    with store.loading:
        return _catch_up(store, folder, progress, from_copy=from_copy)


def _catch_up(
    store: Store, folder: DataFolder, progress: Progress, *, from_copy: bool
) -> bool:
    _start_over_if_inventory_changed(store, folder, progress)
    kept = inventory(folder)
    loaded = state.loaded_sources(store.bare_cursor())
    is_empty = was_empty = not loaded
    dropped: set[ListedName] = set()
    # Only into an empty store: rows of a copy are not merged with others.
    if (
        is_empty
        and from_copy
        and sources_copy.take_copy(store, folder, kept, embedded().values())
    ):
        is_empty = False
        loaded = state.loaded_sources(store.bare_cursor())
    for source_id, path in embedded().items():
        if source_id not in loaded and path.is_dir():
            progress(f"Loading the embedded data: {source_id}")
            _load_embedded(store, folder, source_id, path, dropped)
    waiting = [
        source
        for source in sources.staged_sources(folder.sources)
        if kept.has(domain.Listed.SOURCE, source.source_id)
        and source.source_id not in loaded
    ]
    for source in waiting:
        progress(f"Loading {source.name}")
        _load_staged(store, folder, source, dropped)
    # Before the ledger is loaded, so that the copy holds the sources alone.
    if is_empty and not folder.is_read_only:
        sources_copy.keep_copy(
            store, folder, kept, embedded().values(), dropped
        )
    grown = load_ledger(store, folder)
    has_more = bool(waiting or grown)
    if has_more or was_empty:
        _take_out_invalidated(store, folder)
    if has_more and not folder.is_read_only:
        losses.keep_count(folder)
    return has_more


def _start_over_if_inventory_changed(
    store: Store, folder: DataFolder, progress: Progress
) -> None:
    """What is removed is not loaded, and what is restored is again: both may change rows that others brought too."""
    cursor = store.bare_cursor()
    since = ledger.Position(*state.ledger_positions(cursor).get(INVENTORY, ()))
    is_outdated = _inventory_grew(folder, since)
    if is_outdated and _only_invalidates(folder, since):
        return  # rows of answers are taken out in place, after everything else is loaded
    if is_outdated and state.loaded_sources(cursor):
        progress(
            "Something was removed, restored or renamed; loading everything again"
        )
        store.write(stored_inventory.empty)


def _only_invalidates(folder: DataFolder, since: ledger.Position) -> bool:
    """Whether every new act of the inventory takes out an answer."""
    new = ledger.tail(inventory_file(folder), since).records
    return bool(new) and all(
        isinstance(act, domain.InventoryAct)
        and act.kind is domain.Listed.ANSWER
        and act.action is domain.InventoryAction.REMOVE
        for act in new
    )


def _take_out_invalidated(store: Store, folder: DataFolder) -> None:
    """Take answers that are invalidated out of the database, and labels of them; sources and ledger keep them.

    Last of all: the copy of the sources' rows holds them, so that they come back from it when they are restored.
    """
    names = inventory(folder).of_kind(domain.Listed.ANSWER)
    if names:
        store.write(lambda cursor: stored_answers.take_out(cursor, names))


def _inventory_grew(folder: DataFolder, since: ledger.Position) -> bool:
    file = inventory_file(folder)
    return file.is_file() and ledger.tail(file, since).position != since


def import_paths(
    paths: list[Path],
    folder: DataFolder,
    store: Store | None = None,
    *,
    release: Release | None = None,
    replace_by: str | None = None,
) -> Imported:
    """Import one archive, one folder, one file, or the named notebooks of a pair.

    `release` is what it was fetched as; an archive made by git tells its commit itself. A folder that changed since it
    was imported is refused, unless `replace_by` names who replaces it.
    Without a `store` the database is opened for the time of the import; while the app holds it, the source is
    kept and checked, and the app loads it at its next page view. Raises SourceError or StoreError; then nothing
    was kept.
    """
    for path in paths:
        if why := refusal(str(path)):
            raise SourceError(
                f"{path} {why}.", remedy="Name an archive, a folder or a file."
            )
        if not path.exists():
            raise SourceError(
                f"{path} does not exist.",
                remedy="Check the spelling; relative paths start in the current directory.",
            )
    if store is not None:
        imported = _import(paths, folder, store, release, replace_by)
        _take_out_invalidated(store, folder)
        return imported
    try:
        store = prepare(folder)
    except StoreHeldError:
        return _import(paths, folder, None, release, replace_by)
    try:
        imported = _import(paths, folder, store, release, replace_by)
        _take_out_invalidated(store, folder)
        return imported
    finally:
        store.close()


@contextmanager
def collection_paused() -> Iterator[None]:
    """No automatic collection in this process until the body ends; where it was off already, it stays so."""
    # An import makes a hundred thousand records that live until they are written, and no cycles: passes of the
    # collector visited them all, freed nothing and took a third of the import's time.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@collection_paused()
def _import(
    paths: list[Path],
    folder: DataFolder,
    store: Store | None,
    release: Release | None,
    replace_by: str | None,
) -> Imported:
    origin = paths[0]
    keep_whole = len(paths) == 1 and origin.is_file()
    sha256 = sources.fingerprint(origin) if keep_whole else ""
    # By its digest before it is unpacked: an archive that is known costs one pass over its bytes.
    if keep_whole and (known := _known(folder, sha256)):
        return _loaded_before(known, folder)
    tree = sources.RecordingTree(
        open_tree(origin)
        if len(paths) == 1
        else open_files(paths, _pair_name(paths))
    )
    importer = registry.importer_for(tree)
    if keep_whole and release is None:
        release = release_of_kind(importer.KIND, commit_named_in(origin))
    if known := _known_release(folder, release):
        return _loaded_before(known, folder)
    edition = editions.edition_of(
        release, sha256, sources.staged_sources(folder.sources)
    )
    records, problems = _read(importer.read(tree), edition)
    if not records:
        help_on_files = _HELP_ON_FILES.get(importer.KIND, "")
        raise SourceError(
            _nothing_usable(origin, problems),
            remedy=f"Nothing was loaded; docs/reference/files.md says what `import` takes.{help_on_files}",
        )
    staged: dict[str, Any] = {
        "kind": importer.KIND,
        "into": folder.sources,
        "release": release,
        "edition": edition,
    }
    staging = (
        sources.staged_archive(origin, name=tree.name, **staged)
        if keep_whole
        else sources.staged_files(tree, origin=str(origin.resolve()), **staged)
    )
    change = (
        None
        if keep_whole or release
        else replacing.change_since_import(origin, tree.was_read, folder)
    )
    with staging as source:
        if change is not None:
            return _replace(
                change,
                source,
                folder,
                store,
                records,
                problems,
                origin,
                replace_by,
            )
        return _added(source, folder, store, records, problems, edition)


def _added(
    source: sources.StagedSource,
    folder: DataFolder,
    store: Store | None,
    records: list[domain.Record],
    problems: list[domain.LoadProblem],
    edition: str,
) -> Imported:
    """The staged source beside those that are here; without a store it waits for the app."""
    if known := _known(folder, source.sha256):
        return _loaded_before(known, folder)
    if store is None:
        waiting = _try_out(source, folder, records, problems)
        return waiting._replace(waits_for_app=True, edition=edition)
    if source.source_id in state.loaded_sources(store.bare_cursor()):
        return _loaded_before(source, folder)
    written = _write(store, folder, _row(source), records, problems)
    return written._replace(edition=edition)


def _replace(
    change: replacing.SourceChange,
    source: sources.StagedSource,
    folder: DataFolder,
    store: Store | None,
    records: list[domain.Record],
    problems: list[domain.LoadProblem],
    origin: Path,
    by: str | None,
) -> Imported:
    """The new content of a folder in place of the old; content that was removed is restored. Raises SourceError."""
    if by is None:
        raise replacing.refuse_change(origin, change)
    # Without an instance, cell or answer the new content is a broken folder rather than a new edition.
    if all(
        isinstance(record, (domain.Benchmark, domain.Case))
        for record in records
    ):
        raise SourceError(
            _nothing_usable(origin, problems),
            remedy="The old source stays; nothing was loaded.",
        )
    instead = change.source.source_id
    with replacing.replaced(folder, change, by):
        if known := _known(folder, source.sha256):
            replacing.act(folder, known, domain.InventoryAction.RESTORE, by)
            if store is not None:
                catch_up(store, folder)
            return _described(known, records, problems)._replace(
                replaced=instead, waits_for_app=store is None
            )
        if store is None:
            return _try_out(source, folder, records, problems)._replace(
                replaced=instead, waits_for_app=True
            )
        catch_up(store, folder)
        return _write(store, folder, _row(source), records, problems)._replace(
            replaced=instead
        )


def _described(
    source: sources.StagedSource,
    records: list[domain.Record],
    problems: list[domain.LoadProblem],
) -> Imported:
    """A source that is loaded without a count of what is new."""
    return Imported(
        source.source_id,
        source.kind,
        source.name,
        [],
        problems,
        benchmarks=_benchmarks(records),
    )


def _benchmarks(records: list[domain.Record]) -> tuple[str, ...]:
    return tuple(
        sorted(
            {
                record.benchmark
                for record in records
                if isinstance(record, domain.Benchmark)
            }
        )
    )


def _loaded_before(known: sources.StagedSource, folder: DataFolder) -> Imported:
    """Raises SourceError if it was removed since."""
    if act := inventory(folder).removed.get(
        (domain.Listed.SOURCE, known.source_id)
    ):
        raise SourceError(
            f"{known.name} was imported as source {known.source_id}, and removed at {act.acted_at[:16]} by"
            f" {act.acted_by}.",
            remedy=f"Bring it back: `restore source {known.source_id}`.",
        )
    return Imported(
        known.source_id,
        known.kind,
        known.name,
        [],
        [],
        already_loaded=True,
        edition=known.edition,
    )


def as_sources(paths: list[Path]) -> list[list[Path]]:
    """Notebooks named together are one source; everything else is a separate source."""
    notebooks = [
        path for path in paths if path.suffix == ".ipynb" and not path.is_dir()
    ]
    others = [[path] for path in paths if path not in notebooks]
    return others + ([notebooks] if notebooks else [])


def _pair_name(paths: list[Path]) -> str:
    """The common name of several notebooks: their case, without the version."""
    return paths[0].stem.removesuffix("_fixed").removesuffix("_reproduced")


def _try_out(
    source: sources.StagedSource,
    folder: DataFolder,
    records: list[domain.Record],
    problems: list[domain.LoadProblem],
) -> Imported:
    """Write a source to its own database, so that none is kept that the app then could not load.

    What waits for an instance is left out of the problems: sources that the app has, or has yet to load, may hold it.
    """
    store = open_store(IN_MEMORY)
    try:
        for source_id, path in embedded().items():
            if path.is_dir():
                _load_embedded(store, folder, source_id, path)
        tried = _write(store, folder, _row(source), records, problems)
        certain = [
            one
            for one in tried.problems
            if one.kind is not domain.ProblemKind.WAITING
        ]
        return tried._replace(problems=certain)
    finally:
        store.close()


def _nothing_usable(origin: Path, problems: list[domain.LoadProblem]) -> str:
    first = (
        f" The first problem: {problems[0].path}, {problems[0].place}: {problems[0].reason}."
        if problems
        else ""
    )
    return f"{origin} contains no record that can be loaded ({len(problems)} {noun(len(problems), 'problems')}).{first}"


def _known(folder: DataFolder, sha256: str) -> sources.StagedSource | None:
    return next(
        (
            source
            for source in sources.staged_sources(folder.sources)
            if source.sha256 == sha256
        ),
        None,
    )


def _known_release(
    folder: DataFolder, release: Release | None
) -> sources.StagedSource | None:
    """The source that is this release at this commit: packed again, its bytes may differ."""
    if release is None or release.commit is None:
        return None
    wanted = (release.name, release.commit)
    found = (
        (source, source.release)
        for source in sources.staged_sources(folder.sources)
        if source.release
    )
    return next(
        (source for source, its in found if (its.name, its.commit) == wanted),
        None,
    )


@collection_paused()
def _load_staged(
    store: Store,
    folder: DataFolder,
    source: sources.StagedSource,
    dropped: set[ListedName] | None = None,
) -> Imported:
    if source.kind in partitions.FORMS:
        return load_partition(store, folder, source)
    tree = sources.KeptTree(
        open_tree(folder.sources / source.source_id / source.file),
        source.left_out,
    )
    records, problems = _read(
        registry.importer_by_kind(source.kind).read(tree), source.edition
    )
    return _write(
        store,
        folder,
        _row(source),
        records,
        [*source.problems, *problems],
        dropped=dropped,
    )


def _load_embedded(
    store: Store,
    folder: DataFolder,
    source_id: str,
    path: Path,
    dropped: set[ListedName] | None = None,
) -> Imported:
    tree = sources.RecordingTree(open_tree(path))
    importer = registry.importer_for(tree)
    records, problems = _read(importer.read(tree))
    n_bytes = sum(map(len, tree.was_read.values()))
    row = SourceRow(
        source_id, importer.KIND, source_id, _digest(path), n_bytes, None
    )
    return _write(store, folder, row, records, problems, dropped=dropped)


def _embedded_changed(store: Store) -> bool:
    stored = state.source_digests(store.bare_cursor())
    return any(
        stored[name] != _digest(path)
        for name, path in embedded().items()
        if name in stored and path.is_dir()
    )


def embedded_digests() -> dict[str, str]:
    """sha256 of the data that ship with this checkout, by the id of their source."""
    return {
        name: _digest(path)
        for name, path in embedded().items()
        if path.is_dir()
    }


def _digest(path: Path) -> str:
    """sha256 over names and bytes of a folder's tables and notebooks: whether the embedded data changed."""
    digest = hashlib.sha256()
    for file in sorted(
        file for suffix in _EMBEDDED for file in path.rglob(f"*{suffix}")
    ):
        digest.update(
            f"{file.relative_to(path).as_posix()}\0{sources.fingerprint(file)}\n".encode()
        )
    return digest.hexdigest()


def _read(
    stream: Iterable[domain.Record], edition: str = ""
) -> tuple[list[domain.Record], list[domain.LoadProblem]]:
    records: list[domain.Record] = []
    problems: list[domain.LoadProblem] = []
    for record in stream:
        if isinstance(record, domain.LoadProblem):
            problems.append(record)
        else:
            records.append(editions.filed(record, edition))
    return records, problems


def _write(
    store: Store,
    folder: DataFolder,
    row: SourceRow,
    records: list[domain.Record],
    problems: list[domain.LoadProblem],
    *in_place: Added,
    dropped: set[ListedName] | None = None,
) -> Imported:
    """in_place: counts of what stays in its file. dropped: gets what is removed and held a record of this source."""
    _refuse_partitioned(store, records)
    kept = inventory(folder)
    if dropped is not None and kept.removed:
        dropped |= {
            thing for record in records for thing in names_of(record)
        } & kept.removed.keys()
    records = [
        taken for record in records if (taken := kept.taken(record)) is not None
    ]
    row = row._replace(
        name=kept.title(domain.Listed.SOURCE, row.source_id) or row.name
    )

    def change(cursor: Cursor) -> Imported:
        added = [
            *write.add_records(cursor, records, source_id=row.source_id),
            *in_place,
        ]
        found = [
            *problems,
            *(problem for entry in added for problem in entry.problems),
        ]
        everything = sorted(
            found,
            key=lambda problem: (problem.path, problem.place, problem.reason),
        )
        write.add_source(cursor, row, added, everything)
        waiting = state.without_instance(cursor, row.source_id)
        found_in = _benchmarks(records)
        return Imported(
            row.source_id,
            row.kind,
            row.name,
            added,
            [*everything, *waiting],
            benchmarks=found_in,
        )

    return store.write(change)


def _refuse_partitioned(store: Store, records: list[domain.Record]) -> None:
    """Raise SourceError if records are of what a Parquet file answers for."""
    for kind, record_type in (
        (partitions.RUNS, domain.Run),
        (partitions.JUDGEMENTS, domain.Judgement),
    ):
        given = {
            (r.benchmark, r.experiment, r.detector, str(r.setting))
            for r in records
            if isinstance(r, record_type)
        }
        if given and (
            both := sorted(given & partitions.partitioned(store.cursor(), kind))
        ):
            raise SourceError(
                "A kept Parquet file answers for {2}, {3}, in experiment {1} of {0}.".format(
                    *both[0]
                ),
                remedy="Name another experiment, or remove that source first.",
            )


def load_partition(
    store: Store,
    folder: DataFolder,
    source: sources.StagedSource,
    facts: partitions.PartitionFacts | None = None,
) -> Imported:
    """A Parquet file that is read where it is kept: its benchmarks and detectors are loaded, its rows are counted.

    A file that cannot be read as it should be, or that answers what another source answers, is listed with its problem
    and counts nowhere. facts: what the file holds, if that was checked just now with `refuse_overlap`.
    """
    kept = (
        folder.sources / source.source_id / partitions.FORMS[source.kind].file
    )
    try:
        if facts is None:
            facts = partitions.facts_of(kept, source.name)
            refuse_overlap(store, facts, source.name)
    except SourceError as error:
        problem = domain.LoadProblem(
            source.name,
            "file",
            str(error.args[0]),
            domain.ProblemKind.CONTRADICTION,
        )
        return _write(store, folder, _row(source), [], [problem])
    benchmarks = sorted({benchmark for benchmark, *_ in facts.conditions})
    records: list[domain.Record] = [
        JUNOBENCH
        if name == JUNOBENCH.benchmark
        else domain.Benchmark(name, name)
        for name in benchmarks
    ]
    records += [
        domain.Detector(name, title, domain.DetectorKind(kind))
        for name, title, kind in facts.detectors
    ]
    counted = Added(
        partitions.FORMS[source.kind].table, facts.n_rows, facts.n_rows, []
    )
    return _write(store, folder, _row(source), records, [], counted)


def refuse_overlap(
    store: Store, facts: partitions.PartitionFacts, name: str
) -> None:
    """Raise SourceError if something is loaded of what the file answers for: keys are unique within one source."""
    if both := sorted(
        facts.conditions & partitions.conditions(store.cursor(), facts.kind)
    ):
        benchmark, experiment, detector, setting = both[0]
        table = partitions.FORMS[facts.kind].table
        raise SourceError(
            f"{name} holds {table} of {detector}, {setting}, in experiment {experiment} of {benchmark}, of which"
            " another source holds some.",
            remedy="Keep all of these in one file, or name another experiment.",
        )


def _row(source: sources.StagedSource) -> SourceRow:
    return SourceRow(
        source.source_id,
        source.kind,
        source.name,
        source.sha256,
        source.n_bytes,
        source.imported,
    )


def load_ledger(store: Store, folder: DataFolder) -> int:
    """Load the new lines of ledger files since the last time; the number of new lines."""
    positions = state.ledger_positions(store.bare_cursor())
    return sum(
        _load_tail(
            store, folder, name, ledger.tail(folder.ledger / name, since), since
        )
        for name, since in _grown(folder, positions)
    )


def _grown(
    folder: DataFolder, positions: Mapping[str, tuple[int, int, str]]
) -> Iterator[tuple[str, ledger.Position]]:
    """Ledger files whose size is another than when they were loaded, and where that was."""
    for file in ledger.files(folder.ledger):
        name = file.relative_to(folder.ledger).as_posix()
        if not is_for_database(name):
            continue
        since = (
            ledger.Position(*positions[name])
            if name in positions
            else ledger.Position()
        )
        if file.stat().st_size != since.loaded_bytes:
            yield name, since


def read_again(store: Store, folder: DataFolder, file: Path) -> None:
    """Load a whole ledger file once more, so that each of its replies is read by the current rules."""
    name = file.relative_to(folder.ledger).as_posix()
    _load_tail(store, folder, name, ledger.tail(file), ledger.Position())
    _take_out_invalidated(store, folder)


def _load_tail(
    store: Store,
    folder: DataFolder,
    name: str,
    tail: ledger.Tail,
    since: ledger.Position,
) -> int:
    if tail.position == since:
        return 0

    kept = inventory(folder)
    here = tail.records if kept.has_file(name) else []
    records = [
        taken for record in here if (taken := kept.taken(record)) is not None
    ]

    def change(cursor: Cursor) -> None:
        source_id = LEDGER_SOURCE + name
        write.add_records(
            cursor,
            with_what_they_say(records),
            source_id=source_id,
            latest_wins=True,
        )
        write.add_problems(cursor, source_id, tail.problems)
        write.set_ledger_position(cursor, name, *tail.position)

    store.write(change)
    return len(tail.records) + len(tail.problems)
