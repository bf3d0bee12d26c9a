"""Cookies whose owners logged out: a page that is still open in another tab is no longer theirs.

Knows digests of cookies, of this process alone: after a restart the browser no longer sends them.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

MAX_KEPT = 10_000
_ended: OrderedDict[str, None] = OrderedDict()
_lock = Lock()


def log_out(cookie: str) -> None:
    """From now on nobody is logged in with this cookie."""
    with _lock:
        _ended[_digest(cookie)] = None
        while len(_ended) > MAX_KEPT:
            _ended.popitem(last=False)


def is_logged_out(cookie: str) -> bool:
    """Whether its owner logged out."""
    return _digest(cookie) in _ended


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).hexdigest()
