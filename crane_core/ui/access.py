"""A password in front of a page: typed once, and valid for the session."""

from __future__ import annotations

import hmac
import math
import os

import streamlit as st

from crane_core.identity.throttle import Throttle

_THROTTLE = Throttle("password")


def admitted(variable: str, *, key: str, heading: str) -> bool:
    """Whether this visitor may go on: always, unless the environment sets `variable` and it was not given yet.

    Draws the question under `heading` where it is needed. `key` is where the session keeps the answer.
    """
    password = os.environ.get(variable)
    if not password or st.session_state.get(key):
        return True
    st.title(heading)
    with st.form(f"access{key}", width=380, border=False):
        given = st.text_input("Password", type="password")
        if st.form_submit_button("Open", type="primary"):
            _check(given, password, variable, key)
    return False


def _check(given: str, password: str, variable: str, key: str) -> None:
    """Admit the session, or say why not; a peer that fails several times is locked for a while."""
    peer = _peer()
    if wait_s := _THROTTLE.locked_s(peer):
        st.error(
            f"Too many wrong passwords. Try again in {math.ceil(wait_s / 60)} min."
        )
        return
    if hmac.compare_digest(given.encode(), password.encode()):
        _THROTTLE.succeeded(peer)
        st.session_state[key] = True
        st.rerun()
    _THROTTLE.failed(peer)
    st.error(
        f"That is not the password. The operator of this app set it as {variable}."
    )


def _peer() -> str:
    """The visitor's address; None for this machine."""
    return st.context.ip_address or ""
