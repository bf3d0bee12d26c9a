"""The shell channel of a kernel over a websocket of its Jupyter server.

Knows what may go wrong on the way: refusals, cut connections, endless or foreign messages. Only requests of the shell
channel are sent.

A message travels in either protocol of Jupyter Server ("WebSocket kernel wire protocols"): the default one, JSON in a
text frame, and `v1.kernel.websocket.jupyter.org`, parts behind a table of offsets (64-bit, little-endian) in a binary
frame.
"""

from __future__ import annotations

import json
import logging
import socket
import time
from contextlib import suppress
from itertools import pairwise
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from jupyter_client.jsonutil import json_default
from jupyter_client.session import Session
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from crane_core import errors
from crane_core.runtime.remote.server import JupyterServer
from crane_core.runtime.shell_channel import MOST_ANSWER, busy

OPENS_WITHIN_S = 20.0
"""The server waits meanwhile until the kernel has answered it."""
FIRST_TRY_S = 5.0
"""Over TLS the first request to open may be lost on the way, see `_Ended`; a second one is sent then."""
MORE_S = 8.0
"""For the way there and back, beyond what a kernel on this machine gets."""
_GOODBYE_S = 1.0
_TOO_BIG = 1009
"""The closing code of RFC 6455 for a message that is too large."""
# At its level DEBUG the library would write the token.
_NO_LOG = logging.Logger("crane.websocket")
_NO_LOG.disabled = True
V1 = "v1.kernel.websocket.jupyter.org"
_WORD = 8
"""Bytes of an offset."""
_SHELL = "shell"
_PARTS = ("header", "parent_header", "metadata", "content")
_MOST_PARTS = 10_000


class KernelMessage(NamedTuple):
    """What came from a kernel. `parent` is the id of the request that it belongs to, empty where it has none."""

    channel: str
    kind: str
    parent: str
    content: dict[str, Any]


class _Ended(ClientConnection):
    """A connection that ends when it is closed, also where its reader waits within TLS.

    The library's reader is woken by a readable socket, and then reads. Over TLS what came may be a ticket of the server
    and no data, so that it waits inside the read, where closing the socket does not reach it; the library then waits
    for the reader, for ever. While it is there, a request that is written at the same time can be lost.
    """

    def close_socket(self) -> None:
        # TLS within a proxy's TLS comes as an object that is none.
        if isinstance(self.socket, socket.socket):
            with suppress(OSError):
                # Of the connection below TLS: the reader meets its end.
                socket.socket.shutdown(self.socket, socket.SHUT_RDWR)
        super().close_socket()


class WebSocketShell:
    """Of the kernel with this id; `name` is what people call it."""

    def __init__(
        self,
        server: JupyterServer,
        kernel: str,
        name: str,
        protocols: tuple[str, ...] = (V1,),
    ) -> None:
        self._server, self._name = server, name
        self._session = Session()
        self._path = f"api/kernels/{quote(kernel, safe='')}/channels?session_id={self._session.session}"
        self._protocols = [Subprotocol(name) for name in protocols]

    def __enter__(self) -> Self:
        """Raises KernelStartError."""
        address = self._server.address
        try:
            self._socket = self._opened()
        except (WebSocketException, OSError, EOFError, ValueError) as error:
            words = self._server.shown(error) or type(error).__name__
            raise errors.KernelStartError(
                f"The kernel {self._name} cannot be reached through {address.base}: {words}.",
                remedy="Check that the kernel still runs, and that proxies on the way let websockets through.",
            ) from error
        return self

    def _opened(self) -> ClientConnection:
        if self._server.address.is_encrypted:
            with suppress(TimeoutError):
                return self._connected(min(FIRST_TRY_S, OPENS_WITHIN_S))
        return self._connected(OPENS_WITHIN_S)

    def _connected(self, within_s: float) -> ClientConnection:
        address = self._server.address
        return connect(
            self._server.websocket_url(self._path),
            ssl=self._server.encryption if address.is_encrypted else None,
            subprotocols=self._protocols or None,
            additional_headers=self._server.headers(self._path),
            proxy=None if address.is_this_machine else True,
            open_timeout=within_s,
            close_timeout=_GOODBYE_S,
            max_size=MOST_ANSWER,
            logger=_NO_LOG,
            create_connection=_Ended,
            legacy=True,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._socket.close()

    def answer(
        self, kind: str, content: dict[str, Any], within_s: float
    ) -> dict[str, Any]:
        """As ShellChannel; MORE_S longer."""
        message = self._session.msg(kind, content)
        data = packed(message, self._socket.subprotocol)
        late = time.monotonic() + within_s + MORE_S
        try:
            self._socket.send(data)
            while (left_s := late - time.monotonic()) > 0:
                frame = self._socket.recv(left_s)
                answer = self._read(frame, message["header"]["msg_id"])
                if answer is not None:
                    return answer
        except TimeoutError:
            pass
        except ConnectionClosed as error:
            raise self._cut(error, len(data)) from error
        raise busy(self._name)

    def _read(self, frame: str | bytes, asked: str) -> dict[str, Any] | None:
        try:
            message = unpacked(frame)
        except (ValueError, RecursionError) as error:
            raise errors.LookError(
                f"The server of the kernel {self._name} sent something that is not a message of a kernel.",
                remedy="Check that the address is a Jupyter server's.",
            ) from error
        is_status = (message.channel, message.kind) == ("iopub", "status")
        # The server says so of a kernel that ended by itself; no reply will come.
        if is_status and message.content.get("execution_state") in (
            "dead",
            "restarting",
        ):
            raise errors.KernelEndedError(
                f"The kernel {self._name} ended while it was looked at.",
                remedy="Run the notebook again, then check again.",
            )
        if (message.channel, message.parent) != ("shell", asked):
            return None
        return message.content

    def _cut(self, error: ConnectionClosed, n_sent: int) -> errors.KernelError:
        """Why the connection ended before the answer."""
        if error.rcvd is not None and error.rcvd.code == _TOO_BIG:
            return errors.KernelError(
                f"The request of {n_sent:,} bytes is more than the server of the kernel {self._name} takes.",
                remedy="Restart the kernel to shorten its history of cells.",
            )
        if error.sent is not None and error.sent.code == _TOO_BIG:
            return errors.LookError(
                f"The kernel {self._name} sent a message of more than {MOST_ANSWER:,} bytes.",
                remedy="Clear what prints without end, then check again.",
            )
        return errors.KernelError(
            f"The connection to the kernel {self._name} was cut before it answered: {self._server.shown(error)}.",
            remedy="Check the network and whether the server still runs, then check again.",
        )


def packed(message: dict[str, Any], protocol: str | None) -> str | bytes:
    """A message of jupyter_client's Session, for the shell channel."""
    if protocol != V1:
        return json.dumps(
            message | {"channel": _SHELL, "buffers": []}, default=json_default
        )
    parts = [_SHELL.encode()]
    parts += [
        json.dumps(message[name], default=json_default).encode()
        for name in _PARTS
    ]
    # One offset for each part, and one for the end.
    place = _WORD * (1 + len(parts) + 1)
    offsets = [place]
    for part in parts:
        place += len(part)
        offsets.append(place)
    words = [len(offsets), *offsets]
    table = b"".join(word.to_bytes(_WORD, "little") for word in words)
    return table + b"".join(parts)


def unpacked(frame: str | bytes) -> KernelMessage:
    """A message of either protocol. Raises ValueError or RecursionError for anything else."""
    if isinstance(frame, str):
        told = json.loads(frame)
        channel = told.get("channel") if isinstance(told, dict) else None
    else:
        channel, told = _of_table(frame)
    if not isinstance(told, dict):
        raise ValueError("no message of a kernel")
    header, parent, content = (
        told.get(name) for name in ("header", "parent_header", "content")
    )
    if not isinstance(header, dict) or not isinstance(content, dict):
        raise ValueError("no message of a kernel")
    # Status messages of a kernel that restarts by itself have no parent.
    asked = parent.get("msg_id") if isinstance(parent, dict) else None
    return KernelMessage(
        str(channel), str(header.get("msg_type")), str(asked or ""), content
    )


def _of_table(frame: bytes) -> tuple[str, dict[str, Any]]:
    count = int.from_bytes(frame[:_WORD], "little")
    is_short = len(frame) < _WORD * (count + 1)
    if not len(_PARTS) + 2 <= count <= _MOST_PARTS or is_short:
        raise ValueError("no table of offsets")
    offsets = [
        int.from_bytes(frame[place : place + _WORD], "little")
        for place in range(_WORD, _WORD * (count + 1), _WORD)
    ]
    # Parts behind these are buffers of widgets, which no reply of ours has.
    edges = pairwise(offsets[: len(_PARTS) + 2])
    channel, *parts = [frame[start:end] for start, end in edges]
    told = {
        name: json.loads(part) for name, part in zip(_PARTS, parts, strict=True)
    }
    return channel.decode(), told
