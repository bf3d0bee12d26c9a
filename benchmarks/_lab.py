"""A real JupyterLab, or Notebook 7, with the extension, and what a person does in it, for tests and pictures.

Knows how it is started, opened and stopped. Refuses to know what is asked of the button.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat.v4
from playwright.sync_api import Locator, Page, expect

from benchmarks._server import CHECKOUT, ServerError, free_port

TIMEOUT_MS = 60_000
BUTTON = "Will this cell crash?"
CONFIG = """
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.IdentityProvider.token = ""
c.ServerApp.disable_check_xsrf = True
c.LabApp.expose_app_in_browser = True
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.handlers.announcements.NeverCheckForUpdate"
c.JupyterNotebookApp.expose_app_in_browser = True
"""
CONFIG_FILES = (
    "jupyter_lab_config.py",
    "jupyter_notebook_config.py",
    "jupyter_server_config.py",
)
SETTINGS = {
    "@jupyterlab/apputils-extension/notification.jupyterlab-settings": {
        "checkForUpdates": False,
        "fetchNews": "false",
    }
}
"""Without these a first start asks in a corner whether it may fetch news."""
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


@contextmanager
def jupyter(
    home: Path, *, module: str = "jupyterlab"
) -> Iterator[tuple[str, Path]]:
    """The address of a JupyterLab (or `notebook`) with the extension, and the folder that it shows.

    All that it reads and writes is in `home`; kernels find this checkout. Raises ServerError if it ends by itself.
    """
    work = home / "work"
    for folder in (work, home / "extensions", home / "config"):
        folder.mkdir(parents=True, exist_ok=True)
    (home / "extensions" / "crane-workbench").symlink_to(
        CHECKOUT / "labextension"
    )
    for name in CONFIG_FILES:
        (home / "config" / name).write_text(CONFIG, "utf-8")
    for name, settings in SETTINGS.items():
        file = home / "settings" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), "utf-8")
    port = free_port()
    started = [
        sys.executable,
        "-m",
        module,
        f"--port={port}",
        f"--ServerApp.root_dir={work}",
        f"--LabServerApp.extra_labextensions_path={home / 'extensions'}",
    ]
    places = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_PATH": home / "share" / "jupyter",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "PYTHONPATH": CHECKOUT,
    }
    environment = os.environ | {
        name: str(place) for name, place in places.items()
    }
    log = home / "log.txt"
    with (
        log.open("wb") as told,
        subprocess.Popen(
            started, env=environment, stdout=told, stderr=told
        ) as server,
    ):
        try:
            _until_it_listens(server, port, log)
            yield f"http://127.0.0.1:{port}", work
        finally:
            server.terminate()


def _until_it_listens(
    server: subprocess.Popen[bytes], port: int, log: Path
) -> None:
    while True:
        with socket.socket() as asked:
            asked.settimeout(1)
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        if server.poll() is not None:
            raise ServerError(log.read_text("utf-8"))


def write_cells(
    path: Path, cells: Sequence[str], kernel: str = "python3"
) -> None:
    """A notebook of code cells that have not run."""
    made = [
        nbformat.v4.new_code_cell(code, id=f"c{i}")
        for i, code in enumerate(cells)
    ]
    spec = {"name": kernel, "display_name": kernel, "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=made, metadata={"kernelspec": spec}
    )
    nbformat.write(notebook, path)


def wait_for_kernel(page: Page) -> None:
    """Until a notebook that was just opened takes keys."""
    page.locator(".jp-CodeCell").first.wait_for()
    page.evaluate(READY)


def cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number)


def focus(page: Page, number: int) -> None:
    cell(page, number).locator(".cm-content").click()
    cell(page, number).locator(".cm-focused").wait_for()


def run(page: Page, number: int) -> None:
    """Run a cell, until its prompt has a number."""
    focus(page, number)
    page.keyboard.press("Control+Enter")
    expect(cell(page, number).locator(".jp-InputPrompt")).to_have_text(
        re.compile(r"\[\d+\]:"), timeout=TIMEOUT_MS
    )


def ask(page: Page, number: int) -> Locator:
    """Press the button for a cell; what stands under it."""
    focus(page, number)
    page.get_by_role("button", name=BUTTON).click()
    return cell(page, number).locator(".crane-verdict")
