"""Logs visitors in and out before Streamlit sees a request, and leads them to the page that they requested.

Opening an invitation sets a session cookie, and `logout` removes it. A second cookie holds the page that a visitor
requested before logging in; after the login they land there, not on the start page. Only addresses of our own pages are
accepted, so that it cannot lead to another site. Knows HTTP. Refuses to know what pages show.
"""

import logging
import os
from http import HTTPStatus
from http.cookies import SimpleCookie
from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import (
    decode_signed_value,
)

from crane_core.domain import AuditAction
from crane_core.errors import IdentityError, LedgerError
from crane_core.identity import logins
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import is_logged_out, log_out
from crane_core.identity.passes import Purpose, accepted, new_pass, signed
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import FILE, configured_roles
from crane_core.identity.throttle import Throttle
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.audit import Actor, note
from crane_core.pipeline.places import data_folder
from crane_core.ui.navigation import page_files
from crane_core.ui.visit import COOKIE, PROVIDER_COOKIE

SESSION_S = 14 * 24 * 3600
"""How long an opened invitation keeps a browser logged in."""
INVITATION, LOGOUT = "/invitation", "/logout"
_PURPOSES = ("sec-purpose", "purpose", "x-purpose", "x-moz")
"""Headers of a browser that loads a link before anybody opens it, which would use it up."""
OF_PROVIDER = "./auth/logout"
"""Streamlit's own logout, which also ends the session at the provider."""
_MISCONFIGURED = "Logins are misconfigured on this server. Tell the person who runs it; its log says more."
_LOG = logging.getLogger(__name__)


class Entrance:
    """ASGI middleware: invitations and logout."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._throttle = Throttle("invitation")

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            answer = (
                self._answer(scope)
                if scope["type"] == "http" and scope["method"] == "GET"
                else None
            )
        except (IdentityError, LedgerError) as error:
            _LOG.error("Nobody can log in: %s", error)
            answer = PlainTextResponse(
                _MISCONFIGURED, HTTPStatus.SERVICE_UNAVAILABLE
            )
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        path = scope["path"].rstrip("/")
        if path == LOGOUT:
            return _log_out(Request(scope))
        if path == INVITATION and configured_roles() is not None:
            return self._let_in(Request(scope))
        return None

    def _let_in(self, request: Request) -> Response:
        if any(
            "prefetch" in request.headers.get(name, "").lower()
            for name in _PURPOSES
        ):
            return PlainTextResponse(
                "An invitation is opened by a person.", HTTPStatus.FORBIDDEN
            )
        peer = request.client.host if request.client else ""
        if self._throttle.locked_s(peer):
            return PlainTextResponse(
                "Too many failed attempts. Try again in a few minutes.",
                HTTPStatus.TOO_MANY_REQUESTS,
            )
        folder, token = data_folder(), request.query_params.get("token", "")
        try:
            email = accepted(token, Purpose.INVITATION, folder.path).email
        except IdentityError as error:
            self._throttle.failed(peer)
            return PlainTextResponse(str(error), HTTPStatus.FORBIDDEN)
        self._throttle.succeeded(peer)
        roles = configured_roles()
        visitor = roles.visitor(email) if roles else None
        if visitor is None:
            words = f"{email} is not on this server's list of people. Ask the person who runs it."
            return PlainTextResponse(words, HTTPStatus.FORBIDDEN)
        if (
            _email_of(request) == email
        ):  # the same link again, where it was opened: nothing more to give
            return RedirectResponse(_landing(visitor), HTTPStatus.SEE_OTHER)
        try:
            logins.open_invitation(folder.path, token)
        except logins.OpenedBeforeError as error:
            return PlainTextResponse(str(error), HTTPStatus.FORBIDDEN)
        return _with_session(visitor, request)


def _landing(visitor: Visitor) -> str:
    return "./annotate" if visitor.role is Role.ANNOTATOR else "./"


def _with_session(visitor: Visitor, request: Request) -> Response:
    folder, address = data_folder(), _address(request)
    answer = RedirectResponse(_landing(visitor), HTTPStatus.SEE_OTHER)
    issued = new_pass(visitor.email, seconds=SESSION_S)
    cookie = signed(issued, Purpose.SESSION, signing_key(folder.path))
    login = logins.Login(
        visitor.email,
        issued.issued,
        issued.issued,
        issued.until,
        logins.BY_INVITATION,
        address,
    )
    logins.see(folder.path, cookie, login)
    note(
        folder,
        Actor(visitor.email, address),
        AuditAction.LOG_IN,
        visitor.email,
        "by an invitation",
    )
    # Over plain HTTP a secure cookie would never come back.
    is_secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE,
        cookie,
        max_age=SESSION_S,
        httponly=True,
        samesite="lax",
        secure=is_secure,
    )
    return answer


def _address(request: Request) -> str:
    return request.client.host if request.client else "this machine"


def _email_of(request: Request) -> str | None:
    """Who is logged in here by an invitation already."""
    try:
        return accepted(
            request.cookies.get(COOKIE, ""), Purpose.SESSION, data_folder().path
        ).email
    except IdentityError:
        return None


def _log_out(request: Request) -> Response:
    """End the session; where a provider or a proxy logged the visitor in, they are asked to forget it too."""
    folder = data_folder()
    email = _email_of(request)
    for name in (COOKIE, PROVIDER_COOKIE):
        cookie = request.cookies.get(name, "")
        if (
            cookie
            and _is_genuine(name, cookie)
            # Remembered once: repeated requests must not grow the list of ended sessions.
            and not is_logged_out(folder.path, cookie)
        ):
            log_out(folder.path, cookie)
    if email:
        note(
            folder, Actor(email, _address(request)), AuditAction.LOG_OUT, email
        )
    elsewhere = (
        OF_PROVIDER
        if PROVIDER_COOKIE in request.cookies
        else configured_proxy().logout
    )
    answer = RedirectResponse(elsewhere or "./", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return answer


def _is_genuine(name: str, cookie: str) -> bool:
    """Whether a cookie was given out here; others are invalid, and are not remembered."""
    if name == PROVIDER_COOKIE:
        return (
            decode_signed_value(
                get_cookie_secret(), name, cookie.encode("latin-1", "replace")
            )
            is not None
        )
    try:
        accepted(cookie, Purpose.SESSION, data_folder().path)
    except IdentityError:
        return False
    return True


ASKED = "crane_asked"
CALLBACK = "/oauth2callback"
MAX_CHARACTERS = 1_500
VALID_S = 900


class AskedPage:
    """ASGI middleware: notes the page at a visit without a session, and sends the browser there after the login."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
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
    return f"./{parts.path.strip('/')}" + (
        f"?{parts.query}" if parts.query else ""
    )


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
    jar[ASKED] |= {
        "path": "/",
        "max-age": seconds,
        "httponly": True,
        "samesite": "lax",
    }
    jar[ASKED]["secure"] = request.url.scheme == "https"
    return jar[ASKED].OutputString()
