"""Imports an evidence pack: its ledger and sources are checked against its manifest, then copied into the data folder.

Knows which of two editions of a ledger file continues the other. Refuses an altered pack, and a ledger file that
contradicts the local one of the same name.
"""

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from crane_core.errors import SourceError
from crane_core.pipeline.export import evidence
from crane_core.pipeline.loading import load, sources
from crane_core.pipeline.places import DataFolder


class Unpacked(NamedTuple):
    """The new and the already known contents of a pack.

    `missing` are sources that it only names and are not here; the tables are the same once they are.
    `other_embedded` are data of this checkout that differ from those that the pack was made with.
    """

    n_ledger_files: int
    n_ledger_known: int
    n_sources: int
    n_sources_known: int
    missing: tuple[evidence.PackedSource, ...]
    other_embedded: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The counts, and the sources that are missing, for the JSON output."""
        return self._asdict() | {
            "missing": [asdict(source) for source in self.missing]
        }


def is_pack(path: Path) -> bool:
    """Whether the path is a folder with the manifest of an evidence pack."""
    return path.is_dir() and (path / evidence.MANIFEST).is_file()


def unpack(path: Path, folder: DataFolder) -> Unpacked:
    """Check the whole pack, then take what is not here.

    Raises SourceError; then nothing was copied. The store is not changed: `load.prepare` loads the new files.
    """
    manifest = read_manifest(path)
    # Everything is checked before anything is copied.
    for file in manifest.ledger:
        _check_file(path / file.path, file.sha256)
    included = [source for source in manifest.sources if source.is_included]
    for source in included:
        _check_source(path, source)
    wanted = [file for file in manifest.ledger if _is_news(path, file, folder)]
    known = {
        source.source_id for source in sources.staged_sources(folder.sources)
    }
    for source in included:
        if source.source_id not in known:
            _take_source(path, source, folder)
    for file in wanted:
        _take_file(path / file.path, _target(file, folder))
    missing = (
        source
        for source in manifest.sources
        if not source.is_included and source.source_id not in known
    )
    ours = load.embedded_digests()
    return Unpacked(
        n_ledger_files=len(wanted),
        n_ledger_known=len(manifest.ledger) - len(wanted),
        n_sources=sum(source.source_id not in known for source in included),
        n_sources_known=sum(source.source_id in known for source in included),
        missing=tuple(missing),
        other_embedded=tuple(
            sorted(
                name
                for name, digest in manifest.embedded.items()
                if ours.get(name) != digest
            )
        ),
    )


def read_manifest(path: Path) -> evidence.Manifest:
    """The pack's manifest. Raises SourceError if it is invalid."""
    try:
        body = json.loads((path / evidence.MANIFEST).read_text("utf-8"))
        if (body["kind"], body["version"]) != (evidence.KIND, evidence.VERSION):
            raise ValueError(
                f"it is {body['kind']!r}, version {body['version']!r}"
            )
        return evidence.Manifest(
            ledger=tuple(_packed_file(entry) for entry in body["ledger"]),
            sources=tuple(_packed_source(entry) for entry in body["sources"]),
            tables=(),
            embedded={
                str(name): str(digest)
                for name, digest in body["embedded"].items()
            },
        )
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise SourceError(
            f"{path / evidence.MANIFEST} is not the manifest of an evidence pack: {error}.",
            remedy="Export the pack again.",
        ) from error


def _packed_file(entry: dict[str, Any]) -> evidence.PackedFile:
    path = PurePosixPath(entry["path"])
    parts = path.parts
    if (
        # The manifest comes from elsewhere: a path in it must not lead out of the ledger.
        path.is_absolute()
        or ".." in parts
        or parts[:1] != (evidence.LEDGER,)
        or len(parts) < 2
        or path.suffix != ".jsonl"
    ):
        raise ValueError(f"{entry['path']!r} is not a ledger file")
    return evidence.PackedFile(
        str(path), str(entry["sha256"]), int(entry["n_bytes"])
    )


def _packed_source(entry: dict[str, Any]) -> evidence.PackedSource:
    name = str(entry["source_id"])
    if not name.isalnum():
        raise ValueError(f"{name!r} is not the id of a source")
    told = (
        str(entry["kind"]),
        str(entry["name"]),
        str(entry["sha256"]),
        int(entry["n_bytes"]),
    )
    return evidence.PackedSource(name, *told, bool(entry["is_included"]))


def _check_file(path: Path, sha256: str) -> None:
    if (
        path.is_symlink()
        or not path.is_file()
        or sources.fingerprint(path) != sha256
    ):
        raise SourceError(
            f"{path} differs from the pack's manifest.",
            remedy="Copy the pack again; nothing was imported.",
        )


def _check_source(path: Path, source: evidence.PackedSource) -> None:
    kept = path / evidence.SOURCES / source.source_id
    described = sources.read_sidecar(kept / sources.SIDECAR)
    is_inside = Path(described.file).name == described.file
    if not is_inside or (described.source_id, described.sha256) != (
        source.source_id,
        source.sha256,
    ):
        raise SourceError(
            f"{kept / sources.SIDECAR} belongs to another source.",
            remedy="Export the pack again.",
        )
    _check_file(kept / described.file, source.sha256)


def _target(file: evidence.PackedFile, folder: DataFolder) -> Path:
    return folder.ledger / PurePosixPath(file.path).relative_to(evidence.LEDGER)


def _is_news(path: Path, file: evidence.PackedFile, folder: DataFolder) -> bool:
    """Whether the pack's edition of a ledger file continues the local one, or is the only one."""
    ours = _target(file, folder)
    if not ours.exists():
        return True
    mine, theirs = ours.read_bytes(), (path / file.path).read_bytes()
    # Ledger files only grow: of two editions of one file the longer continues the shorter.
    if mine.startswith(theirs):
        return False
    if theirs.startswith(mine):
        return True
    raise SourceError(
        f"{ours} and the pack's {file.path} have the same name but different content.",
        remedy="Import the pack into a separate data folder: --data DIR. Nothing was imported.",
    )


def _take_file(packed: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(packed, part)
    part.replace(target)


def _take_source(
    path: Path, source: evidence.PackedSource, folder: DataFolder
) -> None:
    folder.sources.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.sources))
    kept = path / evidence.SOURCES / source.source_id
    described = sources.read_sidecar(kept / sources.SIDECAR)
    shutil.copyfile(kept / described.file, part / described.file)
    shutil.copyfile(kept / sources.SIDECAR, part / sources.SIDECAR)
    part.rename(folder.sources / source.source_id)
