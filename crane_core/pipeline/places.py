"""Paths: the data folder, and the files that ship with the program."""

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from crane_core.errors import StoreError

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "shipped"
IS_INSTALLED = _INSTALLED.is_dir()
"""Whether this code was installed from a wheel, which brings a copy of what ships."""

CHECKOUT = _INSTALLED if IS_INSTALLED else _PACKAGE.parent
"""Holds app.py, pages/, data/published and data/minibench: the checkout this code runs from, or a wheel's copy."""


def install_words(extra: str) -> str:
    """How to install an extra, from whatever folder one is in."""
    what = "crane-workbench" if IS_INSTALLED else str(CHECKOUT)
    return f"Install it: `pip install '{what}[{extra}]'`."


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The data folder: database, sources, ledger. Created if missing."""

    path: Path

    @property
    def database(self) -> Path:
        """The DuckDB file, which is built from the other parts."""
        return self.path / "crane.duckdb"

    @property
    def sources(self) -> Path:
        """The folder with copies of imported sources."""
        return self.path / "sources"

    @property
    def downloads(self) -> Path:
        """Where `fetch` puts what it downloads."""
        return self.path / "downloads"

    @property
    def replicas(self) -> Path:
        """Copies of the database for processes that only read."""
        return self.path / "replicas"

    @property
    def ledger(self) -> Path:
        """The folder of the ledger: everything that people and models produced here."""
        return self.path / "ledger"

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be written here: a medium that is mounted so, or another user's folder."""
        return not os.access(self.path, os.W_OK | os.X_OK)


def data_folder(
    path: str | Path | None = None, *, may_be_read_only: bool = False
) -> DataFolder:
    """`path`, else CRANE_DATA, else data/ of the checkout, or the user's own folder where the program is installed.

    Raises StoreError if it cannot be created, or written by a caller who has to.
    """
    usual = (
        user_data_path("crane-workbench") if IS_INSTALLED else CHECKOUT / "data"
    )
    given = Path(path or os.environ.get("CRANE_DATA") or usual).expanduser()
    try:
        chosen = given.resolve()
        chosen.mkdir(parents=True, exist_ok=True)
    except (
        RuntimeError
    ) as error:  # what pathlib of Python 3.11 and 3.12 raises for such a link
        raise _unusable(given, "it is a link that leads to itself") from error
    except OSError as error:
        raise _unusable(given, error.strerror or str(error)) from error
    folder = DataFolder(chosen)
    if folder.is_read_only and not may_be_read_only:
        raise read_only(chosen)
    return folder


def read_only(folder: Path) -> StoreError:
    """Why something cannot be done with a folder in which nothing can be written."""
    return _unusable(folder, "it is read-only")


def _unusable(folder: Path, why: str) -> StoreError:
    return StoreError(
        f"{folder} cannot be used as the data folder: {why}.",
        remedy="Use a writable folder: --data or CRANE_DATA.",
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
