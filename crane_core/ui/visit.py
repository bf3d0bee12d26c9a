"""The visitor, read from the connection (cookie or proxy's header), never from the page.

`visitor()` tells it to pages, `may(role)` what to offer, and `require(role)` guards an action. They work in callbacks
and fragments too, which run without the frame of a page, and see at once that a person was removed from the list.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from crane_core.errors import IdentityError
from crane_core.identity import logins
from crane_core.identity.logouts import is_logged_out, was_ended
from crane_core.identity.passes import Purpose, accepted
from crane_core.identity.proxy import configured_proxy
from crane_core.identity.roles import as_email, configured_roles
from crane_core.identity.visitor import ANYBODY, Role, Visitor
from crane_core.pipeline.places import data_folder
from crane_core.replica import refuse_on_replica, writer

COOKIE = "crane_session"
"""Holds the signed session of a visitor who opened an invitation."""
PROVIDER_COOKIE = "_streamlit_user"
"""Holds the identity from an OpenID Connect provider; Streamlit checks its signature."""


DAY_S = 24 * 3600


class Carried(NamedTuple):
    """What a browser's connection carried: what a proxy said, the session, and what a provider sent to Streamlit."""

    proxy: str | None
    session: str
    provider: str
    told: Mapping[str, Any]


class Arrival(NamedTuple):
    """`visitor` None: not admitted; `refusal` says why, if the visitor did log in."""

    visitor: Visitor | None
    refusal: str = ""


def visitor() -> Visitor:
    """The visitor. Raises IdentityError if a login is required and missing."""
    found = arrival()
    if found.visitor is None:
        raise IdentityError(
            found.refusal or "You are not logged in.",
            remedy="Load the page again and log in.",
        )
    return found.visitor


def require(role: Role) -> Visitor:
    """The visitor, who must have this role. Raises IdentityError."""
    found = visitor()
    if role > Role.VIEWER:
        refuse_on_replica()
    if not found.may(role):
        raise IdentityError(
            f"This needs the role {role}; you are logged in as {found.role}.",
            remedy="Ask the person who runs this server for that role.",
        )
    return found


def may(role: Role) -> bool:
    """Whether to offer the visitor an action of this role; not if a required login is missing."""
    try:
        return visitor().may(role)
    except IdentityError:
        return False


def require_still(brought: Carried, role: Role) -> None:
    """What `require` asks, of who carried this, where no page is drawn: a file that is made when it is fetched.

    Raises IdentityError.
    """
    found = arrival_of(brought).visitor
    if found is None or not found.may(role):
        raise IdentityError(
            f"This needs the role {role}.",
            remedy="Load the page again and log in.",
        )


def require_seat(annotator: str) -> None:
    """Raises IdentityError if the logged-in visitor is not this annotator; without logins any name is accepted."""
    found = require(Role.ANNOTATOR)
    if found.is_known and found.name != annotator:
        raise IdentityError(
            f"This desk is another person's; you are logged in as {found.name}.",
            remedy="Open your own desk on the Annotate page.",
        )


def arrival() -> Arrival:
    """The visitor, or why access is refused. Raises IdentityError if logins are misconfigured."""
    return arrival_of(carried())


def carried() -> Carried:
    """What the connection of the page that is drawn now carried; the door removed a header of anybody but a proxy."""
    header = configured_proxy().header
    said = st.context.headers.get_all(header) if header else []
    cookies = st.context.cookies
    told = dict(st.user) if st.user.get("is_logged_in") else {}
    return Carried(
        # Two headers of one name: a client sent one beside the proxy's, and it is not known which.
        said[0] if len(said) == 1 else None,
        cookies.get(COOKIE, ""),
        cookies.get(PROVIDER_COOKIE, ""),
        told,
    )


def arrival_of(brought: Carried) -> Arrival:
    """Who it is now that a connection carried this, also when no page is drawn. Raises IdentityError.

    On a replica each admitted visitor is a viewer.
    """
    roles = configured_roles()
    if roles is None:
        # Without a roles file there are no logins, and every visitor may do what the password allows.
        return Arrival(_here(ANYBODY))
    email, refusal = _verified_email(brought)
    if email is None:
        return Arrival(None, refusal)
    found = roles.visitor(email)
    return (
        Arrival(_here(found))
        if found
        else Arrival(None, f"{email} is not on this server's list of people.")
    )


def _here(found: Visitor) -> Visitor:
    return replace(found, role=Role.VIEWER) if writer() else found


def _verified_email(brought: Carried) -> tuple[str | None, str]:
    """The e-mail of who is logged in, else why there is none: that of a proxy, of an invitation, of a provider."""
    email = as_email(brought.proxy) if brought.proxy else None
    if email is not None:
        return email, ""
    email, refusal = _of_session(brought)
    if email is not None:
        return email, ""
    email, other = _of_provider(brought)
    return email, other or refusal


def login_of(
    brought: Carried, email: str, address: str
) -> tuple[str, logins.Login]:
    """The session that this connection belongs to, as it is now: the secret by which it is known, and what is noted."""
    now = time.time()
    if brought.proxy and as_email(brought.proxy) == email:
        # It ends at the proxy, which does not tell when: a day after the last visit it counts as ended.
        return f"{logins.BY_PROXY} {email}", logins.Login(
            email, now, now, now + DAY_S, logins.BY_PROXY, address
        )
    if _of_session(brought)[0] == email:
        known = accepted(brought.session, Purpose.SESSION, data_folder().path)
        return brought.session, logins.Login(
            email, known.issued, now, known.until, logins.BY_INVITATION, address
        )
    issued = brought.told.get("iat")
    since = float(issued) if isinstance(issued, int | float) else now
    return brought.provider, logins.Login(
        email, since, now, 0, logins.BY_PROVIDER, address
    )


def _of_session(brought: Carried) -> tuple[str | None, str]:
    folder = data_folder().path
    if not brought.session or is_logged_out(folder, brought.session):
        return None, ""
    try:
        return accepted(brought.session, Purpose.SESSION, folder).email, ""
    except IdentityError as error:
        return None, str(error)


def _of_provider(brought: Carried) -> tuple[str | None, str]:
    folder, told = data_folder().path, brought.told
    if not told or is_logged_out(folder, brought.provider):
        return None, ""
    email = as_email(str(told.get("email") or ""))
    if email is None:
        return None, "Your provider did not send your e-mail address."
    # Anyone can enter an address at some providers; only a verified one says who it is.
    if told.get("email_verified") is not True:
        return None, f"Your provider has not verified the address {email}."
    # A session that began before all of a person's sessions were ended is one of them.
    issued = told.get("iat")
    if was_ended(
        folder, email, float(issued) if isinstance(issued, int | float) else 0.0
    ):
        return None, "This session was ended. Log out, then log in again."
    return email, ""
