"""A password in front of a page: who was asked once is admitted for the session."""

from __future__ import annotations

import hmac
import os

import streamlit as st


def admitted(variable: str, *, key: str, heading: str) -> bool:
    """Whether this visitor may go on: always, unless the environment sets `variable` and it was not given yet.

    Draws the question under `heading` where it must be asked. `key` is where the session keeps the answer.
    """
    password = os.environ.get(variable)
    if not password or st.session_state.get(key):
        return True
    st.title(heading)
    with st.form(f"access{key}", width=380, border=False):
        given = st.text_input("Password", type="password")
        if st.form_submit_button("Open", type="primary"):
            if hmac.compare_digest(given.encode(), password.encode()):
                st.session_state[key] = True
                st.rerun()
            st.error(f"That is not the password. The operator of this app set it as {variable}.")
    return False
