"""The button in a real JupyterLab: a verdict under the cell, which is not run, and when it is out of date."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmarks._lab import (
    TIMEOUT_MS,
    ask,
    cell,
    focus,
    jupyter,
    run,
    wait_for_kernel,
    write_cells,
)

from .screen import click_button

HOSTILE = "<img src=x onerror=alert(1)>"
CELLS = [
    "beds = {'north': 3}",
    "beds['south'] + 1",
    "beds['north']",
    f"plots = {{{HOSTILE!r}: 1}}",
    "plots['x']",
    "[name for name in dir() if 'crane' in name.lower()], len(In)",
    "open('pipe').read()",
    "import textwrap\ntextwrap.wrap('north', width=beds['north'] - 3)",
    "%load_ext crane_core\n%crane guard on",
    "beds['nroth'] + 1",
]
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def lab(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[str, Path]]:
    """Address and folder of a JupyterLab with the extension, and with a kernel that lacks the package."""
    home = tmp_path_factory.mktemp("lab")
    kernel = home / "share" / "jupyter" / "kernels" / "bare"
    kernel.mkdir(parents=True)
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
    with jupyter(home) as served:
        yield served


@pytest.fixture
def opened(lab: tuple[str, Path], browser: Browser) -> Iterator[Open]:
    """Opens a notebook with the cells above, in a separate browser context, once its kernel is idle."""
    address, work = lab
    context = browser.new_context(viewport={"width": 1200, "height": 900})

    def go(
        name: str, kernel: str = "python3", theme: str = "JupyterLab Light"
    ) -> Page:
        write_cells(work / f"{name}.ipynb", CELLS, kernel)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on(
            "dialog", lambda dialog: pytest.fail(f"dialog: {dialog.message}")
        )
        page.goto(f"{address}/doc/tree/{name}.ipynb?reset")
        wait_for_kernel(page)
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
    expect(calm).to_have_attribute("data-rehearsed", "ran", timeout=TIMEOUT_MS)
    expect(calm.locator("dt:text-is('rehearsed') + dd")).to_contain_text(
        "ran through"
    )
    run(page, 5)
    expect(cell(page, 5).locator(".jp-OutputArea-output")).to_have_text(
        "([], 3)"
    )
    expect(cell(page, 5).locator(".jp-InputPrompt")).to_have_text("[2]:")


@pytest.mark.slow
def test_what_the_rules_leave_open_runs_in_a_copy(opened: Open) -> None:
    page = opened("copy")
    run(page, 0)
    verdict = ask(page, 7)
    expect(verdict).to_have_attribute(
        "data-rehearsed", "crash", timeout=TIMEOUT_MS
    )
    expect(verdict).to_contain_text("crashed: ValueError")
    expect(verdict.locator("dt:text-is('predicted') + dd")).to_have_text(
        "No certain crash"
    )
    expect(cell(page, 7).locator(".jp-InputPrompt")).to_have_text("[ ]:")


@pytest.mark.slow
def test_a_fix_is_tried_shown_and_applied(opened: Open) -> None:
    page = opened("fix")
    run(page, 0)
    verdict = ask(page, 9)
    expect(verdict).to_have_attribute(
        "data-verdict", "crash", timeout=TIMEOUT_MS
    )
    click_button(verdict, "Find a fix")
    card = verdict.locator(".crane-fix").first
    expect(card).to_contain_text("ran through", timeout=TIMEOUT_MS)
    expect(card.locator("[data-sign='+']")).to_have_text("+beds['north'] + 1\n")
    click_button(card, "Apply")
    code = cell(page, 9).locator(".cm-content")
    expect(code).to_have_text("beds['north'] + 1")
    expect(verdict).to_contain_text("Out of date: the cell was edited.")
    expect(cell(page, 9).locator(".jp-InputPrompt")).to_have_text("[ ]:")
    focus(page, 9)
    page.keyboard.press("Control+z")
    expect(code).to_have_text("beds['nroth'] + 1")


@pytest.mark.slow
def test_the_status_bar_shows_the_step_of_the_guard(opened: Open) -> None:
    page = opened("chip")
    chip = page.locator(".crane-guard")
    run(page, 0)
    expect(chip).to_have_text("")
    run(page, 8)
    expect(chip).to_have_text("Crane guard: predict", timeout=TIMEOUT_MS)
    page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    expect(chip).to_have_text("", timeout=TIMEOUT_MS)


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
