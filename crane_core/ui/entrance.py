"""Logs visitors in and out before Streamlit sees a request.

Opening an invitation gives the browser a session cookie, and `logout` removes it. Knows HTTP. Refuses to know what
pages show.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from crane_core.errors import IdentityError
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import is_logged_out, log_out
from crane_core.identity.passes import Purpose, accepted, new_pass, signed
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import configured_roles
from crane_core.identity.throttle import Throttle
from crane_core.identity.visitor import Role, Visitor
from crane_core.pipeline.places import data_folder
from crane_core.ui.visit import COOKIE, PROVIDER_COOKIE

SESSION_S = 14 * 24 * 3600
"""How long an opened invitation keeps a browser logged in."""
INVITATION, LOGOUT = "/invitation", "/logout"
OF_PROVIDER = "./auth/logout"
"""Streamlit's own logout, which also ends the session at the provider."""
_MISCONFIGURED = "Logins are misconfigured on this server. Tell the person who runs it; its log says more."
_LOG = logging.getLogger(__name__)


class Entrance:
    """ASGI middleware: invitations and logout."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._throttle = Throttle("invitation")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = self._answer(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        except IdentityError as error:
            _LOG.error("Nobody can log in: %s", error)
            answer = PlainTextResponse(_MISCONFIGURED, HTTPStatus.SERVICE_UNAVAILABLE)
        await (answer or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        path = scope["path"].rstrip("/")
        if path == LOGOUT:
            return _log_out(Request(scope))
        if path == INVITATION and configured_roles() is not None:
            return self._let_in(Request(scope))
        return None

    def _let_in(self, request: Request) -> Response:
        peer = request.client.host if request.client else ""
        if self._throttle.locked_s(peer):
            return PlainTextResponse(
                "Too many failed attempts. Try again in a few minutes.", HTTPStatus.TOO_MANY_REQUESTS
            )
        try:
            email = accepted(request.query_params.get("token", ""), Purpose.INVITATION, data_folder().path).email
        except IdentityError as error:
            self._throttle.failed(peer)
            return PlainTextResponse(str(error), HTTPStatus.FORBIDDEN)
        self._throttle.succeeded(peer)
        roles = configured_roles()
        visitor = roles.visitor(email) if roles else None
        if visitor is None:
            words = f"{email} is not on this server's list of people. Ask the person who runs it."
            return PlainTextResponse(words, HTTPStatus.FORBIDDEN)
        return _with_session(visitor, is_secure=request.url.scheme == "https")


def _with_session(visitor: Visitor, *, is_secure: bool) -> Response:
    answer = RedirectResponse("./annotate" if visitor.role is Role.ANNOTATOR else "./", HTTPStatus.SEE_OTHER)
    cookie = signed(new_pass(visitor.email, seconds=SESSION_S), Purpose.SESSION, signing_key(data_folder().path))
    answer.set_cookie(COOKIE, cookie, max_age=SESSION_S, httponly=True, samesite="lax", secure=is_secure)
    return answer


def _log_out(request: Request) -> Response:
    """End the session; where a provider or a proxy logged the visitor in, they are asked to forget it too."""
    folder = data_folder().path
    for name in (COOKIE, PROVIDER_COOKIE):
        cookie = request.cookies.get(name, "")
        if cookie and _is_genuine(name, cookie) and not is_logged_out(folder, cookie):
            log_out(folder, cookie)
    elsewhere = OF_PROVIDER if PROVIDER_COOKIE in request.cookies else configured_proxy().logout
    answer = RedirectResponse(elsewhere or "./", HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return answer


def _is_genuine(name: str, cookie: str) -> bool:
    """Whether a cookie was given out here; others are of nobody, and are not remembered."""
    if name == PROVIDER_COOKIE:
        return decode_signed_value(get_cookie_secret(), name, cookie.encode("latin-1", "replace")) is not None
    try:
        accepted(cookie, Purpose.SESSION, data_folder().path)
    except IdentityError:
        return False
    return True
