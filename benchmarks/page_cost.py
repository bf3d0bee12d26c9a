"""What processor time each page takes on a hundred times the data: its first visit after a start, and a later one.

    python -m benchmarks.page_cost [--data FOLDER] [--only PAGE ...] [--profile FILE]

Without a browser: each page's script runs in this process, on the store of `benchmarks.large_store` or on --data. Of
each visit the processor time of the thread that draws the page, which other work on the machine hardly changes, and
that of the whole process, in which DuckDB's threads are counted too. What several pages read (answers per instance,
list of runs, labels) is read before, as the server's warm-up does, and Overview is visited: the first line. --profile
writes what cProfile saw of the first visits for `python -m pstats FILE`.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from streamlit.logger import set_log_level
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

from benchmarks._archive import archive_or_exit
from benchmarks._timing import machine
from benchmarks.large_store import large
from crane_core.pipeline.places import DataFolder

APP = Path(__file__).resolve().parents[1] / "app.py"
PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "Cases": ("1_cases", {}),
    "a pair": ("1_cases", {"case": "pandas_8"}),
    **{
        f"Results, {tab}": ("2_results", {"part": tab})
        for tab in (
            "Runtime state",
            "Kinds of crash",
            "Combinations",
            "Stability",
            "Robustness",
            "Time",
            "Paper's tables",
            "Paper's claims",
        )
    },
    **{
        f"Ablations, {tab}": ("3_ablations", {"part": tab})
        for tab in ("Parts of the input", "Kinds of crash", "Cost", "Paper's tables")
    },
    "Annotate": ("4_annotate", {}),
    "Campaigns": ("5_campaigns", {}),
    "Agreement": ("6_agreement", {}),
    "Runs": ("7_runs", {}),
    "Try a notebook": ("8_try_a_notebook", {}),
    "Data": ("9_data", {}),
    "Overview": ("0_overview", {}),
}
"""Page to its file and its address."""
A_LONG_TIME_S = 3600


class Cost(NamedTuple):
    """Processor seconds of a visit: of the page's thread, and of the whole process."""

    thread: float
    process: float


@contextmanager
def scripts_measured(profile: cProfile.Profile | None) -> Iterator[list[Cost]]:
    """The cost of every script that runs meanwhile, in order."""
    costs: list[Cost] = []
    run_script = ScriptRunner._run_script

    def measured_script(self: ScriptRunner, rerun_data: object) -> None:
        start = time.thread_time(), time.process_time()
        run: Callable[[], None] = lambda: run_script(self, rerun_data)  # type: ignore[arg-type]  # noqa: E731
        try:
            profile.runcall(run) if profile else run()
        finally:
            costs.append(
                Cost(time.thread_time() - start[0], time.process_time() - start[1])
            )

    ScriptRunner._run_script = measured_script  # type: ignore[method-assign]
    try:
        yield costs
    finally:
        ScriptRunner._run_script = run_script  # type: ignore[method-assign]


def warmed() -> float:
    """Do what the server does beside the first visit, and visit Overview, which comes first; processor seconds."""
    from crane_core.ui.warm import begin

    start = time.process_time()
    begin(patience_s=0).join()
    visit("Overview")
    return time.process_time() - start


def visit(name: str, profile: cProfile.Profile | None = None) -> Cost:
    """What a visit of the page costs in a new session."""
    file, query = PAGES[name]
    page = AppTest.from_file(str(APP), default_timeout=A_LONG_TIME_S).switch_page(
        f"pages/{file}.py"
    )
    for key, value in query.items():
        page.query_params[key] = value
    with scripts_measured(profile) as costs:
        page.run()
    if page.exception or page.error:
        raise SystemExit(f"{name} failed: {[*page.exception, *page.error]}")
    return Cost(*map(sum, zip(*costs, strict=True)))


def tell(data: Path, names: Sequence[str], profile: cProfile.Profile | None) -> None:
    set_log_level("error")  # not: this thread has no visitor
    os.environ["CRANE_DATA"] = str(data)
    print(
        f"{'ms of processor time':34}{'first':>8}{'process':>9}{'later':>8}{'process':>9}"
    )
    print(f"{'warm-up and Overview':42}{warmed() * 1e3:>9,.0f}")
    for name in names:
        first, later = visit(name, profile), visit(name)
        numbers = (*first, *later)
        print(
            f"{name:34}"
            + "".join(f"{s * 1e3:>{8 + i % 2},.0f}" for i, s in enumerate(numbers)),
            flush=True,
        )
    print(machine())


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_cost")
    parser.add_argument(
        "--data", type=Path, help="a data folder that holds the large store already"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PAGES,
        default=list(PAGES),
        metavar="PAGE",
        help="these visits",
    )
    parser.add_argument(
        "--profile", type=Path, help="where to write the profile of the first visits"
    )
    chosen = parser.parse_args(arguments)
    profile = cProfile.Profile() if chosen.profile else None
    if chosen.data:
        tell(chosen.data, chosen.only, profile)
    else:
        archive_or_exit()
        with tempfile.TemporaryDirectory() as scratch:
            folder: DataFolder = large(Path(scratch) / "x100")
            tell(folder.path, chosen.only, profile)
    if profile:
        profile.dump_stats(chosen.profile)


if __name__ == "__main__":
    main(sys.argv[1:])
