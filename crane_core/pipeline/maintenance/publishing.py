"""Keeps a copy of the database for replicas, renewed while the app runs.

Knows when a copy is out of date. Refuses to know who reads it.
"""

import logging
import os
import time
from pathlib import Path
from threading import Event, Thread

from crane_core.errors import CraneError
from crane_core.pipeline.loading.load import catch_up
from crane_core.pipeline.places import DataFolder
from crane_core.storage.snapshot import confirm, publish, remove_unfinished
from crane_core.storage.store import DatabaseError, Store

VARIABLE = "CRANE_PUBLISH_S"
"""Seconds from one look for changes to the next; without it no copy is kept."""
LONGEST_S = 60
_LOG = logging.getLogger(__name__)


class Publisher:
    """One per process that writes. `renew` is for one thread at a time."""

    def __init__(self, store: Store, folder: DataFolder) -> None:
        self._store = store
        self._folder = folder
        self._published = ""
        self._copy: Path | None = None
        remove_unfinished(folder.replicas)

    def renew(self) -> None:
        """Load what is on the disk, and copy the database if it changed since the last copy. Raises StoreError."""
        # Taken before the look: what comes during it may or may not be in the copy.
        at = time.time()
        catch_up(self._store, self._folder)
        version = self._store.version
        if self._copy and self._copy.exists() and version == self._published:
            # Nothing changed, so the same copy holds everything until now.
            confirm(self._copy, at)
        else:
            self._copy = publish(self._store, self._folder.replicas, at=at)
            self._published = version


def publish_regularly(
    store: Store, folder: DataFolder, every_s: float, stop: Event
) -> Thread:
    """Renew the copy in a thread until `stop` is set; an obstacle is logged, and tried again."""
    publisher = Publisher(store, folder)

    def work() -> None:
        while not stop.is_set():
            try:
                publisher.renew()
            except (CraneError, DatabaseError, OSError) as error:
                _LOG.error("%s", error)
            stop.wait(every_s)

    thread = Thread(target=work, name="publisher", daemon=True)
    thread.start()
    return thread


def interval_s() -> float | None:
    """How often this process renews the copy, None if it keeps none."""
    return float(os.environ.get(VARIABLE) or 0) or None
