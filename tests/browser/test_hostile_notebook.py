"""A notebook that tries to be a page: whatever its cells, names and errors hold is shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from nbformat import v4
from playwright.sync_api import expect

from benchmarks._server import serve
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder

from .conftest import OpenPage
from .screen import count_line, listed, settled, title

CASE = "a*b*<i>c<⁄i>_1"
SCRIPT = "<script>window.injected = 1</script><img src=x onerror='window.injected = 2'>"
CLOSING = "</code></div></section></details></style><h1 class='injected'>not a heading</h1>"
RTL = "access = '\u202e\u2066# admin\u2069 \u2066user'"
LONG = f"row = '{'x' * 300_000}'"
ERROR = {
    "output_type": "error",
    "ename": "NameError",
    "evalue": SCRIPT,
    "traceback": [
        f"----> 1 raise NameError('{SCRIPT}')",
        f"NameError: {SCRIPT} {CLOSING}",
    ],
}


def notebook(target: str, outputs: list[dict[str, Any]]) -> str:
    sources = [f"text = '''{SCRIPT}'''\n{RTL}", f"# {CLOSING}\n{LONG}"]
    cells = [
        v4.new_code_cell(source, execution_count=n)
        for n, source in enumerate(sources, start=1)
    ]
    last = v4.new_code_cell(
        target,
        execution_count=3,
        outputs=[nbformat.from_dict(output) for output in outputs],
    )
    return str(nbformat.writes(v4.new_notebook(cells=[*cells, last])))


@pytest.fixture(scope="module")
def hostile_app(
    copy_of_embedded: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / f"{CASE}_reproduced.ipynb").write_text(
        notebook(f"raise NameError('{SCRIPT}')", [ERROR]), "utf-8"
    )
    (folder / f"{CASE}_fixed.ipynb").write_text(
        notebook(f"print('{CLOSING}')", []), "utf-8"
    )
    import_paths([folder], DataFolder(copy_of_embedded))
    with serve(copy_of_embedded) as address:
        yield address


@pytest.mark.slow
def test_a_hostile_pair_is_shown_as_text(
    hostile_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{hostile_app}/cases"))
    [benchmark] = page.evaluate(
        "[...new URLSearchParams(location.search).getAll('benchmark')]"
    ) or ["hostile0"]
    page.goto(f"{hostile_app}/cases?benchmark={benchmark}&case={quote(CASE)}")
    expect(page.locator(".cw-target")).to_be_visible()
    settled(page)
    assert title(page).inner_text() == CASE
    page.evaluate(
        "document.querySelectorAll('details').forEach(part => { part.open = true })"
    )

    expect(page.get_by_role("tab", name="Traceback")).to_be_visible()
    code = page.locator(".cw-pair")
    for text in (SCRIPT, CLOSING, RTL):
        expect(code).to_contain_text(text)
    expect(page.locator(".cw-trace")).to_contain_text(SCRIPT)
    expect(code).to_contain_text("more characters")
    assert page.locator(".injected").count() == 0
    assert (
        page.locator(
            "[data-testid=stMain] script, [data-testid=stMain] img"
        ).count()
        == 0
    )
    assert page.evaluate("window.injected === undefined")
    assert page.locator("[data-testid=stMain] h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_hostile_name_is_text_in_the_list_too(
    hostile_app: str, open_page: OpenPage
) -> None:
    page = settled(open_page(f"{hostile_app}/cases?benchmark=hostile0"))
    expect(count_line(page)).to_contain_text("1 of 1 cases")
    expect(listed(page).locator("th")).to_have_text(CASE)
