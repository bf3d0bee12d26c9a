"""How long the first visit of a fresh server takes in Chromium until its chart stands: at most 3 s.

    python -m benchmarks.first_visit [--rounds N]

Each round starts a server on imported data and opens Overview in a new browser. Measured is from the start of the
process, and from the request to a server that has just come up, to the frame in which the first mark of a chart stands.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks._browser import blank_page
from benchmarks._data import imported
from benchmarks._figures import figure, tell
from benchmarks._server import serve
from benchmarks._timing import Times, machine, options

LIMIT_S = 3.0
WATCH = """
const look = () => {
    if (document.querySelector('[data-testid=stVegaLiteChart] g.role-mark > *')) window.chart = performance.now() / 1e3;
    else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def visit(data: Path) -> tuple[float, float]:
    """Seconds from the start to the first answer, and from the request to the chart."""
    start = time.perf_counter()
    with serve(data) as address:
        up_s = time.perf_counter() - start
        with blank_page() as page:
            page.add_init_script(WATCH)
            page.goto(address, wait_until="commit")
            page.wait_for_function("window.chart", timeout=120_000)
            return up_s, float(page.evaluate("window.chart"))


def main() -> None:
    n = options(__doc__, rounds=5).rounds
    with tempfile.TemporaryDirectory() as scratch:
        data = imported(Path(scratch) / "data").path
        visits = [visit(data) for _ in range(n)]
    up_s, chart_s = (Times(list(each)) for each in zip(*visits, strict=True))
    print(f"the server is up: {up_s.in_ms()}")
    print(f"the chart after the request: {chart_s.in_ms()}")
    from_start = [sum(each) for each in visits]
    tell(figure("the first chart after a cold start", from_start, LIMIT_S))
    print(machine())


if __name__ == "__main__":
    main()
