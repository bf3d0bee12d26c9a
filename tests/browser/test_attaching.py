"""Try a notebook with a kernel that runs: offered to the one person at this machine, looked at by a click."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from playwright.sync_api import Page, expect

from tests.kernels import started
from tests.patience import PATIENCE_S

from .conftest import PASSWORD, OpenPage, Served, StartApp
from .screen import choose, click_button, sees, settled

PATH = "/try_a_notebook?notebook=running"
NAME = "ward <img src=x onerror='window.injected = 1'>.ipynb"
CELLS = (
    "beds = {'</code><h1 class=injected>north': 3}",
    "beds['south']",
    "beds",
)
ALLOWED = {"CRANE_ALLOW_EXECUTION": "1"}


@pytest.fixture
def kernel(tmp_path: Path, jupyter_runtime: Path) -> Iterator[KernelManager]:
    notebook = tmp_path / NAME
    nbformat.write(
        nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code in CELLS]
        ),
        notebook,
    )
    make = partial(
        KernelManager, connection_file=str(jupyter_runtime / "kernel-77aa.json")
    )
    manager, client = started(
        make, env=os.environ | {"JPY_SESSION_NAME": str(notebook)}
    )
    client.execute_interactive(CELLS[0], timeout=PATIENCE_S)
    try:
        yield manager
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_a_running_kernel_is_looked_at_by_a_click(
    kernel: KernelManager, start_app: StartApp, open_page: OpenPage
) -> None:
    address = start_app(**ALLOWED)
    page = settled(open_page(f"{address}{PATH}"))
    expect(page.locator(".cw-verdict")).to_have_count(0)
    click_button(page, "Look at it")
    verdict = page.locator(".cw-verdict").first
    expect(verdict).to_contain_text("Will crash: KeyError")
    expect(page.locator(".cw-target .cw-crash")).to_have_text(
        re.compile("south")
    )
    expect(page.get_by_role("button", name=re.compile("^Run"))).to_have_count(0)
    choose(page, "Target: the cell that is about to run", "Code cell 2 · beds")
    expect(page.locator(".cw-verdict")).to_have_count(0)
    click_button(page, "Look at it")
    expect(verdict).to_contain_text("No certain crash")
    if folder := os.environ.get("CRANE_PICTURES"):
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 1000})
            settled(page).screenshot(path=f"{folder}/attach-{width}.png")
    assert page.locator(".injected").count() == 0
    assert page.evaluate("window.injected === undefined")


def is_not_offered(page: Page) -> None:
    sees(page, "Example", exact=True)
    settled(page)
    expect(page.get_by_text("A running kernel")).to_have_count(0)


@pytest.mark.slow
def test_it_is_offered_to_nobody_where_notebooks_are_not_run(
    kernel: KernelManager, facts_app: str, open_page: OpenPage
) -> None:
    is_not_offered(open_page(f"{facts_app}{PATH}"))


@pytest.mark.slow
def test_it_is_offered_to_nobody_behind_a_password(
    kernel: KernelManager, locked_app: Served, open_page: OpenPage
) -> None:
    page = open_page(f"{locked_app.address}{PATH}")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    click_button(page, "Open")
    is_not_offered(page)


@pytest.mark.slow
def test_it_is_offered_to_nobody_where_others_have_access(
    kernel: KernelManager, start_app: StartApp, open_page: OpenPage
) -> None:
    is_not_offered(
        open_page(f"{start_app(**ALLOWED, CRANE_HOSTS='lab.example')}{PATH}")
    )
