"""What each ledger file has held: length, lines and head, one small file each under `.manifest` at the ledger's top.

An entry is written after the lines that it counts are on the disk, so it may say too little and never too much. A
file without an entry, such as one copied from another machine, is welcome and gets one. With a key (`signature`)
entries are signed, and nothing gets a signature by itself that did not have one.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from crane_core.ledger.chain import Break, breaks, digest, head_of, whole_lines
from crane_core.ledger.signature import fault, ledger_key, signature

FOLDER = ".manifest"
_WIDTH = 600


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """What a file held. Of its first `accepted_bytes` a loss was accepted, and they are as `accepted_sha256` says."""

    n_bytes: int
    n_lines: int
    head: str
    accepted_bytes: int = 0
    accepted_sha256: str = ""
    signature: str = ""


def of(content: bytes) -> ManifestEntry:
    """The entry of a file that holds `content`; an unfinished last line is not counted."""
    whole = whole_lines(content)
    return ManifestEntry(len(whole), whole.count(b"\n"), head_of(whole))


def entry_file(path: Path) -> Path | None:
    """Where the entry of a ledger file lies; None outside a ledger with a manifest."""
    top = next(
        (parent for parent in path.parents if (parent / FOLDER).is_dir()), None
    )
    return (
        top / FOLDER / path.relative_to(top).with_suffix(".json")
        if top
        else None
    )


def read(file: Path | None) -> ManifestEntry | None:
    """The entry; None if there is none, or a crash of the machine left it unreadable."""
    try:
        return (
            ManifestEntry(**json.loads(file.read_text("utf-8")))
            if file
            else None
        )
    except (OSError, ValueError, TypeError):
        return None


def name_of(file: Path) -> str:
    """The ledger file that an entry's file is about, relative to the ledger."""
    return file.relative_to(top_of(file)).with_suffix(".jsonl").as_posix()


def top_of(file: Path) -> Path:
    """The manifest's folder, in which an entry's file lies."""
    return next(parent for parent in file.parents if parent.name == FOLDER)


def signed(file: Path, entry: ManifestEntry) -> ManifestEntry:
    """The entry with the signature of the key, without one if there is no key."""
    key = ledger_key()
    return replace(
        entry, signature=signature(key, _said(file, entry)) if key else ""
    )


def fault_of(file: Path | None, entry: ManifestEntry | None) -> str | None:
    """What is wrong with an entry's signature, in words; None if nothing is."""
    return (
        fault(entry.signature, _said(file, entry))
        if file and entry
        else fault("", [])
    )


def _said(file: Path, entry: ManifestEntry) -> list[object]:
    """What is signed: the entry, and whose it is."""
    return [
        name_of(file),
        *(
            value
            for name, value in asdict(entry).items()
            if name != "signature"
        ),
    ]


def write(file: Path, entry: ManifestEntry) -> None:
    """Replace the entry in one write. Where the disk refuses, the old one stays, which says too little, nothing false.

    Always as long, so that nothing of the old one is left.
    """
    line = json.dumps(asdict(entry)).ljust(_WIDTH) + "\n"
    with suppress(OSError):
        handle = _opened(file)
        try:
            os.pwrite(handle, line.encode(), 0)
        finally:
            os.close(handle)


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)


def holds(entry: ManifestEntry, content: bytes) -> bool:
    """Whether a file of this content still begins with what its entry counted."""
    return (
        len(content) >= entry.n_bytes
        and head_of(content[: entry.n_bytes]) == entry.head
    )


def breaks_since(entry: ManifestEntry | None, content: bytes) -> list[Break]:
    """Breaks of the chain but those that were accepted and stand as they stood then."""
    if entry is None or digest(content[: entry.accepted_bytes]) != (
        entry.accepted_sha256 or digest(b"")
    ):
        return list(breaks(content))
    n_accepted = content[: entry.accepted_bytes].count(b"\n")
    return [found for found in breaks(content) if found.last > n_accepted]
