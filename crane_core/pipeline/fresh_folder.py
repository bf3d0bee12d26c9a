"""A folder that is written completely or not at all, and never over existing files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crane_core.errors import SourceError


def refuse_taken(out: Path) -> None:
    """Raise SourceError if `out` is anything but an empty folder or nothing."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SourceError(
            f"{out} already exists.",
            remedy="Use a folder that does not exist yet.",
        )


@contextmanager
def fresh_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out` to write into, which takes its place with one rename when the block ends well."""
    refuse_taken(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield fresh
        fresh.chmod(0o755)
        fresh.replace(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
