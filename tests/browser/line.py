"""The way from a browser to an app, which a test can cut: the browser loses its server, and the server goes on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit

from benchmarks._server import free_port

CHUNK = 65_536
POLL_S = 0.02


class Line:
    """Listens on a separate port and passes every byte between browser and app, until it is cut."""

    def __init__(self, app: str) -> None:
        port = urlsplit(app).port
        assert port is not None
        self._app = ("127.0.0.1", port)
        self._port = free_port()
        self._ends: list[socket.socket] = []
        self._listening: _Listener | None = None
        self.address = f"http://127.0.0.1:{self._port}"
        self.mend()

    def mend(self) -> None:
        """Let the browser through, as when a server is up again."""
        self._listening = _Listener(
            ("127.0.0.1", self._port), self._app, self._ends
        )
        Thread(
            target=self._listening.serve_forever, args=[POLL_S], daemon=True
        ).start()

    def cut(self) -> None:
        """End every connection and refuse new ones, as when a server is gone."""
        if self._listening is None:
            return
        self._listening.shutdown()
        self._listening.server_close()
        self._listening = None
        for end in self._ends:
            with suppress(OSError):  # the other side may have ended it before
                end.shutdown(socket.SHUT_RDWR)
        self._ends.clear()


@contextmanager
def line_to(app: str) -> Iterator[Line]:
    """A line to the app at this address, cut at the end."""
    line = Line(app)
    try:
        yield line
    finally:
        line.cut()


class _Listener(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(
        self,
        own: tuple[str, int],
        app: tuple[str, int],
        ends: list[socket.socket],
    ) -> None:
        self.app = app
        self.ends = ends
        super().__init__(own, _Connection)


class _Connection(BaseRequestHandler):
    server: _Listener

    def handle(self) -> None:
        with socket.create_connection(self.server.app) as app:
            self.server.ends += [self.request, app]
            back = Thread(
                target=_pass_on, args=[app, self.request], daemon=True
            )
            back.start()
            _pass_on(self.request, app)
            back.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    """Every byte until one of the two ends."""
    with suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
