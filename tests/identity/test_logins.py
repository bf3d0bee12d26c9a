"""Invitations that work once, and the list of who is logged in."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from crane_core.errors import IdentityError
from crane_core.identity.key import signing_key
from crane_core.identity.logins import (
    BY_INVITATION,
    BY_PROXY,
    FILE_NAME,
    Login,
    OpenedBeforeError,
    end_session,
    give_invitation,
    invitations,
    open_invitation,
    open_sessions,
    see,
)
from crane_core.identity.logouts import end_all, is_logged_out, log_out
from crane_core.identity.passes import Purpose, _serializer, new_pass, signed

ANA = "ana@lab.example"


def link(folder: Path, *, is_reusable: bool = False) -> str:
    issued = new_pass(ANA, seconds=600, is_reusable=is_reusable)
    give_invitation(folder, issued)
    return signed(issued, Purpose.INVITATION, signing_key(folder))


def test_an_invitation_works_once_and_a_reusable_one_until_it_expires(
    tmp_path: Path,
) -> None:
    once, often = link(tmp_path), link(tmp_path, is_reusable=True)
    assert open_invitation(tmp_path, once).email == ANA
    for _ in range(3):
        with pytest.raises(OpenedBeforeError):
            open_invitation(tmp_path, once)
        open_invitation(tmp_path, often)
    listed = {
        invitation.is_reusable: invitation
        for invitation in invitations(tmp_path)
    }
    assert (len(listed[False].opened), listed[False].is_open) == (1, False)
    assert (len(listed[True].opened), listed[True].is_open) == (3, True)


def test_a_link_of_an_older_version_works_once_from_now_on(
    tmp_path: Path,
) -> None:
    members = {
        "email": ANA,
        "until": int(time.time()) + 600,
        "serial": "old",
        "issued": time.time() - 60,
    }
    old = str(
        _serializer(Purpose.INVITATION, signing_key(tmp_path)).dumps(members)
    )
    assert open_invitation(tmp_path, old).email == ANA
    with pytest.raises(OpenedBeforeError):
        open_invitation(tmp_path, old)


def test_of_many_who_open_a_link_at_the_same_moment_one_comes_in(
    tmp_path: Path,
) -> None:
    once = link(tmp_path)
    came_in: list[str] = []
    together = threading.Barrier(8)

    def opening() -> None:
        together.wait()
        try:
            came_in.append(open_invitation(tmp_path, once).email)
        except OpenedBeforeError:
            return

    threads = [threading.Thread(target=opening) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert came_in == [ANA]


def login(
    email: str = ANA,
    *,
    since: float = 0,
    until: float = 600,
    way: str = BY_INVITATION,
) -> Login:
    now = time.time()
    return Login(email, now + since, now, now + until, way, "10.0.0.7")


def test_sessions_are_listed_until_they_end(tmp_path: Path) -> None:
    see(tmp_path, "cookie of ana", login())
    see(tmp_path, "cookie of ben", login("ben@lab.example"))
    see(tmp_path, "old cookie", login("cyd@lab.example", until=-1))
    see(tmp_path, "left", login("dan@lab.example"))
    see(tmp_path, "everything of eve", login("eve@lab.example", since=-5))
    log_out(tmp_path, "left")
    end_all(tmp_path, "eve@lab.example")
    found = open_sessions(tmp_path)
    assert sorted(session.email for session in found.values()) == [
        ANA,
        "ben@lab.example",
    ]
    name = next(name for name, session in found.items() if session.email == ANA)
    assert "cookie" not in (tmp_path / FILE_NAME).read_text()
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o077 == 0
    assert end_session(tmp_path, name[:12]).email == ANA
    assert is_logged_out(tmp_path, "cookie of ana")
    assert not is_logged_out(tmp_path, "cookie of ben")
    for unknown in (name, "", "no such"):
        with pytest.raises(IdentityError, match="No open session"):
            end_session(tmp_path, unknown)


def test_a_session_keeps_the_moment_it_began(tmp_path: Path) -> None:
    first = Login(
        ANA, 100.0, time.time() - 1_000, time.time() + 600, BY_PROXY, "10.0.0.7"
    )
    see(tmp_path, "proxy ana", first)
    see(tmp_path, "proxy ana", login(way=BY_PROXY))
    [found] = open_sessions(tmp_path).values()
    assert found.since == 100.0
    assert found.seen > first.seen
    with pytest.raises(IdentityError, match="by a proxy"):
        end_session(tmp_path, next(iter(open_sessions(tmp_path))))


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", json.dumps({"sessions": {"a": {}}, "invitations": {}})],
)
def test_a_damaged_list_opens_no_invitation(
    tmp_path: Path, content: str
) -> None:
    once = link(tmp_path)
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(IdentityError, match="damaged"):
        open_invitation(tmp_path, once)
