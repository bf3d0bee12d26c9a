"""The address of a Jupyter server as people paste it, taken apart: server, token, kernel.

Knows the paths of Jupyter's own pages. Opens no connection, and never shows the token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from crane_core.domain import JsonObject
from crane_core.errors import KernelStartError

LONGEST = 4_000
"""Characters of an address; browsers take fewer."""
# A user of a JupyterHub may be called as a page is, so that pages are looked for behind the name.
_PAGE = re.compile(
    r"(?P<base>(?:.*?/user/[^/]+)?.*?)/(?:lab|tree|notebooks|edit|nbclassic|doc|consoles|login|api)(?:/.*)?"
)
_NOTEBOOK = re.compile(r".*?/(?:tree|notebooks)/(?P<path>.+\.ipynb)")
_FORM = "Paste the address of the server, such as https://jupyter.example/user/ana/#trip.ipynb."


@dataclass(frozen=True)
class ServerAddress:
    """`base` ends with a slash and holds no secret; `kernel` is an id, its beginning or a path, or empty."""

    base: str
    kernel: str
    token: str = field(default="", repr=False)

    @property
    def is_encrypted(self) -> bool:
        """Whether others on the way cannot read the token."""
        return self.base.startswith("https:")

    @property
    def is_this_machine(self) -> bool:
        """Whether the host is loopback, to which no proxy leads."""
        host = urlsplit(self.base).hostname or ""
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == "localhost" or host.endswith(".localhost")


class ChoiceOfKernelsError(KernelStartError):
    """Several kernels fit the address, or none does; `kernels` are those to choose from, as JSON."""

    def __init__(self, message: str, kernels: list[JsonObject]) -> None:
        super().__init__(
            message, remedy="Name one by its id: check --attach 'URL#ID'."
        )
        self.kernels = kernels


def is_address(text: str) -> bool:
    """Whether it names a server, and not a kernel of this machine."""
    return text.strip().lower().startswith(("http://", "https://"))


def read_address(text: str) -> ServerAddress:
    """The parts of a pasted address. Raises KernelStartError, whose words do not quote it: it may hold a token."""
    pasted = text.strip()
    if len(pasted) > LONGEST or not pasted.isprintable():
        raise _unreadable("is too long or holds control characters")
    try:
        parts = urlsplit(pasted)
        # Read here, since a port that is not a number raises only when it is used.
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise _unreadable("cannot be read") from error
    if not has_host:
        raise _unreadable("names no host")
    if "@" in parts.netloc:
        raise _unreadable("holds a user name or password before the host")
    # Some write the query behind the kernel; it would be shown as its name.
    kernel, _, late = parts.fragment.partition("?")
    queries = [
        parse_qs(query).get("token", [""]) for query in (parts.query, late)
    ]
    tokens = [found[0] for found in queries if found[0]]
    return ServerAddress(
        _base(parts),
        unquote(kernel).strip("/") or _open_notebook(parts.path),
        tokens[0] if tokens else "",
    )


def _base(parts: SplitResult) -> str:
    page = _PAGE.fullmatch(parts.path)
    path = page["base"] if page else parts.path
    return f"{parts.scheme.lower()}://{parts.netloc}{path.rstrip('/')}/"


def _open_notebook(path: str) -> str:
    """The notebook that a page of this path shows."""
    shown = _NOTEBOOK.fullmatch(path)
    return unquote(shown["path"]) if shown else ""


def _unreadable(why: str) -> KernelStartError:
    return KernelStartError(f"The address behind --attach {why}.", remedy=_FORM)
