"""A folder or file that is written completely or not at all, and never over files of others."""

import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from crane_core.errors import CraneError, SourceError


def write_new_file(
    out: Path, text: str, refused: type[CraneError] = SourceError
) -> None:
    """Write a text file that is not there yet. Raises `refused` if it is, or cannot be written."""
    try:
        with out.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                # A full disk leaves half of it.
                out.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise refused(
            f"{out} cannot be written: {error.strerror}.",
            remedy="Name a file that does not exist, in a folder that does.",
        ) from error


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


@contextmanager
def renewed_folder(out: Path, own: Collection[str]) -> Iterator[Path]:
    """As `fresh_folder`, but `out` may exist: its files `own` are replaced, all others stay as they are.

    own: names of files directly in `out`. Raises SourceError, and changes nothing, if a new file has the name of
    another's.
    """
    if not out.exists():
        with fresh_folder(out) as fresh:
            yield fresh
        return
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        yield fresh
        kept = [path for path in out.iterdir() if path.name not in own]
        for path in kept:
            if (fresh / path.name).exists():
                raise SourceError(
                    f"{path} is in the way.",
                    remedy="Move it, or use another folder.",
                )
        fresh.chmod(out.stat().st_mode)
        _exchange(fresh, out, kept)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _exchange(fresh: Path, out: Path, kept: list[Path]) -> None:
    """Put `fresh` in the place of `out`, and what is kept of `out` into it."""
    # Two renames, between which a stop leaves both folders whole.
    before = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    out.replace(before)
    fresh.replace(out)
    for path in kept:
        (before / path.name).replace(out / path.name)
    shutil.rmtree(before, ignore_errors=True)
