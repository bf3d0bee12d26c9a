"""Ten annotators label at once in Chromium at one server: key to next item, and how long a desk takes to open.

    python -m benchmarks.annotate_load [--annotators N] [--minutes M] [--visit-every S]

Everybody has a separate browser profile with an empty cache and labels the study's 222 items at about one key every two
seconds; the keys are pressed inside the pages, so that people do not wait for each other. Meanwhile one more person
opens a desk every few seconds, each time with an empty cache. Limits: 100 ms from a key to the frame in which the next
item stands (95th percentile), and 2 s from the address to the first item. The browsers run on the same machine as the
server, so with few cores they are most of the load; how long all desks take that open in one moment is told beside it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks._browser import WIDE, chromium
from benchmarks._data import CAMPAIGN, archive_or_exit, imported, new_campaign
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options

LIMIT_KEY_S = 0.1
LIMIT_DESK_S = 2.0
PAUSE_MS = (1_200, 2_800)
VISITOR = "visitor"
STANDS = "document.querySelector('.cw-desk[data-item]:not([data-item=\"\"]) .cw-card')"
NOTE_DESK = f"""
(() => {{
    const look = () => {STANDS} ? window.deskAt = performance.now() : requestAnimationFrame(look);
    requestAnimationFrame(look);
}})();
"""
"""Runs before the page does: when, after the address was given, the first item stood."""
LABEL = """
([least, most]) => {
    window.painted = [];
    const desk = document.querySelector('.cw-desk');
    const press = () => {
        const start = performance.now(), before = desk.dataset.item;
        const key = String(1 + Math.floor(Math.random() * 3));
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key, code: `Digit${key}`, bubbles: true}));
        let changed = false;
        const look = () => requestAnimationFrame(() => {
            const stands = desk.dataset.item && desk.dataset.item !== before && desk.querySelector('.cw-card');
            // The frame after the one that holds the change: by then it is on the screen.
            if (stands && changed) {
                window.painted.push(performance.now() - start);
                return void setTimeout(press, least + Math.random() * (most - least));
            }
            changed = stands;
            look();
        });
        look();
    };
    const begin = () => desk.dataset.ready === 'true' ? setTimeout(press, Math.random() * most) : setTimeout(begin, 50);
    begin();
}
"""


def new_page(browser: Browser) -> Page:
    """A page of somebody whose browser knows nothing yet."""
    page = browser.new_context(viewport=WIDE).new_page()
    page.add_init_script(NOTE_DESK)
    return page


def begin(page: Page, address: str, name: str) -> None:
    """Give the address and do not wait for the page."""
    page.goto(
        f"{address}/annotate?campaign={CAMPAIGN}&annotator={name}",
        wait_until="commit",
    )


def opened_s(page: Page) -> float:
    """Seconds from the address to the first item, once it stands."""
    page.wait_for_function("window.deskAt", timeout=120_000)
    return float(page.evaluate("window.deskAt")) / 1e3


def visits(
    browser: Browser, address: str, until: float, every_s: float
) -> list[float]:
    """Seconds of each visit of one more person; there are two at least."""
    found: list[float] = []
    while time.monotonic() < until or len(found) < 2:
        next_visit = time.monotonic() + every_s
        page = new_page(browser)
        begin(page, address, VISITOR)
        found.append(opened_s(page))
        page.context.close()
        time.sleep(max(0.0, next_visit - time.monotonic()))
    return found


def measured(
    address: str, names: Sequence[str], seconds: float, every_s: float
) -> tuple[Times, Times, Times]:
    """Desks that opened in one moment, those of one person while the others label, and keys."""
    with chromium() as browser:
        warm = new_page(browser)
        begin(warm, address, VISITOR)
        opened_s(warm)
        warm.context.close()
        people = [new_page(browser) for _ in names]
        for page, name in zip(people, names, strict=True):
            begin(page, address, name)
        together = Times([opened_s(page) for page in people])
        for page in people:
            page.evaluate(LABEL, PAUSE_MS)
        alone = Times(
            visits(browser, address, time.monotonic() + seconds, every_s)
        )
        painted_ms = [
            ms for page in people for ms in page.evaluate("window.painted")
        ]
        return together, alone, Times([ms / 1e3 for ms in painted_ms])


def main() -> None:
    chosen = options(__doc__, annotators=10, minutes=1.0, visit_every=6.0)
    archive_or_exit()
    names = tuple(
        f"ann{number:02}" for number in range(1, chosen.annotators + 1)
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = imported(Path(scratch) / "data")
        new_campaign(folder, (*names, VISITOR))
        before = machine()
        with serve(folder.path) as address:
            seconds = chosen.minutes * 60
            together, alone, keys = measured(
                address, names, seconds, chosen.visit_every
            )
    of_key, of_desk = keys.p95 / LIMIT_KEY_S, alone.median / LIMIT_DESK_S
    print(
        f"{len(names)} annotators, {chosen.minutes:g} minutes, a desk every {chosen.visit_every:g} s\n"
        f"before: {before}; at the end: {machine()}\n"
        f"key to next item:                {keys.in_ms()}\n"
        f"desk, while the others label:    {alone.in_ms()}\n"
        f"desk, all opened in one moment:  {together.in_ms()}\n"
        f"ratio {of_key:.2f} of the limit of {LIMIT_KEY_S * 1e3:.0f} ms (key, 95th percentile), "
        f"{of_desk:.2f} of {LIMIT_DESK_S:.0f} s (desk while others label, median)"
    )


if __name__ == "__main__":
    main()
