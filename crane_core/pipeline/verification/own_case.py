"""A case that a visitor of the app brings: checked as `add-case` checks it, then kept as a source in an own benchmark.

Knows which benchmarks are others' and take no cases. Each case is a separate source, so that it can be removed alone.
"""

import re
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crane_core.domain import Listed
from crane_core.errors import SourceError
from crane_core.importers.published_detectors import slug
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder, embedded
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.verification import add_case
from crane_core.runtime.limits import KernelLimits
from crane_core.runtime.program import program
from crane_core.storage import cases as stored_cases
from crane_core.storage.store import Store

LONGEST_NAME = 80


class OwnCase(NamedTuple):
    """The case as it was added, and the id of its benchmark."""

    benchmark: str
    added: add_case.AddedCase


def own_benchmarks(store: Store) -> list[str]:
    """Ids of the benchmarks that take cases: neither published by others nor shipped."""
    rows = as_rows(stored_cases.benchmarks(store.cursor()))
    return sorted(
        str(row["benchmark"])
        for row in rows
        if row["licence"] is None
        and row["url"] is None
        and row["benchmark"] not in embedded()
    )


def add_own_case(
    case: add_case.NewCase,
    benchmark: str,
    folder: DataFolder,
    store: Store,
    limits: KernelLimits,
    *,
    stop: threading.Event,
) -> OwnCase:
    """Execute both notebooks, and load them as a case of the benchmark that is called so, which may be new.

    Raises SourceError, NotebookError or KernelError, one line each; then nothing was kept.
    """
    name = _named(benchmark, folder, store)
    if stored_cases.case(store.cursor(), name, case.name) is not None:
        raise SourceError(
            f"{name} has a case {case.name} already.",
            remedy="Choose another name.",
        )
    with TemporaryDirectory(prefix="crane-own-") as place:
        pairs = Path(place) / name
        added = add_case.add_case(case, pairs, program(), limits, stop=stop)
        if stop.is_set():
            raise SourceError("It was stopped.", remedy="Nothing was kept.")
        imported = import_paths([pairs], folder, store)
    if imported.already_loaded:
        raise SourceError(
            f"The same two notebooks are already loaded as source {imported.source_id}.",
            remedy="Open that case, or remove the source first.",
        )
    return OwnCase(name, added)


def _named(typed: str, folder: DataFolder, store: Store) -> str:
    """The id of the benchmark. Raises SourceError if it takes no cases."""
    name = slug(typed)
    if not re.search("[a-z0-9]", typed.lower()) or len(name) > LONGEST_NAME:
        raise SourceError(
            "The benchmark needs a name.",
            remedy=f"Use letters and digits, {LONGEST_NAME} characters at most.",
        )
    if not inventory(folder).has(Listed.BENCHMARK, name):
        raise SourceError(
            f"The benchmark {name} was removed.",
            remedy="Restore it below, or choose another name.",
        )
    known = {
        str(row["benchmark"])
        for row in as_rows(stored_cases.benchmarks(store.cursor()))
    }
    if name in known - set(own_benchmarks(store)):
        raise SourceError(
            f"{name} is not your own benchmark.", remedy="Choose another name."
        )
    return name
