"""Who is behind a proxy: address, scheme and name of the visitor, from the headers of a proxy that is named.

What anybody else says in these headers is not believed. Knows HTTP.
"""

import logging
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from crane_core.identity.proxy import FROM, Proxy, configured_proxy

FOR, PROTO = "x-forwarded-for", "x-forwarded-proto"
_UNNAMED = (
    f"This server is behind a proxy that it was not told about. Its operator sets {FROM} to the proxy's address, "
    "and starts it again."
)
_LOG = logging.getLogger(__name__)


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
