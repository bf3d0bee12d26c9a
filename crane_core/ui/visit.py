"""Who visits: read from what the browser's connection carried (cookie or proxy's header), never from the page.

`visitor()` tells it to pages, `may(role)` what to offer, and `require(role)` guards an action. They work in callbacks
and fragments too, which run without the frame of a page, and see at once that somebody was taken off the list.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from crane_core.errors import IdentityError
from crane_core.identity.key import signing_key
from crane_core.identity.logouts import is_logged_out
from crane_core.identity.passes import Purpose, opened
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import as_email, configured_roles
from crane_core.identity.visitor import ANYBODY, Role, Visitor
from crane_core.pipeline.places import data_folder

COOKIE = "crane_session"
"""Holds the signed session of somebody who opened an invitation."""
PROVIDER_COOKIE = "_streamlit_user"
"""Holds what an OpenID Connect provider told Streamlit, which checks its signature."""


class Arrival(NamedTuple):
    """`visitor` None: nobody who is let in; `refusal` says why where somebody did log in."""

    visitor: Visitor | None
    refusal: str = ""


def visitor() -> Visitor:
    """Who visits. Raises IdentityError where nobody is logged in who must be."""
    found = arrival()
    if found.visitor is None:
        raise IdentityError(found.refusal or "You are not logged in.", remedy="Load the page again and log in.")
    return found.visitor


def require(role: Role) -> Visitor:
    """Who visits, who may do what this role may. Raises IdentityError."""
    found = visitor()
    if not found.may(role):
        raise IdentityError(
            f"This needs the role {role}; you are logged in as {found.role}.",
            remedy="Ask the person who runs this server for that role.",
        )
    return found


def may(role: Role) -> bool:
    """Whether an action of this role is offered to who visits; not where nobody is logged in who must be."""
    try:
        return visitor().may(role)
    except IdentityError:
        return False


def require_seat(annotator: str) -> None:
    """Raises IdentityError where somebody is logged in who is not this annotator; without logins any name is taken."""
    found = require(Role.ANNOTATOR)
    if found.is_known and found.name != annotator:
        raise IdentityError(
            f"This desk is another person's; you are logged in as {found.name}.",
            remedy="Open your own desk on the Annotate page.",
        )


def arrival() -> Arrival:
    """Who visits, or why nobody is let in. Raises IdentityError where logins are misconfigured."""
    roles = configured_roles()
    if roles is None:
        return Arrival(ANYBODY)
    email, refusal = _verified_email()
    if email is None:
        return Arrival(None, refusal)
    found = roles.visitor(email)
    return Arrival(found, "" if found else f"{email} is not on this server's list of people.")


def _verified_email() -> tuple[str | None, str]:
    """The e-mail of who is logged in, else why there is none: that of a proxy, of an invitation, of a provider."""
    email = _of_proxy()
    if email is not None:
        return email, ""
    email, refusal = _of_session()
    if email is not None:
        return email, ""
    email, other = _of_provider()
    return email, other or refusal


def _of_proxy() -> str | None:
    """What the trusted header says; the door removed it where it came from anybody else."""
    header = configured_proxy().header
    said = st.context.headers.get_all(header) if header else []
    return as_email(said[0]) if len(said) == 1 else None


def _of_session() -> tuple[str | None, str]:
    cookie = st.context.cookies.get(COOKIE, "")
    if not cookie or is_logged_out(cookie):
        return None, ""
    try:
        return opened(cookie, Purpose.SESSION, signing_key(data_folder().path)).email, ""
    except IdentityError as error:
        return None, str(error)


def _of_provider() -> tuple[str | None, str]:
    if not st.user.get("is_logged_in") or is_logged_out(st.context.cookies.get(PROVIDER_COOKIE, "")):
        return None, ""
    email = as_email(str(st.user.get("email") or ""))
    if email is None:
        return None, "Your provider did not tell your e-mail address."
    if st.user.get("email_verified") is not True:
        return None, f"Your provider has not verified the address {email}."
    return email, ""
