"""The proxy in front of the app: which peers are a proxy, and the header in which it names the visitor.

Forwarded headers count only from a proxy; without CRANE_PROXY_FROM, peers of this machine are proxies.
"""

from __future__ import annotations

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

LOOPBACK = ("127.0.0.0/8", "::1/128")
_NAME = re.compile(r"[A-Za-z0-9-]+")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Proxy:
    """`header` None: the proxy does not log visitors in. `logout`: the address at which it logs them out."""

    header: str | None
    networks: tuple[Network, ...]
    logout: str | None = None

    def is_one(self, peer: str) -> bool:
        """Whether this address is a proxy's."""
        try:
            address = ipaddress.ip_address(peer)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self.networks)


def configured_proxy(environ: Mapping[str, str] | None = None) -> Proxy:
    """The configuration of the environment. Raises IdentityError if a network or the header is invalid."""
    environ = os.environ if environ is None else environ
    header = environ.get(HEADER, "").strip()
    if header and not _NAME.fullmatch(header):
        raise IdentityError(f"{HEADER} cannot be a header's name.", remedy="Set it like X-Forwarded-Email.")
    names = [part.strip() for part in environ.get(FROM, "").split(",") if part.strip()] or LOOPBACK
    try:
        networks = tuple(ipaddress.ip_network(name) for name in names)
    except ValueError as error:
        raise IdentityError(
            f"{FROM} does not list addresses and networks: {error}.", remedy="Set it like 127.0.0.1,10.0.0.0/24."
        ) from error
    return Proxy(header or None, networks, environ.get(LOGOUT, "").strip() or None)
