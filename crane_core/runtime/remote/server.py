"""A Jupyter server over HTTP: what it is, whether it admits us, and its JSON.

Knows tokens, the login form, redirects and certificates. The secret goes to the address that was named and nowhere
else, and into no message. Refuses to start, restart and end kernels: it sends GET, and one POST to log in.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urljoin, urlsplit

import httpx2

from crane_core.errors import KernelStartError, NotebookError
from crane_core.runtime.endings import short
from crane_core.runtime.limits import MIB
from crane_core.runtime.remote.address import ServerAddress

WAIT_S = 20.0
"""For one answer, from the connection to its last byte."""
MOST_REPLY = 64 * MIB
"""Bytes of one answer; a saved notebook with its outputs is the largest."""
TOKEN = "CRANE_JUPYTER_TOKEN"  # noqa: S105 - the name of a variable
Ask = Callable[[str], str]
"""Asks the person at the terminal for the secret of the server with this address."""
_SECRET = (
    f"Set {TOKEN}, use --token-file FILE, or paste an address with its token."
)


class RefusedError(KernelStartError):
    """The server wants a token or a password, or another one."""


class ServerReply(NamedTuple):
    """`location` is where a redirect leads, empty otherwise."""

    status: int
    body: bytes
    location: str


def tls(ca_file: Path | None, *, is_any_accepted: bool) -> ssl.SSLContext:
    """What certificates are accepted: of known authorities, also those in a PEM file, or any. Raises NotebookError."""
    context = httpx2.create_ssl_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise NotebookError(
                f"{ca_file.name} is not a readable file of certificates.",
                remedy="Name a PEM file with --ca-file.",
            ) from error
    if is_any_accepted:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


class JupyterServer:
    """One server for one command. `secret` is a token or a password, empty where none is known."""

    def __init__(
        self,
        address: ServerAddress,
        secret: str = "",
        encryption: ssl.SSLContext | None = None,
    ) -> None:
        self.address, self.encryption = address, encryption
        self._secret = secret
        self._client = httpx2.Client(
            # Without one the address is http://, and no certificate will be looked at.
            verify=encryption if encryption is not None else False,
            timeout=WAIT_S,
            # A redirect could lead the token to another host.
            follow_redirects=False,
            trust_env=not address.is_this_machine,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._client.close()

    def log_in(self, ask: Ask | None = None) -> None:
        """Log in, after `ask` where the server wants a secret and none is known. Raises KernelStartError."""
        # Without the token, which is not for a server of another kind. A gateway wants it even here.
        if not _is_refusal(reply := self._send("GET", "api")):
            about = self._json(reply)
            if not isinstance(about, dict) or "version" not in about:
                raise self._no_jupyter("its answer is another one")
        if not self._secret and not self._is_let_in() and ask is not None:
            self._secret = ask(self.address.base)
        if self._secret and not self._is_let_in_with_secret():
            raise RefusedError(
                f"{self.address.base} refuses this token or password.",
                remedy="Copy it again; tokens change when a server starts.",
            )
        if not self._secret and not self._is_let_in():
            raise RefusedError(
                f"{self.address.base} wants a token or a password.",
                remedy=_SECRET,
            )

    def get(self, path: str) -> Any:
        """The JSON at a path below the server's address; None for HTTP 404. Raises KernelStartError."""
        reply = self._send("GET", path)
        if reply.status == httpx2.codes.NOT_FOUND:
            return None
        return self._json(reply)

    def _json(self, reply: ServerReply) -> Any:
        if reply.status != httpx2.codes.OK:
            raise self._unexpected(reply)
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise self._no_jupyter("its answer is not JSON") from error

    def headers(self, path: str) -> dict[str, str]:
        """What a websocket to this path sends to log in."""
        request = self._client.build_request("GET", self._url(path))
        wanted = ("authorization", "cookie", "x-xsrftoken")
        return {
            name: request.headers[name]
            for name in wanted
            if name in request.headers
        }

    def websocket_url(self, path: str) -> str:
        """The same address for a websocket."""
        return "ws" + self._url(path).removeprefix("http")

    def shown(self, words: object) -> str:
        """Words of the server or of a library on one line, without the secret."""
        text = str(words)
        return short(text.replace(self._secret, "…") if self._secret else text)

    def _is_let_in(self) -> bool:
        # Kernelspecs, since a gateway may hide its list of kernels from everybody.
        reply = self._send("GET", "api/kernelspecs")
        if reply.status == httpx2.codes.OK:
            return True
        if _is_refusal(reply):
            return False
        raise self._unexpected(reply)

    def _is_let_in_with_secret(self) -> bool:
        if self._secret.isascii() and self._secret.isprintable():
            self._client.headers["Authorization"] = f"token {self._secret}"
            if self._is_let_in():
                return True
            del self._client.headers["Authorization"]
        return self._passes_form() and self._is_let_in()

    def _passes_form(self) -> bool:
        """Whether Jupyter's login form takes the secret; it takes a password or a token."""
        page = self._send("GET", "login")
        xsrf = self._client.cookies.get("_xsrf")
        # A hub sends the browser to its own form, which is for another address.
        if page.status != httpx2.codes.OK or xsrf is None:
            return False
        self._client.headers["X-XSRFToken"] = xsrf
        fields = {"_xsrf": xsrf, "password": self._secret}
        return self._send("POST", "login", fields).status == httpx2.codes.FOUND

    def _send(
        self, method: str, path: str, fields: dict[str, str] | None = None
    ) -> ServerReply:
        late = time.monotonic() + WAIT_S
        try:
            with self._client.stream(
                method, self._url(path), data=fields
            ) as response:
                body = b""
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MOST_REPLY:
                        raise self._no_jupyter("its answer has no end")
                    # A byte now and then would pass the client's own time limit.
                    if time.monotonic() > late:
                        raise httpx2.ReadTimeout("")
                location = response.headers.get("location", "")
                return ServerReply(response.status_code, body, location)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreached(error) from error

    def _url(self, path: str) -> str:
        return urljoin(self.address.base, path)

    def _unexpected(self, reply: ServerReply) -> KernelStartError:
        base = self.address.base
        leads_to = urlsplit(reply.location).path
        # A hub leads to a page of its own while a user's server does not run; its API says 424 or 503.
        is_stopped = "/hub/user/" in leads_to
        if is_stopped or reply.status in (httpx2.codes.FAILED_DEPENDENCY, 503):
            return KernelStartError(
                f"The Jupyter server at {base} does not run.",
                remedy="Start it in the browser, then check again.",
            )
        if _is_refusal(reply) or _is_login(reply):
            return RefusedError(
                f"{base} asks for a login first.",
                remedy="Of a JupyterHub name https://HOST/user/NAME/, and a token of its Token page.",
            )
        if reply.location:
            where = urlsplit(urljoin(base, reply.location))
            # Without its query, which may hold a token.
            host = where.netloc.rpartition("@")[2]
            place = f"{where.scheme}://{host}{where.path}"
            return KernelStartError(
                f"{base} leads to {self.shown(place)}, which is not followed.",
                remedy="Name that address if it is the server's.",
            )
        return self._no_jupyter(f"HTTP {reply.status}")

    def _no_jupyter(self, why: str) -> KernelStartError:
        return KernelStartError(
            f"{self.address.base} does not answer as a Jupyter server: {why}.",
            remedy="Copy the address from the browser, or from the server's log.",
        )

    def _unreached(self, error: Exception) -> KernelStartError:
        base, remedy = self.address.base, "Check the address and the network."
        cause = _tls_error(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            what = f"The certificate of {base} is not accepted: {self.shown(cause.verify_message)}."
            remedy = "Name the authority's PEM file with --ca-file, or accept any certificate with --insecure."
        elif cause is not None:
            what = f"{base} does not speak TLS: {self.shown(cause.reason)}."
            remedy = "Use http:// if the server does."
        elif isinstance(error, httpx2.TimeoutException):
            what = f"{base} did not answer within {WAIT_S:g} s."
        else:
            words = self.shown(error) or type(error).__name__
            what = f"{base} cannot be reached: {words}."
        if isinstance(error, httpx2.RemoteProtocolError):
            remedy = "Use https:// if the server does."
        return KernelStartError(what, remedy=remedy)


def _is_refusal(reply: ServerReply) -> bool:
    # Jupyter's answer is 403, a gateway's 401.
    return reply.status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN)


def _is_login(reply: ServerReply) -> bool:
    """Whether the browser would be led to a page to log in."""
    path = urlsplit(reply.location).path
    return "/login" in path or "/hub/" in path


def _tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """The refusal of the handshake behind an error of the client."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error
        error = error.__cause__ or error.__context__
    return None
