"""The door to our own files: append-only JSON lines, one fact each. Knows no database.

A line is written with one `write` on an O_APPEND handle and fsynced before the caller goes on. A reader takes whole
lines only: a line without its newline is a write in progress or a torn one, and waits until it is complete.
Lines are chained (`chain`) and counted (`manifest`), so that a loss is found. With a key, what is written
here is signed; what was written elsewhere is not, until a person has it signed.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

from crane_core import domain
from crane_core.domain import LoadProblem, Record
from crane_core.errors import LedgerError
from crane_core.ledger import manifest as ledger_manifest
from crane_core.ledger import roll as ledger_roll
from crane_core.ledger.chain import (
    PREVIOUS,
    digest,
    is_linked,
    linked,
    whole_lines,
)
from crane_core.ledger.signature import ledger_key
from crane_core.replica import refuse_on_replica

KINDS: dict[str, type] = {
    "annotation": domain.Annotation,
    "audit_entry": domain.AuditEntry,
    "campaign": domain.Campaign,
    "campaign_guideline": domain.CampaignGuideline,
    "campaign_lock": domain.CampaignLock,
    "campaign_message": domain.CampaignMessage,
    "campaign_round": domain.CampaignRound,
    "detector": domain.Detector,
    "job": domain.Job,
    "inventory_act": domain.InventoryAct,
    "judge_certificate": domain.JudgeCertificate,
    "judge_job": domain.JudgeJob,
    "judge_reply": domain.JudgeReply,
    "judgement": domain.Judgement,
    "key_choice": domain.KeyChoice,
    "note_act": domain.NoteAct,
    "registered_plan": domain.RegisteredPlan,
    "reply": domain.Reply,
    "reread": domain.Reread,
    "run": domain.Run,
    "prompt": domain.Prompt,
    "verification": domain.Verification,
    "view_act": domain.ViewAct,
}
"""Record kinds of a ledger line: the value of its "record" key and the type that it becomes."""

_STEP_BYTES = 1 << 16
_NAMES = {kind: name for name, kind in KINDS.items()}


class Position(NamedTuple):
    """How far a file has been read: bytes, and where its last whole line begins, with that line's sha256."""

    loaded_bytes: int = 0
    last_line_from: int = 0
    last_line_sha: str = ""


class Tail(NamedTuple):
    """The new part of a file. `torn_bytes` counts what is after the last newline and was not read."""

    records: list[Record]
    problems: list[LoadProblem]
    position: Position
    torn_bytes: int


def files(top: Path) -> list[Path]:
    """The ledger files below a folder, in the order of their names; a pipe or device of such a name is none."""
    return [path for path in sorted(top.rglob("*.jsonl")) if path.is_file()]


def append(path: Path, *records: Record) -> None:
    """Write facts in one go and return when they are on the disk. Raises LedgerError if they are not.

    A torn last line left by a crash is closed first, so that it cannot swallow the next one. One process and thread at
    a time: each line carries the digest of the one before.
    """
    refuse_on_replica()
    lines = [_writable_line(path, record) for record in records]
    ledger_key()  # a key that cannot be read is told before anything is written
    try:
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            is_new = _append(handle, path, lines)
        finally:
            os.close(handle)
        if is_new:
            _sync_folder(path.parent)
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be written: {error}.",
            remedy="Free some space or fix the permissions; nothing was saved.",
        ) from error


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    """Keep every other process from writing a ledger file between what was read of it and what is appended.

    The lock is a file beside it, since `append` locks the file itself; the system releases it when a process ends.
    Raises LedgerError if the lock cannot be made.
    """
    refuse_on_replica()
    file = path.with_suffix(".lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be written: {error}.",
            remedy="Free some space or fix the permissions; nothing was saved.",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)


def _append(handle: int, path: Path, lines: list[bytes]) -> bool:
    """Write lines at the end of a locked file; whether it was empty."""
    stat = os.fstat(handle)
    end = _ENDS.get(path)
    if end is None or (end.inode, end.size, end.changed_ns) != (
        stat.st_ino,
        stat.st_size,
        stat.st_mtime_ns,
    ):
        end = _end_of(handle, path, stat)
    head, data = end.head, end.closing
    for line in lines:
        line = linked(line, head)
        head = digest(line)
        data += line
    if os.write(handle, data) != len(data):
        raise OSError("only part of the line was written to disk")
    os.fsync(handle)
    size = end.size + len(data)
    if (
        end.file
        and end.entry
        and (end.entry.n_bytes, end.entry.head) == (end.size, end.head)
    ):
        counted = replace(
            end.entry,
            n_bytes=size,
            n_lines=end.entry.n_lines + len(lines),
            head=head,
        )
        grown = ledger_manifest.signed(end.file, counted)
        ledger_manifest.write(end.file, grown)
        _ENDS[path] = _End(
            end.inode,
            size,
            os.fstat(handle).st_mtime_ns,
            head,
            b"",
            end.file,
            grown,
        )
    elif end.file:
        _count_anew(handle, end.file, end.entry)
    return stat.st_size == 0


class _End(NamedTuple):
    """Where a file ended after its last append: the head of its chain, what closes a torn line, and its entry."""

    inode: int
    size: int
    changed_ns: int
    head: str
    closing: bytes
    file: Path | None
    entry: ledger_manifest.ManifestEntry | None


_ENDS: dict[Path, _End] = {}
"""Ends of files that this process wrote last, so that the next line needs no reading."""


def _end_of(handle: int, path: Path, stat: os.stat_result) -> _End:
    """Read where the file ends, and what was counted of it."""
    last = _last_line(handle, stat.st_size)
    closing = b"" if last.endswith(b"\n") or not last else b"\n"
    linked_last = last + closing
    head = digest(
        linked_last
        if is_linked(linked_last)
        else os.pread(handle, stat.st_size, 0) + closing
    )
    file = ledger_manifest.entry_file(path)
    entry = ledger_manifest.read(file)
    if (
        file
        and ledger_manifest.fault_of(file, entry)
        and not _is_first(file, entry, stat)
    ):
        file = entry = (
            None  # what is not signed as it should be stays so, to tell
        )
    return _End(
        stat.st_ino, stat.st_size, stat.st_mtime_ns, head, closing, file, entry
    )


def _is_first(
    file: Path,
    entry: ledger_manifest.ManifestEntry | None,
    stat: os.stat_result,
) -> bool:
    """Whether this is a new file, which the roll did not have before and has now."""
    is_empty = entry is None and stat.st_size == 0
    return is_empty and ledger_roll.enter(
        ledger_manifest.top_of(file), ledger_manifest.name_of(file)
    )


def _count_anew(
    handle: int, file: Path, entry: ledger_manifest.ManifestEntry | None
) -> None:
    """Bring an entry up to what the file holds, unless that is not what was counted before: then it stays, to tell.

    With a key it stays too where it says too little: who wrote the rest is not known.
    """
    if entry is not None and ledger_key():
        return
    content = os.pread(handle, os.fstat(handle).st_size, 0)
    if entry is None or ledger_manifest.holds(entry, content):
        _write_entry(file, content, entry)


def _write_entry(
    file: Path, content: bytes, before: ledger_manifest.ManifestEntry | None
) -> None:
    names = ("accepted_bytes", "accepted_sha256")
    kept = {name: getattr(before, name) for name in names} if before else {}
    entry = replace(ledger_manifest.of(content), **kept)
    ledger_manifest.write(file, ledger_manifest.signed(file, entry))


class Counted(NamedTuple):
    """A file and what was counted of it, of one moment: who writes does both before anybody else may look."""

    content: bytes
    file: Path | None
    entry: ledger_manifest.ManifestEntry | None

    @property
    def fault(self) -> str | None:
        """What is wrong with the signature of its entry."""
        return ledger_manifest.fault_of(self.file, self.entry)


def counted(path: Path) -> Counted:
    """The file with its entry. Raises OSError."""
    file = ledger_manifest.entry_file(path)
    with path.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_SH)
        return Counted(opened.read(), file, ledger_manifest.read(file))


def sign(path: Path) -> None:
    """Sign a file as it is; the caller says that it is right."""
    file = ledger_manifest.entry_file(path)
    if file is not None:
        with path.open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX)
            _write_entry(file, opened.read(), ledger_manifest.read(file))


def count(path: Path) -> None:
    """Enter a file into the manifest that was not written here, such as one copied from another machine.

    With a key it stays without an entry until it is signed.
    """
    file = ledger_manifest.entry_file(path)
    if file is None or file.exists() or ledger_key():
        return
    with path.open("rb") as content:
        fcntl.flock(content, fcntl.LOCK_EX)
        _count_anew(content.fileno(), file, ledger_manifest.read(file))


def _last_line(handle: int, size: int) -> bytes:
    """What is after the last newline but one, read from the end."""
    found = b""
    while size > len(found):
        step = min(_STEP_BYTES, size - len(found))
        found = os.pread(handle, step, size - len(found) - step) + found
        if (end := found.rfind(b"\n", 0, -1)) >= 0:
            return found[end + 1 :]
    return found


def _sync_folder(folder: Path) -> None:
    """A new file's name is on the disk only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _writable_line(path: Path, record: Record) -> bytes:
    try:
        line = to_line(record)
        from_line(line)
    except ValueError as error:
        raise LedgerError(
            f"{path} does not accept this record: {error}.",
            remedy="Correct the record; nothing was saved.",
        ) from error
    return line


def tail(path: Path, since: Position = Position()) -> Tail:  # noqa: B008 - a NamedTuple is immutable
    """Read the whole lines added since a position. Raises LedgerError if what was read before has changed."""
    with path.open("rb") as file:
        file.seek(since.last_line_from)
        _check_unchanged(
            file.read(since.loaded_bytes - since.last_line_from), path, since
        )
        data = file.read()
    whole = whole_lines(data)
    records, problems = [], []
    start = since.loaded_bytes
    position = since
    for line in whole.splitlines(keepends=True):
        position = Position(
            start + len(line), start, hashlib.sha256(line).hexdigest()
        )
        if line.strip():
            try:
                records.append(from_line(line))
            except ValueError as error:
                problems.append(
                    LoadProblem(
                        path.name,
                        f"byte {start}",
                        f"not a ledger line: {error}",
                    )
                )
        start += len(line)
    return Tail(records, problems, position, len(data) - len(whole))


def _check_unchanged(last_line: bytes, path: Path, since: Position) -> None:
    if (
        since.loaded_bytes
        and hashlib.sha256(last_line).hexdigest() != since.last_line_sha
    ):
        raise LedgerError(
            f"{path} changed before byte {since.loaded_bytes}, but it is append-only.",
            remedy="Restore it; `doctor` lists what is lost. To continue without it: `python -m crane_core rebuild"
            " --accept-loss`. See docs/admin/backup.md.",
        )


def to_line(record: Record) -> bytes:
    """One JSON object and a newline; its "record" member names the kind. Raises ValueError on a lone surrogate."""
    absent = {
        field.name
        for field in fields(record)
        if field.default is None and getattr(record, field.name) is None
    }
    stated = {
        name: value
        for name, value in asdict(record).items()
        if name not in absent
    }
    body = {"record": _NAMES[type(record)]} | stated
    return (
        json.dumps(body, ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()


def from_line(line: bytes) -> Record:
    """The record of a line. Raises ValueError naming what is missing, unknown or of the wrong kind."""
    body = _json_object(line)
    if body.get("record") not in KINDS:
        raise ValueError(f'no member "record" with one of {", ".join(KINDS)}')
    kind = KINDS[body.pop("record")]
    body.pop(PREVIOUS, None)
    types = _types(kind)
    if unknown := body.keys() - types.keys():
        raise ValueError(f"unknown member {sorted(unknown)[0]!r}")
    try:
        record: Record = kind(
            **{
                name: _value(name, value, types[name])
                for name, value in body.items()
            }
        )
    except TypeError as error:
        raise ValueError(str(error).split("() ", 1)[-1]) from error
    if isinstance(record, domain.Campaign):
        _json(record.plan)
    if (
        isinstance(record, domain.Annotation)
        and record.label
        and not domain.LABEL_CODE.fullmatch(record.label)
    ):
        raise ValueError(f"label cannot be {record.label[:60]!r}")
    if isinstance(record, domain.Judgement):
        return replace(record, label=domain.Label(record.label))
    return record


def _json_object(line: bytes) -> dict[str, Any]:
    body = _json(line.decode())
    if not isinstance(body, dict) or not isinstance(body.get("record"), str):
        raise ValueError('not an object with a member "record"')
    return body


def _json(text: str) -> Any:
    """The value of a text that can also be written again."""
    try:
        body = json.loads(text)
        json.dumps(body, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return body


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@cache
def _vocabulary(wanted: Any) -> type[StrEnum] | None:
    """The vocabulary that a field's words come from, where it has one."""
    kinds = (
        kind for kind in (wanted, *get_args(wanted)) if isinstance(kind, type)
    )
    return next((kind for kind in kinds if issubclass(kind, StrEnum)), None)


def _value(name: str, value: Any, wanted: Any) -> Any:
    """The value as the type of its field: a word of a vocabulary, a text, a boolean or a 32-bit number."""
    word = _vocabulary(wanted)
    if word is not None and value is not None:
        return word(value)
    if (
        isinstance(value, bool)
        and wanted is int
        or not isinstance(value, wanted)
    ):
        raise ValueError(f"{name} cannot be {value!r}")
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise ValueError(f"{name} is out of range: {value}")
    return value
