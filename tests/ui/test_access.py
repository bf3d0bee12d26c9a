"""The shared password: it admits a session, and several wrong ones lock the peer for a while."""

from __future__ import annotations

import logging
import sys

import pytest
from streamlit.testing.v1 import AppTest

from crane_core.identity.throttle import MAX_FAILURES, Throttle
from crane_core.ui import access

PASSWORD = "open sésame"


def page() -> None:
    import streamlit as st

    from crane_core.ui.access import admitted

    if admitted("CRANE_TEST_PASSWORD", key="in", heading="Crane"):
        st.write("inside")


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("CRANE_TEST_PASSWORD", PASSWORD)
    monkeypatch.setattr(access, "_THROTTLE", Throttle("password"))
    monkeypatch.setattr(
        access, "_peer", lambda: "10.0.0.7"
    )  # a page that is only tried out has no peer
    # A script that runs in this process becomes its main module, which later tests' processes would start with.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return AppTest.from_function(page).run()


def give(visit: AppTest, password: str) -> str:
    """Type it and press the button; what the page says then."""
    visit.text_input[0].input(password)
    visit.button[0].click().run()
    return " ".join(
        element.value for element in (*visit.error, *visit.markdown)
    )


def test_the_password_admits_a_session(visit: AppTest) -> None:
    assert "That is not the password" in give(visit, "guess")
    assert give(visit, PASSWORD) == "inside"
    assert visit.run().markdown[0].value == "inside"


def test_several_wrong_passwords_lock_the_peer(
    visit: AppTest, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for number in range(MAX_FAILURES):
            assert "That is not the password" in give(visit, f"guess {number}")
    for password in (PASSWORD, "guess"):
        assert (
            give(visit, password)
            == "Too many wrong passwords. Try again in 5 min."
        )
    assert "Wrong password from 10.0.0.7 (5 of 5)" in caplog.text
    assert "guess" not in caplog.text
    assert PASSWORD not in caplog.text
