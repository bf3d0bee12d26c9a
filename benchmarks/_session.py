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
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

OPEN_TIMEOUT_S = 60.0
ANSWER_TIMEOUT_S = 120.0


class SessionError(RuntimeError):
    """The app answered with an exception on the page, or not at all."""


class Snapshot(NamedTuple):
    """What a component was told, and when it arrived (`time.perf_counter`)."""

    data: dict[str, Any]
    at: float


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
        """Seconds until the page's script is over. Raises SessionError if it shows an exception."""
        start = time.perf_counter()
        await self._ask_for(page, query)
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while True:
                message = await self._message()
                is_over = message.HasField("script_finished")
                if (
                    is_over
                    and message.script_finished
                    == ForwardMsg.FINISHED_SUCCESSFULLY
                ):
                    return time.perf_counter() - start

    async def open(self, page: str, query: str, component: str) -> Snapshot:
        """A page once the component of this name is there; later talk is with it. Raises SessionError if it is not."""
        self._name = component
        await self._ask_for(page, query)
        try:
            return await asyncio.wait_for(self.told(), OPEN_TIMEOUT_S)
        except TimeoutError as error:
            await self.close()
            raise SessionError(
                f"{page}?{query} showed no {component} within "
                f"{OPEN_TIMEOUT_S:.0f} s"
            ) from error

    async def send(self, state: dict[str, Any]) -> None:
        """The component's state, as `setStateValue` sends it: its fragment runs again."""
        client = self._client(
            page_script_hash=self._script, fragment_id=self._fragment
        )
        client.widget_states.widgets.add(
            id=self._component, json_value=json.dumps(state)
        )
        await self._socket.send(
            BackMsg(rerun_script=client).SerializeToString()
        )

    async def told(self) -> Snapshot:
        """The next thing that the component is told. Raises SessionError if the page shows an exception instead."""
        while True:
            message = await self._message()
            at = time.perf_counter()
            component = message.delta.new_element.bidi_component
            if component.component_name == self._name:
                self._component = component.id
                self._fragment = message.delta.fragment_id
                return Snapshot(dict(json.loads(component.json)), at)

    async def close(self) -> None:
        await self._socket.close()

    async def _ask_for(self, page: str, query: str) -> None:
        self._page, self._query = page, query
        client = self._client(page_name=page)
        await self._socket.send(
            BackMsg(rerun_script=client).SerializeToString()
        )

    async def _message(self) -> ForwardMsg:
        message = ForwardMsg.FromString(await self._socket.recv(decode=False))
        if message.HasField("new_session"):
            self._script = message.new_session.page_script_hash
        element = message.delta.new_element
        if element.HasField("exception"):
            raise SessionError(
                f"{self._page}: {element.exception.type}: "
                f"{element.exception.message}"
            )
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
        open_timeout=OPEN_TIMEOUT_S,
        ping_timeout=None,
    )
    return Session(socket, address)
