"""Sends small messages at once instead of collecting them (Nagle's algorithm, RFC 896).

The server answers in two writes, head and body. With the algorithm on, the second waits for the browser's
acknowledgement of the first, which takes 40 ms, for each file and for many messages of a page.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_OPEN_FILES = Path("/dev/fd")


def send_at_once() -> int:
    """Set TCP_NODELAY on the sockets this process listens at, which the connections inherit; returns their number.

    asyncio does so itself where a socket was made with the protocol's number, but the one Streamlit binds was not.
    Where the system lists no open files (Windows), nothing is set.
    """
    numbers = (
        [int(file.name) for file in _OPEN_FILES.iterdir()]
        if _OPEN_FILES.is_dir()
        else []
    )
    return sum(_set(number) for number in numbers)


def _set(number: int) -> bool:
    """Whether this open file is a listening TCP socket; it sends at once from now on."""
    try:
        same = socket.socket(fileno=os.dup(number))
    except OSError:  # no socket, or closed since it was listed
        return False
    with same:
        if (
            same.family not in (socket.AF_INET, socket.AF_INET6)
            or same.type != socket.SOCK_STREAM
        ):
            return False
        if not same.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return True
