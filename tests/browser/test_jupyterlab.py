"""The button in a real JupyterLab: a verdict under the cell, which is not run, and when it is out of date."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from crane_core.errors import CraneError

from .screen import click_button

TIMEOUT_MS = 60_000
HOSTILE = "<img src=x onerror=alert(1)>"
CELLS = [
    "beds = {'north': 3}",
    "beds['south'] + 1",
    "beds['north']",
    f"plots = {{{HOSTILE!r}: 1}}",
    "plots['x']",
    "[name for name in dir() if 'crane' in name.lower()], len(In)",
    "open('pipe').read()",
]
CONFIG = """
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.IdentityProvider.token = ""
c.ServerApp.disable_check_xsrf = True
c.LabApp.expose_app_in_browser = True
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.handlers.announcements.NeverCheckForUpdate"
"""
READY = """
async () => {
    await window.jupyterapp.restored;
    const {sessionContext, context} = window.jupyterapp.shell.currentWidget;
    await context.ready;
    await sessionContext.ready;
    await sessionContext.session.kernel.info;
}
"""
"""The notebook is read and its kernel has answered once; before that, keys may be lost."""
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def lab(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """Address and folder of a JupyterLab with the extension, and with a kernel that lacks the package."""
    home = tmp_path_factory.mktemp("lab")
    work, kernel = (
        home / "work",
        home / "share" / "jupyter" / "kernels" / "bare",
    )
    for folder in (work, kernel, home / "extensions", home / "config"):
        folder.mkdir(parents=True)
    (home / "extensions" / "crane-workbench").symlink_to(root / "labextension")
    (home / "config" / "jupyter_lab_config.py").write_text(CONFIG, "utf-8")
    command = [
        sys.executable,
        "-m",
        "ipykernel_launcher",
        "-f",
        "{connection_file}",
    ]
    spec = {
        "argv": command,
        "display_name": "Bare",
        "language": "python",
        "env": {"PYTHONPATH": ""},
    }
    (kernel / "kernel.json").write_text(json.dumps(spec), "utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--port={port}",
        f"--ServerApp.root_dir={work}",
    ]
    started += [f"--LabApp.extra_labextensions_path={home / 'extensions'}"]
    places = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_PATH": home / "share" / "jupyter",
    }
    places |= {
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
    }
    environment = (
        os.environ
        | {name: str(place) for name, place in places.items()}
        | {"PYTHONPATH": str(root)}
    )
    log = home / "log.txt"
    with (
        log.open("wb") as told,
        subprocess.Popen(
            started, env=environment, stdout=told, stderr=told
        ) as server,
    ):
        try:
            until_it_listens(server, port, log)
            yield f"http://127.0.0.1:{port}", work
        finally:
            server.terminate()


def until_it_listens(
    server: subprocess.Popen[bytes], port: int, log: Path
) -> None:
    while True:
        with socket.socket() as asked:
            asked.settimeout(1)
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            raise CraneError(log.read_text("utf-8"), remedy="")


@pytest.fixture
def opened(lab: tuple[str, Path], browser: Browser) -> Iterator[Open]:
    """Opens a notebook with the cells above, in a separate browser context, once its kernel is idle."""
    address, work = lab
    context = browser.new_context(viewport={"width": 1200, "height": 900})

    def go(
        name: str, kernel: str = "python3", theme: str = "JupyterLab Light"
    ) -> Page:
        cells = [
            {
                "id": f"c{i}",
                "cell_type": "code",
                "source": code,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, code in enumerate(CELLS)
        ]
        spec = {"name": kernel, "display_name": kernel, "language": "python"}
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": spec},
            "cells": cells,
        }
        (work / f"{name}.ipynb").write_text(json.dumps(notebook), "utf-8")
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on(
            "dialog", lambda dialog: pytest.fail(f"dialog: {dialog.message}")
        )
        page.goto(f"{address}/doc/tree/{name}.ipynb?reset")
        page.locator(".jp-CodeCell").first.wait_for()
        page.evaluate(READY)
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
            theme,
        )
        expect(
            page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        ).to_be_visible(timeout=TIMEOUT_MS)
        return page

    yield go
    context.close()


def cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number)


def focus(page: Page, number: int) -> None:
    cell(page, number).locator(".cm-content").click()
    cell(page, number).locator(".cm-focused").wait_for()


def run(page: Page, number: int) -> None:
    focus(page, number)
    page.keyboard.press("Control+Enter")
    expect(cell(page, number).locator(".jp-InputPrompt")).to_have_text(
        re.compile(r"\[\d+\]:"), timeout=TIMEOUT_MS
    )


def ask(page: Page, number: int) -> Locator:
    """Press the button for a cell; what stands under it."""
    focus(page, number)
    click_button(page, "Will this cell crash?")
    return cell(page, number).locator(".crane-verdict")


def test_a_crash_is_told_under_the_cell_and_nothing_runs(opened: Open) -> None:
    page = opened("crash")
    run(page, 0)
    verdict = ask(page, 1)
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    expect(verdict).to_contain_text("Will crash: KeyError")
    for name, words in {
        "line": "beds['south']",
        "evidence": "'north'",
        "remedy": "existing key",
    }.items():
        expect(verdict.locator(f"dt:text-is('{name}') + dd")).to_contain_text(
            words
        )
    expect(cell(page, 1).locator(".jp-InputPrompt")).to_have_text("[ ]:")
    click_button(verdict, "In [1]")
    expect(cell(page, 0)).to_have_class(re.compile(r"\bjp-mod-active\b"))
    calm = ask(page, 2)
    expect(calm).to_have_attribute(
        "data-verdict", "nothing certain", timeout=TIMEOUT_MS
    )
    expect(calm).to_contain_text("never say that a cell is safe")
    run(page, 5)
    expect(cell(page, 5).locator(".jp-OutputArea-output")).to_have_text(
        "([], 3)"
    )
    expect(cell(page, 5).locator(".jp-InputPrompt")).to_have_text("[2]:")


@pytest.mark.slow
def test_a_verdict_goes_out_of_date(opened: Open) -> None:
    page = opened("stale")
    run(page, 0)
    verdict = ask(page, 1)
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    focus(page, 1)
    page.keyboard.press("End")
    page.keyboard.type(" + 1")
    expect(verdict).to_contain_text("Out of date: the cell was edited.")
    click_button(verdict, "Look again")
    expect(verdict).not_to_contain_text("Out of date")
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    run(page, 2)
    expect(verdict).to_contain_text("Out of date: another cell has run since.")
    click_button(verdict, "Look again")
    expect(verdict).not_to_contain_text("Out of date")
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    expect(verdict).to_contain_text("Out of date: the kernel was restarted.")
    run(page, 1)
    expect(cell(page, 1).locator(".jp-OutputArea-output")).to_contain_text(
        "NameError"
    )
    expect(verdict).to_have_count(0)


@pytest.mark.slow
def test_what_the_kernel_says_is_text(opened: Open) -> None:
    page = opened("hostile")
    run(page, 3)
    verdict = ask(page, 4)
    expect(verdict).to_contain_text(HOSTILE, timeout=TIMEOUT_MS)
    expect(verdict.locator("img")).to_have_count(0)


@pytest.mark.slow
def test_a_busy_kernel_is_waited_for(
    opened: Open, lab: tuple[str, Path]
) -> None:
    pipe = lab[1] / "pipe"
    os.mkfifo(pipe)
    page = opened("busy")
    run(page, 0)
    focus(page, 6)
    page.keyboard.press("Control+Enter")
    expect(cell(page, 6).locator(".jp-InputPrompt")).to_have_text("[*]:")
    verdict = ask(page, 1)
    expect(verdict).to_contain_text("Waiting for the kernel")
    pipe.write_text("done")
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )


@pytest.mark.slow
def test_a_kernel_without_the_package_says_what_to_do(opened: Open) -> None:
    verdict = ask(opened("bare", kernel="bare"), 1)
    expect(verdict).to_contain_text(
        "not installed in the environment of this kernel", timeout=TIMEOUT_MS
    )
    expect(verdict).to_contain_text("needs Python 3.11 or later")
    expect(verdict).not_to_contain_text(
        "pip install"
    )  # nobody owns the name on the index


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.slow
def test_everybody_can_read_it(opened: Open, theme: str) -> None:
    page = opened(f"access-{theme.split()[1].lower()}", theme=theme)
    run(page, 0)
    verdict = ask(page, 1)
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    found = Axe().run(page, context=".crane-verdict").response["violations"]
    assert [
        (one["id"], [node["html"] for node in one["nodes"]]) for one in found
    ] == []
