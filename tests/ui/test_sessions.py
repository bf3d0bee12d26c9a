"""What the door keeps of sessions goes with them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crane_core.ui import door
from crane_core.ui.visit import Carried

NOBODY = Carried(None, "", "", {})


def test_sessions_that_are_over_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    active = {"s0"}
    monkeypatch.setattr(door, "_admitted", {})
    monkeypatch.setattr(door, "exists", lambda: True)
    monkeypatch.setattr(
        door,
        "get_instance",
        lambda: SimpleNamespace(is_active_session=active.__contains__),
    )
    for number in range(50):
        monkeypatch.setattr(
            door,
            "get_script_run_ctx",
            lambda n=number: SimpleNamespace(session_id=f"s{n}"),
        )
        door.let_in(NOBODY)
    assert set(door._admitted) == {"s0", "s49"}
