"""Records of many answers go to one ledger file: those that arrived during a write are written together.

Nothing is reported as saved before `ledger.append` has returned, that is, before it is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from threading import Event
from types import TracebackType

from crane_core import ledger
from crane_core.domain import Record

USUALLY_WAITING = 16


class GroupCommit:
    """A writer thread. `put` from any thread; `on_saved` is called with saved records, from the writer's thread.

    When the disk refuses, or `on_saved` raises, `stop` is set, nothing more is written, and leaving the context raises
    that error. `max_waiting` records may wait for the disk, and a caller with more waits too: so a crash loses few
    records. As many again may be in the current write.
    """

    def __init__(
        self,
        path: Path,
        on_saved: Callable[[Sequence[Record]], None],
        stop: Event,
        *,
        max_waiting: int = USUALLY_WAITING,
    ) -> None:
        self._path = path
        self._on_saved = on_saved
        self._stop = stop
        self._max_waiting = max_waiting
        self._waiting: Queue[Record | None] = Queue(max_waiting)
        self._is_open = True
        self._writer = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="group-commit"
        )

    def __enter__(self) -> GroupCommit:
        self._end = self._writer.submit(self._write_all)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The mark of the end, behind everything that waits.
        self._waiting.put(None)
        self._writer.shutdown(wait=True)
        self._end.result()

    def put(self, *records: Record) -> None:
        """Hand records over; they are saved in this order."""
        for record in records:
            self._waiting.put(record)

    def _write_all(self) -> None:
        try:
            # Callers may be waiting for room in the queue: it is emptied until the end, or they would wait
            # for ever.
            while self._is_open:
                self._save(self._next())
        except BaseException:
            self._stop.set()
            while self._is_open:
                self._next()
            raise

    def _next(self) -> list[Record]:
        """All waiting entries, at least one."""
        batch = [self._waiting.get()]
        while len(batch) < self._max_waiting and not self._waiting.empty():
            batch.append(self._waiting.get())
        self._is_open = None not in batch
        return [record for record in batch if record is not None]

    def _save(self, records: list[Record]) -> None:
        if records:
            ledger.append(self._path, *records)
            self._on_saved(records)
