"""The evidence pack: everything that another machine needs to rebuild the same tables, as one folder of plain files.

Holds the ledger and the local sources. Published sources are named with their sha256, and included only on request.
An import checks them against the pack's manifest, then copies them into the data folder. Knows which of two editions of
a ledger file continues the other. Refuses an altered pack, and a ledger file that contradicts the local one of the same
name.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from crane_core.domain import Listed
from crane_core.errors import SourceError
from crane_core.pipeline.audit import is_private
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.loading import load, sources
from crane_core.pipeline.loading.load import embedded_digests
from crane_core.pipeline.loading.sources import (
    SIDECAR,
    StagedSource,
    fingerprint,
    staged_sources,
)
from crane_core.pipeline.maintenance.backup import copy_ledger
from crane_core.pipeline.places import DataFolder

MANIFEST = "manifest.json"
KIND = "crane evidence pack"
VERSION = 1
LEDGER, SOURCES, TABLES = "ledger", "sources", "tables"
PUBLISHED = frozenset(
    {"crane-llm-2025-10", "crane-llm-2026", "junobench-construct"}
)
"""Kinds of sources that anyone can fetch."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of the pack: POSIX path in it, and what it must be."""

    path: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True, slots=True)
class PackedSource:
    """A source that the tables rest on. `is_included`: the pack has a copy; else it must be fetched."""

    source_id: str
    kind: str
    name: str
    sha256: str
    n_bytes: int
    is_included: bool


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the pack holds. `embedded` are digests of the data that ships with the checkout it was made by."""

    ledger: tuple[PackedFile, ...]
    sources: tuple[PackedSource, ...]
    tables: tuple[PackedFile, ...]
    embedded: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """The manifest as it is written into the pack, with kind and version first."""
        return {"kind": KIND, "version": VERSION} | asdict(self)


class PackText(NamedTuple):
    """A text that goes into the pack for people to read."""

    name: str
    text: str


def write_pack(
    folder: DataFolder,
    out: Path,
    tables: list[PackText],
    *,
    with_published: bool,
    readme: Callable[[tuple[PackedSource, ...]], str],
) -> Manifest:
    """Write the pack into `out`, which is made; whole or not at all. Raises SourceError if `out` is taken.

    Removed sources, runs and campaigns are left out. A ledger file that grows meanwhile is included as it was when it
    was copied.
    """
    with fresh_folder(out) as fresh:
        manifest = Manifest(
            ledger=tuple(_copied_ledger(folder, fresh)),
            sources=tuple(
                _copied_sources(folder, fresh, with_published=with_published)
            ),
            tables=tuple(_written(fresh, tables)),
            embedded=embedded_digests(),
        )
        (fresh / MANIFEST).write_text(
            json.dumps(manifest.to_json(), indent=1) + "\n", "utf-8"
        )
        (fresh / "README.md").write_text(readme(manifest.sources), "utf-8")
    return manifest


def _copied_ledger(folder: DataFolder, into: Path) -> Iterator[PackedFile]:
    has_file = inventory(folder).has_file

    def is_evidence(name: str) -> bool:
        # The audit log names people and addresses.
        return not is_private(name) and has_file(name)

    for name, content in copy_ledger(folder.ledger, into / LEDGER, is_evidence):
        yield PackedFile(
            f"{LEDGER}/{name.as_posix()}",
            hashlib.sha256(content).hexdigest(),
            len(content),
        )


def _copied_sources(
    folder: DataFolder, into: Path, *, with_published: bool
) -> Iterator[PackedSource]:
    listed = inventory(folder)
    for source in staged_sources(folder.sources):
        if not listed.has(Listed.SOURCE, source.source_id):
            continue
        is_included = with_published or not is_published(source)
        if is_included:
            target = into / SOURCES / source.source_id
            target.mkdir(parents=True)
            kept = folder.sources / source.source_id
            shutil.copyfile(kept / source.file, target / source.file)
            # Where it was on this machine stays here.
            told = json.loads((kept / SIDECAR).read_text("utf-8"))
            told["origin"] = Path(told["origin"]).name
            (target / SIDECAR).write_text(
                json.dumps(told, indent=1) + "\n", "utf-8"
            )
        identity = (
            source.source_id,
            source.kind,
            source.name,
            source.sha256,
            source.n_bytes,
        )
        yield PackedSource(*identity, is_included)


def is_published(source: StagedSource) -> bool:
    """Whether others publish it, so that naming it with its checksum is enough."""
    return source.kind in PUBLISHED


def _written(into: Path, tables: list[PackText]) -> Iterator[PackedFile]:
    (into / TABLES).mkdir()
    for table in tables:
        path = into / TABLES / table.name
        path.write_text(table.text, "utf-8")
        yield PackedFile(
            f"{TABLES}/{table.name}", fingerprint(path), path.stat().st_size
        )


_HEAD = """# Evidence pack

All data behind the tables of a Crane Workbench. `python -m crane_core --data DIR import THIS_FOLDER` into an
empty data folder rebuilds them; `manifest.json` lists every file with its sha256, and a changed
pack is refused.

- `ledger/`: what detectors, judges and annotators produced, one JSON object per line, in the order of writing. It holds
  the raw replies of models; answers and labels are read from them when they are loaded.
- `sources/`: imported files, each with a `source.json` that says from where and when.
- `tables/`: for people to read; the program does not read them. `report.*` are the study's tables recomputed.
  `statistics.csv` and `statistics.json` hold every statistic that the pages show, one row each: value, unit, n,
  interval with its level and method, test, p, adjusted p with its family, outcome, seed; `statistics_*.tex` the same
  by kind. Outcome is what the pages say of a comparison: gain, loss, smaller than N points, no evidence, not tested or
  nothing to compare. bound is the smallest effect of interest, p_smaller the adjusted p that the difference is smaller.
  They are those of one study or run at a time: where runs stand under "Beside it" on Results, the page adjusts p for
  all rows that it shows together, and such combinations are not exported.
"""


def readme(
    sources: tuple[PackedSource, ...], open_campaigns: tuple[str, ...]
) -> str:
    """The text; `open_campaigns` are those whose annotators must not see the pack."""
    left_out = [source for source in sources if not source.is_included]
    parts = [_HEAD]
    if left_out:
        lines = "\n".join(
            f"- {source.name} ({source.kind}): sha256 `{source.sha256}`"
            for source in left_out
        )
        parts.append(
            "\n## Not in the pack\n\nThese are published elsewhere; get them with `crane_core fetch` or `import`."
            f"\n\n{lines}\n"
        )
    if open_campaigns:
        names = ", ".join(open_campaigns)
        parts.append(
            f"\n## Not for annotators\n\nThese campaigns are open, and the pack reveals what they hide: {names}.\n"
        )
    return "".join(parts)


class Unpacked(NamedTuple):
    """The new and the already known contents of a pack.

    `missing` are sources that it only names and are not here; the tables are the same once they are.
    `other_embedded` are data of this checkout that differ from those that the pack was made with.
    """

    n_ledger_files: int
    n_ledger_known: int
    n_sources: int
    n_sources_known: int
    missing: tuple[PackedSource, ...]
    other_embedded: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The counts, and the sources that are missing, for the JSON output."""
        return self._asdict() | {
            "missing": [asdict(source) for source in self.missing]
        }


def is_pack(path: Path) -> bool:
    """Whether the path is a folder with the manifest of an evidence pack."""
    return path.is_dir() and (path / MANIFEST).is_file()


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


def read_manifest(path: Path) -> Manifest:
    """The pack's manifest. Raises SourceError if it is invalid."""
    try:
        body = json.loads((path / MANIFEST).read_text("utf-8"))
        if (body["kind"], body["version"]) != (KIND, VERSION):
            raise ValueError(
                f"it is {body['kind']!r}, version {body['version']!r}"
            )
        return Manifest(
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
            f"{path / MANIFEST} is not the manifest of an evidence pack: {error}.",
            remedy="Export the pack again.",
        ) from error


def _packed_file(entry: dict[str, Any]) -> PackedFile:
    path = PurePosixPath(entry["path"])
    parts = path.parts
    if (
        # The manifest comes from elsewhere: a path in it must not lead out of the ledger.
        path.is_absolute()
        or ".." in parts
        or parts[:1] != (LEDGER,)
        or len(parts) < 2
        or path.suffix != ".jsonl"
    ):
        raise ValueError(f"{entry['path']!r} is not a ledger file")
    return PackedFile(str(path), str(entry["sha256"]), int(entry["n_bytes"]))


def _packed_source(entry: dict[str, Any]) -> PackedSource:
    name = str(entry["source_id"])
    if not name.isalnum():
        raise ValueError(f"{name!r} is not the id of a source")
    told = (
        str(entry["kind"]),
        str(entry["name"]),
        str(entry["sha256"]),
        int(entry["n_bytes"]),
    )
    return PackedSource(name, *told, bool(entry["is_included"]))


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


def _check_source(path: Path, source: PackedSource) -> None:
    kept = path / SOURCES / source.source_id
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


def _target(file: PackedFile, folder: DataFolder) -> Path:
    return folder.ledger / PurePosixPath(file.path).relative_to(LEDGER)


def _is_news(path: Path, file: PackedFile, folder: DataFolder) -> bool:
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


def _take_source(path: Path, source: PackedSource, folder: DataFolder) -> None:
    folder.sources.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.sources))
    kept = path / SOURCES / source.source_id
    described = sources.read_sidecar(kept / sources.SIDECAR)
    shutil.copyfile(kept / described.file, part / described.file)
    shutil.copyfile(kept / sources.SIDECAR, part / sources.SIDECAR)
    part.rename(folder.sources / source.source_id)
