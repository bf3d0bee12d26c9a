"""Kernels that run already, found by the connection files that Jupyter keeps of them.

Knows those files and whether a kernel answers. Refuses to start, to interrupt and to end a kernel.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import zmq
from jupyter_core.paths import jupyter_runtime_dir

from crane_core.errors import KernelStartError
from crane_core.runtime import shell_channel

_ANSWERS_WITHIN_MS = 1_000
_MOST_BYTES = 100_000
_MOST_KERNELS = 200


class RunningKernel(NamedTuple):
    """A kernel's id, its connection file, and the notebook that Jupyter Server started it for, if it says so."""

    id: str
    file: Path
    notebook: Path | None

    @property
    def name(self) -> str:
        """What people call it: the notebook, else its id."""
        return self.id if self.notebook is None else self.notebook.name

    def is_called(self, text: str, path: Path) -> bool:
        """Whether the text is its id or its connection file's name, or the path that of its notebook."""
        return text in (self.id, self.file.name) or self.notebook == path

    def shell(self) -> shell_channel.ZmqShell:
        """Its shell channel, not yet open."""
        return shell_channel.ZmqShell(self.file, self.name)


def running_kernels() -> list[RunningKernel]:
    """The kernels of this user whose heart beats, those of notebooks first."""
    known = [kernel for file in _files() if (kernel := _read(file)) is not None]
    return sorted(
        _beating(known),
        key=lambda kernel: (
            kernel.notebook is None,
            str(kernel.notebook),
            kernel.id,
        ),
    )


def kernel_named(text: str) -> RunningKernel:
    """The running kernel with this id (or a beginning that no other has), connection file or notebook.

    Raises KernelStartError.
    """
    # A file first: it is unambiguous, and may lie outside Jupyter's folder.
    if Path(text).suffix == ".json" and Path(text).is_file():
        return _of_file(Path(text))
    running = running_kernels()
    path = Path(text).expanduser().resolve()
    found = [kernel for kernel in running if kernel.is_called(text, path)]
    # Beginnings only where nothing is named exactly.
    if not found and text:
        found = [kernel for kernel in running if kernel.id.startswith(text)]
    if len(found) == 1:
        return found[0]
    what = (
        "More than one kernel that runs is"
        if found
        else "No kernel that runs is"
    )
    raise KernelStartError(
        f"{what} known as {text!r}.", remedy=shell_channel.LIST_KERNELS
    )


def _files() -> Sequence[Path]:
    """The newest connection files of this user."""
    try:
        found = [
            (file.stat().st_mtime, file)
            # Newest first: old files of kernels that ended stay there for years.
            for file in Path(jupyter_runtime_dir()).glob("kernel-*.json")
        ]
    except OSError:
        return []
    return [file for _, file in sorted(found, reverse=True)[:_MOST_KERNELS]]


def _of_file(file: Path) -> RunningKernel:
    kernel = _read(file.resolve())
    if kernel is None:
        raise shell_channel.unusable(file)
    if not _beating([kernel]):
        raise KernelStartError(
            f"No kernel answers as {file.name} says; it has ended.",
            remedy=shell_channel.LIST_KERNELS,
        )
    return kernel


def _read(file: Path) -> RunningKernel | None:
    """None for a file that is not one of a kernel."""
    try:
        with file.open("rb") as stream:
            # Bounded: any file may be called kernel-x.json.
            told = json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    # Without a heart there is no kernel to ask.
    if not isinstance(told, dict) or not isinstance(told.get("hb_port"), int):
        return None
    session = told.get("jupyter_session")
    # Jupyter writes the path of the notebook here; other tools write any text.
    is_notebook = (
        isinstance(session, str)
        and session.endswith(".ipynb")
        and Path(session).is_absolute()
    )
    notebook = (
        Path(session).resolve()
        if is_notebook and isinstance(session, str)
        else None
    )
    return RunningKernel(file.stem.removeprefix("kernel-"), file, notebook)


def _beating(kernels: Sequence[RunningKernel]) -> list[RunningKernel]:
    """Those that answer a ping; all are pinged at once, and busy kernels answer too."""
    hearts: dict[zmq.Socket[bytes], RunningKernel] = {}
    beating = []
    with zmq.Context() as context:
        poller = zmq.Poller()
        for kernel in kernels:
            try:
                heart = shell_channel.connected(
                    kernel.file, context
                ).connect_hb()
            except (KernelStartError, zmq.ZMQError):
                continue
            # Busy kernels answer too, because the heart has its own thread.
            heart.send(b"ping", zmq.NOBLOCK)
            poller.register(heart, zmq.POLLIN)
            hearts[heart] = kernel
        while hearts and (ready := poller.poll(_ANSWERS_WITHIN_MS)):
            for heart, _ in ready:
                poller.unregister(heart)
                beating.append(hearts.pop(heart))
                heart.close()
        for heart in hearts:
            heart.close()
    return beating
