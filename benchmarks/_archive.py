"""The published archive that the measurements are about, where it lies beside the checkout."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks._server import CHECKOUT
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder

ARCHIVE = CHECKOUT.parent / "shared" / "upstream" / "crane_llm.tar.gz"


def archive_or_exit() -> Path:
    """Its path; without it there is nothing to measure, which is said and is not a failure."""
    if not ARCHIVE.is_file():
        print(f"Nothing measured: {ARCHIVE.name} is not in {ARCHIVE.parent}.")
        sys.exit(0)
    return ARCHIVE


def imported(data: Path) -> DataFolder:
    """A data folder at `data` with the embedded data and the archive."""
    data.mkdir(parents=True)
    folder = DataFolder(data)
    prepare(folder).close()
    import_paths([archive_or_exit()], folder)
    return folder
