"""A browser tab as the app sees it: Streamlit's own messages over its own websocket, without a browser.

Knows how a page is asked for, how a component sends its state and what it is told. Draws nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState, ContextInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

TIMEOUT_S = 120.0


class SessionError(RuntimeError):
    """The app answered with an exception on the page."""


class Session:
    """One tab. Make it with `connected`."""

    def __init__(self, socket: ClientConnection, address: str) -> None:
        self._socket = socket
        self._address = address
        self._page = ""
        self._query = ""
        self._script = ""
        self._fragment = ""
        self._component = ""
        self._name = ""

    async def turn_to(self, page: str, query: str) -> float:
        """Seconds until the page's script is over. Raises SessionError, and TimeoutError where it does not end."""
        start = time.perf_counter()
        await self._ask_for(page, query)
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                message = await self._message()
                if message.HasField("script_finished") and (
                    message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
                ):
                    return time.perf_counter() - start

    async def open(
        self, page: str, query: str, component: str
    ) -> dict[str, Any]:
        """What a component of a page is told first; later talk is with it. Raises as `turn_to`."""
        self._name = component
        await self._ask_for(page, query)
        async with asyncio.timeout(TIMEOUT_S):
            return await self.told()

    async def send(self, state: dict[str, Any]) -> None:
        """The component's state, as `setStateValue` sends it: its fragment runs again."""
        client = self._client(
            page_script_hash=self._script, fragment_id=self._fragment
        )
        client.widget_states.widgets.add(
            id=self._component, json_value=json.dumps(state)
        )
        await self._run(client)

    async def told(self) -> dict[str, Any]:
        """The next thing that the component is told. Raises SessionError if the page shows an exception instead."""
        while True:
            message = await self._message()
            component = message.delta.new_element.bidi_component
            if component.component_name == self._name:
                self._component = component.id
                self._fragment = message.delta.fragment_id
                return dict(json.loads(component.json))

    async def close(self) -> None:
        await self._socket.close()

    async def _ask_for(self, page: str, query: str) -> None:
        self._page, self._query = page, query
        await self._run(self._client(page_name=page))

    async def _run(self, client: ClientState) -> None:
        message = BackMsg(rerun_script=client)
        await self._socket.send(message.SerializeToString())

    async def _message(self) -> ForwardMsg:
        message = ForwardMsg.FromString(await self._socket.recv(decode=False))
        if message.HasField("new_session"):
            self._script = message.new_session.page_script_hash
        element = message.delta.new_element
        if element.HasField("exception"):
            error = element.exception
            raise SessionError(f"{self._page}: {error.type}: {error.message}")
        return message

    def _client(self, **where: Any) -> ClientState:
        context = ContextInfo(
            timezone="UTC",
            timezone_offset=0,
            locale="en-US",
            url=f"{self._address}/{self._page}",
        )
        return ClientState(
            query_string=self._query, context_info=context, **where
        )


async def connected(address: str) -> Session:
    """A tab that shows nothing yet."""
    socket = await connect(
        f"ws://{urlsplit(address).netloc}/_stcore/stream",
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
        open_timeout=TIMEOUT_S,
        ping_timeout=None,
    )
    return Session(socket, address)
