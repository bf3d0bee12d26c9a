"""The app in a real Chromium: servers with embedded data alone and with the published archive, and pages that watch.

Every page that a test gets records each request and each error; a request that leaves this machine or an error that
is not listed here fails the test that caused it.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partialmethod, wraps
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    LocatorAssertions,
    Page,
    expect,
    sync_playwright,
)

from benchmarks._browser import ARGUMENTS
from benchmarks._server import serve
from crane_core.pipeline.loading.load import import_paths
from crane_core.pipeline.places import DataFolder
from crane_core.storage.store import Store, open_store
from tests.shared import made_once, shared_app

OpenPage = Callable[..., Page]
StartApp = Callable[..., str]
Host = Callable[..., AbstractContextManager[str]]

PASSWORD = "open sésame"
"""Opens the app of `locked_app`."""
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
WIDE = {"width": 1440, "height": 900}
TIMEOUT_MS = 60_000
POLLING_MS = 100
BENIGN = (
    # Streamlit's client asks under the page's own path first whether the server lives there, then at the root.
    (
        "Failed to load resource: the server responded with a status of 404",
        "/_stcore/health",
    ),
    (
        "Failed to load resource: the server responded with a status of 404",
        "/_stcore/host-config",
    ),
    # What Streamlit tells a developer when an address names no page; the visitor is told by the page.
    (
        "The page that you have requested does not seem to exist. Running the app's main page.",
        "",
    ),
)
"""Console errors that mean nothing: how the text begins, and how the address it is about ends."""


@dataclass
class Seen:
    """What a browser context did: addresses asked for and errors met."""

    addresses: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def forget(self) -> None:
        self.addresses.clear()
        self.errors.clear()

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("websocket", lambda socket: self.addresses.append(socket.url))
        page.on(
            "pageerror", lambda error: self.errors.append(f"exception: {error}")
        )
        page.on("console", self._note)
        page.on("dialog", self._refuse)

    def _note(self, message: ConsoleMessage) -> None:
        where = message.location["url"]
        known = any(
            message.text.startswith(text) and where.endswith(end)
            for text, end in BENIGN
        )
        if message.type == "error" and not known:
            self.errors.append(f"console: {message.text} ({where})")

    def _refuse(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def foreign(self) -> list[str]:
        parts = [(urlsplit(address), address) for address in self.addresses]
        return [
            address
            for url, address in parts
            if url.scheme not in {"data", "blob"}
            and url.hostname not in LOOPBACK
        ]


def slow(*values: object) -> Any:
    """Values of a parametrized test that `make test` leaves to `make test-all`."""
    return pytest.param(*values, marks=pytest.mark.slow)


def _until_one(expectation: Callable[..., None]) -> Callable[..., None]:
    """The expectation of a locator, tried again while the locator names several elements, for at most TIMEOUT_MS.

    Playwright waits for what an element shows, but stops at once at two, as stand for an instant when Streamlit draws
    again. Two that remain fail the test with Playwright's own message.
    """

    @wraps(expectation)
    def patient(*args: Any, **options: Any) -> None:
        end = time.monotonic() + TIMEOUT_MS / 1e3
        while True:
            try:
                return expectation(*args, **options)
            except (AssertionError, Error) as error:
                is_doubled = "strict mode violation" in str(error)
                if not is_doubled or time.monotonic() > end:
                    raise
            time.sleep(POLLING_MS / 1e3)

    return patient


@pytest.fixture(scope="session")
def browser(chromium: str | None) -> Iterator[Browser]:
    expect.set_options(timeout=TIMEOUT_MS)
    # Playwright asks at each frame that is painted, and a browser on a busy machine may paint none for a while.
    by_the_clock = partialmethod(Page.wait_for_function, polling=POLLING_MS)
    setattr(Page, "wait_for_function", by_the_clock)  # noqa: B010 - mypy refuses another form of a method
    for name in vars(LocatorAssertions):
        if name.startswith(("to_", "not_to_")):
            expectation = getattr(LocatorAssertions, name)
            setattr(LocatorAssertions, name, _until_one(expectation))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium, args=ARGUMENTS
        )
        yield opened
        opened.close()


@dataclass
class Tab:
    """The tab that all ordinary visits share: its warm cache halves the time of a visit. Each visit is a session."""

    page: Page
    seen: Seen


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Tab:
    page = _new_page(browser)
    opened = Tab(page, Seen())
    opened.seen.watch(page)
    return opened


@pytest.fixture
def open_page(browser: Browser, tab: Tab) -> Iterator[OpenPage]:
    """Open an address as a visitor; when the test is over, nothing may have failed or left this machine.

    With options the visitor gets its own browser context, for example with a colour scheme.
    """
    seen = tab.seen
    seen.forget()
    with ExitStack() as contexts:

        def visit(address: str, **options: Any) -> Page:
            page = _new_page(browser, **options) if options else tab.page
            if options:
                contexts.callback(page.context.close)
                seen.watch(page)
            page.set_viewport_size(WIDE)
            if not options:
                page.emulate_media(color_scheme="light")
            page.goto(address)
            return page

        yield visit
        tab.page.goto("about:blank")
    assert seen.foreign == []
    assert seen.errors == []


@contextmanager
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """A browser's profile of a test's own, which ends before its server does."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(TIMEOUT_MS)
    try:
        yield context
    finally:
        context.close()


def _new_page(browser: Browser, **options: Any) -> Page:
    # Without a graphics card, what moves takes a quarter of the processor time of a visit. In a `profile` it moves.
    context = browser.new_context(
        viewport=WIDE, reduced_motion="reduce", **options
    )
    context.set_default_timeout(TIMEOUT_MS)
    return context.new_page()


@pytest.fixture(scope="session", autouse=True)
def jupyter_runtime(run_folder: Path) -> Iterator[Path]:
    """Where every app here looks for running kernels: those of this machine that no test started are not there."""
    place = run_folder / "jupyter-runtime"
    place.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(place))
        yield place


@pytest.fixture(scope="session")
def embedded_data(prepared_folder: DataFolder) -> Path:
    """A data folder as a first start leaves it."""
    return prepared_folder.path


@pytest.fixture(scope="module")
def copy_of_embedded(
    embedded_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A data folder of a module's own, which its tests may change."""
    data = tmp_path_factory.mktemp("own") / "data"
    shutil.copytree(embedded_data, data)
    return data


@pytest.fixture(scope="session")
def archive(root: Path) -> Path:
    """The published archive of October 2025."""
    found = root.parent / "shared" / "upstream" / "crane_llm.tar.gz"
    if not found.is_file():
        pytest.skip(
            "the published archive crane_llm.tar.gz is not beside the checkout"
        )
    return found


@pytest.fixture(scope="session")
def imported_data(embedded_data: Path, archive: Path, run_folder: Path) -> Path:
    """A data folder with the published archive imported."""

    def make(data: Path) -> None:
        shutil.copytree(embedded_data, data, dirs_exist_ok=True)
        import_paths([archive], DataFolder(data))

    return made_once(run_folder / "imported", make)


@pytest.fixture(scope="session")
def facts_app(embedded_data: Path, run_folder: Path) -> Iterator[str]:
    """Address of an app that holds the embedded data alone; tests of all workers only read there."""
    with _copy_served(embedded_data, run_folder / "facts-app") as address:
        yield address


@pytest.fixture(scope="session")
def full_app(imported_data: Path, run_folder: Path) -> Iterator[str]:
    """Address of an app that holds the published archive too; tests of all workers only read there."""
    with _copy_served(imported_data, run_folder / "full-app") as address:
        yield address


def _copy_served(data: Path, place: Path) -> AbstractContextManager[str]:
    """An app that the workers share, of a copy of this data folder."""

    @contextmanager
    def serve_copy() -> Iterator[str]:
        folder = Path(tempfile.mkdtemp(dir=place.parent)) / "data"
        shutil.copytree(data, folder)
        with serve(folder) as address:
            yield address

    return shared_app(place, serve_copy)


@dataclass(frozen=True)
class Served:
    """An app that the tests of many files share: each makes campaigns under separate names, see `desk.unique`."""

    address: str
    folder: DataFolder
    store: Store
    """An open copy of the app's database, to draw campaigns from: the app keeps the database itself to itself."""


@contextmanager
def served(data: Path, **environment: str) -> Iterator[Served]:
    folder = DataFolder(data)
    copied = shutil.copy(folder.database, data.with_name("to-draw-from.duckdb"))
    store = open_store(copied)
    try:
        with serve(data, **environment) as address:
            yield Served(address, folder, store)
    finally:
        store.close()


@pytest.fixture(scope="session")
def answered_app(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The app with answers of two models to the minibench: desks, decisions and keys of most tests of campaigns."""
    data = tmp_path_factory.mktemp("answered-app") / "data"
    shutil.copytree(answered_folder.path, data)
    with served(data) as app:
        yield app


@pytest.fixture(scope="session")
def study_app(
    imported_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """The app with the published archive, for campaigns on the study's diagnoses."""
    data = tmp_path_factory.mktemp("study-app") / "data"
    shutil.copytree(imported_data, data)
    with served(data) as app:
        yield app


@pytest.fixture(scope="session")
def locked_app(
    answered_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """An app that asks each visitor for PASSWORD; who knows it may run notebooks."""
    data = tmp_path_factory.mktemp("locked-app") / "data"
    shutil.copytree(answered_folder.path, data)
    with served(
        data, CRANE_PASSWORD=PASSWORD, CRANE_ALLOW_EXECUTION="1"
    ) as app:
        yield app


@pytest.fixture
def host(browser: Browser) -> Host:
    """As `serve`, but every tab leaves before the server ends: one that is still loading would report errors."""

    @contextmanager
    def hosted(data: Path, **environment: str) -> Iterator[str]:
        with serve(data, **environment) as address:
            yield address
            for page in [
                page for context in browser.contexts for page in context.pages
            ]:
                page.goto("about:blank")

    return hosted


@pytest.fixture
def start_app(embedded_data: Path, tmp_path: Path) -> Iterator[StartApp]:
    """Start a server of the test's own, on a fresh copy of the embedded data."""
    numbers = count(1)
    with ExitStack() as servers:

        def start(**environment: str) -> str:
            data = tmp_path / f"data-{next(numbers)}"
            shutil.copytree(embedded_data, data)
            return servers.enter_context(serve(data, **environment))

        yield start


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder is one of the browser: a loop that Playwright keeps running breaks others beside it."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
