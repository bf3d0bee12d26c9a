"""Messages over websockets, compared with what Jupyter Server writes and reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session
from jupyter_server.services.kernels.connection.base import (
    deserialize_msg_from_ws_v1,
    serialize_msg_to_ws_v1,
)

from crane_core.runtime.remote.websocket import (
    V1,
    KernelMessage,
    packed,
    unpacked,
)

CONTENTS = st.dictionaries(st.text(), st.integers() | st.text())
PARTS = ("header", "parent_header", "metadata", "content")


def reply(content: dict[str, Any]) -> dict[str, Any]:
    """As a kernel sends it, with dates as text."""
    session = Session()
    parent = session.msg("execute_request")["header"] | {"msg_id": "asked"}
    message = session.msg("execute_reply", content, parent=parent)
    told: dict[str, Any] = json.loads(json.dumps(message, default=str))
    return told


@given(CONTENTS)
def test_requests_are_what_the_server_reads(content: dict[str, Any]) -> None:
    message = Session().msg("execute_request", content)
    frame = packed(message, V1)
    channel, parts = deserialize_msg_from_ws_v1(frame)
    told = dict(zip(PARTS, map(json.loads, parts), strict=True))
    assert (channel, told["content"]) == ("shell", content)
    assert told["header"]["msg_id"] == message["header"]["msg_id"]
    plain = json.loads(packed(message, None))
    assert (plain["channel"], plain["content"]) == ("shell", content)
    assert plain["header"]["msg_id"] == message["header"]["msg_id"]


@given(CONTENTS)
def test_replies_are_read_in_both_protocols(content: dict[str, Any]) -> None:
    message = reply(content)
    expected = KernelMessage("shell", "execute_reply", "asked", content)
    parts = [json.dumps(message[name]).encode() for name in PARTS]
    assert unpacked(json.dumps(message | {"channel": "shell"})) == expected
    for buffers in ([], [b"\0" * 9]):
        frame = serialize_msg_to_ws_v1([*parts, *buffers], "shell")
        assert unpacked(frame) == expected


@given(st.text() | st.binary() | st.integers(0, 2**64 - 1).map(
    lambda count: count.to_bytes(8, "little") + bytes(100)
))  # fmt: skip
def test_anything_else_is_a_value_error(frame: str | bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        unpacked(frame)
