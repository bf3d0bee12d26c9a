"""The page that a visitor requested before logging in; after the login they land there, not on the start page.

A cookie of the browser holds it. Only addresses of our own pages are accepted, so that it cannot lead to another
site.
"""

from __future__ import annotations

import os
from http.cookies import SimpleCookie
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crane_core.identity.roles import FILE
from crane_core.ui.navigation import page_files
from crane_core.ui.visit import COOKIE, PROVIDER_COOKIE

ASKED = "crane_asked"
CALLBACK = "/oauth2callback"
MAX_CHARACTERS = 1_500
VALID_S = 900


class AskedPage:
    """ASGI middleware: notes the page at a visit without a session, and sends the browser there after the login."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Only whether people log in: a damaged file is for the page to say, not a reason to answer with an error.
        if (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and os.environ.get(FILE)
        ):
            send = _leading(Request(scope), send)
        await self._app(scope, receive, send)


def page_of(address: str) -> str | None:
    """The address relative to the app, if it belongs to one of our pages; else None."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if (
        parts.scheme
        or parts.netloc
        or len(address) > MAX_CHARACTERS
        or parts.path.strip("/") not in page_files()
    ):
        return None
    return f"./{parts.path.strip('/')}" + (f"?{parts.query}" if parts.query else "")


def _leading(request: Request, send: Send) -> Send:
    path, query, cookies = request.url.path, request.url.query, request.cookies
    if path.rstrip("/") == CALLBACK:
        asked, to_note = page_of(unquote(cookies.get(ASKED, ""))), None
    else:
        here = path + (f"?{query}" if query else "")
        is_stranger = COOKIE not in cookies and PROVIDER_COOKIE not in cookies
        asked, to_note = None, here if is_stranger and page_of(here) else None

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if asked and "location" in headers:
                headers["location"] = asked
                headers.append("set-cookie", _cookie("", 0, request))
            elif to_note:
                headers.append("set-cookie", _cookie(to_note, VALID_S, request))
        await send(message)

    return sending


def _cookie(address: str, seconds: int, request: Request) -> str:
    jar: SimpleCookie = SimpleCookie({ASKED: quote(address, safe="")})
    jar[ASKED] |= {"path": "/", "max-age": seconds, "httponly": True, "samesite": "lax"}
    jar[ASKED]["secure"] = request.url.scheme == "https"
    return jar[ASKED].OutputString()
