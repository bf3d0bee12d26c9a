"""What the server lets in, asked over real HTTP and real websockets of its own server."""

from __future__ import annotations

import asyncio
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.patience import PATIENCE_S
from tests.ui.visits import asked, in_own_loop

MEBIBYTE = 1024 * 1024
BOUNDARY = "upload-ends-here"


async def joined(
    address: str, host: str, origin: str | None
) -> ClientConnection:
    """A websocket that says it was asked for under `host` by a page of `origin`."""
    url = urlsplit(address)
    return await connect(
        f"ws://{host}/_stcore/stream",
        host=url.hostname,
        port=url.port,
        origin=origin,  # type: ignore[arg-type]
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    )


def status_of_websocket(address: str, host: str, origin: str | None) -> int:
    async def attempt() -> int:
        try:
            await (await joined(address, host, origin)).close()
        except InvalidStatus as refused:
            return refused.response.status_code
        return 101

    return in_own_loop(attempt())


def port_of(address: str) -> int:
    port = urlsplit(address).port
    assert port is not None
    return port


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "evil.example",
        "localhost.evil.example:{port}",
        "127.0.0.2",
    ],
)
def test_a_foreign_host_gets_nothing(open_app: str, host: str) -> None:
    """DNS rebinding: a website's own name that leads to this machine, so that Origin and Host agree."""
    host = host.format(port=port_of(open_app))
    for path in ("/", "/_stcore/health", "/data", "/static/js/index.js"):
        assert asked(open_app, path, headers={"Host": host}).status == 400, path
    assert status_of_websocket(open_app, host, f"http://{host}") == 400


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}", "crane.example"],
)
def test_names_of_loopback_and_those_that_were_configured_are_served(
    open_app: str, host: str
) -> None:
    host = host.format(port=port_of(open_app))
    assert asked(open_app, "/", headers={"Host": host}).status == 200
    assert status_of_websocket(open_app, host, f"http://{host}") == 101
    assert status_of_websocket(open_app, host.upper(), f"http://{host}") == 101
    assert status_of_websocket(open_app, host, None) == 101


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:1",
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1.evil.example",
        "https://127.0.0.1:{port}",
        "ftp://127.0.0.1:{port}",
        "127.0.0.1:{port}",
        "//127.0.0.1:{port}",
        "http://x@127.0.0.1:{port}",
        "http://127.0.0.1:{port}/page",
        "http://127.0.0.1:99999",
        "http://[::1",
    ],
)
def test_a_page_from_elsewhere_opens_no_session(
    open_app: str, origin: str
) -> None:
    origin = origin.format(port=port_of(open_app))
    assert (
        status_of_websocket(open_app, urlsplit(open_app).netloc, origin) == 403
    )


def test_every_answer_forbids_frames_and_guessing(open_app: str) -> None:
    for path in ("/", "/cases", "/_stcore/health", "/favicon.png"):
        headers = asked(open_app, path).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert (
            "'unsafe-inline'"
            not in headers["Content-Security-Policy"]
            .split("script-src")[1]
            .split(";")[0]
        )
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert {"camera=()", "geolocation=()", "microphone=()"} <= set(
            headers["Permissions-Policy"].split(", ")
        )


@pytest.mark.parametrize(
    "path", ["/_stcore/metrics", "/_stcore/metrics/", "//_stcore/metrics"]
)
def test_metrics_are_not_public(open_app: str, path: str) -> None:
    answer = asked(open_app, path)
    assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/_stcore/agent/interact", 404),
        ("POST", "/_stcore/agent/mcp", 404),
        ("GET", "/_stcore/agent/openapi.json", 404),
        ("POST", "/", 405),
        ("PUT", "/data", 405),
        ("DELETE", "/_stcore/health", 405),
        ("DELETE", "/_stcore/upload_file/some-session/some-file", 403),
        ("POST", "/_stcore/upload_file/some-session/some-file", 403),
        ("PUT", "/_stcore/upload_file/some-session/some-file", 403),
    ],
)
def test_a_stranger_changes_nothing_over_http(
    locked_app: str, method: str, path: str, status: int
) -> None:
    assert asked(locked_app, path, method=method).status == status


def upload_all(address: str, *sizes: int) -> list[int]:
    """The status of each upload in turn, by one session that just opened."""
    return in_own_loop(_upload_all(address, sizes))


async def _upload_all(address: str, sizes: tuple[int, ...]) -> list[int]:
    netloc = urlsplit(address).netloc
    socket = await joined(address, netloc, address)
    await socket.send(
        BackMsg(rerun_script=ClientState(page_name="data")).SerializeToString()
    )
    session = await _session_id(socket)
    statuses = [
        await asyncio.to_thread(_put, address, session, number, size)
        for number, size in enumerate(sizes)
    ]
    await socket.close()
    return statuses


async def _session_id(socket: ClientConnection) -> str:
    while True:
        message = ForwardMsg.FromString(await socket.recv(decode=False))
        if message.WhichOneof("type") == "new_session":
            return str(message.new_session.initialize.session_id)


def _put(address: str, session: str, number: int, size: int) -> int:
    cookie = (
        asked(address, "/_stcore/health")
        .headers["Set-Cookie"]
        .partition(";")[0]
    )
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{number}.zip"\r\n\r\n'.encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Cookie": cookie,
        "X-Xsrftoken": cookie.partition("=")[2].strip('"'),
    }
    body = head + bytes(size) + f"\r\n--{BOUNDARY}--\r\n".encode()
    try:
        return asked(
            address,
            f"/_stcore/upload_file/{session}/{number}",
            method="PUT",
            headers=headers,
            body=body,
        ).status
    except (BrokenPipeError, ConnectionResetError):
        return 413


def test_nothing_is_uploaded_before_the_password(locked_app: str) -> None:
    assert upload_all(locked_app, 10, 10) == [403, 403]


@pytest.mark.slow
def test_uploads_of_a_session_are_bounded(open_app: str) -> None:
    assert upload_all(
        open_app, 90 * MEBIBYTE, 90 * MEBIBYTE, 90 * MEBIBYTE, 10
    ) == [
        204,
        204,
        413,
        204,
    ]


def test_a_single_upload_is_bounded(open_app: str) -> None:
    assert upload_all(open_app, 101 * MEBIBYTE) == [413]


def test_an_upload_that_does_not_say_how_large_it_is_is_refused(
    open_app: str,
) -> None:
    connection = HTTPConnection(urlsplit(open_app).netloc, timeout=PATIENCE_S)
    connection.request(
        "PUT", "/_stcore/upload_file/a/b", iter([b"x"]), encode_chunked=True
    )
    assert connection.getresponse().status == 411
    connection.close()
