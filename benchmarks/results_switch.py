"""How long the server takes to answer a changed switch of Results: 300 ms at most, 1 s on 100 times the data.

    python -m benchmarks.results_switch [--copies N]

Each option is picked in each tab for the first time after a start, when nothing is kept from before, and once
more, when it is. Measured is the processor time of the thread that draws the page, which other work on the machine
hardly changes; DuckDB's own threads come on top where something is read for the first time. The first visits of the
page and of its tabs stand beside them, and of each the slowest option is named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from benchmarks import large_store
from benchmarks._archive import archive_or_exit, imported
from benchmarks._timing import machine
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

APP = Path(__file__).resolve().parents[1] / "app.py"
COMMON = {
    "credit": ("detection only", "half credit for partial"),
    "vote": ("mean of runs", "all runs"),
}
SWITCHES = {
    "Runtime state": COMMON,
    "Kinds of crash": COMMON
    | {"rate": ("Recall", "F1"), "by": ("root_cause", "crash_type", "stage")},
    "Combinations": COMMON,
    "Stability": COMMON | {"votes": ("runtime",)},
    "Robustness": COMMON,
    "Time": COMMON,
}
"""Tab to switch in the address to the options that are picked, one at a time from the defaults."""
LIMIT_S, LARGE_LIMIT_S = 0.3, 1.0
A_LONG_TIME_S = 3600

Seconds = dict[str, float]


@contextmanager
def scripts_timed() -> Iterator[list[float]]:
    """Processor seconds of every script that runs meanwhile, in order."""
    seconds: list[float] = []
    run_script = ScriptRunner._run_script

    def timed_script(self: ScriptRunner, rerun_data: object) -> None:
        start = time.thread_time()
        try:
            run_script(self, rerun_data)  # type: ignore[arg-type]
        finally:
            seconds.append(time.thread_time() - start)

    ScriptRunner._run_script = timed_script  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        ScriptRunner._run_script = run_script  # type: ignore[method-assign]


def measured(folder: DataFolder) -> tuple[Seconds, Seconds, Seconds]:
    """Seconds of the first visit of each tab, of each option when it is new, and of each when it is picked again."""
    os.environ["CRANE_DATA"] = str(folder.path)
    st.cache_data.clear()  # copies have no separate source, so what is kept of another folder would pass for them
    st.cache_resource.clear()
    with scripts_timed() as seconds:
        page = (
            AppTest.from_file(str(APP), default_timeout=A_LONG_TIME_S)
            .run()
            .switch_page("pages/2_results.py")
        )
        first: Seconds = {}
        new: Seconds = {}
        known: Seconds = {}
        for tab, switches in SWITCHES.items():
            page.query_params["part"] = tab
            first[tab] = _drawn(page, seconds)
            for again in (new, known):
                for key, options in switches.items():
                    for option in options:
                        page.query_params[key] = option
                        again[f"{tab}: {option}"] = _drawn(page, seconds)
                    del page.query_params[key]
                    _drawn(page, seconds)
    return first, new, known


def _drawn(page: AppTest, seconds: list[float]) -> float:
    """Draw the page as its address says; the seconds that it took."""
    page.run()
    _refuse_errors(page)
    return seconds[-1]


def _refuse_errors(page: AppTest) -> None:
    if page.exception or page.error:
        raise SystemExit(f"the page failed: {[*page.exception, *page.error]}")


def show(title: str, folder: DataFolder, limit: float) -> None:
    first, new, known = measured(folder)
    visits = ", ".join(f"{tab} {seconds * 1e3:,.0f}" for tab, seconds in first.items())
    print(f"{title}: first visits in ms: {visits}")
    for name, seconds in (("options, new", new), ("options, again", known)):
        median, slowest = (
            statistics.median(seconds.values()),
            max(seconds, key=seconds.__getitem__),
        )
        n_over = sum(took > limit for took in seconds.values())
        print(
            f"  {name:14} median {median * 1e3:,.0f} ms, slowest {seconds[slowest] * 1e3:,.0f} ms ({slowest}); "
            f"{n_over} of {len(seconds)} over the limit of {limit * 1e3:,.0f} ms"
        )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results_switch")
    parser.add_argument(
        "--copies",
        type=int,
        default=large_store.COPIES,
        help="of the data; 1 leaves the large one out",
    )
    copies = parser.parse_args(arguments).copies
    archive = archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        small = imported(Path(scratch) / "x1")
        large = DataFolder(Path(scratch) / "more")
        shutil.copytree(small.path, large.path)
        show("imported data", small, LIMIT_S)
        if copies > 1:
            store = prepare(large)
            large_store.multiply(archive, store, copies)
            store.close()
            show(f"{copies} times the data", large, LARGE_LIMIT_S)
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
