"""Missing or altered sources and ledger files, found by manifest, chain, signatures and the database.

Reads files and compares; changes nothing. A previously unknown file is not a loss.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from crane_core import ledger
from crane_core.errors import SourceError, StoreError
from crane_core.ledger import manifest as ledger_manifest
from crane_core.ledger import roll as ledger_roll
from crane_core.ledger.chain import digest
from crane_core.ledger.manifest import ManifestEntry
from crane_core.ledger.roll import Roll
from crane_core.ledger.signature import NOT_SIGNED, VARIABLE, WRONG, ledger_key
from crane_core.pipeline.loading.sources import (
    SIDECAR,
    fingerprint,
    read_sidecar,
)
from crane_core.pipeline.places import DataFolder
from crane_core.storage import state
from crane_core.storage.store import DatabaseError, Store, open_as_it_is

ACCEPTED = "accepted.txt"
SET_ASIDE = "set-aside"
SHOWN = 4
_SOURCES = "sources"
RESTORE = (
    "Restore it from a copy, or continue without it: `rebuild --accept-loss`."
)
SIGN = "If it is as it should be, sign it: `doctor --sign`."
OTHER_KEY = f"Set {VARIABLE} to the key that signed it, or take everything as it is now: `rebuild --accept-loss`."


@dataclass(frozen=True, slots=True)
class Loss:
    """A file or record that is missing or altered. `file` is relative to the data folder."""

    file: str
    what: str
    remedy: str = RESTORE

    def __str__(self) -> str:
        return f"{self.file} {self.what}"


@dataclass(frozen=True, slots=True)
class LoadedBefore:
    """What a database had loaded: where it stood in each ledger file, rows that came from it, and sources by id."""

    positions: Mapping[str, tuple[int, int, str]] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


def known_to(store: Store) -> LoadedBefore:
    """What the database had loaded: positions in the ledger, rows that came from it, and sources."""
    cursor = store.bare_cursor()
    return LoadedBefore(
        state.ledger_positions(cursor),
        state.rows_of_ledger(cursor),
        state.imported_sources(cursor),
    )


def losses(folder: DataFolder, known: LoadedBefore | None = None) -> list[Loss]:
    """Everything that manifest, chain and database miss. While another process holds the database, it is not read.

    known: what the database had loaded, if that has just been read.
    """
    if known is None:
        known = _known(folder)
    roll = ledger_roll.read(_manifest(folder))
    return [
        *_of_roll(folder, roll),
        *_of_ledger(folder, known, roll),
        *_of_sources(folder, known, roll),
    ]


def _known(folder: DataFolder) -> LoadedBefore:
    known = LoadedBefore()
    if folder.database.is_file():
        try:
            store = open_as_it_is(
                folder.database, read_only=True
            )  # an earlier version names its losses too
            try:
                known = known_to(store)
            finally:
                store.close()
        except (StoreError, DatabaseError):
            pass  # held, or damaged: only the manifest and the chain are checked
    return known


def _manifest(folder: DataFolder) -> Path:
    return folder.ledger / ledger_manifest.FOLDER


def _of_roll(folder: DataFolder, roll: Roll | None) -> Iterator[Loss]:
    """Problems with the signed list; with a key, there must be one as soon as there is something to list."""
    what = ledger_roll.fault_of(roll)
    is_wanted = (
        roll or _files(folder) or next(_manifest(folder).rglob("*.json"), None)
    )
    if what and is_wanted:
        yield _by_signature(
            f"ledger/{ledger_manifest.FOLDER}/{ledger_roll.FILE_NAME}", what
        )


def _by_signature(file: str, what: str) -> Loss:
    remedies = {NOT_SIGNED: SIGN, WRONG: RESTORE}
    return Loss(file, what, remedies.get(what, OTHER_KEY))


def _of_ledger(
    folder: DataFolder, known: LoadedBefore, roll: Roll | None
) -> Iterator[Loss]:
    names = set(known.positions) | {
        path.relative_to(folder.ledger).as_posix() for path in _files(folder)
    }
    # A file that is gone together with its entry is still named by the signed list.
    names |= set(roll.files) if roll else set()
    entries = _manifest(folder)
    for file in entries.rglob("*.json"):
        name = file.relative_to(entries).with_suffix(".jsonl").as_posix()
        if not name.startswith(f"{_SOURCES}/"):
            names.add(name)
    for name in sorted(names):
        path = folder.ledger / name
        if not path.is_file():
            entry = ledger_manifest.read(ledger_manifest.entry_file(path))
            yield Loss(
                f"ledger/{name}",
                f"is missing: {_held(entry, known.rows.get(name, {}))} are lost",
            )
            continue
        counted = ledger.counted(path)
        found = _of_file(
            counted.content,
            counted.entry,
            known.positions.get(name),
            known.rows.get(name, {}),
        )
        if found:
            rest = (
                f"; and {len(found) - SHOWN:,} more"
                if len(found) > SHOWN
                else ""
            )
            yield Loss(f"ledger/{name}", "; ".join(found[:SHOWN]) + rest)
        elif what := counted.fault:
            yield _by_signature(f"ledger/{name}", what)
        elif what := _unsigned_lines(counted):
            yield Loss(f"ledger/{name}", what, SIGN)


def _unsigned_lines(counted: ledger.Counted) -> str | None:
    """With a key, lines after those that were signed: others wrote them, or a crash came before they were counted."""
    n_lines = counted.content.count(b"\n")
    if (
        counted.entry is None
        or ledger_key() is None
        or n_lines <= counted.entry.n_lines
    ):
        return None
    first = counted.entry.n_lines + 1
    return f"has lines that are not signed: {first:,} to {n_lines:,}"


def _files(folder: DataFolder) -> list[Path]:
    return ledger.files(folder.ledger)


def _of_file(
    content: bytes,
    entry: ManifestEntry | None,
    position: tuple[int, int, str] | None,
    rows: Mapping[str, int],
) -> list[str]:
    n_lines = content.count(b"\n")
    found = []
    if entry and len(content) < entry.n_bytes:
        lost = (
            f": {entry.n_lines - n_lines:,} of {entry.n_lines:,} lines are lost"
            if entry.n_lines > n_lines
            else ""
        )
        found.append(
            f"is shorter than before and ends after line {n_lines:,}{lost}"
        )
    found += [
        _in_doubt(broken.first, broken.last)
        for broken in ledger_manifest.breaks_since(entry, content)
    ]
    if entry and not found and not ledger_manifest.holds(entry, content):
        found.append(_in_doubt(entry.n_lines, entry.n_lines))
    # The database knows the digest of the last line that it loaded, even where the manifest was altered too.
    if position and not found and not _stands(content, *position):
        line = content[: position[1]].count(b"\n") + 1
        found.append(
            f"differs from what was loaded: line {line:,} was changed or removed ({_held(entry, rows)} were loaded)"
        )
    return found


def _held(entry: ManifestEntry | None, rows: Mapping[str, int]) -> str:
    """What a file held, in records where the database knows them."""
    records = ", ".join(
        f"{n:,} {table.replace('_', ' ')}" for table, n in rows.items()
    )
    return records or (f"{entry.n_lines:,} lines" if entry else "its lines")


def _in_doubt(first: int, last: int) -> str:
    lines = (
        f"line {last:,}"
        if first == last
        else f"one of lines {first:,} to {last:,}"
    )
    return f"was altered: {lines} was changed, or lines were added or removed there"


def _stands(
    content: bytes, loaded_bytes: int, last_line_from: int, last_line_sha: str
) -> bool:
    return not loaded_bytes or (
        len(content) >= loaded_bytes
        and digest(content[last_line_from:loaded_bytes]) == last_line_sha
    )


def _of_sources(
    folder: DataFolder, known: LoadedBefore, roll: Roll | None
) -> Iterator[Loss]:
    signed = roll.sources if roll else {}
    names = {
        file.stem: "" for file in _entries_of_sources(folder).glob("*.json")
    }
    names |= {
        path.parent.name: ""
        for path in folder.sources.glob(f"*/{SIDECAR}")
        if path.parent.name[0] != "."
    }
    names |= dict.fromkeys(signed, "")
    names |= known.sources
    for source_id in sorted(names):
        what = _of_source(folder.sources / source_id, signed.get(source_id))
        if what:
            told = f"({names[source_id]}) " if names[source_id] else ""
            yield Loss(f"sources/{source_id}", told + what)


def _of_source(kept: Path, signed_sha256: str | None) -> str | None:
    """Problems with a stored source, which is read completely: its bytes must have the sha256 of its import."""
    if not (kept / SIDECAR).is_file():
        return "is missing: its records are lost"
    try:
        source = read_sidecar(kept / SIDECAR)
    except SourceError as error:
        return f"cannot be read: {error.args[0]}"
    if not (kept / source.file).is_file():
        return f"has lost its file {source.file}"
    if fingerprint(kept / source.file) != source.sha256:
        return f"was altered: {source.file} differs from what was imported (its sha256 differs)"
    if signed_sha256 not in (None, source.sha256):
        return f"was altered: {source.file} differs from what was signed (its sha256 differs)"
    return None


def _entries_of_sources(folder: DataFolder) -> Path:
    return _manifest(folder) / _SOURCES


def keep_count(folder: DataFolder) -> None:
    """Add to the manifest what it lacks: files that were copied here, and sources."""
    _manifest(folder).mkdir(parents=True, exist_ok=True)
    for path in _files(folder):
        ledger.count(path)
    for source_id, sha256 in _sources_of(folder).items():
        entry = _entries_of_sources(folder) / f"{source_id}.json"
        # The first description stays: one that was changed later must not replace what was imported.
        if not entry.exists():
            ledger_roll.enter(_manifest(folder), sources={source_id: sha256})
            entry.parent.mkdir(exist_ok=True)
            shutil.copyfile(folder.sources / source_id / SIDECAR, entry)


def _sources_of(folder: DataFolder) -> dict[str, str]:
    """The sha256 of kept sources by their id, as they were imported; those that cannot be read are left out."""
    kept = sorted(
        path.parent
        for path in folder.sources.glob(f"*/{SIDECAR}")
        if path.parent.name[0] != "."
    )
    found = {}
    for place in kept:
        with suppress(SourceError):  # `losses` reports it
            found[place.name] = read_sidecar(place / SIDECAR).sha256
    return found


def sign(folder: DataFolder) -> None:
    """Sign ledger and list of sources as they are; the caller vouches for them."""
    _manifest(folder).mkdir(parents=True, exist_ok=True)
    for path in _files(folder):
        ledger.sign(path)
    files = tuple(
        path.relative_to(folder.ledger).as_posix() for path in _files(folder)
    )
    ledger_roll.replace(_manifest(folder), Roll(files, _sources_of(folder)))


def set_aside_altered_sources(folder: DataFolder, found: list[Loss]) -> None:
    """Move sources that are not what was imported out of the way; they may be imported again."""
    for loss in found:
        kept = folder.path / loss.file
        # Moved, not deleted: what was altered may be looked at.
        if kept.parent == folder.sources and kept.exists():
            aside = folder.path / SET_ASIDE
            aside.mkdir(exist_ok=True)
            kept.rename(
                Path(tempfile.mkdtemp(prefix=f"{kept.name}-", dir=aside))
                / kept.name
            )


def accept(folder: DataFolder, found: list[Loss]) -> None:
    """Accept ledger and sources as they are now, and record what was lost and when."""
    manifest = _manifest(folder)
    manifest.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with (manifest / ACCEPTED).open("a", encoding="utf-8") as log:
        log.writelines(f"{now} {loss}\n" for loss in found)
    for loss in found:
        path = folder.path / loss.file
        if path.is_relative_to(folder.ledger):
            _accept_file(path)
        else:
            (_entries_of_sources(folder) / f"{path.name}.json").unlink(
                missing_ok=True
            )
    if found and (ledger_key() or ledger_roll.read(manifest)):
        sign(folder)


def _accept_file(path: Path) -> None:
    file = ledger_manifest.entry_file(path)
    if path.suffix != ".jsonl":
        return  # the roll, which `sign` replaces
    if file and path.is_file():
        content = path.read_bytes()
        entry = ledger_manifest.of(content)
        whole = digest(content[: entry.n_bytes])
        ledger_manifest.write(
            file,
            replace(entry, accepted_bytes=entry.n_bytes, accepted_sha256=whole),
        )
    elif file:
        file.unlink(missing_ok=True)
