"""Many pieces of work on a Dask cluster, each of which comes back once, whatever happens to workers meanwhile.

Knows the driver's side: how many pieces are out, what comes back, and how the work ends. A piece whose worker was
killed is done again by another; one that ends worker after worker is reported as such and keeps none of the others.
The scheduler blames every piece that a worker had when it ended, so those that it gave up are done once more alone.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import time
from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from crane_core import __version__
from crane_core.errors import ClusterError
from crane_core.pipeline.dask import worker
from crane_core.pipeline.dask.cluster import Cluster
from crane_core.pipeline.dask.worker import (
    Lines,
    StoppedPieceError,
    Work,
    WorkerOrder,
)

if TYPE_CHECKING:
    from distributed import Future

PER_THREAD = 3
"""Pieces that are out for each one that is done: what a worker does next is there already."""
LOOK_S = 0.2
END_S = 15.0
"""Seconds for which pieces that are being done are waited for after a stop."""


class WorkPiece(NamedTuple):
    """A piece of work: its name, of which a job has one, and what the worker is given, which can be pickled."""

    name: str
    given: Any


class FinishedPiece(NamedTuple):
    """A piece that came back, with its lines or with why there are none."""

    name: str
    lines: Lines
    error: BaseException | None


def spread(
    cluster: Cluster,
    job: str,
    work: Work,
    pieces: Iterable[WorkPiece],
    stop: Event,
) -> Iterator[FinishedPiece]:
    """Each piece once, as it comes back, until `stop` is set; what was being done then still comes, for a moment.

    Raises ClusterError when the scheduler has gone or has no workers; the workers keep what they have done.
    """
    out = _Out(cluster, job, work)
    waiting = iter(pieces)
    is_all, ends_at = False, float("inf")
    everywhere = functools.partial(cluster.asked, cluster.client.run)
    try:
        while True:
            if stop.is_set() and ends_at == float("inf"):
                ends_at = time.monotonic() + END_S
                everywhere(worker.stop, out.start, on_error="ignore")
            if not is_all:
                is_all = _fill(out, waiting, cluster, stop)
            if is_all and not len(out) and not stop.is_set():
                out.send_suspect()
            is_done = not len(out) and (is_all or stop.is_set())
            if is_done or time.monotonic() > ends_at:
                break
            if (done := out.next()) is not None:
                yield done
        if is_all and not stop.is_set():
            everywhere(worker.forget, job, out.start, on_error="ignore")
    finally:
        out.give_up()


def _fill(
    out: _Out, waiting: Iterator[WorkPiece], cluster: Cluster, stop: Event
) -> bool:
    """Send pieces while there is a place for them; whether these were the last ones."""
    while not stop.is_set() and len(out) < max(
        1, PER_THREAD * cluster.n_threads()
    ):
        piece = next(waiting, None)
        if piece is None:
            return True
        out.send(piece)
    return False


class _Out:
    """The pieces that are out."""

    def __init__(self, cluster: Cluster, job: str, work: Work) -> None:
        self.start = uuid4().hex
        self._cluster = cluster
        self._job = job
        self._work = work
        self._n_sent = 0
        self._suspects: list[WorkPiece] = []
        """Given up by the scheduler while others were out beside them."""
        self._is_alone = False
        """Whether the piece that is out is a suspect, with no other beside it."""
        self._out: dict[str, tuple[Future[Lines], WorkPiece]] = {}
        self._back: SimpleQueue[Future[Lines]] = SimpleQueue()

    def __len__(self) -> int:
        return len(self._out)

    def send(self, piece: WorkPiece) -> None:
        """Hand a piece to the scheduler, with a mark of its content by which a worker knows it again."""
        body = pickle.dumps((self._work, piece.given))
        mark = hashlib.sha256(
            f"{self._job}\0{piece.name}\0".encode() + body
        ).hexdigest()
        order = WorkerOrder(self._job, self.start, __version__, mark, body)
        self._n_sent += 1
        key = f"crane-{self.start}-{self._n_sent}"
        # A separate key for each call, because Dask takes two calls with one key for one; beside a key `pure`
        # changes nothing.
        future = self._cluster.asked(
            self._cluster.client.submit, worker.do, order, key=key, pure=False
        )
        self._out[key] = future, piece
        future.add_done_callback(self._back.put)

    def send_suspect(self) -> None:
        """Send one of the pieces that the scheduler gave up, if there is one; no other may be out."""
        if self._suspects:
            self._is_alone = True
            self.send(self._suspects.pop())

    def next(self) -> FinishedPiece | None:
        """The next piece that comes back; None if none does for a moment, or one that has to be done again."""
        try:
            future = self._back.get(timeout=LOOK_S)
        except Empty:
            self._cluster.n_threads()
            return None
        if (found := self._out.pop(str(future.key), None)) is None:
            return None
        piece = found[1]
        # The scheduler forgot it, for example as its last worker went: it is sent once more.
        if future.status in ("cancelled", "lost"):
            self._cluster.n_threads()
            self.send(piece)
            return None
        if future.status == "error":
            error = self._cluster.asked(future.exception)
            if _has_ended_workers(error) and not self._is_alone:
                self._suspects.append(piece)
                return None
            return (
                None
                if isinstance(error, StoppedPieceError)
                else FinishedPiece(piece.name, [], _told(error))
            )
        return FinishedPiece(
            piece.name, self._cluster.asked(future.result), None
        )

    def give_up(self) -> None:
        """Withdraw what is no longer awaited."""
        left = [future for future, _ in self._out.values()]
        if left and self._cluster.client.status == "running":
            self._cluster.client.cancel(left)  # type: ignore[no-untyped-call]
        self._out.clear()


def _has_ended_workers(error: BaseException | None) -> bool:
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker)


def _told(error: BaseException) -> BaseException:
    """The error in words for the user, where it is one of the cluster's own."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        n_times = error.allowed_failures + 1
        return ClusterError(
            f"It ended {n_times} workers, one after the other.",
            remedy="Run it alone to see why.",
        )
    if isinstance(error, ImportError) or "deserializ" in str(error).lower():
        return ClusterError(
            f"The cluster cannot read what it is sent: {error}.",
            remedy="Install the same version of Crane Workbench beside the scheduler and every worker.",
        )
    return error
