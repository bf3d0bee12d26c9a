"""Where things lie: the folder of what changes, and what ships with the checkout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

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
    """`path`, else CRANE_DATA, else data/ of the checkout."""
    chosen = Path(path or os.environ.get("CRANE_DATA") or CHECKOUT / "data").expanduser().resolve()
    chosen.mkdir(parents=True, exist_ok=True)
    return DataFolder(chosen)


def embedded() -> dict[str, Path]:
    """What ships with the checkout, by the id of its source, in load order."""
    return {"published": CHECKOUT / "data" / "published", "minibench": CHECKOUT / "data" / "minibench"}
