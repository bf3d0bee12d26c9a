"""Logging in with a real OpenID Connect provider, in a real browser: who gets access, as whom, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from benchmarks._server import free_port, serve

from .conftest import LOOPBACK, TIMEOUT_MS, WIDE, slow
from .screen import (
    TITLES,
    arrives,
    click_button,
    path,
    sees,
    settled,
    shows_title,
    visit,
)
from .test_accessibility import violations

LISTED = """
"lea@lab.example" = "lead"
"vic@lab.example" = "viewer"
"ada@lab.example" = "admin"
"""
PEOPLE = [
    User(
        sub="lea", claims={"email": "Lea@Lab.example", "email_verified": True}
    ),
    User(
        sub="vic", claims={"email": "vic@lab.example", "email_verified": True}
    ),
    User(
        sub="stranger",
        claims={"email": "eve@lab.example", "email_verified": True},
    ),
    User(
        sub="unverified",
        claims={"email": "ada@lab.example", "email_verified": False},
    ),
    User(
        sub="unsaid",
        claims={"email": "ada@lab.example", "email_verified": "true"},
    ),
    User(sub="nameless", claims={"email": "", "email_verified": True}),
]
ASKED = "If you have an invitation link, open it; it logs this browser in."


class LoginLab(NamedTuple):
    """An app whose visitors log in with the provider, and its roles file."""

    address: str
    roles: Path


@pytest.fixture(scope="module")
def lab(
    copy_of_embedded: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LoginLab]:
    place = tmp_path_factory.mktemp("logins")
    roles, secrets = place / "roles.toml", place / "secrets.toml"
    roles.write_text(LISTED)
    port = free_port()
    with run_server_in_thread(user_claims=PEOPLE) as provider:
        settings = {
            "redirect_uri": f"http://localhost:{port}/oauth2callback",
            "cookie_secret": "a secret of this test, which is long enough",
            "client_id": "crane",
            "client_secret": "any",
            "server_metadata_url": f"http://localhost:{provider.server_port}/.well-known/openid-configuration",
        }
        secrets.write_text(
            "[auth]\n"
            + "".join(
                f'{name} = "{value}"\n' for name, value in settings.items()
            )
        )
        logins = {
            "CRANE_ROLES": str(roles),
            "STREAMLIT_SECRETS_FILES": str(secrets),
        }
        with serve(copy_of_embedded, port=port, **logins):
            yield LoginLab(f"http://localhost:{port}", roles)


@contextmanager
def somebody(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile that reaches this machine alone: the provider's page asks for a style from elsewhere."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(TIMEOUT_MS)

    def pass_or_drop(route: Route) -> None:
        is_near = re.match(r"https?://([^/:]+)", route.request.url)
        if is_near and is_near[1] in LOOPBACK:
            route.continue_()
        else:
            route.abort()

    context.route("**/*", pass_or_drop)
    try:
        yield context
    finally:
        context.close()


def log_in(
    context: BrowserContext, lab: LoginLab, sub: str, path: str = "/"
) -> Page:
    """Go to the app, press the button, and say at the provider who one is."""
    page = context.new_page()
    page.goto(lab.address + path)
    click_button(page, "Log in", exact=True)
    page.get_by_placeholder("sub").fill(sub)
    click_button(page, "Authorize", exact=True)
    page.wait_for_url(f"{lab.address}/**")
    return page


def log_out(page: Page) -> None:
    """Log out of the app, which leads to the provider, and there too."""
    page.get_by_role("link", name="Log out").click()
    click_button(page, "End session")


def test_somebody_who_is_listed_is_let_in_with_that_role(
    lab: LoginLab, browser: Browser
) -> None:
    with somebody(browser) as context:
        page = log_in(context, lab, "lea", "/campaigns")
        expect(page.locator(".cw-who")).to_have_text("lea")
        expect(page.get_by_role("heading", name="New campaign")).to_be_visible()
        assert path(settled(page)) == "/campaigns"
        visit(page, "Data")
        sees(page, "Importing needs the role admin.")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.slow
def test_what_a_login_shows_is_accessible(
    lab: LoginLab, browser: Browser, theme: Literal["light", "dark"]
) -> None:
    with somebody(browser) as context:
        page = context.new_page()
        page.emulate_media(color_scheme=theme)
        page.goto(lab.address)
        expect(
            page.get_by_role("button", name="Log in", exact=True)
        ).to_be_visible()
        assert violations(settled(page)) == []
        page = log_in(context, lab, "vic")
        page.emulate_media(color_scheme=theme)
        page.goto(f"{lab.address}/campaigns")
        page.locator(".cw-who").click()
        sees(page, "vic@lab.example, viewer", exact=True)
        assert violations(settled(page)) == []
    with somebody(browser) as context:
        page = log_in(context, lab, "stranger")
        page.emulate_media(color_scheme=theme)
        expect(page.get_by_role("link", name="Log out")).to_be_visible()
        assert violations(settled(page)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sub", "told"),
    [
        ("stranger", "eve@lab.example is not on this server's list of people."),
        slow(
            "unverified",
            "Your provider has not verified the address ada@lab.example.",
        ),
        slow(
            "unsaid",
            "Your provider has not verified the address ada@lab.example.",
        ),
        slow("nameless", "Your provider did not send your e-mail address."),
    ],
)
def test_somebody_else_is_told_why_not(
    lab: LoginLab, browser: Browser, sub: str, told: str
) -> None:
    with somebody(browser) as context:
        page = log_in(context, lab, sub)
        sees(page, told)
        assert page.locator(".cw-tools").count() == 0
        page.goto(f"{lab.address}/data")
        sees(page, told)
        log_out(page)
        sees(page, ASKED)
        expect(page.get_by_text(told)).to_have_count(0)


@pytest.mark.slow
def test_two_people_at_once_keep_their_roles(
    lab: LoginLab, browser: Browser
) -> None:
    with somebody(browser) as one, somebody(browser) as other:
        lead, viewer = log_in(one, lab, "lea"), log_in(other, lab, "vic")
        for page in (lead, viewer):
            page.goto(f"{lab.address}/campaigns")
        sees(
            viewer,
            "This page needs the role lead; you are logged in as vic@lab.example, viewer.",
        )
        shows_title(viewer, "Campaigns")
        expect(lead.get_by_role("heading", name="New campaign")).to_be_visible()
        expect(viewer.locator(".cw-who")).to_have_text("vic")


@pytest.mark.slow
def test_logging_out_ends_every_tab(lab: LoginLab, browser: Browser) -> None:
    with somebody(browser) as context:
        page = log_in(context, lab, "lea")
        other = context.new_page()
        other.goto(f"{lab.address}/results")
        arrives(other, TITLES["/results"])
        page.locator(".cw-who").click()
        sees(page, "lea@lab.example, lead")
        log_out(page)
        sees(page, ASKED)
        page.goto(f"{lab.address}/campaigns")
        sees(page, ASKED)
        other.get_by_role("tab", name="Kinds of crash").click()
        sees(other, ASKED)


@pytest.mark.slow
def test_a_cookie_that_somebody_changed_is_of_nobody(
    lab: LoginLab, browser: Browser
) -> None:
    with somebody(browser) as context:
        page = log_in(context, lab, "lea")
        expect(page.locator(".cw-who")).to_have_text("lea")
        found = {cookie["name"]: cookie for cookie in context.cookies()}[
            "_streamlit_user"
        ]
        assert found["httpOnly"]
        assert found["sameSite"] == "Lax"
        place = len(found["value"]) // 2
        other = "A" if found["value"][place] != "A" else "B"
        changed = found["value"][:place] + other + found["value"][place + 1 :]
        context.add_cookies(
            [{"name": found["name"], "value": changed, "url": lab.address}]
        )
        page.goto(f"{lab.address}/campaigns")
        sees(page, ASKED)
