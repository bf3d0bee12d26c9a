"""What has ended stays so: after a restart, from another process, and however many end at once."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crane_core.errors import IdentityError
from crane_core.identity import logouts
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import (
    FILE_NAME,
    KEPT_S,
    end_all,
    is_logged_out,
    log_out,
    was_ended,
)
from crane_core.identity.passes import Purpose, accepted, new_pass, signed

ANA, BEN = "ana@lab.example", "ben@lab.example"
LOG_OUT = "import sys; from pathlib import Path; from crane_core.identity.logouts import log_out\n"


def given(folder: Path, email: str, purpose: Purpose = Purpose.SESSION) -> str:
    return signed(new_pass(email, seconds=600), purpose, signing_key(folder))


def test_a_cookie_is_of_nobody_once_its_owner_logged_out(
    tmp_path: Path,
) -> None:
    assert not is_logged_out(tmp_path, "some cookie")
    log_out(tmp_path, "some cookie")
    assert is_logged_out(tmp_path, "some cookie")
    assert not is_logged_out(tmp_path, "another cookie")
    written = (tmp_path / FILE_NAME).read_text()
    assert "some cookie" not in written
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_everything_that_one_person_had_ends_and_what_comes_later_does_not(
    tmp_path: Path,
) -> None:
    before = [(given(tmp_path, ANA, purpose), purpose) for purpose in Purpose]
    of_ben = given(tmp_path, BEN)
    end_all(tmp_path, ANA)
    for text, purpose in before:
        with pytest.raises(IdentityError, match="was ended"):
            accepted(text, purpose, tmp_path)
    assert accepted(of_ben, Purpose.SESSION, tmp_path).email == BEN
    assert (
        accepted(given(tmp_path, ANA), Purpose.SESSION, tmp_path).email == ANA
    )


def test_a_pass_of_an_older_version_ends_too(tmp_path: Path) -> None:
    assert not was_ended(tmp_path, ANA, 0.0)
    end_all(tmp_path, ANA)
    assert was_ended(tmp_path, ANA, 0.0)
    assert not was_ended(tmp_path, BEN, 0.0)


def test_processes_that_log_out_at_once_lose_none(
    tmp_path: Path, root: Path
) -> None:
    program = (
        LOG_OUT
        + "[log_out(Path(sys.argv[1]), sys.argv[2] + str(n)) for n in range(20)]"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), name], cwd=root
        )
        for name in ("a", "b", "c")
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert all(
        is_logged_out(tmp_path, f"{name}{n}")
        for name in "abc"
        for n in range(20)
    )


def test_what_has_expired_by_itself_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_out(tmp_path, "old")
    end_all(tmp_path, ANA)
    later = time.time() + KEPT_S + 1
    monkeypatch.setattr(logouts.time, "time", lambda: later)
    log_out(tmp_path, "new")
    body = json.loads((tmp_path / FILE_NAME).read_text())
    assert (len(body["cookies"]), body["people"]) == (1, {})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"cookies": {}}', '{"cookies": {"a": "x"}, "people": {}}'],
)
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    session = given(tmp_path, ANA)
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(IdentityError, match="damaged"):
        accepted(session, Purpose.SESSION, tmp_path)
