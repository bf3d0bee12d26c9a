"""When a page of the app is painted, measured inside the browser, from the pointer's press to the last element."""

from __future__ import annotations

from playwright.sync_api import Page

_PAINTED = """
    const title = document.querySelector('[data-testid=stMain] h1');
    const over = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const stale = document.querySelector('[data-stale=true], [data-testid=stSkeleton]');
    return over && !stale && title && title.innerText !== before && document.querySelector(wanted) !== null;
"""

_ARM = """
([before, wanted]) => {
    const painted = () => { %s };
    window.paintedAfter = new Promise(tell => {
        addEventListener('pointerdown', () => {
            const start = performance.now();
            const look = () => requestAnimationFrame(() => painted() ? tell(performance.now() - start) : look());
            look();
        }, {capture: true, once: true});
    });
}
""" % _PAINTED.strip()  # noqa: UP031 - braces are the script's own

_LOADED = """([before, wanted]) => { %s }""" % _PAINTED.strip()  # noqa: UP031


def title(page: Page) -> str:
    return page.locator("[data-testid=stMain] h1").inner_text()


def arm(page: Page, *, wanted: str) -> None:
    """Measure from the next press of the pointer until another title and an element `wanted` are painted."""
    page.evaluate(_ARM, [title(page), wanted])


def seconds_to_paint(page: Page) -> float:
    """What was measured since `arm`."""
    return float(page.evaluate("window.paintedAfter")) / 1e3


def wait_until_loaded(
    page: Page, *, wanted: str = "[data-testid=stMain] h1", timeout_s: float = 600
) -> None:
    """Until a page visited by its address is whole and holds `wanted`."""
    page.wait_for_function(
        _LOADED, arg=["", wanted], timeout=timeout_s * 1e3, polling=20
    )
