"""Servers that are none of Jupyter's, mislead, cut the connection or answer without end: told, without the token."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from jupyter_client.session import Session
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from crane_core.errors import CraneError, KernelError, LookError
from crane_core.runtime.remote.address import read_address
from crane_core.runtime.remote.kernels import chosen_kernel
from crane_core.runtime.remote.server import JupyterServer, tls
from crane_core.runtime.remote.websocket import WebSocketShell
from tests.jupyter_servers import write_certificate
from tests.patience import PATIENCE_S

TOKEN = "token-of-the-server"
ID = "1-2-3-4-5"
Page = tuple[int, str, str]
"""Status, where it leads, body."""
JUPYTER: dict[str, Page] = {
    "/api": (200, "", '{"version": "2"}'),
    "/api/kernelspecs": (200, "", "{}"),
    "/api/sessions": (200, "", "[]"),
    "/api/kernels": (200, "", json.dumps([{"id": ID}])),
}
Talk = Callable[[ServerConnection], None]


@contextmanager
def server(
    pages: dict[str, Page], talk: Talk | None = None
) -> Iterator[tuple[JupyterServer, list[Request]]]:
    """A client of a server with these pages and this websocket, and the requests that came."""
    came: list[Request] = []

    def page(_: ServerConnection, request: Request) -> Response | None:
        came.append(request)
        if "/channels" in request.path and talk is not None:
            return None
        status, leads_to, body = pages.get(request.path, (404, "", "{}"))
        headers = Headers({"Content-Length": str(len(body))})
        headers["Connection"] = "close"
        if leads_to:
            headers["Location"] = leads_to
        return Response(status, "said", headers, body.encode())

    def quiet(_: ServerConnection) -> None:
        return

    with serve(
        talk or quiet, "127.0.0.1", 0, process_request=page
    ) as listening:
        thread = Thread(target=listening.serve_forever)
        thread.start()
        base = f"http://127.0.0.1:{listening.socket.getsockname()[1]}/"
        try:
            with JupyterServer(read_address(base), TOKEN) as client:
                yield client, came
        finally:
            listening.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ((200, "", "<html>login</html>"), "does not answer as a Jupyter server: its answer is not JSON"),
        ((200, "", "[" * 100_000), "its answer is not JSON"),
        ((200, "", '{"name": "another"}'), "its answer is another one"),
        ((500, "", ""), "does not answer as a Jupyter server: HTTP 500"),
        ((404, "", ""), "HTTP 404"),
        ((503, "", ""), "does not run. Start it in the browser"),
        ((424, "", "{}"), "does not run. Start it in the browser"),
        ((302, "/hub/user/ana/api", ""), "does not run. Start it in the browser"),
        ((302, "/hub/api", ""), "asks for a login first. Of a JupyterHub name"),
        ((302, "https://ana:" + "pw@else.example/api?token=abc", ""), "leads to https://else.example/api, which"),
    ],
)  # fmt: skip
def test_what_is_no_jupyter_server_gets_no_token(page: Page, said: str) -> None:
    with server({"/api": page}) as (client, came):
        with pytest.raises(CraneError) as told:
            client.log_in()
        assert said in str(told.value)
        assert all("Authorization" not in request.headers for request in came)


def test_an_answer_without_end_or_in_time_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = "crane_core.runtime.remote.server"
    monkeypatch.setattr(f"{where}.MOST_REPLY", 100)
    endless_page = JUPYTER | {"/api": (200, "", " " * 200)}
    with (
        server(endless_page) as (client, _),
        pytest.raises(CraneError, match="its answer has no end"),
    ):
        client.log_in()
    with server(JUPYTER) as (client, _):
        # Set now, so that it bounds the whole answer and not each of its parts.
        monkeypatch.setattr(f"{where}.WAIT_S", 0.0)
        with pytest.raises(CraneError, match="did not answer within 0 s"):
            client.log_in()


def test_nobody_listens() -> None:
    with (
        JupyterServer(read_address("http://127.0.0.1:1/")) as client,
        pytest.raises(CraneError, match="cannot be reached: "),
    ):
        client.log_in()


def test_odd_kernels_are_not_listed() -> None:
    odd = json.dumps([1, {}, {"id": 3}, {"id": "../x"}, {"id": ID}])
    pages = JUPYTER | {
        "/api/kernels": (200, "", odd),
        "/api/sessions": (200, "", '[1, {"kernel": 2}, {"type": "notebook"}]'),
    }
    with server(pages) as (client, _):
        client.log_in()
        kernel = chosen_kernel(client)
    assert (kernel.id, kernel.path) == (ID, None)


def cut(socket: ServerConnection) -> None:
    socket.recv()
    socket.close(1011, f"closed by {TOKEN}")


def too_big(socket: ServerConnection) -> None:
    socket.recv()
    socket.close(1009)


def foreign(socket: ServerConnection) -> None:
    socket.send("<html>")
    _until_closed(socket)


def endless(socket: ServerConnection) -> None:
    socket.send("x" * 2_000)
    _until_closed(socket)


def ended(socket: ServerConnection) -> None:
    status = Session().msg("status", {"execution_state": "restarting"})
    _send(socket, status, "iopub")
    _until_closed(socket)


def silent(socket: ServerConnection) -> None:
    # A reply to another request does not count.
    _send(socket, Session().msg("execute_reply", {"status": "ok"}), "shell")
    _until_closed(socket)


def _send(
    socket: ServerConnection, message: dict[str, Any], channel: str
) -> None:
    socket.send(json.dumps(message | {"channel": channel}, default=str))


def _until_closed(socket: ServerConnection) -> None:
    try:
        while True:
            socket.recv()
    except ConnectionClosed:
        return


@pytest.mark.parametrize(
    ("talk", "kind", "said"),
    [
        (cut, KernelError, "was cut before it answered"),
        (too_big, KernelError, "is more than the server"),
        (foreign, LookError, "is not a message of a kernel"),
        (endless, LookError, "sent a message of more than 1,000 bytes"),
        (ended, KernelError, "ended while it was looked at"),
        (silent, KernelError, "The kernel it is busy"),
    ],
)
def test_what_goes_wrong_behind_the_websocket_is_told(
    talk: Talk,
    kind: type[CraneError],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = "crane_core.runtime.remote.websocket"
    monkeypatch.setattr(f"{where}.MOST_ANSWER", 1_000)
    monkeypatch.setattr(f"{where}.MORE_S", 0.0)
    wait_s = 0.5 if talk is silent else PATIENCE_S
    with server(JUPYTER, talk) as (client, came):
        client.log_in()
        with (
            WebSocketShell(client, ID, "it") as shell,
            pytest.raises(kind) as told,
        ):
            shell.answer("kernel_info_request", {}, wait_s)
        assert came[-1].headers["Authorization"] == f"token {TOKEN}"
    assert said in str(told.value)
    assert TOKEN not in str(told.value)


def test_a_websocket_that_is_refused_is_told() -> None:
    with server(JUPYTER) as (client, _):
        client.log_in()
        with (
            pytest.raises(CraneError, match="cannot be reached through http"),
            WebSocketShell(client, ID, "it"),
        ):
            pass


@contextmanager
def mute_over_tls(
    folder: Path,
) -> Iterator[tuple[str, Path, list[ssl.SSLSocket]]]:
    """A server that shakes hands over TLS, sends its tickets, and answers nothing: its address, certificate, visits."""
    certificate, key = write_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    came: list[ssl.SSLSocket] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            # Closing the listener ends it.
            with suppress(OSError):
                while True:
                    visitor, _ = listening.accept()
                    came.append(context.wrap_socket(visitor, server_side=True))

        thread = Thread(target=accept)
        thread.start()
        try:
            base = f"https://127.0.0.1:{listening.getsockname()[1]}/"
            yield base, certificate, came
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for visitor in came:
                visitor.close()


def test_a_server_that_is_mute_over_tls_is_asked_twice_and_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's reader waits within TLS then, and closing the connection must end it."""
    for name in ("FIRST_TRY_S", "OPENS_WITHIN_S"):
        monkeypatch.setattr(f"crane_core.runtime.remote.websocket.{name}", 0.5)
    with mute_over_tls(tmp_path) as (base, certificate, came):
        encryption = tls(certificate, is_any_accepted=False)
        with (
            JupyterServer(read_address(base), TOKEN, encryption) as client,
            pytest.raises(KernelError, match="timed out"),
        ):
            WebSocketShell(client, ID, "mute").__enter__()
        assert len(came) == 2
