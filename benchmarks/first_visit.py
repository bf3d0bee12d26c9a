"""How long the first visit of a fresh server takes in Chromium: the finding in 2 s, the chart in 3.5 s.

    python -m benchmarks.first_visit [--rounds N]

Each round starts a server and opens Overview in a new browser; measured is from the request to the frame in which the
element stands: name and menu, the finding as title, the first mark of a chart. The data are those of a first start
and, where the archive lies beside the checkout, with it imported.
`jumps` is the layout shift that Chromium counts (below 0.1 it calls a page stable).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks._archive import ARCHIVE, imported
from benchmarks._browser import blank_page
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

WORDS_LIMIT_S, CHART_LIMIT_S = 2.0, 3.5
FRAME, WORDS, CHART = (
    "#cw-first",
    "[data-testid=stMain] h1",
    "[data-testid=stVegaLiteChart] g.role-mark > *",
)
FOREIGN = "[data-testid=stSidebarNavLink], [data-testid=stSidebarNav]"
WATCH = """([frame, words, chart, foreign]) => {
    window.seen = {jumps: 0, foreign: false};
    const look = () => {
        for (const [name, selector] of [['frame', frame], ['words', words], ['chart', chart]])
            if (!(name in seen) && document.querySelector(selector)) seen[name] = performance.now() / 1e3;
        seen.foreign ||= document.querySelector(foreign) !== null;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    new PerformanceObserver(list => { for (const entry of list.getEntries()) seen.jumps += entry.value; })
        .observe({type: 'layout-shift', buffered: true});
}"""
SETTLE_MS = 1500
"""What may still jump after the chart."""


class Visit(NamedTuple):
    """Seconds from the request; whether a menu was shown that is not ours; the sum of layout shifts."""

    start_s: float
    frame_s: float
    words_s: float
    chart_s: float
    foreign: bool
    jumps: float


def visit(data: Path) -> Visit:
    """The first visit of a server that has just come up."""
    start = time.perf_counter()
    with serve(data) as address:
        up = time.perf_counter() - start
        with blank_page() as page:
            page.add_init_script(f"({WATCH})({[FRAME, WORDS, CHART, FOREIGN]})")
            page.goto(address, wait_until="commit")
            page.wait_for_function("'chart' in window.seen", timeout=120_000)
            page.wait_for_timeout(SETTLE_MS)
            seen = page.evaluate("window.seen")
    return Visit(
        up, seen["frame"], seen["words"], seen["chart"], seen["foreign"], seen["jumps"]
    )


def show(title: str, visits: list[Visit]) -> None:
    print(
        f"{title}: the server is up after {Times([one.start_s for one in visits]).median:.2f} s"
    )
    for name, limit, seconds in (
        ("frame", WORDS_LIMIT_S, [one.frame_s for one in visits]),
        ("words", WORDS_LIMIT_S, [one.words_s for one in visits]),
        ("chart", CHART_LIMIT_S, [one.chart_s for one in visits]),
    ):
        times = Times(seconds)
        of = f", of the limit {limit:.1f} s: {times.median / limit:.2f}"
        print(
            f"  {name:6} median {times.median:.2f} s, slowest {max(seconds):.2f} s{of}"
        )
    shown = sum(one.foreign for one in visits)
    print(
        f"  menu of Streamlit's own: in {shown} of {len(visits)}; jumps at most {max(v.jumps for v in visits):.3f}"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_visit")
    parser.add_argument(
        "--rounds", type=int, default=5, help="first visits of each kind of data"
    )
    n = parser.parse_args(arguments).rounds
    with tempfile.TemporaryDirectory() as scratch:
        empty = DataFolder(Path(scratch) / "empty")
        empty.path.mkdir()
        prepare(empty).close()
        show("a first start", [visit(empty.path) for _ in range(n)])
        if ARCHIVE.is_file():
            full = imported(Path(scratch) / "full")
            visits = [visit(full.path) for _ in range(n)]
            show("imported data", visits)
            from_start = [one.start_s + one.chart_s for one in visits]
            tell(
                figure("the first chart after a cold start", from_start, CHART_LIMIT_S)
            )
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
