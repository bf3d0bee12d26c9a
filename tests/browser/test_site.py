"""The site in a browser, from disk and with the network off: no request, no complaint, nothing beside the screen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.site.write import write_site
from crane_core.storage.store import Cursor, open_store

from .conftest import slow


@pytest.fixture(scope="module")
def site(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Of the rules on the minibench, with texts: they are ours. A pair of the study would be one more page each."""
    place = tmp_path_factory.mktemp("site")
    store = open_store(
        shutil.copy(prepared_folder.database, place / "crane.duckdb")
    )
    store.write(_keep_rules_on_minibench)
    write_site(
        Material(store, prepared_folder), place / "site", with_texts=True
    )
    store.close()
    return place / "site"


def _keep_rules_on_minibench(cursor: Cursor) -> None:
    cursor.execute("DELETE FROM runs WHERE detector <> 'rules'")
    for table in ("runs", "cells", "instances", "cases"):
        cursor.execute(f"DELETE FROM {table} WHERE benchmark = 'junobench'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1280),
        *(
            slow(*one)
            for one in (("light", 390), ("dark", 1280), ("dark", 390))
        ),
    ],
)
def test_pages_open_from_disk_offline(
    site: Path, browser: Browser, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        offline=True,
    )
    page, complaints = context.new_page(), []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith("file:")
            else complaints.append(request.url)
        ),
    )
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((site / "index.html").as_uri())
    for words in ("Results", "Ablations", "Claims", "Agreement", "Pairs"):
        page.get_by_role("navigation").get_by_role("link", name=words).click()
        expect(page.locator("h1")).to_contain_text(
            words.lower() if words == "Claims" else words
        )
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    page.get_by_role("link", name="numpy_1", exact=True).last.click()
    expect(page.locator("h1")).to_have_text("numpy_1")
    expect(page.locator(".cw-pair")).to_be_visible()
    background = page.evaluate(
        "getComputedStyle(document.body).backgroundColor"
    )
    assert background == (
        "rgb(252, 252, 251)" if scheme == "light" else "rgb(20, 24, 26)"
    )
    page.goto((site / "results.html").as_uri())
    expect(
        page.locator("figure svg").locator("visible=true").first
    ).to_be_visible()
    assert complaints == []
    context.close()
