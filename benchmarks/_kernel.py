"""A fresh kernel of any interpreter, as Jupyter starts it, for benchmarks that run cells in it.

Knows how it is started, when it answers and how it is ended. Refuses to know what is run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from crane_core.pipeline.places import CHECKOUT

READY_S = 120
WITH_US = {"PYTHONPATH": str(CHECKOUT)}
"""The environment in which a kernel finds this checkout."""


@contextmanager
def fresh(
    python: str, folder: Path | None = None, **environment: str
) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """The kernel in a folder, and a client with open channels; `environment` is set beside what this process has."""
    manager = KernelManager()
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = python
    place: dict[str, Any] = {"cwd": str(folder)} if folder else {}
    manager.start_kernel(env=os.environ | environment, **place)
    client: BlockingKernelClient = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=READY_S)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
