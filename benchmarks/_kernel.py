"""A fresh kernel of any interpreter, as Jupyter starts it, for benchmarks that run cells in it.

Knows how it is started, how a cell is run and how it is ended. Refuses to know what is run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from crane_core.pipeline.places import CHECKOUT

READY_S = 120
CELL_S = 300
WITH_US = {"PYTHONPATH": str(CHECKOUT)}
"""The environment in which a kernel finds this checkout."""


class CellReply(NamedTuple):
    """The class of the exception that a cell raised, None for none, and what it printed."""

    raised: str | None
    text: str


class Kernel:
    """A running kernel; `pid` is that of its process."""

    def __init__(self, client: BlockingKernelClient, pid: int) -> None:
        self._client = client
        self.pid = pid

    def run(self, code: str) -> CellReply:
        """Raises TimeoutError after CELL_S."""
        told: list[str] = []

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            shown = content.get("data", {}).get("text/plain", "")
            told.append(content.get("text", shown))

        reply = self._client.execute_interactive(
            code, timeout=CELL_S, output_hook=keep
        )["content"]
        return CellReply(reply.get("ename"), "".join(told))

    def value(self, expression: str) -> Any:
        """A literal value; nothing is left in the kernel."""
        reply = self._client.execute_interactive(
            "",
            silent=True,
            user_expressions={"v": expression},
            timeout=CELL_S,
            output_hook=lambda message: None,
        )["content"]["user_expressions"]["v"]
        if reply["status"] != "ok":
            raise RuntimeError(f"{reply['ename']}: {reply['evalue']}")
        return ast.literal_eval(reply["data"]["text/plain"])


@contextmanager
def fresh(
    python: str, folder: Path | None = None, **environment: str
) -> Iterator[Kernel]:
    """The kernel in a folder; `environment` is set beside what this process has."""
    manager = KernelManager()
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv[0] = python
    place: dict[str, Any] = {"cwd": str(folder)} if folder else {}
    manager.start_kernel(env=os.environ | environment, **place)
    client: BlockingKernelClient = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=READY_S)
        yield Kernel(client, manager.provisioner.pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
