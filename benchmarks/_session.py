"""A browser tab as the app sees it: Streamlit's own messages over its own websocket, without a browser.

Knows how a page is asked for, how a component sends its state and what it is told. Draws nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState, ContextInfo
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

OPEN_TIMEOUT_S = 60.0


class SessionError(RuntimeError):
    """The app answered with an exception on the page, or not at all."""


class Told(NamedTuple):
    """What a component was told, and when it arrived (`time.perf_counter`)."""

    data: dict[str, Any]
    at: float


class Session:
    """One tab, on a page that has one component. Make it with `opened`."""

    def __init__(
        self, socket: ClientConnection, address: str, page: str, query: str
    ) -> None:
        self._socket = socket
        self._address = address
        self._page = page
        self._query = query
        self._script = ""
        self._fragment = ""
        self._component = ""

    async def send(self, state: dict[str, Any]) -> None:
        """The component's state, as `setStateValue` sends it: its fragment runs again."""
        client = self._client(page_script_hash=self._script, fragment_id=self._fragment)
        client.widget_states.widgets.add(
            id=self._component, json_value=json.dumps(state)
        )
        await self._socket.send(BackMsg(rerun_script=client).SerializeToString())

    async def told(self) -> Told:
        """The next thing that the component is told. Raises SessionError if the page shows an exception instead."""
        while True:
            message = ForwardMsg()
            message.ParseFromString(await self._socket.recv(decode=False))
            at = time.perf_counter()
            if message.WhichOneof("type") == "new_session":
                self._script = message.new_session.page_script_hash
            elif (
                message.WhichOneof("type") == "delta"
                and (data := self._data(message.delta)) is not None
            ):
                return Told(data, at)

    async def ask_for_page(self) -> None:
        await self._socket.send(
            BackMsg(rerun_script=self._client(page_name=self._page)).SerializeToString()
        )

    async def close(self) -> None:
        await self._socket.close()

    def _client(self, **where: str) -> ClientState:
        context = ContextInfo(
            timezone="UTC",
            timezone_offset=0,
            locale="en-US",
            url=f"{self._address}/{self._page}",
        )
        return ClientState(query_string=self._query, context_info=context, **where)

    def _data(self, delta: Delta) -> dict[str, Any] | None:
        element = delta.new_element
        match element.WhichOneof("type"):
            case "exception":
                raise SessionError(
                    f"{element.exception.type}: {element.exception.message}"
                )
            case "bidi_component":
                self._component, self._fragment = (
                    element.bidi_component.id,
                    delta.fragment_id,
                )
                return dict(json.loads(element.bidi_component.json))
            case _:
                return None


async def opened(address: str, page: str, query: str) -> tuple[Session, Told]:
    """A tab on a page, once its component is there. Raises SessionError if it does not come."""
    url = f"ws://{urlsplit(address).netloc}/_stcore/stream"
    session = Session(
        await connect(url, subprotocols=[Subprotocol("streamlit")], max_size=None),
        address,
        page,
        query,
    )
    await session.ask_for_page()
    try:
        return session, await asyncio.wait_for(session.told(), OPEN_TIMEOUT_S)
    except TimeoutError as error:
        await session.close()
        raise SessionError(
            f"{page}?{query} showed no component within {OPEN_TIMEOUT_S:.0f} s"
        ) from error
