"""What processor time each page takes on a hundred times the data: its first visit after a start, and a later one.

    python -m benchmarks.page_cost [PAGE ...]

Without a browser: each page's script runs in this process, on the store of `benchmarks/_data.py`. Of
each visit the processor time of the thread that draws the page, which other work on the machine hardly changes, and
that of the whole process, in which DuckDB's threads are counted too. What several pages read (answers per instance,
list of runs, labels) is read before, as the server's warm-up does, and Overview is visited: the first line.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from streamlit.logger import set_log_level
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from benchmarks._data import archive_or_exit, large
from benchmarks._server import CHECKOUT
from benchmarks._timing import command, machine

PAGES = {
    "Cases": "1_cases",
    "a pair": "1_cases?case=pandas_8",
    "Results, Runtime state": "2_results?part=Runtime state",
    "Results, Kinds of crash": "2_results?part=Kinds of crash",
    "Results, Combinations": "2_results?part=Combinations",
    "Results, Stability": "2_results?part=Stability",
    "Results, Robustness": "2_results?part=Robustness",
    "Results, One model": "2_results?part=One model",
    "Results, Time": "2_results?part=Time",
    "Results, Dates": "2_results?part=Dates",
    "Results, Paper's tables": "2_results?part=Paper's tables",
    "Results, Paper's claims": "2_results?part=Paper's claims",
    "Ablations, Parts of the input": "3_ablations?part=Parts of the input",
    "Ablations, Kinds of crash": "3_ablations?part=Kinds of crash",
    "Ablations, Cost": "3_ablations?part=Cost",
    "Ablations, Paper's tables": "3_ablations?part=Paper's tables",
    "Annotate": "4_annotate",
    "Campaigns": "5_campaigns",
    "Agreement": "6_agreement",
    "Runs": "7_runs",
    "Try a notebook": "8_try_a_notebook",
    "Data": "9_data",
    "Overview": "0_overview",
}
"""Visit to the page's file and its query."""
A_LONG_TIME_S = 3600


class Cost(NamedTuple):
    """Processor seconds of a script: of the page's thread, and of the whole process."""

    thread: float
    process: float


@contextmanager
def scripts_measured() -> Iterator[list[Cost]]:
    """The cost of every script that runs meanwhile, in order."""
    costs: list[Cost] = []
    run_script = ScriptRunner._run_script

    def measured_script(self: ScriptRunner, rerun_data: object) -> None:
        thread_s, process_s = time.thread_time(), time.process_time()
        try:
            run_script(self, rerun_data)  # type: ignore[arg-type]
        finally:
            cost = Cost(
                time.thread_time() - thread_s, time.process_time() - process_s
            )
            costs.append(cost)

    ScriptRunner._run_script = measured_script  # type: ignore[method-assign]
    try:
        yield costs
    finally:
        ScriptRunner._run_script = run_script  # type: ignore[method-assign]


def app(file: str) -> AppTest:
    """A session that comes to a page from Overview; the page is not drawn yet."""
    page = AppTest.from_file(
        str(CHECKOUT / "app.py"), default_timeout=A_LONG_TIME_S
    )
    return page.run().switch_page(f"pages/{file}.py")


def draw(page: AppTest) -> None:
    """Draw a page as its address says. Raises SystemExit where it shows an error."""
    page.run()
    if page.exception or page.error:
        raise SystemExit(f"the page failed: {[*page.exception, *page.error]}")


def visit(name: str) -> Cost:
    """What the page costs a session that comes from Overview."""
    file, _, query = PAGES[name].partition("?")
    page = app(file)
    if query:
        key, _, value = query.partition("=")
        page.query_params[key] = value
    with scripts_measured() as costs:
        draw(page)
    return Cost(*map(sum, zip(*costs, strict=True)))


def warmed() -> float:
    """Do what the server does beside the first visit, and visit Overview, which comes first; processor seconds."""
    from crane_core.ui.warm import begin

    start = time.process_time()
    begin(patience_s=0).join()
    visit("Overview")
    return time.process_time() - start


def main() -> None:
    parser = command(__doc__)
    # `choices` with nargs="*" refuses an empty list on Python 3.11.
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    names = parser.parse_args().pages or [*PAGES]
    if unknown := sorted(set(names) - set(PAGES)):
        parser.error(f"no page {unknown[0]!r}; pages: {', '.join(PAGES)}")
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        folder = large(Path(scratch) / "x100")
        set_log_level("error")  # not: this thread has no visitor
        os.environ["CRANE_DATA"] = str(folder.path)
        print(
            f"{'ms of processor time':34}{'first':>8}{'process':>9}{'later':>8}{'process':>9}"
        )
        print(f"{'warm-up and Overview':42}{warmed() * 1e3:>9,.0f}")
        for name in names:
            in_ms = [
                f"{each * 1e3:,.0f}" for each in (*visit(name), *visit(name))
            ]
            print("{:34}{:>8}{:>9}{:>8}{:>9}".format(name, *in_ms), flush=True)
    print(machine())


if __name__ == "__main__":
    main()
