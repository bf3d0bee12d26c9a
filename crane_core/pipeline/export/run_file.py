"""One run as a portable file: a zip archive with its ledger file and a manifest, which `import` takes elsewhere.

It is an evidence pack of one ledger file (`evidence`), so the same checks hold: version, content hashes, and whether it
continues what is here. Knows the archive; refuses to know its records.
"""

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crane_core.errors import SourceError
from crane_core.importers.archive_safety import MEBIBYTE, ArchiveLimits
from crane_core.importers.zip_archive import open_zip
from crane_core.ledger.chain import whole_lines
from crane_core.pipeline.export import evidence
from crane_core.pipeline.jobs.files import FOLDER, job_file
from crane_core.pipeline.loading.load import embedded_digests
from crane_core.pipeline.loading.sources import staged_sources
from crane_core.pipeline.places import DataFolder

SUFFIX = ".zip"
_LIMITS = ArchiveLimits(files=1_000, file_bytes=1024 * MEBIBYTE)
_LONGEST_MANIFEST = 10_000_000


def write_run(folder: DataFolder, job: str, out: Path) -> evidence.Manifest:
    """Write the run into the new file `out`, whole or not at all. Raises SourceError.

    Sources are named, not included: texts of notebooks belong to their authors.
    """
    known = sorted(
        path.stem for path in (folder.ledger / FOLDER).glob("*.jsonl")
    )
    if job not in known:
        raise SourceError(
            f"No run has the name {job[:120]!r}.",
            remedy=f"Choose one: {', '.join(known[-5:]) or 'there is none yet'}.",
        )
    if out.exists() or out.suffix != SUFFIX:
        why = (
            "already exists" if out.exists() else f"does not end with {SUFFIX}"
        )
        raise SourceError(
            f"{out} {why}.", remedy=f"Name a new file such as {job}{SUFFIX}."
        )
    content = whole_lines(job_file(folder, job).read_bytes())
    packed = evidence.PackedFile(
        f"{evidence.LEDGER}/{FOLDER}/{job}.jsonl",
        hashlib.sha256(content).hexdigest(),
        len(content),
    )
    manifest = evidence.Manifest(
        (packed,), tuple(_named(folder)), (), embedded_digests()
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                evidence.MANIFEST,
                json.dumps(manifest.to_json(), indent=1) + "\n",
            )
            archive.writestr(packed.path, content)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def is_run_file(path: Path) -> bool:
    """Whether it is an archive with the manifest of an evidence pack at its top; other archives have other names."""
    if path.suffix != SUFFIX or not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            # A small archive can hold a manifest of gigabytes.
            if archive.getinfo(evidence.MANIFEST).file_size > _LONGEST_MANIFEST:
                return False
            return bool(
                json.loads(archive.read(evidence.MANIFEST)).get("kind")
                == evidence.KIND
            )
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        OSError,
        AttributeError,
        RuntimeError,
        RecursionError,
    ):
        return False


@contextmanager
def opened_run(path: Path) -> Iterator[Path]:
    """The archive's contents as a folder that `evidence.unpack` takes, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as place:
        contents = open_zip(path, _LIMITS)
        if contents.problems:
            [first, *_] = contents.problems
            raise SourceError(
                f"{path.name} holds {first.path}: {first.reason}.",
                remedy="Export the run again.",
            )
        for name in contents.names:
            target = Path(place) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents.read(name))
        yield Path(place)


def _named(folder: DataFolder) -> Iterator[evidence.PackedSource]:
    for source in staged_sources(folder.sources):
        identity = (
            source.source_id,
            source.kind,
            source.name,
            source.sha256,
            source.n_bytes,
        )
        yield evidence.PackedSource(*identity, is_included=False)
