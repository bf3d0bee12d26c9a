"""What a visitor without access sees: how to log in, or why the login failed."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from crane_core.identity.proxy import configured_proxy
from crane_core.ui.documentation import ADDRESS
from crane_core.ui.words import literal


def draw_login(refusal: str) -> None:
    """The configured ways to log in; `refusal`: why a visitor who logged in has no access."""
    st.title("Crane Workbench")
    with st.container():  # one element below the title, so that a desk that waits keeps its place; see draw_closed
        _draw_ways(refusal)


def _draw_ways(refusal: str) -> None:
    if refusal:
        st.warning(literal(f"{refusal} Ask the person who runs this server."))
    for label, provider in _providers().items():
        if st.button(label, type="primary", key=f"log_in_{provider}"):
            st.login(provider)
    if configured_proxy().header:
        st.markdown(
            "This server's proxy logs visitors in, but it did not name you. Open the app at the proxy's address."
        )
    others = "" if refusal else " Without one, ask the person who runs this server."
    st.caption(
        f"If you have an invitation link, open it; it logs this browser in.{others} "
        f"[The documentation](.{ADDRESS}/index.html) needs no login."
    )
    if refusal:
        st.html('<a class="cw-leave" href="./logout" target="_self">Log out</a>')


def _providers() -> dict[str, str | None]:
    """Label of each button to the provider's section of `[auth]` in Streamlit's secrets; None is `[auth]` itself."""
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return {}
    auth = st.secrets["auth"]
    named = [
        name
        for name, entry in auth.items()
        if isinstance(entry, Mapping) and name != "client_kwargs"
    ]
    return {f"Log in with {name}": name for name in named} or {"Log in": None}
