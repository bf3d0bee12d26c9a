"""What the workers of one run of tests make once for all of them: data folders, and apps.

Knows who makes it, who waits, and who ends it; every worker is a process, and they meet at locked files. What a test
changes must not be shared: that is for the fixture to know.
"""

from __future__ import annotations

import fcntl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

PAUSE_S = 0.1


def run_folder(config: pytest.Config, factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run have, and no other run."""
    base = factory.getbasetemp()
    return base.parent if hasattr(config, "workerinput") else base


def made_once(place: Path, make: Callable[[Path], object]) -> Path:
    """The folder `place`, which the first worker makes and the others wait for; to be copied, not changed.

    `make` writes into an empty folder, which is renamed when it is whole: one that fails leaves nothing at `place`.
    """
    with locked(place.with_name(f"{place.name}.lock")):
        if not place.exists():
            begun = Path(tempfile.mkdtemp(dir=place.parent))
            make(begun)
            begun.rename(place)
    return place


@contextmanager
def shared_app(
    place: Path, serve: Callable[[], AbstractContextManager[str]]
) -> Iterator[str]:
    """Address of an app that the first worker starts; it ends the app when no other worker uses it any more.

    A worker that asks after that starts it again. `place` is a path of which files are made beside.
    """
    told, start, users = (
        place.with_name(f"{place.name}.{part}")
        for part in ("address", "start", "users")
    )
    with ExitStack() as at_end:
        with locked(start):
            if not told.exists():
                address = at_end.enter_context(serve())
                told.write_text(address, "utf-8")
                at_end.callback(_forget_when_unused, told, start, users)
            else:
                at_end.enter_context(locked(users, fcntl.LOCK_SH))
            address = told.read_text("utf-8")
        yield address


@contextmanager
def locked(file: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock on this file; the system ends it too when the process dies."""
    with file.open("a") as handle:
        fcntl.flock(handle, kind)
        yield


def _forget_when_unused(told: Path, start: Path, users: Path) -> None:
    """Return once the address is forgotten and no other worker uses it.

    Asked again and again, because one who holds `start` while it waits would stop a worker that others wait for.
    """
    while True:
        with locked(start), users.open("a") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                told.unlink()
                return
        time.sleep(PAUSE_S)
