"""A notebook's folder as a copy that it may write to, so that running it changes nothing of a benchmark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from crane_core.given_path import special_files
from crane_core.runtime.isolation import is_small


@contextmanager
def own_copy(root: Path, folder: Path) -> Iterator[Path]:
    """A copy of `folder`, which is `root` or lies in it. What is beside it up to `root` is linked, not copied.

    So paths like ../data work. Of a folder too large to copy every entry is a link.
    """
    with TemporaryDirectory(prefix="crane-copy-") as place:
        here, there = Path(place).resolve(), root.resolve()
        for part in folder.resolve().relative_to(there).parts:
            _link(there, here, leave_out=part)
            here, there = here / part, there / part
            here.mkdir()
        if is_small(there) and not here.is_relative_to(there):
            shutil.copytree(
                there, here, symlinks=True, dirs_exist_ok=True, ignore=special_files
            )
        else:
            _link(there, here)
        yield here


def _link(there: Path, here: Path, leave_out: str | None = None) -> None:
    for entry in there.iterdir():
        if entry.name != leave_out:
            (here / entry.name).symlink_to(entry)
