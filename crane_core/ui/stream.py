"""What a browser may send over its websocket: before admission reruns and heartbeats, later a few kinds more.

Streamlit's handler takes every kind of message from all visitors: one `clear_cache` empties the caches of all visitors,
`load_git_info` starts programs, and a message may have 200 MB. Knows messages, sizes and rates. Refuses to know what
pages do with them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import secrets
from collections.abc import Callable
from weakref import WeakSet

import streamlit as st
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import exists, get_instance
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

from crane_core.errors import IdentityError
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import configured_roles
from crane_core.ui.visit import COOKIE, Carried, arrival_of

FROM_ANYBODY = frozenset({"rerun_script", "app_heartbeat"})
FROM_ADMITTED = FROM_ANYBODY | {
    "stop_script",
    "file_urls_request",
    "backend_operation_request",
}
"""Kinds of Streamlit's BackMsg. No page needs the others, from anybody."""
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Kinds of a `backend_operation_request`: downloads made on demand, and the rest of a long table."""

STRANGER_BYTES = 64 * 1024
"""A message before admission: a page's address, and a password."""
STRANGER_BURST = 20
STRANGER_PER_S = 2.0
"""Messages before admission: so many at once, then so many per second. Others wait; none is lost."""
MOST_STRANGERS = 256
"""Connections before admission, all peers together; one more closes the oldest. See `most_strangers`."""

MOST_LEVELS = 40
"""Of lists and objects in the state of a widget; a labelling desk sends six."""

NONCE = "x-crane-connection"
"""A header that the server adds, by which a page finds its own connection; what a client sends under it is removed."""

_UNSUPPORTED, _PROTOCOL_ERROR, _TRY_LATER = 1003, 1002, 1013
_LOG = logging.getLogger(__name__)
_open: dict[str, _Connection] = {}
"""Connections that are open, by the name in their NONCE header."""
_known: WeakSet[AppSession] = WeakSet()
"""Sessions that were seen here: Streamlit forgets those that do not come back, while something may still hold them."""


class Stream:
    """ASGI middleware: passes on only the websocket messages that their sender may send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        name = secrets.token_urlsafe(18)
        connection = _Connection(scope, receive, send)
        _open[name] = connection
        try:
            _release_handles()
            # Only strangers are limited in number: a crowd of them must not keep admitted visitors out.
            if not connection.is_admitted:
                _make_room(name)
            await self._app(
                _named(scope, name), connection.receive, connection.send
            )
        finally:
            del _open[name]
            _release_handles()


def admit(brought: Carried) -> None:
    """A page admitted the visitor whose connection it answers; what it carried is checked again at each use."""
    name = st.context.headers.get(NONCE)
    connection = _open.get(name) if name else None
    if connection is not None:
        connection.admit(brought)


def most_strangers() -> int:
    """How many connections may wait for admission: a part of the files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        MOST_STRANGERS
        if files == resource.RLIM_INFINITY
        else max(8, min(MOST_STRANGERS, files // 8))
    )


def _make_room(newest: str) -> None:
    """Close the oldest connection without admission where there are too many; its browser may come again."""
    waiting = [
        name
        for name, connection in _open.items()
        if name != newest and not connection.is_admitted
    ]
    if len(waiting) >= most_strangers():
        _open[waiting[0]].close(_TRY_LATER)


def _named(scope: Scope, name: str) -> Scope:
    # Removed first: a client could send the header itself and be taken for another connection.
    kept = [
        (key, value)
        for key, value in scope["headers"]
        if key.lower() != NONCE.encode()
    ]
    return {**scope, "headers": [*kept, (NONCE.encode(), name.encode())]}


class _Connection:
    """One websocket: who it is of, and what it has sent."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._at_handshake = _carried(scope)
        self._admitted: Carried | None = None
        self._peer = (
            scope["client"][0] if scope.get("client") else "this machine"
        )
        self._allowance = _Allowance(STRANGER_BURST, STRANGER_PER_S)
        self._closing: asyncio.Future[None] | None = None
        self._has_begun = False
        self.is_admitted = _is_admitted(self._at_handshake)
        # Before login a message is an address and a password; 64 KB hold both.
        self._bound(
            get_max_widget_state_size_bytes()
            if self.is_admitted
            else STRANGER_BYTES
        )

    def admit(self, brought: Carried) -> None:
        """Called in the thread of a page."""
        self._admitted = brought
        if not self.is_admitted:
            self.is_admitted = True
            self._bound(get_max_widget_state_size_bytes())

    def close(self, code: int) -> None:
        """Close the connection with this code, once; for the server's event loop alone."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(
                self._send({"type": "websocket.close", "code": code})
            )

    async def send(self, message: Message) -> None:
        """Pass a message on to the browser, unless the connection is being closed."""
        if self._closing is None:
            await self._send(message)

    async def receive(self) -> Message:
        """The next message that its sender may send."""
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            if not self._has_begun:
                self._has_begun = True
                _release_handles()  # a session that came back has its connection, and no page is drawn yet
            if not self.is_admitted:
                await self._allowance.wait()
            if self._closing is not None:
                return {"type": "websocket.disconnect", "code": _TRY_LATER}
            content = message.get("bytes")
            if content is None:
                return await self._ended(_UNSUPPORTED)
            try:
                sent = BackMsg.FromString(content)
            except DecodeError:
                return await self._ended(_PROTOCOL_ERROR)
            if not self._may_send(sent):
                _LOG.warning(
                    "%s sent %s, which is not taken from it",
                    self._peer,
                    sent.WhichOneof("type"),
                )
            elif not _is_shallow(sent):
                _LOG.warning(
                    "%s sent a widget's state that is nested too deeply or not JSON",
                    self._peer,
                )
            else:
                return message

    async def _ended(self, code: int) -> Message:
        await self._send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}

    def _may_send(self, sent: BackMsg) -> bool:
        kind = sent.WhichOneof("type")
        if kind in FROM_ANYBODY:
            return True
        if kind not in FROM_ADMITTED or not self._is_still_admitted():
            return False
        is_operation = kind == "backend_operation_request"
        return (
            not is_operation
            or sent.backend_operation_request.WhichOneof("payload")
            in OPERATIONS
        )

    def _is_still_admitted(self) -> bool:
        """Whether who was admitted still is: a session may have ended, and a line of the roles file been removed."""
        if _is_admitted(self._at_handshake):
            return True
        brought = self._admitted
        if brought is None:
            return False
        try:
            return (
                configured_roles() is None
                or arrival_of(brought).visitor is not None
            )
        except IdentityError:
            return False

    def _bound(self, n_bytes: int) -> None:
        """Bound what the next messages may hold, before they are read; uvicorn closes the connection at a larger one.

        The one place where the limit can be set by connection is websockets' protocol, which uvicorn's receiver keeps.
        """
        protocol = getattr(
            getattr(self._receive, "__self__", None), "conn", None
        )
        if protocol is not None:
            protocol.max_message_size = n_bytes


def _is_shallow(sent: BackMsg) -> bool:
    """Whether Streamlit and the pages can read the state of every widget: they walk its JSON level by level."""
    texts = [
        widget.json_value
        for widget in sent.rerun_script.widget_states.widgets
        if widget.json_value
    ]
    try:
        return all(_depth(json.loads(text)) <= MOST_LEVELS for text in texts)
    except (ValueError, RecursionError):
        return False


def _depth(value: object) -> int:
    """Levels of lists and objects, counted without recursion."""
    levels, inside = 0, [value]
    # A recursive walk would fail at the very nesting that is looked for.
    while inside := [part for each in inside for part in _parts(each)]:
        levels += 1
    return levels


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*value.values(), None]
    return [*value, None] if isinstance(value, list) else []


class _Allowance:
    """A token bucket: `burst` at once, then `per_s` each second."""

    def __init__(
        self,
        burst: int,
        per_s: float,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._burst, self._per_s = burst, per_s
        self._clock = clock or asyncio.get_running_loop().time
        self._left, self._at = float(burst), self._clock()

    async def wait(self) -> None:
        """Take one; return when there is one to take."""
        now = self._clock()
        self._left = (
            min(self._burst, self._left + (now - self._at) * self._per_s) - 1
        )
        self._at = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._per_s)


def _carried(scope: Scope) -> Carried:
    """What the handshake shows by itself: a proxy's header and our own session; a provider's is Streamlit's to read."""
    headers = Headers(scope=scope)
    try:
        header = configured_proxy().header
    except IdentityError:
        header = None
    said: list[str] = headers.getlist(header) if header else []
    cookies = cookie_parser(headers.get("cookie", ""))
    return Carried(
        said[0] if len(said) == 1 else None, cookies.get(COOKIE, ""), "", {}
    )


def _is_admitted(brought: Carried) -> bool:
    """Whether this alone admits a visitor: no login is needed, or a proxy or our own session names a person."""
    try:
        if configured_roles() is None:
            return not os.environ.get("CRANE_PASSWORD")
        return arrival_of(brought).visitor is not None
    except IdentityError:
        return False


def _release_handles() -> None:
    """Close the loops of sessions without a connection, and renew those of sessions that are back.

    Each Streamlit session owns an event loop, which is three open files, until it is collected as garbage: for two
    minutes in case its browser comes back, and for an unknown time after. A system that allows 256 open files refused
    the 80th visitor. No page uses the loop between two runs, so it is closed with the connection, and a session that
    comes back gets a new one. Knows private attributes of Streamlit's AppSession, which no public interface shows.

    Called on the server's event loop. A session whose page is still being drawn waits for the next call.
    """
    if not exists():
        return
    manager = get_instance()._session_mgr
    _known.update(info.session for info in manager.list_sessions())
    for session in list(_known):
        is_connected = manager.is_active_session(session.id)
        is_drawing = session._scriptrunner is not None
        loop = session._script_event_loop
        if is_connected and loop.is_closed():
            session._script_event_loop = asyncio.new_event_loop()
        # A page that is being drawn still uses its loop.
        elif not is_connected and not is_drawing and not loop.is_running():
            loop.close()
