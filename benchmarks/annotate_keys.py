"""How long a key takes to show the next item at the labelling desk, and whether fast keys are lost.

python -m benchmarks.annotate_keys

100 labels on the imported data, each from the key's press to the frame in which the next item stands, against the
limits of 200 ms (median) and 500 ms (95th percentile); the time until the page says saved is told beside it. Then ten
keys 334 ms apart: each that the desk takes must label the item that was in sight when it went down, and it takes a key
when the item has been in sight for 250 ms.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks._archive import archive_or_exit, imported
from benchmarks._browser import blank_page
from benchmarks._campaign import CAMPAIGN, new_campaign
from benchmarks._server import serve
from benchmarks._timing import Times, machine
from crane_core.annotation.showing import Showing
from crane_core.pipeline.campaigns.campaigns import acts_of, kept_campaign
from crane_core.pipeline.campaigns.desk_names import desk_names
from crane_core.pipeline.places import DataFolder

LIMIT_S = 0.2
LIMIT_P95_S = 0.5
N_LABELS = 100
N_FAST = 10
GAP_MS = 334
READY = "document.querySelector('.cw-desk').dataset.ready === 'true'"
DESK = ".cw-desk[data-item]:not([data-item='']) .cw-card"

_ARM = """
() => {
    const desk = document.querySelector('.cw-desk');
    window.measured = new Promise(tell => addEventListener('keydown', () => {
        const start = performance.now(), before = desk.dataset.item;
        let painted = null, changed = false;
        const look = () => requestAnimationFrame(() => {
            const now = performance.now();
            const stands = desk.dataset.item !== before && desk.querySelector('.cw-card');
            // The frame after the one that holds the change: by then it is on the screen.
            if (stands && changed && painted === null) painted = now - start;
            changed = stands;
            const saved = desk.querySelector('.cw-desk-saved').textContent === 'saved';
            painted !== null && saved ? tell([painted, now - start]) : look();
        });
        look();
    }, {capture: true, once: true}));
}
"""
_NOTE_ITEMS = """
() => { window.inSight = []; addEventListener('keydown', event => '123'.includes(event.key)
    && document.querySelector('.cw-desk').dataset.ready === 'true'
    && window.inSight.push([document.querySelector('.cw-desk').dataset.item, event.key]), {capture: true}); }
"""


def label_one_by_one(page: Page) -> tuple[Times, Times]:
    """From each key to the next item, and to the word saved."""
    painted, saved = [], []
    for place in range(N_LABELS):
        page.wait_for_function(READY)
        page.evaluate(_ARM)
        page.keyboard.press("123"[place % 3])
        to_paint, to_saved = page.evaluate("window.measured")
        painted.append(to_paint / 1e3)
        saved.append(to_saved / 1e3)
    return Times(painted), Times(saved)


def label_fast(page: Page, folder: DataFolder) -> int:
    """How many of the fast keys became a label of the item that was in sight; -1 where their number is not theirs."""
    n_before = len(acts_of(folder, kept_campaign(folder, CAMPAIGN).plan, "ana"))
    page.evaluate(_NOTE_ITEMS)
    page.wait_for_function(READY)
    for place in range(N_FAST):
        page.keyboard.press("123"[place % 3])
        page.wait_for_timeout(GAP_MS)
    page.wait_for_function("document.querySelector('.cw-desk-saved').textContent === 'saved'")
    labels = {"1": "correct", "2": "partial", "3": "wrong"}
    wanted = [(sight, labels[key]) for sight, key in page.evaluate("window.inSight")]
    acts = acts_of(folder, kept_campaign(folder, CAMPAIGN).plan, "ana")[n_before:]
    names = desk_names(folder, kept_campaign(folder, CAMPAIGN).plan, "ana")
    got = [(names.of(Showing(act.item, act.showing)), str(act.label)) for act in acts]
    return sum(one == other for one, other in zip(wanted, got, strict=False)) if len(got) == len(wanted) else -1


def main() -> None:
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = imported(Path(scratch) / "data")
        new_campaign(folder, ("ana", "ben"))
        with serve(folder.path) as address, blank_page() as page:
            page.goto(f"{address}/annotate?campaign={CAMPAIGN}&annotator=ana")
            page.wait_for_selector(DESK)
            painted, saved = label_one_by_one(page)
            n_right = label_fast(page, folder)
    print(f"key to next item:    {painted.in_ms()}")
    print(f"key to saved:        {saved.in_ms()}")
    print(f"{N_FAST} keys {GAP_MS} ms apart: {n_right} labels on the item in sight")
    print(f"ratio {painted.median / LIMIT_S:.2f} of the limit of {LIMIT_S * 1e3:.0f} ms (median), ", end="")
    print(f"{painted.p95 / LIMIT_P95_S:.2f} of {LIMIT_P95_S * 1e3:.0f} ms (95th percentile); {machine()}")


if __name__ == "__main__":
    main()
