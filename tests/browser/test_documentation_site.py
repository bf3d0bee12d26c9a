"""The documentation site in a browser, opened from a disk: a reader searches it, and nothing comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.built_documentation import build_documentation

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_documentation(root, tmp_path_factory.mktemp("documentation"))


def test_search_works_from_disk(site: Path, browser: Browser) -> None:
    context = browser.new_context(offline=True)
    page, elsewhere = context.new_page(), []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:"))
            else elsewhere.append(request.url)
        ),
    )
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill("Krippendorff")
    found = page.locator(".md-search-result__item").first
    expect(found).to_contain_text("Krippendorff")
    found.get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("Krippendorff")
    assert elsewhere == []
    context.close()
