"""A Dask cluster as a place to work: one that runs already, at an address, or one of this machine's own processes.

Knows how a cluster is reached and whether it is still there. A scheduler runs what it is sent and a driver reads what
it sends back, so anyone who reaches a cluster has the rights of its workers: our own one listens on 127.0.0.1 and takes
only connections with its own certificate.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from crane_core.errors import ClusterError
from crane_core.helper_process import isolated_workers

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
OFF = "off"
MANY = 50
"""Notebooks; of more than these the work goes to a local cluster where nothing else is said."""

REACH_S = 10
WORKERS_S = 60
"""Seconds without any worker after which a cluster is given up."""
FRESH_S = 1.0
"""Seconds for which the number of workers is believed."""

_HERE = "127.0.0.1"
_SETTINGS = {
    "distributed.admin.large-graph-warning-threshold": "1GiB",  # a notebook travels with its state
    "distributed.admin.low-level-log-length": 0,
    "distributed.comm.timeouts.connect": f"{REACH_S}s",
    "distributed.comm.retry.count": 2,
    "distributed.worker.daemon": False,  # a worker starts kernels and tools
}


def is_installed() -> bool:
    """Whether the library distributed is there."""
    return find_spec("distributed") is not None


class Cluster:
    """A cluster that is connected. `is_local`: its workers are processes of this machine that we started."""

    def __init__(self, client: Client, address: str, *, is_local: bool) -> None:
        self.client = client
        self.address = address
        self.is_local = is_local
        self._n_threads = 0
        self._looked_at = float("-inf")
        self._had_workers_at = time.monotonic()

    @property
    def dashboard(self) -> str:
        """The address of its page; on another machine, as that one names itself. Empty where nothing can draw it."""
        return (
            ""
            if self.is_local and find_spec("bokeh") is None
            else str(self.client.dashboard_link)
        )

    def n_threads(self) -> int:
        """How many pieces its workers do at once, 0 while there is none.

        Raises ClusterError when the scheduler has gone, or no worker has been there for a minute.
        """
        # Asked between all pieces, so the answer is kept for a second.
        if time.monotonic() - self._looked_at >= FRESH_S:
            self._n_threads = sum(self.asked(self.client.nthreads).values())
            self._looked_at = time.monotonic()
            if self._n_threads:
                self._had_workers_at = self._looked_at
            elif self._looked_at - self._had_workers_at > WORKERS_S:
                raise ClusterError(
                    f"{self.address} has had no worker for {WORKERS_S} s.",
                    remedy=f"Start one: dask worker {self.address}; the same command continues where this one ended.",
                )
        return self._n_threads

    def asked(self, ask: Any, *given: Any, **named: Any) -> Any:
        """What the cluster answers to a call of its client. Raises ClusterError when the scheduler has gone."""
        if self.client.status != "running":
            raise self._gone()
        try:
            return ask(*given, **named)
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:
            if self.client.status == "running" and not isinstance(
                error, OSError
            ):
                raise
            raise self._gone() from error

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The Dask scheduler {self.address} has gone; what was done is saved.",
            remedy="Start it and its workers again; the same command continues where this one ended.",
        )


@contextmanager
def reached(address: str, n_workers: int) -> Iterator[Cluster]:
    """The cluster at an address such as tcp://10.0.0.5:8786, or for `local` one of `n_workers` processes here.

    Raises ClusterError if distributed is not installed or nothing answers there.
    """
    if not is_installed():
        raise ClusterError(
            "--dask needs the library distributed, which is not installed.",
            remedy="Install it: pip install distributed.",
        )
    import dask
    import distributed  # before its settings are changed, as it brings the usual ones

    for module in (
        distributed,
        distributed.client,
    ):  # what matters to the user is raised here
        logging.getLogger(module.__name__).setLevel(logging.CRITICAL)
    with dask.config.set(_SETTINGS):
        if address == LOCAL:
            with _started(n_workers) as cluster:
                yield cluster
        else:
            with _connected(
                address, dask.config.get("distributed.comm.tls.ca-file", None)
            ) as cluster:
                yield cluster


@contextmanager
def _started(n_workers: int) -> Iterator[Cluster]:
    from distributed import Client, LocalCluster
    from distributed.security import Security

    own = Security.temporary()  # type: ignore[no-untyped-call]
    with (
        isolated_workers(),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=n_workers,
            threads_per_worker=1,
            host=_HERE,
            protocol="tls",
            security=own,
            dashboard_address=f"{_HERE}:0",
            worker_dashboard_address=f"{_HERE}:0",
            memory_limit=0,  # kernels and tools have their own bounds
            silence_logs=logging.CRITICAL,
            preload="crane_core.pipeline.dask.worker",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        yield Cluster(client, str(cluster.scheduler_address), is_local=True)


@contextmanager
def _connected(address: str, certificate: str | None) -> Iterator[Cluster]:
    from distributed import Client

    if address.startswith("tls://") and not certificate:
        raise ClusterError(
            f"{address} needs a certificate, and none is named.",
            remedy="Name yours in Dask's settings (distributed.comm.tls): docs/admin/scale.md.",
        )
    try:
        client = Client(address, set_as_default=False, timeout=REACH_S)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError, ImportError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address}: {type(error).__name__}.",
            remedy="Start a scheduler with `dask scheduler --host ADDRESS` and workers with `dask worker ADDRESS`; see "
            "docs/admin/scale.md.",
        ) from error
    try:
        yield Cluster(client, address, is_local=False)
    finally:
        client.close(timeout=2)  # type: ignore[no-untyped-call]
