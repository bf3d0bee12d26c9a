"""How long the first visit of a fresh server takes in Chromium: the finding in 2 s, the chart in 3 s.

    python -m benchmarks.first_visit [--rounds N]

Each round starts a server and opens Overview in a new browser; measured is from the request to the frame in which the
element stands: name and menu, the finding as title, the first mark of a chart. The data are those of a first start
and, where the archive lies beside the checkout, with it imported.
`jumps` is the layout shift that Chromium counts (below 0.1 it calls a page stable).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks._browser import TITLE, blank_page
from benchmarks._data import ARCHIVE, embedded_only, imported
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options

WORDS_LIMIT_S, CHART_LIMIT_S = 2.0, 3.0
ELEMENTS = {
    "frame": "#cw-first",
    "words": TITLE,
    "chart": "[data-testid=stVegaLiteChart] g.role-mark > *",
}
WATCH = """elements => {
    window.seen = {jumps: 0};
    const look = () => {
        for (const [name, selector] of Object.entries(elements))
            if (!(name in seen) && document.querySelector(selector)) seen[name] = performance.now() / 1e3;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    new PerformanceObserver(list => { for (const entry of list.getEntries()) seen.jumps += entry.value; })
        .observe({type: 'layout-shift', buffered: true});
}"""
SETTLE_MS = 1500
"""What may still jump after the chart."""


class FirstVisit(NamedTuple):
    """Seconds from the start to the first answer, seconds from the request, and the sum of layout shifts."""

    start_s: float
    frame: float
    words: float
    chart: float
    jumps: float


def visit(data: Path) -> FirstVisit:
    """The first visit of a server that has just come up."""
    start = time.perf_counter()
    with serve(data) as address:
        up = time.perf_counter() - start
        with blank_page() as page:
            page.add_init_script(f"({WATCH})({ELEMENTS})")
            page.goto(address, wait_until="commit")
            page.wait_for_function("'chart' in window.seen", timeout=120_000)
            page.wait_for_timeout(SETTLE_MS)
            return FirstVisit(start_s=up, **page.evaluate("window.seen"))


def show(title: str, visits: list[FirstVisit]) -> None:
    up_s = Times([one.start_s for one in visits]).median
    print(f"{title}: the server is up after {up_s:.2f} s")
    for name in ELEMENTS:
        times = Times([getattr(one, name) for one in visits])
        limit = CHART_LIMIT_S if name == "chart" else WORDS_LIMIT_S
        of = f"of the limit {limit:.1f} s: {times.median / limit:.2f}"
        print(
            f"  {name:6} median {times.median:.2f} s, slowest "
            f"{max(times.seconds):.2f} s, {of}"
        )
    print(f"  jumps at most {max(one.jumps for one in visits):.3f}")


def main() -> None:
    n = options(__doc__, rounds=5).rounds
    with tempfile.TemporaryDirectory() as scratch:
        empty = embedded_only(Path(scratch) / "empty")
        show("a first start", [visit(empty.path) for _ in range(n)])
        if ARCHIVE.is_file():
            full = imported(Path(scratch) / "full")
            visits = [visit(full.path) for _ in range(n)]
            show("imported data", visits)
            from_start = [one.start_s + one.chart for one in visits]
            tell(
                figure(
                    "the first chart after a cold start",
                    from_start,
                    CHART_LIMIT_S,
                )
            )
    print(machine())


if __name__ == "__main__":
    main()
