"""How long the server takes to answer a changed switch of Results: 300 ms at most, 1 s on 100 times the data.

    python -m benchmarks.results_switch [--copies N]

Each option is picked in each tab for the first time after a start, when nothing is kept from before, and once
more, when it is. Measured is the processor time of the thread that draws the page, which other work on the machine
hardly changes; DuckDB's own threads come on top where something is read for the first time. The first visits of the
page and of its tabs stand beside them, and of each the slowest option is named. `--copies 1` leaves the large data out.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks._data import COPIES, archive_or_exit, imported, multiply
from benchmarks._timing import machine, options
from benchmarks.page_cost import Cost, app, draw, scripts_measured
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

COMMON = {
    "credit": ("detection only", "half credit for partial"),
    "vote": ("mean of runs", "all runs"),
}
OF_KINDS = {
    "rate": ("Recall", "F1"),
    "by": ("root_cause", "crash_type", "stage"),
}
SWITCHES = {
    "Runtime state": COMMON,
    "Kinds of crash": COMMON | OF_KINDS,
    "Combinations": COMMON,
    "Stability": COMMON | {"votes": ("runtime",)},
    "Robustness": COMMON,
    "Time": COMMON,
}
"""Tab to switch in the address to the options that are picked, one at a time from the defaults."""
LIMIT_S, LARGE_LIMIT_S = 0.3, 1.0

Seconds = dict[str, float]


def measured(folder: DataFolder) -> tuple[Seconds, Seconds, Seconds]:
    """Seconds of the first visit of each tab, of each option when it is new, and of each when it is picked again."""
    os.environ["CRANE_DATA"] = str(folder.path)
    st.cache_data.clear()  # copies have no separate source, so what is kept of another folder would pass for them
    st.cache_resource.clear()
    first: Seconds = {}
    new: Seconds = {}
    known: Seconds = {}
    with scripts_measured() as costs:
        page = app("2_results")
        for tab, switches in SWITCHES.items():
            page.query_params["part"] = tab
            first[tab] = _drawn(page, costs)
            for again in (new, known):
                for key, picked in switches.items():
                    for option in picked:
                        page.query_params[key] = option
                        again[f"{tab}: {option}"] = _drawn(page, costs)
                    del page.query_params[key]
                    draw(page)
    return first, new, known


def _drawn(page: AppTest, costs: list[Cost]) -> float:
    draw(page)
    return costs[-1].thread


def show(title: str, folder: DataFolder, limit: float) -> None:
    first, new, known = measured(folder)
    visits = ", ".join(
        f"{tab} {seconds * 1e3:,.0f}" for tab, seconds in first.items()
    )
    print(f"{title}: first visits in ms: {visits}")
    for name, seconds in (("options, new", new), ("options, again", known)):
        median_ms = statistics.median(seconds.values()) * 1e3
        slowest = max(seconds, key=seconds.__getitem__)
        n_over = sum(took > limit for took in seconds.values())
        print(
            f"  {name:14} median {median_ms:,.0f} ms, slowest {seconds[slowest] * 1e3:,.0f} ms ({slowest}); "
            f"{n_over} of {len(seconds)} over the limit of {limit * 1e3:,.0f} ms"
        )


def main() -> None:
    copies = options(__doc__, copies=COPIES).copies
    archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        small = imported(Path(scratch) / "x1")
        more = DataFolder(small.path.with_name("more"))
        shutil.copytree(small.path, more.path)
        show("imported data", small, LIMIT_S)
        if copies > 1:
            store = prepare(more)
            multiply(store, copies)
            store.close()
            show(f"{copies} times the data", more, LARGE_LIMIT_S)
    print(machine())


if __name__ == "__main__":
    main()
