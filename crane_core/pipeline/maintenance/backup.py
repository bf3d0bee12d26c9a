"""Backup and restore of everything that cannot be recomputed: sources and ledger.

Works beside a running app: the ledger only grows, and its manifest is copied first, so it never counts more than was
copied. The database is left out, because it is made again from these.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from crane_core import ledger
from crane_core.errors import LedgerError, SourceError
from crane_core.ledger.chain import whole_lines
from crane_core.ledger.manifest import FOLDER as MANIFEST
from crane_core.ledger.signature import ledger_key
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.loading.losses import Loss, keep_count, losses, sign
from crane_core.pipeline.places import DataFolder

PARTS = ("sources", "ledger")


class Copied(NamedTuple):
    """What a backup holds, or what was restored from it."""

    sources: int
    ledger_files: int
    n_bytes: int

    def __str__(self) -> str:
        return f"{self.sources:,} sources, {self.ledger_files:,} ledger files, {self.n_bytes:,} bytes, all checked"


def back_up(folder: DataFolder, out: Path) -> Copied:
    """Write a backup of `folder` to `out`, which does not exist yet; whole or not at all.

    Raises LedgerError if something of the folder is lost or altered, SourceError where `out` cannot be used.
    """
    _refuse_losses(losses(folder), f"{folder.path} cannot be backed up")
    # It would be copied into itself.
    if out.resolve().is_relative_to(folder.path):
        raise SourceError(
            f"{out} lies in the data folder itself.",
            remedy="Use a folder outside it.",
        )
    with fresh_folder(out) as fresh:
        _copy(folder, fresh)
        _refuse_losses(
            losses(DataFolder(fresh)), "The backup does not match its source"
        )
        return _counted(DataFolder(fresh))


def restore(backup: Path, folder: DataFolder) -> Copied:
    """Bring a backup into `folder`, which has neither sources nor a ledger yet.

    Raises SourceError if `backup` is not a backup or `folder` is taken, LedgerError where the backup is damaged.
    """
    if not any((backup / part).is_dir() for part in PARTS):
        raise SourceError(
            f"{backup} is not a backup: it has no sources and no ledger.",
            remedy="Name such a folder.",
        )
    taken = [part for part in PARTS if any((folder.path / part).glob("*"))]
    if taken or folder.database.exists():
        raise SourceError(
            f"{folder.path} already has data ({', '.join(taken) or folder.database.name}).",
            remedy="Restore into an empty folder: --data NEW.",
        )
    _refuse_losses(losses(DataFolder(backup)), f"{backup} is damaged")
    fresh = Path(tempfile.mkdtemp(prefix=".restore-", dir=folder.path))
    try:
        _copy(DataFolder(backup), fresh)
        for part in PARTS:
            (folder.path / part).rmdir() if (
                folder.path / part
            ).is_dir() else None
            (fresh / part).rename(folder.path / part)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return _counted(folder)


def _copy(folder: DataFolder, out: Path) -> None:
    to = DataFolder(out)
    to.ledger.mkdir()
    to.sources.mkdir()
    if (folder.ledger / MANIFEST).is_dir():
        # The manifest first: the ledger may grow while it is copied, and a copy may hold more than its
        # manifest counts.
        shutil.copytree(folder.ledger / MANIFEST, to.ledger / MANIFEST)
    list(copy_ledger(folder.ledger, to.ledger))
    for kept in sorted(folder.sources.glob("[!.]*")):
        shutil.copytree(kept, to.sources / kept.name)
    keep_count(to)
    if ledger_key():
        sign(
            to
        )  # lines that came while it was copied are of those that write to what was checked


def _refuse_losses(found: list[Loss], what: str) -> None:
    if found:
        raise LedgerError(
            f"{what}: {found[0]}"
            + (f"; and {len(found) - 1:,} more." if len(found) > 1 else "."),
            remedy=f"{found[0].remedy} `doctor` lists everything.",
        )


def _counted(folder: DataFolder) -> Copied:
    files = [
        path
        for part in PARTS
        for path in (folder.path / part).rglob("*")
        if path.is_file()
    ]
    return Copied(
        len([path for path in folder.sources.glob("[!.]*") if path.is_dir()]),
        len(ledger.files(folder.ledger)),
        sum(path.stat().st_size for path in files),
    )


class CopiedFile(NamedTuple):
    """A copied ledger file: its path in the ledger, and what the copy holds."""

    name: Path
    content: bytes


def copy_ledger(
    origin: Path, into: Path, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[CopiedFile]:
    """Copy the ledger at `origin` into the folder `into`, file by file in the order of names, each in whole lines.

    `wanted` decides by the path of each file in the ledger.
    """
    for file in ledger.files(origin):
        if not wanted(file.relative_to(origin).as_posix()):
            continue
        copied = CopiedFile(
            file.relative_to(origin), whole_lines(file.read_bytes())
        )
        target = into / copied.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(copied.content)
        yield copied
