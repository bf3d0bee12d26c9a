"""Removing, renaming and restoring on the pages: two clicks take a thing away, one brings it back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks._server import serve
from crane_core.cli import main
from crane_core.pipeline.inventory import acts
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder
from tests.written_pairs import write_pair

from .conftest import OpenPage
from .screen import (
    TITLES,
    choose,
    click_button,
    of_campaign,
    sees,
    settled,
    shows_title,
    title,
)
from .test_own_name import invited


@pytest.fixture(scope="module")
def folder(
    copy_of_embedded: Path, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    place = tmp_path_factory.mktemp("inventory")
    folder = DataFolder(Path(shutil.copytree(copy_of_embedded, place / "data")))
    write_pair(place / "lab", "trip", ["a = 0", "1 / a"], ["a = 1", "1 / a"])
    import_paths([place / "lab"], folder)
    detect = (
        "detect",
        "--detector",
        "fake",
        "--setting",
        "code",
        "--benchmark",
        "minibench",
    )
    assert (
        main(["--data", str(folder.path), *detect, "--instances", "numpy_*"])
        == 0
    )
    wish = (
        "--annotators",
        "ana",
        "--benchmark",
        "minibench",
        "--experiment",
        run_name(folder),
    )
    assert (
        main(["--data", str(folder.path), "campaign", "create", "pilot", *wish])
        == 0
    )
    return folder


def run_name(folder: DataFolder) -> str:
    return next(
        path.stem for path in (folder.ledger / "runs").glob("fake-*.jsonl")
    )


@pytest.fixture(scope="module")
def app(folder: DataFolder) -> Iterator[str]:
    with serve(folder.path) as address:
        yield address


def remove(page: Page, kind: str) -> None:
    click_button(page, "Remove", exact=True)
    click_button(settled(page), f"Yes, remove this {kind}")


def heading(page: Page, name: str) -> Locator:
    """By its name: for a moment the heading of the page that was left stands beside it."""
    return page.get_by_role("heading", name=name, exact=True)


def restore(page: Page) -> None:
    page.get_by_text("Removed (1)").click()
    click_button(page, "Restore")


@pytest.mark.slow
def test_a_benchmark_is_renamed_removed_and_restored_on_data(
    app: str, open_page: OpenPage, folder: DataFolder
) -> None:
    page = settled(open_page(f"{app}/data"))
    sees(page, "lab: 1 case, 2 notebooks")
    choose(page, "Rename or remove", "benchmark lab, 1 case")
    click_button(page, "Rename", exact=True)
    page.get_by_label("New name").fill("Our lab")
    click_button(page, "Rename benchmark")
    sees(page, "Our lab: 1 case, 2 notebooks")
    settled(page).reload()
    choose(settled(page), "Rename or remove", "benchmark Our lab (lab), 1 case")
    remove(page, "benchmark")
    expect(page.get_by_text("Our lab: 1 case, 2 notebooks")).to_have_count(0)
    restore(settled(page))
    sees(page, "Our lab: 1 case, 2 notebooks")
    assert [str(act.action) for act in acts(folder)] == [
        "rename",
        "remove",
        "restore",
    ]


@pytest.mark.slow
def test_a_run_is_removed_on_its_page_and_restored_on_the_list(
    app: str, open_page: OpenPage, folder: DataFolder
) -> None:
    page = settled(open_page(f"{app}/runs"))
    sees(page, "1 local run,")
    page.goto(
        f"{app}/runs?benchmark=minibench&experiment={run_name(folder)}&detector=fake&setting=code"
    )
    remove(settled(page), "run")
    shows_title(page, TITLES["/runs"])
    sees(page, "0 local runs,")
    restore(settled(page))
    sees(page, "1 local run,")


@pytest.mark.slow
def test_a_campaign_is_removed_on_its_page_and_restored_on_the_list(
    app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{app}/campaigns?campaign=pilot"))
    shows_title(page, of_campaign("pilot"))
    remove(page, "campaign")
    shows_title(page, TITLES["/campaigns"])
    opens = page.get_by_role("button", name="Open campaign")
    expect(opens).to_have_count(0)
    restore(settled(page))
    expect(opens).to_be_visible()


@pytest.mark.slow
def test_where_people_log_in_leads_remove_runs_and_viewers_nothing(
    folder: DataFolder, browser: Browser, tmp_path: Path
) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text(
        '"vic@lab.example" = "viewer"\n"lea@lab.example" = "lead"\n'
    )
    run = f"runs?benchmark=minibench&experiment={run_name(folder)}&detector=fake&setting=code"
    button = {"name": "Remove", "exact": True}
    own = DataFolder(tmp_path / "own")
    own.path.mkdir()
    for part in ("sources", "ledger"):
        shutil.copytree(folder.path / part, own.path / part)
    with serve(own.path, CRANE_ROLES=str(roles)) as app:
        with invited(browser, app, own, "vic@lab.example") as page:
            expect(title(page)).to_be_visible()
            page.goto(f"{app}/{run}")
            sees(settled(page), "seconds per reply")
            expect(page.get_by_role("button", **button)).to_have_count(0)
        with invited(browser, app, own, "lea@lab.example") as page:
            expect(title(page)).to_be_visible()
            page.goto(f"{app}/{run}")
            expect(page.get_by_role("button", **button)).to_be_visible()
            page.goto(f"{app}/data")
            expect(
                settled(page).get_by_role("heading", name="Inventory")
            ).to_be_visible()
            expect(
                page.get_by_role("combobox", name="Rename or remove")
            ).to_have_count(0)
            page.goto(f"{app}/{run}")
            remove(settled(page), "run")
            shows_title(page, TITLES["/runs"])
    assert acts(own)[-1].acted_by == "lea"
