"""Where things lie: the folder of what changes, and what ships with the checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from crane_core.errors import StoreError

CHECKOUT = Path(__file__).resolve().parents[2]
"""The checkout this code runs from; `published/` and `minibench/` always come from here."""


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder of what changes: database, sources, ledger. Made when missing."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "crane.duckdb"

    @property
    def sources(self) -> Path:
        return self.path / "sources"

    @property
    def downloads(self) -> Path:
        return self.path / "downloads"

    @property
    def ledger(self) -> Path:
        return self.path / "ledger"


def data_folder(path: str | Path | None = None) -> DataFolder:
    """`path`, else CRANE_DATA, else data/ of the checkout. Raises StoreError where it cannot be made or written."""
    chosen = Path(path or os.environ.get("CRANE_DATA") or CHECKOUT / "data").expanduser().resolve()
    try:
        chosen.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(chosen, error.strerror or str(error)) from error
    if not os.access(chosen, os.W_OK | os.X_OK):
        raise _unusable(chosen, "it is read-only")
    return DataFolder(chosen)


def _unusable(folder: Path, why: str) -> StoreError:
    return StoreError(
        f"{folder} cannot be used as the data folder: {why}.", remedy="Use a writable folder: --data or CRANE_DATA."
    )


def embedded() -> dict[str, Path]:
    """What ships with the checkout, by the id of its source, in load order."""
    data = CHECKOUT / "data"
    minibench = data / "minibench"
    return {
        "published": data / "published",
        "minibench": minibench,
        "minibench-states": minibench / "states",
        "minibench-results": minibench / "results",
    }
