"""A visitor without a browser: real HTTP and a real websocket, with any cookie and header, and what the page drew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from crane_core.identity.key import signing_key
from crane_core.identity.passes import Purpose, new_pass, signed
from tests.patience import PATIENCE_S

_BOUNDARY = "upload-ends-here"
Result = TypeVar("Result")


def in_own_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """What the coroutine gives, run in another thread: playwright keeps an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass
class Drawn:
    """What one run of a page sent: every element, as text."""

    session: str = ""
    elements: list[str] = field(default_factory=list)
    widgets: dict[str, str] = field(default_factory=dict)
    """Label to id of text inputs and buttons; of several with one label the last."""
    ids: list[str] = field(default_factory=list)
    """Ids of all of them."""

    def shows(self, text: str) -> bool:
        return any(text in element for element in self.elements)


@dataclass(frozen=True)
class Visitor:
    """Somebody with this cookie and these headers; `address` is the server's."""

    address: str
    cookie: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    """Of the page that opens the connection; "": the server's."""
    session: str = ""
    """A session to come back to."""
    peer: str = "127.0.0.1"
    """The address that the server sees."""

    def sees(self, page: str, query: str = "") -> Drawn:
        """What a direct visit to a page's address shows."""
        return in_own_loop(self._visit(page, query))

    def may_upload(
        self,
        page: str = "data",
        *,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> int:
        """The status of an upload by a session that stands on a page; `meanwhile` happens before it."""
        return in_own_loop(self._upload(page, meanwhile))

    async def _joined(self) -> ClientConnection:
        headers = dict(self.headers) | (
            {"Cookie": self.cookie} if self.cookie else {}
        )
        url = self.address.replace("http", "ws", 1) + "/_stcore/stream"
        return await connect(
            url,
            origin=self.origin or self.address,  # type: ignore[arg-type]
            additional_headers=headers,
            subprotocols=[
                Subprotocol(part) for part in ("streamlit", *self._back_to())
            ],
            max_size=None,
            local_addr=(self.peer, 0),
        )

    def _back_to(self) -> list[str]:
        """What Streamlit reads where a browser names the protocols that it speaks: a token, and the session."""
        return ["no-token", self.session] if self.session else []

    async def _visit(self, page: str, query: str) -> Drawn:
        async with asyncio.timeout(PATIENCE_S), await self._joined() as socket:
            return await drawn(socket, page, query)

    async def _upload(self, page: str, meanwhile: Callable[[], object]) -> int:
        async with asyncio.timeout(PATIENCE_S), await self._joined() as socket:
            seen = await drawn(socket, page, "")
            await asyncio.to_thread(meanwhile)
            return await asyncio.to_thread(self._put, seen.session)

    def _put(self, session: str) -> int:
        token = (
            asked(self.address, "/_stcore/health")
            .getheader("Set-Cookie", "")
            .partition(";")[0]
        )
        headers = {
            **self.headers,
            "Content-Type": f"multipart/form-data; boundary={_BOUNDARY}",
            "Cookie": "; ".join(filter(None, [token, self.cookie])),
            "X-Xsrftoken": token.partition("=")[2].strip('"'),
        }
        head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'
        body = f"{head}x\r\n--{_BOUNDARY}--\r\n".encode()
        path = f"/_stcore/upload_file/{session}/a"
        return asked(
            self.address, path, method="PUT", headers=headers, body=body
        ).status


async def drawn(socket: ClientConnection, page: str, query: str) -> Drawn:
    """Run a page and collect what it draws until its last run is over."""
    return await run(socket, ClientState(page_name=page, query_string=query))


async def run(socket: ClientConnection, state: ClientState) -> Drawn:
    """Run what a browser's state asks for, and collect what it draws until its last run is over."""
    await socket.send(BackMsg(rerun_script=state).SerializeToString())
    seen = Drawn()
    while True:
        message = ForwardMsg.FromString(await socket.recv(decode=False))
        kind = message.WhichOneof("type")
        if kind == "new_session":
            seen = Drawn(
                message.new_session.initialize.session_id or seen.session
            )
        elif kind == "delta":
            seen.elements.append(str(message.delta))
            for widget in (
                message.delta.new_element.text_input,
                message.delta.new_element.button,
            ):
                if widget.id:
                    seen.widgets[widget.label] = widget.id
                    seen.ids.append(widget.id)
        elif (
            kind == "script_finished"
            and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        ):
            return seen


def session_of(folder: Path, email: str, *, seconds: int = 600) -> str:
    """The cookie of somebody who has a session of the server of this folder; it has expired below 0 seconds."""
    granted = new_pass(email, seconds=seconds)
    return (
        f"crane_session={signed(granted, Purpose.SESSION, signing_key(folder))}"
    )


class Answer:
    """Status, headers and text of an answer."""

    def __init__(self, connection: HTTPConnection) -> None:
        answer = connection.getresponse()
        self.status = answer.status
        self.getheader, self.headers = answer.getheader, answer.headers
        self.text = answer.read().decode("utf-8", "replace")


def asked(
    address: str,
    path: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """The answer to one request; redirections are not followed."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE_S)
    connection.request(method, path, body, dict(headers or {}))
    answer = Answer(connection)
    connection.close()
    return answer
