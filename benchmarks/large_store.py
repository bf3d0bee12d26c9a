"""What a hundred times the imported data costs each page: its questions in Python, and the page in the browser.

    python -m benchmarks.large_store

Every case with its instances, cells, states, prompts, answers and human labels is written a hundred times under other
ids. Labels of LLM judges are left at one copy: no page reads them.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from playwright.sync_api import Page

from benchmarks._archive import archive_or_exit, imported
from benchmarks._browser import blank_page
from benchmarks._painted import arm, seconds_to_paint, wait_until_loaded
from benchmarks._server import serve
from benchmarks._timing import machine, repeated, timed
from crane_core.domain import (
    AnnotatorKind,
    Case,
    Cell,
    Instance,
    Judgement,
    KernelState,
    Prompt,
    Record,
    Run,
)
from crane_core.importers.filetree import open_tree
from crane_core.importers.registry import importer_for
from crane_core.pipeline.cases import pairs
from crane_core.pipeline.loading.load import catch_up, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results import contradictions, evaluate, measures
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.pipeline.study import study_tables
from crane_core.storage import cases, state, write
from crane_core.storage.store import Cursor, Store

COPIES = 100
BATCH = 10
"""Copies that are written in one transaction."""
REPEATS = 3
BENCHMARK = "junobench"
STUDY = "crane-llm-2025-10"
ONE_PAIR = "pandas_8"
PAGES = {
    "Overview": ("/", "[data-testid=stVegaLiteChart] svg"),
    "Cases": ("/cases", ".cw-cases tbody tr"),
    "a pair": (f"/cases?case={ONE_PAIR}", ".cw-pair"),
    "Results": ("/results", "[data-testid=stVegaLiteChart] svg"),
    "Ablations": ("/ablations", ".cw-numbers"),
    "Data": ("/data", "[data-testid=stDataFrame] canvas"),
}
"""Page to its address and to what it shows last."""

Question = Callable[[], object]


def copied(records: Iterable[Record], number: int) -> Iterator[Record]:
    """The records of cases under ids of copy `number`: pandas_8 becomes pandas_8008 in the eighth."""
    for record in records:
        if isinstance(record, Case | Instance):
            yield replace(record, case_id=f"{record.case_id}{number:03d}")
        elif isinstance(record, Cell | KernelState | Prompt | Run | Judgement):
            case_id, _, version = record.instance_id.rpartition("_")
            yield replace(record, instance_id=f"{case_id}{number:03d}_{version}")


def multiply(archive: Path, store: Store, copies: int = COPIES) -> None:
    """Write the archive's records until the store holds so many copies of each."""
    tree = open_tree(archive)
    records = [r for r in importer_for(tree).read(tree) if not _is_judge(r)]
    for first in range(1, copies, BATCH):
        numbers = range(first, min(first + BATCH, copies))
        store.write(partial(_write_copies, records, numbers))


def large(data: Path) -> DataFolder:
    """A data folder at `data` with the archive and its copies."""
    folder = imported(data)
    store = prepare(folder)
    try:
        multiply(archive_or_exit(), store)
    finally:
        store.close()
    return folder


def _write_copies(records: list[Record], numbers: range, cursor: Cursor) -> None:
    batch = [record for number in numbers for record in copied(records, number)]
    write.add_records(cursor, batch, source_id=f"copies-{numbers.start}")


def _is_judge(record: Record) -> bool:
    return (
        isinstance(record, Judgement) and record.annotator_kind is AnnotatorKind.JUDGE
    )


def questions(store: Store, folder: DataFolder) -> dict[str, Question]:
    """What the pages ask, by the name of the function; those that start from a frame are given one."""
    verdicts = evaluate.verdict_frame(store)
    of_benchmark = verdicts[verdicts["benchmark"] == BENCHMARK]
    study = of_benchmark[
        (of_benchmark["experiment"] == STUDY) & (of_benchmark["detector_kind"] == "llm")
    ]
    listed = cases.case_list(store.cursor(), BENCHMARK)
    numbers = evaluate.printed_numbers(store)
    rules = {"rule": VoteRule.MAJORITY, "credit": Credit.STRICT}
    by = ["library_group", "detector_title", "setting"]
    return {
        "catch_up": lambda: catch_up(store, folder),
        "revision": lambda: state.revision(store.cursor()),
        "table_counts": lambda: state.table_counts(store.cursor()),
        "benchmarks": lambda: cases.benchmarks(store.cursor()),
        "verdict_frame": lambda: evaluate.verdict_frame(store),
        "case_list": lambda: cases.case_list(store.cursor(), BENCHMARK),
        "pair_table": lambda: pairs.pair_table(listed, of_benchmark),
        "natural_order": lambda: pairs.natural_order(listed),
        "gain_table": lambda: measures.gain_table(study, **rules),
        "rate_table by library": lambda: measures.rate_table(
            study, by=by, rate="Accuracy", **rules
        ),
        "study_tables": lambda: study_tables.study_tables(verdicts, numbers),
        "contradictions": lambda: contradictions.contradictions(verdicts),
        "one pair, five questions": lambda: _ask_for_pair(store),
    }


def _ask_for_pair(store: Store) -> None:
    for ask in (
        cases.case,
        cases.cells,
        cases.runs,
        cases.kernel_states,
        cases.prompt_list,
    ):
        ask(store.cursor(), BENCHMARK, ONE_PAIR)


def in_python(folder: DataFolder) -> dict[str, float]:
    """Median seconds of each question."""
    store = prepare(folder)
    try:
        return {
            name: repeated(ask, REPEATS).median
            for name, ask in questions(store, folder).items()
        }
    finally:
        store.close()


def in_browser(folder: DataFolder) -> dict[str, float]:
    """Seconds of each page: the first visit after a start, the median of later ones, and Next on a pair."""
    seconds: dict[str, float] = {}
    with serve(folder.path) as address, blank_page() as page:
        for name, (path, wanted) in PAGES.items():
            seconds[f"{name}, first visit"] = _visit(page, address + path, wanted)
        for name, (path, wanted) in PAGES.items():
            seconds[f"{name}, later visits"] = repeated(
                partial(_visit, page, address + path, wanted), REPEATS
            ).median
        _visit(page, f"{address}/cases?case={ONE_PAIR}", ".cw-pair")
        seconds["Next on a pair"] = repeated(lambda: _step(page), REPEATS).median
    return seconds


def _visit(page: Page, address: str, wanted: str) -> float:
    start = time.perf_counter()
    page.goto(address)
    wait_until_loaded(page, wanted=wanted)
    return time.perf_counter() - start


def _step(page: Page) -> float:
    arm(page, wanted="[data-testid=stMain] .cw-facts")
    page.get_by_role("button", name="Next").click()
    return seconds_to_paint(page)


def show(title: str, small: dict[str, float], large: dict[str, float]) -> None:
    print(f"{title:34}{'x1':>10}{f'x{COPIES}':>12}{'ratio':>8}")
    for name, seconds in small.items():
        print(
            f"{name:34}{seconds * 1e3:>7,.0f} ms{large[name] * 1e3:>9,.0f} ms{large[name] / seconds:>8.1f}"
        )


def main() -> None:
    archive = archive_or_exit()
    with tempfile.TemporaryDirectory() as scratch:
        small = imported(Path(scratch) / "x1")
        large = DataFolder(Path(scratch) / f"x{COPIES}")
        shutil.copytree(small.path, large.path)
        store = prepare(large)
        seconds, _ = timed(lambda: multiply(archive, store))
        counts = state.table_counts(store.cursor())
        store.close()
        print(
            f"{counts['cases']:,} cases, {counts['runs']:,} runs, written in {seconds:.0f} s"
        )
        n_bytes = [folder.database.stat().st_size for folder in (small, large)]
        print(f"database {n_bytes[0] / 1e6:,.0f} MB and {n_bytes[1] / 1e6:,.0f} MB")
        show("Python, median", in_python(small), in_python(large))
        show("browser", in_browser(small), in_browser(large))
    print(machine())


if __name__ == "__main__":
    main()
