"""Messages of kernels as a websocket of a Jupyter server carries them, in both of its protocols.

Source: Jupyter Server, "WebSocket kernel wire protocols": the default one, JSON in a text frame, and
`v1.kernel.websocket.jupyter.org`, parts behind a table of offsets (64-bit, little-endian) in a binary frame.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

from jupyter_client.jsonutil import json_default

V1 = "v1.kernel.websocket.jupyter.org"
_WORD = 8
"""Bytes of an offset."""
_SHELL = "shell"
_PARTS = ("header", "parent_header", "metadata", "content")
_MOST_PARTS = 10_000


class KernelMessage(NamedTuple):
    """What came from a kernel. `parent` is the id of the request that it belongs to, empty where it has none."""

    channel: str
    kind: str
    parent: str
    content: dict[str, Any]


def packed(message: dict[str, Any], protocol: str | None) -> str | bytes:
    """A message of jupyter_client's Session, for the shell channel."""
    if protocol != V1:
        return json.dumps(
            message | {"channel": _SHELL, "buffers": []}, default=json_default
        )
    parts = [_SHELL.encode()]
    parts += [
        json.dumps(message[name], default=json_default).encode()
        for name in _PARTS
    ]
    # One offset for each part, and one for the end.
    place = _WORD * (1 + len(parts) + 1)
    offsets = [place]
    for part in parts:
        place += len(part)
        offsets.append(place)
    words = [len(offsets), *offsets]
    table = b"".join(word.to_bytes(_WORD, "little") for word in words)
    return table + b"".join(parts)


def unpacked(frame: str | bytes) -> KernelMessage:
    """A message of either protocol. Raises ValueError or RecursionError for anything else."""
    if isinstance(frame, str):
        told = json.loads(frame)
        channel = told.get("channel") if isinstance(told, dict) else None
    else:
        channel, told = _of_table(frame)
    if not isinstance(told, dict):
        raise ValueError("no message of a kernel")
    header, parent, content = (
        told.get(name) for name in ("header", "parent_header", "content")
    )
    if not isinstance(header, dict) or not isinstance(content, dict):
        raise ValueError("no message of a kernel")
    # Status messages of a kernel that restarts by itself have no parent.
    asked = parent.get("msg_id") if isinstance(parent, dict) else None
    return KernelMessage(
        str(channel), str(header.get("msg_type")), str(asked or ""), content
    )


def _of_table(frame: bytes) -> tuple[str, dict[str, Any]]:
    count = int.from_bytes(frame[:_WORD], "little")
    is_short = len(frame) < _WORD * (count + 1)
    if not len(_PARTS) + 2 <= count <= _MOST_PARTS or is_short:
        raise ValueError("no table of offsets")
    offsets = [
        int.from_bytes(frame[place : place + _WORD], "little")
        for place in range(_WORD, _WORD * (count + 1), _WORD)
    ]
    # Parts behind these are buffers of widgets, which no reply of ours has.
    edges = pairwise(offsets[: len(_PARTS) + 2])
    channel, *parts = [frame[start:end] for start, end in edges]
    told = {
        name: json.loads(part) for name, part in zip(_PARTS, parts, strict=True)
    }
    return channel.decode(), told
