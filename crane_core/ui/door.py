"""What the server admits, before Streamlit sees it: known host names, its own pages, uploads of admitted visitors.

A website that a visitor has open can point its own name at this machine (DNS rebinding); the name in the Host header
reveals it. Address, scheme and name of a visitor behind a proxy come from the headers of a proxy that is named; what
anybody else says in these headers is not believed. Knows HTTP and sessions' ids. Refuses to know what pages show.
"""

import logging
import os
import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from http import HTTPStatus
from importlib.resources import files
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import (
    MemoryUploadedFileManager,
)
from streamlit.runtime.scriptrunner import get_script_run_ctx

from crane_core.errors import IdentityError
from crane_core.identity.logins import see
from crane_core.identity.proxy import FORWARDED, FROM, Proxy, configured_proxy
from crane_core.identity.roles import configured_roles
from crane_core.identity.visitor import Role
from crane_core.pipeline.audit import THE_FILE, note_roles
from crane_core.pipeline.places import data_folder
from crane_core.replica import writer
from crane_core.ui.documentation import Documentation
from crane_core.ui.entrance import AskedPage, Entrance
from crane_core.ui.first_paint import FirstPaint
from crane_core.ui.stream import Stream, admit
from crane_core.ui.visit import Carried, arrival_of, login_of

MEBIBYTE = 1024 * 1024
SESSION_BYTES = 256 * MEBIBYTE
"""What the uploads of one session may hold in memory at once."""
ALL_BYTES = 1024 * MEBIBYTE
"""What the uploads of all sessions may hold in memory at once."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_PORTS = {"http": 80, "https": 443}
_UPLOADS = "/_stcore/upload_file/"
_METRICS = "/_stcore/metrics"
_AGENTS = "/_stcore/agent/"
"""Streamlit's way for programs to drive an app, which an environment variable would turn on beside our login."""
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def _inline_scripts() -> list[str]:
    """The digests of the scripts that Streamlit writes into its own page, as a policy names them."""
    page = (
        files("streamlit").joinpath("static", "index.html").read_text("utf-8")
    )
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return [
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]


_POLICY = "; ".join(
    [
        "default-src 'self'",
        " ".join(
            ["script-src 'self' 'unsafe-eval' blob:", *_inline_scripts()]
        ),  # Vega compiles its expressions, components are modules of a blob
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}

_LOG = logging.getLogger(__name__)
_admitted: dict[str, Carried] = {}
"""What each admitted session carried, by session id; its visitor is determined again at each use."""


def configured_hosts() -> list[str]:
    """The host names besides loopback that this server accepts: CRANE_HOSTS, separated by commas."""
    return [
        host.strip().lower()
        for host in os.environ.get("CRANE_HOSTS", "").split(",")
        if host.strip()
    ]


def door() -> list[Middleware]:
    """The middleware before Streamlit's own server. Raises IdentityError if logins are misconfigured."""
    configured_roles()
    # Unless this is empty, uvicorn replaces the peer's address of connections from this machine by X-Forwarded-For,
    # and who writes that header could pass for the proxy.
    if configured_proxy().header and os.environ.get(FORWARDED) != "":
        raise IdentityError(
            "The server would trust an address that any client can claim.",
            remedy="Start it with `python -m crane_core app`, or set FORWARDED_ALLOW_IPS to nothing.",
        )
    return [
        Middleware(
            TrustedHostMiddleware,
            allowed_hosts=[*LOOPBACK, *configured_hosts()],
            www_redirect=False,
        ),
        Middleware(BehindProxy),
        Middleware(Documentation, headers=HEADERS),
        Middleware(Doorkeeper),
        Middleware(Entrance),
        Middleware(Stream),
        Middleware(AskedPage),
        Middleware(FirstPaint),
    ]


def let_in(brought: Carried) -> None:
    """Note what the session of the running script carried when it was admitted; forget sessions that ended."""
    context = get_script_run_ctx()
    if context is not None:
        _admitted[context.session_id] = brought
        admit(brought)
        _note_login(brought)
        # Streamlit does not say when a session ends, so it is found out when the next one is admitted.
        over = [
            session
            for session in list(_admitted)
            if session != context.session_id and not _is_open(session)
        ]
        for session in over:
            _admitted.pop(session, None)


def _note_login(brought: Carried) -> None:
    """Keep the list of sessions, for admins to see; without logins there is none."""
    visitor, roles = arrival_of(brought).visitor, configured_roles()
    if visitor is None or roles is None:
        return
    folder = data_folder()
    try:
        see(
            folder.path,
            *login_of(
                brought, visitor.email, st.context.ip_address or "this machine"
            ),
        )
        note_roles(folder, roles, THE_FILE)
    # The list is for admins to see; a full disk must not lock visitors out.
    except OSError as error:
        _LOG.warning("The list of sessions was not written: %s", error)


def _is_open(session: str) -> bool:
    return exists() and get_instance().is_active_session(session)


def may_upload(session: str) -> bool:
    """Whether the session's visitor may upload now: with roles, an admin; else any admitted visitor.

    A replica takes no uploads.
    """
    if writer():
        return False
    brought = _admitted.get(session)
    if configured_roles() is None:
        return brought is not None or not os.environ.get("CRANE_PASSWORD")
    visitor = arrival_of(brought).visitor if brought else None
    return visitor is not None and visitor.may(Role.ADMIN)


class Doorkeeper:
    """ASGI middleware: refuses pages of other sites, unadmitted uploads and too many bytes; adds headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._arriving: Counter[str] = Counter()

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket" and not _is_own_page(scope):
            await PlainTextResponse(
                "A page of another site.", HTTPStatus.FORBIDDEN
            )(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(send))
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"].rstrip("/"), scope["method"]
        is_upload = _UPLOADS in path
        session = path.partition(_UPLOADS)[2].partition("/")[0]
        # Addresses of Streamlit beside its pages, which no login guards.
        if path.endswith(_METRICS) or _AGENTS in f"{path}/":
            await PlainTextResponse("Not found.", HTTPStatus.NOT_FOUND)(
                scope, receive, send
            )
        elif method not in _READING and not is_upload:
            await PlainTextResponse(
                "Not allowed.", HTTPStatus.METHOD_NOT_ALLOWED
            )(scope, receive, send)
        elif method == "PUT":
            await self._upload(session, scope, receive, send)
        elif method not in _READING and not may_upload(session):
            await PlainTextResponse("Forbidden.", HTTPStatus.FORBIDDEN)(
                scope, receive, send
            )
        else:
            await self._app(scope, receive, send)

    async def _upload(
        self, session: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        length = Headers(scope=scope).get("content-length", "")
        refusal = self._refusal(session, length)
        if refusal:
            await PlainTextResponse(refusal.phrase, refusal)(
                scope, receive, send
            )
            return
        # What is on its way counts: many uploads at once would pass the limit together.
        self._arriving[session] += int(length)
        try:
            await self._app(scope, receive, send)
        finally:
            self._arriving[session] -= int(length)
            self._arriving += Counter()

    def _refusal(self, session: str, length: str) -> HTTPStatus | None:
        """Why this upload is refused, or None if it is accepted."""
        if not may_upload(session):
            return HTTPStatus.FORBIDDEN
        # Without a length an upload could not be refused before it is in memory.
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED
        held = held_bytes() + self._arriving
        if (
            held[session] + int(length) > SESSION_BYTES
            or held.total() + int(length) > ALL_BYTES
        ):
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return None


def _is_own_page(scope: Scope) -> bool:
    """Whether the page that opens a connection was served here: same scheme, host and port.

    Programs other than browsers name no origin.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None:
        return True
    scheme = "https" if scope["scheme"] in ("wss", "https") else "http"
    place = _place(origin)
    return place is not None and place == _place(
        f"{scheme}://{headers.get('host', '')}"
    )


def _place(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an origin; None where it is not one."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    is_origin = parts.hostname and not (
        parts.path or parts.query or parts.fragment or parts.username
    )
    return (parts.scheme, parts.hostname or "", port) if is_origin else None


def held_bytes() -> Counter[str]:
    """Bytes of uploaded files in memory, by session."""
    manager = get_instance().uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    return Counter(
        {
            s: sum(len(file.data) for file in files.values())
            # A copy of the items: uploads of other threads change the dict meanwhile.
            for s, files in list(manager.file_storage.items())
        }
    )


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sending


FOR, PROTO = "x-forwarded-for", "x-forwarded-proto"
_UNNAMED = (
    f"This server is behind a proxy that it was not told about. Its operator sets {FROM} to the proxy's address, "
    "and starts it again."
)


class BehindProxy:
    """ASGI middleware: the request as the proxy received it. The first one of all, after the host's name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._has_told = False

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        proxy = configured_proxy()
        headers = Headers(scope=scope)
        is_forwarded = FOR in headers or PROTO in headers
        if is_forwarded and not proxy.is_one(_peer(scope)):
            self._tell_once(_peer(scope))
            if _is_lost_page(scope, headers):
                await PlainTextResponse(
                    _UNNAMED, HTTPStatus.SERVICE_UNAVAILABLE
                )(scope, receive, send)
                return
        await self._app(seen_through(scope, proxy), receive, send)

    def _tell_once(self, peer: str) -> None:
        if not self._has_told:
            self._has_told = True
            _LOG.warning(
                "%s forwards requests, but %s does not name it: all visitors behind it count as one, and browsers "
                "cannot use the app over HTTPS.",
                peer[:60] or "A peer",
                FROM,
            )


def _is_lost_page(scope: Scope, headers: Headers) -> bool:
    """Whether this page would wait without end: its connection comes from https, and the server knows of http only."""
    is_page = scope["type"] == "http" and "text/html" in headers.get(
        "accept", ""
    )
    return (
        is_page
        and scope["scheme"] == "http"
        and _last(headers, PROTO) == "https"
    )


def seen_through(scope: Scope, proxy: Proxy) -> Scope:
    """The request as the proxy received it; from anybody else, without the header that names a visitor."""
    headers = Headers(scope=scope)
    if not proxy.is_one(_peer(scope)):
        hidden = proxy.header.lower().encode() if proxy.header else None
        return {
            **scope,
            "headers": [
                (name, value)
                for name, value in scope["headers"]
                if name.lower() != hidden
            ],
        }
    seen: dict[str, object] = {}
    # Some proxies add a line of their own below the visitor's, so all lines count as one.
    if visitor := proxy.visitor_of(",".join(headers.getlist(FOR))):
        seen["client"] = (visitor, 0)
    if _last(headers, PROTO) == "https":
        seen["scheme"] = "wss" if scope["type"] == "websocket" else "https"
    return {**scope, **seen}


def _last(headers: Headers, name: str) -> str:
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip().lower()


def _peer(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""
