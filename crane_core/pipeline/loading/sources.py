"""Stores imported sources: each is a folder under sources/ with a copy of it and a `source.json`.

The store is rebuilt from the copy, so the original may move or vanish. An archive is kept unchanged; of a folder only
the files that its importer read are kept, packed so that equal content has equal bytes.
"""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from crane_core.domain import LoadProblem, ProblemKind
from crane_core.errors import SourceError
from crane_core.importers.filetree import FileTree
from crane_core.releases import Release
from crane_core.replica import refuse_on_replica

SIDECAR = "source.json"
_PART = ".part-"
_TOP = "files"


@dataclass(frozen=True, slots=True)
class StagedSource:
    """A source as stored under sources/. `origin` is its original place, for people to read.

    `left_out` are the files of a folder that were seen and not kept, each with the reason: an importer may derive
    something from their names, and must do so again at a rebuild. `release` is which one of others' this is, where that
    is known, and `edition` what its records are filed under; see `pipeline.loading.editions`.
    """

    source_id: str
    kind: str
    name: str
    file: str
    sha256: str
    n_bytes: int
    imported_at: str
    origin: str
    problems: tuple[LoadProblem, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    release: Release | None = None
    edition: str = ""

    @property
    def imported(self) -> datetime:
        """When it was imported: UTC, without a zone."""
        return datetime.fromisoformat(self.imported_at)


class RecordingTree(FileTree):
    """A file tree that remembers what was read from it, and why the rest was not."""

    def __init__(self, tree: FileTree) -> None:
        self.__dict__.update(tree.__dict__)
        self.was_read: dict[str, bytes] = {}
        self._refused: dict[str, str] = {}

    def read(self, path: str) -> bytes:
        """The file's bytes, remembered; a refusal is remembered with its reason and raised again."""
        try:
            data = super().read(path)
        except SourceError as error:
            self._refused[path] = str(error.args[0])
            raise
        self.was_read[path] = data
        return data

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """The files that were not read, each with the reason."""
        unread = (path for path in self.paths if path not in self.was_read)
        return tuple(
            (path, self._refused.get(path, f"{path} was not kept."))
            for path in unread
        )


class KeptTree(FileTree):
    """The tree of a kept source as its importer first saw it: the files left out have their names and no content."""

    def __init__(
        self, tree: FileTree, left_out: tuple[tuple[str, str], ...]
    ) -> None:
        self.__dict__.update(tree.__dict__)
        self._left_out = dict(left_out)
        self.paths = sorted([*tree.paths, *self._left_out])
        self._known = set(self.paths)

    def read(self, path: str) -> bytes:
        """The file's bytes. Raises SourceError, with the first reason, for a file that was not kept."""
        if path in self._left_out:
            raise SourceError(
                self._left_out[path], remedy="Import the folder again."
            )
        return super().read(path)


def staged_sources(folder: Path) -> list[StagedSource]:
    """All sources under `folder`, oldest first. Raises SourceError if a sidecar cannot be read."""
    found = [
        read_sidecar(path)
        for path in folder.glob(f"*/{SIDECAR}")
        if not path.parent.name.startswith(_PART)
    ]
    return sorted(
        found, key=lambda source: (source.imported_at, source.source_id)
    )


def read_sidecar(path: Path) -> StagedSource:
    """The contents of a `source.json`. Raises SourceError if they are invalid."""
    try:
        body = json.loads(path.read_text("utf-8"))
        problems = tuple(
            LoadProblem(**p | {"kind": ProblemKind(p["kind"])})
            for p in body.pop("problems")
        )
        left_out = tuple(
            (path, reason) for path, reason in body.pop("left_out", ())
        )
        release = (
            Release(**told) if (told := body.pop("release", None)) else None
        )
        return StagedSource(
            **body, problems=problems, left_out=left_out, release=release
        )
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SourceError(
            f"{path} cannot be read: {error}.",
            remedy="Remove that folder and import the source again.",
        ) from error


def fingerprint(path: Path) -> str:
    """sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pack(files: dict[str, bytes]) -> bytes:
    """A .tar.gz of `files` that depends on nothing but names and content.

    All lie in one folder, which a file tree leaves out again: so the paths come back as they were.
    """
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(f"{_TOP}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@contextmanager
def staged_archive(
    archive: Path,
    *,
    kind: str,
    name: str,
    into: Path,
    release: Release | None = None,
    edition: str = "",
    file: str = "",
) -> Iterator[StagedSource]:
    """Keep a copy of an archive, named `file` if given, while the body loads it; if the body raises, nothing stays."""
    as_kept = file or archive.name
    described = _describe(
        fingerprint(archive),
        kind,
        name,
        as_kept,
        archive.stat().st_size,
        str(archive),
    )
    source = replace(described, release=release, edition=edition)
    with _staging(source, into) as folder:
        shutil.copyfile(archive, folder / source.file)
        yield source


@contextmanager
def staged_files(
    tree: RecordingTree,
    *,
    kind: str,
    origin: str,
    into: Path,
    release: Release | None = None,
    edition: str = "",
) -> Iterator[StagedSource]:
    """Keep what was read of a folder while the body loads it; when the body raises, nothing stays."""
    data = pack(tree.was_read)
    sha256 = hashlib.sha256(data).hexdigest()
    source = replace(
        _describe(
            sha256, kind, tree.name, f"{tree.name}.tar.gz", len(data), origin
        ),
        problems=tuple(tree.problems),
        left_out=tree.left_out,
        release=release,
        edition=edition,
    )
    with _staging(source, into) as folder:
        (folder / source.file).write_bytes(data)
        yield source


def _describe(
    sha256: str, kind: str, name: str, file: str, n_bytes: int, origin: str
) -> StagedSource:
    now = (
        datetime.now(UTC)
        .replace(tzinfo=None)
        .isoformat(timespec="microseconds")
    )
    return StagedSource(
        sha256[:12], kind, name, file, sha256, n_bytes, now, origin
    )


@contextmanager
def _staging(source: StagedSource, into: Path) -> Iterator[Path]:
    refuse_on_replica()
    into.mkdir(parents=True, exist_ok=True)
    # Made beside its final place, so that the rename is one step of the same file system.
    part = Path(tempfile.mkdtemp(prefix=_PART, dir=into))
    final = into / source.source_id
    try:
        (part / SIDECAR).write_text(
            json.dumps(asdict(source), indent=1) + "\n", "utf-8"
        )
        yield part
        # Another process may have imported the same content meanwhile; theirs is as good.
        if not final.exists():
            part.rename(final)
    finally:
        shutil.rmtree(part, ignore_errors=True)
