"""Several failures of one peer lock it for a while. Knows peers by their address; refuses to know what failed."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_network
from threading import Lock

from crane_core.identity.proxy import as_address

MAX_FAILURES = 5
WINDOW_S = 300.0
LOCK_S = 300.0
MAX_PEERS = 10_000
IPV6_PREFIX = 64
"""Bits of an IPv6 address that one household or office shares; within them a peer has as many addresses as it likes."""
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Record:
    failures: list[float] = field(default_factory=list)
    locked_until: float = 0.0


class Throttle:
    """Counts failures by peer. `what` names what fails in the log, which never holds the secret itself."""

    def __init__(
        self, what: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._clock = clock
        self._peers: OrderedDict[str, _Record] = OrderedDict()
        self._lock = Lock()

    def locked_s(self, peer: str) -> float:
        """For how many seconds this peer may not try; 0: it may."""
        with self._lock:
            record = self._peers.get(_who(peer))
            return (
                max(0.0, record.locked_until - self._clock()) if record else 0.0
            )

    def failed(self, peer: str) -> None:
        """Count one more failure, which may lock the peer."""
        peer = _who(peer)
        now = self._clock()
        with self._lock:
            record = self._peers.setdefault(peer, _Record())
            self._peers.move_to_end(peer)
            while len(self._peers) > MAX_PEERS:
                self._peers.popitem(last=False)
            record.failures = [
                at for at in record.failures if at > now - WINDOW_S
            ] + [now]
            n_failures = len(record.failures)
            if n_failures >= MAX_FAILURES:
                record.failures, record.locked_until = [], now + LOCK_S
        _LOG.warning(
            "Wrong %s from %s (%d of %d)",
            self._what,
            peer[:60] or "this machine",
            n_failures,
            MAX_FAILURES,
        )
        if n_failures >= MAX_FAILURES:
            _LOG.warning(
                "%s is locked for %.0f s", peer[:60] or "this machine", LOCK_S
            )

    def succeeded(self, peer: str) -> None:
        """Forget the peer's failures."""
        with self._lock:
            self._peers.pop(_who(peer), None)


def _who(peer: str) -> str:
    """The peer as it is counted: an IPv4 address, or the network of an IPv6 address."""
    address = as_address(peer)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX), strict=False))
    return str(address or peer)
