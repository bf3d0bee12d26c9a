"""The channels to a kernel: sockets in its own folder, messages out, replies in, output counted and discarded.

Knows Jupyter's protocol on the wire. Refuses to know what a message asks for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.connect import write_connection_file
from jupyter_client.session import Session

from crane_core.errors import KernelStartError
from crane_core.runtime.limits import KernelLimits

_SOCKET = "k"
# A socket's path has 108 bytes on Linux, of which Jupyter adds a few.
_LONGEST_SOCKET_PATH = 100
_RECONNECT_MS = 10
_PATIENCE_MS = 250
_AT_ONCE = 1_000
"""Messages that are discarded before other work is checked: a kernel can print faster than we read."""


class Channels:
    """The two channels that are listened to: answers, and whatever is printed or shown, which is only counted."""

    def __init__(
        self, connection: dict[str, Any], limits: KernelLimits
    ) -> None:
        self._session = Session(
            key=connection["key"].encode(),
            signature_scheme=connection["signature_scheme"],
        )
        # One context per process: each has its own threads.
        context: zmq.Context[Any] = zmq.Context.instance()
        self._shell = context.socket(zmq.DEALER)
        self._shown = context.socket(zmq.SUB)
        self._shown.subscribe(b"")
        self._monitors: list[zmq.Socket[bytes]] = []
        for socket, port in (
            (self._shell, "shell_port"),
            (self._shown, "iopub_port"),
        ):
            # Closing must not wait for messages to a kernel that is gone.
            socket.linger = 0
            socket.reconnect_ivl = _RECONNECT_MS
            # A longer message is not received at all, so a cell cannot fill our memory by one
            # print.
            socket.maxmsgsize = limits.output_bytes
            # The only sign of a message that was too long: ZeroMQ cuts the connection.
            self._monitors.append(
                socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            )
            # Sockets in a folder instead of ports: others on the machine cannot connect.
            socket.connect(f"ipc://{connection['ip']}-{connection[port]}")
        self._poller = zmq.Poller()
        for listened in (self._shell, self._shown, *self._monitors):
            self._poller.register(listened, zmq.POLLIN)

    def send(self, kind: str, content: dict[str, Any]) -> str:
        """The id of the message."""
        message = self._session.msg(kind, content)
        self._session.send(self._shell, message)
        return str(message["header"]["msg_id"])

    def reply_to(self, asked: str) -> dict[str, Any] | None:
        """The content of the reply, None when it is not there."""
        while True:
            # Answers to requests that were given up are read and dropped.
            _, message = self._session.recv(self._shell)
            if message is None:
                return None
            if message["parent_header"].get("msg_id") == asked:
                content: dict[str, Any] = message["content"]
                return content

    def wait(self, handle: int) -> set[Any]:
        """Wait a moment for something to read here or at `handle`; what is ready."""
        # The watchdog's handle as well, so that the end of a kernel is noticed at once.
        self._poller.register(handle, zmq.POLLIN)
        return {ready for ready, _ in self._poller.poll(_PATIENCE_MS)}

    def n_output(self) -> int:
        """Received bytes of output; they are discarded."""
        n = 0
        for _ in range(_AT_ONCE):
            if not self._shown.poll(0):
                break
            n += sum(map(len, self._shown.recv_multipart()))
        return n

    def is_cut(self) -> bool:
        """Whether a connection is gone: the kernel is, or one message was larger than all that it may give out."""
        return any(monitor.poll(0) for monitor in self._monitors)

    def close(self) -> None:
        """Close both sockets and their monitors; messages that were not read are dropped."""
        for socket in (self._shell, self._shown):
            socket.disable_monitor()
            socket.close()
        for monitor in self._monitors:
            monitor.close()


def connection_in(room: Path) -> tuple[Path, dict[str, Any]]:
    """The connection file for a kernel that is reached over sockets in `room`, not over the network."""
    if len(str(room / _SOCKET)) > _LONGEST_SOCKET_PATH:
        raise KernelStartError(
            f"The path of the temporary folder is too long for a socket: {room}.",
            remedy="Set TMPDIR to a shorter path.",
        )
    # A fresh key for each kernel, so that no other process can send it code.
    key = Session().key
    path, connection = write_connection_file(
        str(room / "connection.json"),
        transport="ipc",
        ip=str(room / _SOCKET),
        key=key,
    )
    return Path(path), json.loads(Path(path).read_text("utf-8")) | {
        "signature_scheme": connection["signature_scheme"]
    }
