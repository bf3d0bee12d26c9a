"""The documentation site: it builds strictly, without a network, and its pages load nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from crane_core.ui.documentation import OF_PAGES
from crane_core.ui.navigation import page_files
from tests.built_documentation import build_documentation
from tests.house.test_packaging import make

LOADED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "object": "data",
}
NO_ASSET = {"canonical", "prev", "next"}
"""Values of `rel` with which a link loads nothing."""
FROM_STYLE = re.compile(r"""(?:url\(|@import )["']?((?:https?:)?//[^"')]+)""")


class Assets(HTMLParser):
    """The addresses from which a page loads something."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        told = dict(attrs)
        if tag == "link" and NO_ASSET & set((told.get("rel") or "").split()):
            return
        if address := told.get(LOADED.get(tag, "")):
            self.addresses.append(address)


def foreign(html: str) -> list[str]:
    """What a page loads from another address, in tags or in style."""
    reader = Assets()
    reader.feed(html)
    in_style = FROM_STYLE.findall(html)
    return [
        address
        for address in reader.addresses
        if re.match(r"(?:https?:)?//", address)
    ] + in_style


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_documentation(root, tmp_path_factory.mktemp("site"))


def test_the_site_builds_strictly_and_has_every_page(
    root: Path, site: Path
) -> None:
    pages = [
        path.relative_to(root / "docs").with_suffix(".html")
        for path in (root / "docs").rglob("*.md")
    ]
    assert [str(page) for page in pages if not (site / page).is_file()] == []


def test_no_page_loads_from_elsewhere(site: Path) -> None:
    found = {
        str(path.relative_to(site)): foreign(path.read_text("utf-8"))
        for path in site.rglob("*.html")
    }
    found |= {
        str(path.relative_to(site)): foreign(path.read_text("utf-8"))
        for path in site.rglob("*.css")
    }
    assert {
        name: addresses for name, addresses in found.items() if addresses
    } == {}


@pytest.mark.parametrize(
    "html",
    [
        "<script src=https://cdn.example/a.js></script>",
        "<link rel=stylesheet href=//fonts.example/a.css>",
        "<style>@import url(https://fonts.example/a.css)</style>",
    ],
)
def test_a_foreign_address_is_found(html: str) -> None:
    assert foreign(html)


def test_a_link_that_is_only_followed_is_none() -> None:
    assert (
        foreign(
            "<a href=https://example.org>there</a><link rel=canonical href=https://example.org>"
        )
        == []
    )


def test_each_page_of_the_app_has_a_page_that_explains_it(root: Path) -> None:
    assert list(OF_PAGES) == list(page_files())
    assert [
        page
        for page in OF_PAGES.values()
        if not (root / "docs" / f"{page}.md").is_file()
    ] == []


def test_make_docs_writes_the_page_of_commands_the_site_and_a_zip_of_it() -> (
    None
):
    told = make("--dry-run", "docs").stdout
    assert "tools.commands_page" in told
    assert "mkdocs build" in told and "--strict" in told
    assert "docs-site.zip" in told


def test_documents_of_the_program_are_documents_that_exist(root: Path) -> None:
    """A remedy that names a document names one that is there."""
    named = set()
    for path in (root / "crane_core").rglob("*.py"):
        named |= set(
            re.findall(r"\bdocs/[a-z/-]+\.md\b", path.read_text("utf-8"))
        )
    assert len(named) >= 5
    assert [name for name in sorted(named) if not (root / name).is_file()] == []
