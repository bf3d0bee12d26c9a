"""The proxy in front of the app: which peers are a proxy, and the header in which it names the visitor.

Forwarded headers count only from a proxy that CRANE_PROXY_FROM names; without it they are ignored. This machine
is treated as any other: with a port forwarded to it, or a shell on it, one could claim another address at each guess.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from crane_core.errors import IdentityError

HEADER = "CRANE_PROXY_HEADER"
FROM = "CRANE_PROXY_FROM"
LOGOUT = "CRANE_PROXY_LOGOUT"
FORWARDED = "FORWARDED_ALLOW_IPS"
"""The peers that uvicorn trusts before the app does: none, because only the true peer shows whether it is a proxy."""

_NAME = re.compile(r"[A-Za-z0-9-]+")
_WITH_PORT = re.compile(r"([0-9.]+):\d{1,5}|\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Proxy:
    """`header` None: the proxy does not log visitors in. `logout`: the address at which it logs them out."""

    header: str | None
    networks: tuple[Network, ...]
    logout: str | None = None

    def is_one(self, peer: str) -> bool:
        """Whether this address is a proxy's."""
        address = as_address(peer)
        return address is not None and any(
            address in network for network in self.networks
        )

    def visitor_of(self, forwarded: str) -> str | None:
        """The visitor's address in the X-Forwarded-For of a proxy: the last one there that does not belong to a proxy.

        What is before it, the visitor may have made up. None where it is not an address.
        """
        for part in reversed(forwarded.split(",")):
            address = as_address(part)
            if address is None:
                return None
            if not self.is_one(str(address)):
                return str(address)
        return None


def as_address(text: str) -> Address | None:
    """The address, without the port that some proxies add; IPv4 also where it is written as IPv6."""
    text = text.strip()
    if found := _WITH_PORT.fullmatch(text):
        text = found[1] or found[2]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def configured_proxy(environ: Mapping[str, str] | None = None) -> Proxy:
    """The configuration of the environment. Raises IdentityError if a network or the header is invalid.

    Also if there is a header without a proxy to trust: anybody could claim to be anybody.
    """
    environ = os.environ if environ is None else environ
    header = environ.get(HEADER, "").strip()
    if header and not _NAME.fullmatch(header):
        raise IdentityError(
            f"{HEADER} cannot be a header's name.",
            remedy="Set it like X-Forwarded-Email.",
        )
    names = [
        part.strip()
        for part in environ.get(FROM, "").split(",")
        if part.strip()
    ]
    if header and not names:
        raise IdentityError(
            f"{HEADER} is set, but no proxy is named that may send it.",
            remedy=f"Set {FROM} to the proxy's address: 127.0.0.1 for one on this machine.",
        )
    try:
        networks = tuple(ipaddress.ip_network(name) for name in names)
    except ValueError as error:
        raise IdentityError(
            f"{FROM} does not list addresses and networks: {error}.",
            remedy="Set it like 127.0.0.1,10.0.0.0/24.",
        ) from error
    return Proxy(
        header or None, networks, environ.get(LOGOUT, "").strip() or None
    )
