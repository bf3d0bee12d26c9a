"""Small messages go out at once: on listening TCP sockets, on nothing else, and on what they accept."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from crane_core.ui import server_process
from crane_core.ui.server_process import send_at_once


@pytest.mark.skipif(
    not Path("/dev/fd").is_dir(), reason="the system lists no open files"
)
def test_an_accepted_connection_inherits_it() -> None:
    with (
        socket.socket() as listening,
        socket.socket() as idle,
        socket.socket() as visitor,
    ):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert send_at_once() >= 1
        visitor.connect(listening.getsockname())
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not idle.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(
    not Path("/dev/fd").is_dir(), reason="the system lists no open files"
)
def test_files_pipes_and_other_sockets_are_left_alone(tmp_path: Path) -> None:
    before = send_at_once()
    reading, writing = os.pipe()
    left, right = socket.socketpair()
    with (
        (tmp_path / "file").open("w"),
        left,
        right,
        socket.socket(type=socket.SOCK_DGRAM),
    ):
        assert send_at_once() == before
    os.close(reading)
    os.close(writing)


def test_a_system_that_lists_no_files_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_process, "_OPEN_FILES", tmp_path / "absent")
    assert send_at_once() == 0
