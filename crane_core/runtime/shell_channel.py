"""The shell channel of a kernel that runs already: a request is sent, its reply comes back.

Knows the channel over ZeroMQ, for kernels on this machine; remote/websocket.py has the one over a Jupyter server.
Refuses to know what requests mean.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import zmq
from jupyter_client.connect import ConnectionFileMixin

from crane_core.errors import KernelError, KernelStartError, LookError
from crane_core.runtime.limits import MIB

# As long as all that a cell may print: a state is far shorter.
MOST_ANSWER = 100 * MIB
"""Bytes of one message from a kernel."""
LIST_KERNELS = "List those that run: python -m crane_core check --attach."
# Short, so that Ctrl-C is heard while a kernel does not answer.
_POLL_MS = 100


class ShellChannel(Protocol):
    """What opens a shell channel, and closes it without ending the kernel."""

    def __enter__(self) -> Self:
        """Raises KernelError."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Close it; the kernel goes on."""

    def answer(
        self, kind: str, content: dict[str, Any], within_s: float
    ) -> dict[str, Any]:
        """The content of the reply to a request of this kind. Raises KernelError if none comes within the time."""


class ZmqShell:
    """Of the kernel that this connection file describes; `name` is what people call it."""

    def __init__(self, file: Path, name: str) -> None:
        self._file, self._name = file, name
        # Its own context, so that its sockets can be closed without those of others.
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()

    def __enter__(self) -> Self:
        """Raises KernelStartError."""
        channels = connected(self._file, self._context)
        self._session = channels.session
        self._shell = channels.connect_shell()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._shell.close()
        self._context.term()

    def answer(
        self, kind: str, content: dict[str, Any], within_s: float
    ) -> dict[str, Any]:
        """As ShellChannel."""
        message = self._session.msg(kind, content)
        self._session.send(self._shell, message)
        late = time.monotonic() + within_s
        while time.monotonic() < late:
            # Polled in short steps, as answers to others arrive on the same socket.
            if not self._shell.poll(_POLL_MS):
                continue
            answer = self._received(message["header"]["msg_id"])
            if answer is not None:
                return answer
        raise busy(self._name)

    def _received(self, asked: str) -> dict[str, Any] | None:
        try:
            _, message = self._session.recv(self._shell)
        # A message without the kernel's signature.
        except ValueError as error:
            raise LookError(
                f"The kernel {self._name} gave an answer that is not its own.",
                remedy="Check its connection file.",
            ) from error
        # An answer to an earlier request that was not waited for.
        if message is None or message["parent_header"].get("msg_id") != asked:
            return None
        content: dict[str, Any] = message["content"]
        return content


def connected(
    file: Path, context: zmq.Context[zmq.Socket[bytes]]
) -> ConnectionFileMixin:
    """What opens the channels of a kernel. Raises KernelStartError if its connection file cannot be used."""
    # A notebook may answer without end: what is longer is not received at all.
    context.setsockopt(zmq.MAXMSGSIZE, MOST_ANSWER)
    context.setsockopt(zmq.LINGER, 0)
    channels = ConnectionFileMixin(context=context)
    try:
        channels.load_connection_file(str(file))
    # jupyter_client raises whatever a damaged file leads to.
    except Exception as error:
        raise unusable(file) from error
    return channels


def unusable(file: Path) -> KernelStartError:
    """The error about a file that is not a connection file."""
    return KernelStartError(
        f"{file.name} is not a readable connection file of a kernel.",
        remedy=LIST_KERNELS,
    )


def busy(name: str) -> KernelError:
    """The error about a kernel that runs a cell."""
    return KernelError(
        f"The kernel {name} is busy.",
        remedy="Wait until its cell has ended, then check again.",
    )
