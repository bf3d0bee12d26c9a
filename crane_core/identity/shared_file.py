"""A small JSON file of the data folder that the app, its replicas and commands change, one at a time.

It is replaced as a whole: a reader sees the old one or the new one. Only its owner can read it.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def held(folder: Path, name: str) -> Iterator[None]:
    """While the body runs, no other process changes the file."""
    handle = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_file(folder: Path, name: str, document: Any) -> None:
    """Write the whole file, and return when it is on the disk."""
    descriptor, fresh = tempfile.mkstemp(
        dir=folder, prefix=".sessions-"
    )  # readable by its owner alone
    with os.fdopen(descriptor, "w") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    Path(fresh).replace(folder / name)
