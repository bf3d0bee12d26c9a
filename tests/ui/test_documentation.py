"""The documentation on the app's own server, before any login: the built site, or its texts where none was built."""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from crane_core.ui import documentation
from crane_core.ui.documentation import OF_PAGES, Documentation, help_address
from crane_core.ui.door import HEADERS, door
from crane_core.ui.refusal import refusal_words

SCRIPT = "start()"


class DocumentAnswer:
    """What the middleware sent."""

    def __init__(self, messages: list[Message]) -> None:
        self.status: int = messages[0]["status"]
        self.headers: Mapping[str, str] = {
            key.decode(): value.decode()
            for key, value in messages[0]["headers"]
        }
        self.text = b"".join(
            message.get("body", b"") for message in messages[1:]
        ).decode("utf-8", "replace")


def asked(path: str, method: str = "GET") -> DocumentAnswer:
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 299, "headers": []}
        )

    async def receive() -> Message:
        return {"type": "http.disconnect"} if sent else await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "path": path,
        "method": method,
        "headers": [],
        "query_string": b"",
        "root_path": "",
    }
    asyncio.run(Documentation(app, HEADERS)(scope, receive, send))
    return DocumentAnswer(sent)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    (site / "engineer").mkdir(parents=True)
    (site / "engineer" / "check.html").write_text(
        f"<h1>Check</h1><script>{SCRIPT}</script>", "utf-8"
    )
    (site / "index.html").write_text("<h1>Start</h1>", "utf-8")
    (site / "site.css").write_text("h1 {}", "utf-8")
    (tmp_path / "secret.html").write_text("secret", "utf-8")
    monkeypatch.setattr(documentation, "SITE", site)
    return site


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documentation, "SITE", tmp_path / "none")


def test_a_built_page_may_run_its_own_scripts_and_no_others(
    built: Path,
) -> None:
    answer = asked("/docs/engineer/check.html")
    assert (answer.status, answer.headers["content-type"]) == (
        200,
        "text/html; charset=utf-8",
    )
    policy = answer.headers["content-security-policy"]
    [scripts] = re.findall(r"script-src ([^;]*)", policy)
    assert re.fullmatch(r"'self' 'sha256-[\w+/]{43}='", scripts)
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("path", "text"),
    [("/docs/", "<h1>Start</h1>"), ("/docs/site.css", "h1 {}")],
)
def test_the_start_and_other_files_of_the_site(
    built: Path, path: str, text: str
) -> None:
    assert (asked(path).status, asked(path).text) == (200, text)


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../secret.html",
        "/docs/none.html",
        "/docs/engineer",
        "/docs//etc/passwd",
    ],
)
def test_nothing_else_is_found(built: Path, path: str) -> None:
    assert asked(path).status == 404


def test_the_address_without_a_slash_leads_on(built: Path) -> None:
    answer = asked("/docs")
    assert (answer.status, answer.headers["location"]) == (307, "/docs/")


def test_help_of_an_address_that_names_no_page_is_that_of_the_start_page() -> (
    None
):
    assert help_address("casess") == help_address("overview")


@pytest.mark.parametrize("page", OF_PAGES)
def test_where_nothing_was_built_the_help_of_each_page_is_drawn(
    unbuilt: None, page: str
) -> None:
    answer = asked(help_address(page).removeprefix("."))
    assert (answer.status, answer.headers["content-type"]) == (
        200,
        "text/html; charset=utf-8",
    )
    assert "<h1" in answer.text and "<code>make docs</code>" in answer.text
    assert "script-src 'self';" in answer.headers["content-security-policy"]


def test_where_nothing_was_built_no_link_is_dead(unbuilt: None) -> None:
    to_read, read = ["/docs/index.html"], set()
    while to_read:
        address = to_read.pop()
        if address in read:
            continue
        read.add(address)
        answer = asked(address)
        assert answer.status == 200, address
        if not address.endswith(".html"):
            continue
        names = re.findall(r'(?:href|src)="(?![a-z]+:|#)([^"#]+)', answer.text)
        to_read += [
            posixpath.normpath(posixpath.join(posixpath.dirname(address), n))
            for n in names
        ]
    assert len(read) > 50
    assert not [address for address in read if address.endswith(".md")]


def test_pictures_of_the_texts_are_there_too(unbuilt: None) -> None:
    assert asked("/docs/pictures/try.png").status == 200
    assert asked("/docs/pictures/none.png").status == 404


def test_only_reading_is_allowed(built: Path) -> None:
    assert asked("/docs/", "POST").status == 405


def test_other_addresses_reach_the_app(built: Path) -> None:
    assert [asked(path).status for path in ("/", "/docsify", "/cases")] == [
        299
    ] * 3


def test_the_server_has_it_before_the_login() -> None:
    classes = [each.cls.__name__ for each in door()]
    assert (
        classes.index("TrustedHostMiddleware")
        < classes.index("Documentation")
        < classes.index("Entrance")
    )


def test_a_document_that_a_remedy_names_is_a_link_on_the_page(
    unbuilt: None,
) -> None:
    words = refusal_words(
        "The file is malformed.",
        "docs/admin/server.md shows an example of the file.",
    )
    [address] = re.findall(
        r"\[docs/admin/server\.md\]\(\.(/docs/[^)]+)\) shows an example", words
    )
    assert ">On a server</h1>" in asked(address).text
