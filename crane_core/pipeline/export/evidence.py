"""The evidence pack: everything that another machine needs to rebuild the same tables, as one folder of plain files.

Holds the ledger and the local sources. Published sources are named with their sha256, and included only on request.
Knows files; their contents are read when the pack is imported.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from crane_core.domain import Listed
from crane_core.pipeline.audit import is_private
from crane_core.pipeline.fresh_folder import fresh_folder
from crane_core.pipeline.inventory import inventory
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
