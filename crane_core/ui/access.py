"""How a visitor gets in: logins, and passwords that count for a session; who leads; and who acts, for the audit log.

With logins, leads are visitors with that role; without, all visitors, or those who know the page's password.
"""

import hmac
import math
import os
from collections.abc import Mapping

import streamlit as st

from crane_core.domain import AuditAction
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.throttle import Throttle
from crane_core.identity.visitor import Role
from crane_core.pipeline.audit import Actor, actor_of, note
from crane_core.ui import data, keys
from crane_core.ui.documentation import ADDRESS
from crane_core.ui.visit import visitor
from crane_core.ui.words import literal

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
    # In constant time: how long a comparison takes must not tell how many letters are right.
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


VARIABLE = "CRANE_LEAD_PASSWORD"


def admitted_as_lead() -> bool:
    """Whether this visitor may see how annotators are doing; asks for the password where one is set."""
    return visitor().is_known or admitted(
        VARIABLE, key=keys.LEADING, heading="Campaigns"
    )


def is_leading() -> bool:
    """Without asking: whether this visitor has the role of a lead; without logins, whether no password is missing."""
    person = visitor()
    if person.is_known:
        return person.may(Role.LEAD)
    return not os.environ.get(VARIABLE) or bool(
        st.session_state.get(keys.LEADING)
    )


def draw_who_may_see() -> None:
    """One quiet line if nothing keeps annotators away from this page."""
    if not visitor().is_known and not os.environ.get(VARIABLE):
        st.caption(
            "Everyone who can open this app can open this page, including annotators. To protect it with a password, "
            f"start the app with `{VARIABLE}` set."
        )


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
    others = (
        "" if refusal else " Without one, ask the person who runs this server."
    )
    st.caption(
        f"If you have an invitation link, open it; it logs this browser in.{others} "
        f"[The documentation](.{ADDRESS}/index.html) needs no login."
    )
    if refusal:
        st.html(
            '<a class="cw-leave" href="./logout" target="_self">Log out</a>'
        )


def _providers() -> dict[str, str | None]:
    """Label of each button to the provider's section of `[auth]` in Streamlit's secrets; None is `[auth]` itself."""
    # Streamlit raises on reading secrets where no file of them exists.
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return {}
    auth = st.secrets["auth"]
    named = [
        name
        for name, entry in auth.items()
        # A section within `[auth]` is a provider, but for `client_kwargs`, which are of the one that is not
        # named.
        if isinstance(entry, Mapping) and name != "client_kwargs"
    ]
    return {f"Log in with {name}": name for name in named} or {"Log in": None}


def acting() -> Actor:
    """The visitor of the page that is drawn now."""
    return actor_of(visitor(), st.context.ip_address)


def note_act(action: AuditAction, what: str, detail: str = "") -> None:
    """Write what the visitor did to the audit log. Raises LedgerError."""
    note(data.folder(), acting(), action, what, detail)
