"""`import --in-place`: Parquet files of runs or judgements, kept as they are and read by the database in place."""

from collections.abc import Iterator
from pathlib import Path

from crane_core.domain import Listed
from crane_core.errors import SourceError
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.loading import load, losses, sources
from crane_core.pipeline.places import DataFolder
from crane_core.storage.partitions import FORMS, PartitionFacts, facts_of
from crane_core.storage.store import Store

SUFFIX = ".parquet"


def import_in_place(
    paths: list[Path], folder: DataFolder
) -> Iterator[load.Imported]:
    """Keep each Parquet file as a separate source; folders are searched for them.

    Every file is checked before the first is kept. Raises SourceError or StoreError, also while the app holds the
    database.
    """
    files = [file for path in paths for file in parquet_files(path)]
    store = load.prepare(folder)
    try:
        checked = [(file, facts_of(file, file.name)) for file in files]
        for file, facts in checked:
            yield _kept(file, folder, store, facts)
    finally:
        store.close()


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files of a folder, in order, or the file itself. Links are not followed. Raises SourceError."""
    if path.is_dir() and not path.is_symlink():
        found = sorted(
            file for file in path.rglob(f"*{SUFFIX}") if file.is_file()
        )
    else:
        found = [path] if path.suffix == SUFFIX and path.is_file() else []
    if not found:
        raise SourceError(
            f"{path} holds no file that ends in {SUFFIX}.",
            remedy="See `import --help`.",
        )
    return found


def _kept(
    file: Path, folder: DataFolder, store: Store, facts: PartitionFacts
) -> load.Imported:
    sha256 = sources.fingerprint(file)
    known = next(
        (
            source
            for source in sources.staged_sources(folder.sources)
            if source.sha256 == sha256
        ),
        None,
    )
    if known and inventory(folder).has(Listed.SOURCE, known.source_id):
        return load.Imported(
            known.source_id, known.kind, known.name, [], [], already_loaded=True
        )
    if known:
        raise SourceError(
            f"{known.name} was imported and removed.",
            remedy=f"Bring it back: `restore source {known.source_id}`.",
        )
    load.refuse_overlap(store, facts, file.name)
    form = FORMS[facts.kind]
    with sources.staged_archive(
        file,
        kind=facts.kind,
        name=file.stem,
        into=folder.sources,
        file=form.file,
    ) as source:
        if source.sha256 != sha256:
            raise SourceError(
                f"{file} changed while it was read.",
                remedy="Import it once it is finished.",
            )
        imported = load.load_partition(store, folder, source, facts)
    losses.keep_count(folder)
    return imported
