"""Kernels as Jupyter starts them: on ports, of which another process may take one before the kernel does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.patience import PATIENCE_S

_LOOK_S: Final = 5.0
"""How long one wait for the kernel's first answer takes; then it is looked whether the kernel has ended."""


def started(
    make: Callable[[], KernelManager], **options: Any
) -> tuple[KernelManager, BlockingKernelClient]:
    """A kernel that answers, with a client whose channels are open; one that ends before it answers is replaced.

    `make` makes a manager each time; `options` are those of `KernelManager.start_kernel`. Raises RuntimeError.
    """
    end = time.monotonic() + PATIENCE_S
    while True:
        manager = make()
        manager.start_kernel(**options)
        client: BlockingKernelClient = manager.blocking_client()
        client.start_channels()
        if _answers(manager, client, end):
            return manager, client
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        if time.monotonic() > end:
            raise RuntimeError(f"no kernel answers within {PATIENCE_S:g} s")


def _answers(
    manager: KernelManager, client: BlockingKernelClient, end: float
) -> bool:
    while manager.is_alive() and time.monotonic() < end:
        try:
            client.wait_for_ready(timeout=_LOOK_S)
        except RuntimeError:
            continue
        return True
    return False


def printed(client: BlockingKernelClient, code: str, **options: Any) -> str:
    """What a cell prints; `options` are those of `execute_interactive`."""
    told: list[str] = []

    def keep(message: dict[str, Any]) -> None:
        told.append(message["content"].get("text") or "")

    client.execute_interactive(
        code, timeout=PATIENCE_S, output_hook=keep, **options
    )
    return "".join(told)
