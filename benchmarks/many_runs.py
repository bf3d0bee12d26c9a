"""Results' main table over 20 million runs that stay in Parquet: seconds and peak memory against their limits.

    python -m benchmarks.many_runs [--runs N]

A seeded generator writes the runs of ten detectors with and without runtime state, five for each instance, and labels
of the crashes that were detected. Everything lies in a temporary folder, which is deleted.
"""

from __future__ import annotations

import resource
import tempfile
import time
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import duckdb

from benchmarks._timing import machine, options, timed
from crane_core import domain
from crane_core.pipeline.loading.in_place import import_in_place
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.case_measures import compared_by_case
from crane_core.pipeline.results.evaluate import conditions
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.storage import write
from crane_core.storage.store import Store
from crane_core.storage.verdicts import PUBLISHED_HUMAN

N_RUNS = 20_000_000
N_DETECTORS = 10
RUNS_EACH = 5
SETTINGS = ("code", "runtime")
SEED = 20251018
MAX_SECONDS = 5.0
MAX_GIBIBYTES = 4.0
BENCHMARK, EXPERIMENT = "many", "many-runs"
_HARD = f"(hash(i // {RUNS_EACH} // 2, {SEED}) % 1000) / 1000"
"""How hard the case is, the same for every detector: runs about one case are alike."""
_INSTANCE = f"""
    printf('case_%07d', i // {RUNS_EACH} // 2)
    || CASE WHEN (i // {RUNS_EACH}) % 2 = 0 THEN '_reproduced' ELSE '_fixed' END
"""


def generate(folder: Path, n_runs: int) -> int:
    """Write the files; the number of cases. A hundredth of the runs has no answer."""
    n_each = n_runs // (N_DETECTORS * len(SETTINGS))
    folder.mkdir()
    with duckdb.connect() as connection:
        for number, setting in product(range(N_DETECTORS), SETTINGS):
            for kind, select in _tables(number, setting, n_each).items():
                path = folder / f"{kind}-{number}-{setting}.parquet"
                connection.execute(
                    f"COPY ({select}) TO '{path}' (FORMAT parquet, "
                    f"COMPRESSION zstd)"
                )
    return n_each // RUNS_EACH // 2


def _tables(number: int, setting: str, n_runs: int) -> dict[str, str]:
    """The query of each kind of file of a detector with a setting."""
    seed = SEED + number
    skill = 0.45 + 0.03 * number + (0.08 if setting == "runtime" else 0.0)
    right = (
        f"{_HARD} * 0.6 + (hash(i, {seed}, '{setting}') % 1000) / 2500 < "
        f"{skill}"
    )
    key = f"""'{BENCHMARK}' AS benchmark, '{EXPERIMENT}' AS experiment, 'model-{number}' AS detector,
              '{setting}' AS setting, {_INSTANCE} AS instance"""
    return {
        "runs": f"""
            SELECT {key}, (i % {RUNS_EACH} + 1)::INTEGER AS index,
                   CASE WHEN hash(i, {seed}, 'silent') % 100 > 0
                        THEN ({right}) = ((i // {RUNS_EACH}) % 2 = 0) END AS crashes
            FROM range({n_runs}) AS t(i)
        """,  # noqa: S608
        "judgements": f"""
            SELECT {key}, '{PUBLISHED_HUMAN}' AS annotator, 'human' AS annotator_kind,
                   CASE hash(i, {seed}, 'label') % 4 WHEN 0 THEN 'partial' WHEN 1 THEN 'wrong' ELSE 'correct' END
                       AS label
            FROM range(0, {n_runs}, {2 * RUNS_EACH}) AS t(i)
        """,  # noqa: S608
    }


def add_cases(store: Store, n_cases: int) -> None:
    """The cases that the runs are about."""
    for first in range(0, n_cases, 10_000):
        names = [
            f"case_{number:07d}"
            for number in range(first, min(first + 10_000, n_cases))
        ]
        cases: list[domain.Record] = [
            domain.Case(BENCHMARK, name) for name in names
        ]
        cases += [
            domain.Instance(BENCHMARK, name, version)
            for name in names
            for version in domain.Version
        ]
        store.write(
            lambda cursor, batch=cases: write.add_records(
                cursor, batch, source_id="generated"
            )
        )  # type: ignore[misc]


def ask(path: Path) -> tuple[dict[str, float], float]:
    """Seconds of the main table in a process that did nothing else, and the peak of its memory in GiB."""
    store = prepare(DataFolder(path))
    seconds: dict[str, float] = {}
    for credit in (Credit.DETECTION, Credit.STRICT):
        start = time.perf_counter()
        known = conditions(store)
        shown = known[known["benchmark"] == BENCHMARK].assign(
            asked=lambda rows: rows["detector"], is_beside=False
        )
        table = compared_by_case(
            store, BENCHMARK, shown, rule=VoteRule.MAJORITY, credit=credit
        ).comparison
        seconds[str(credit)] = time.perf_counter() - start
        assert len(table) == N_DETECTORS, table
    store.close()
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, kibibytes / 1024**2


def main() -> None:
    n_runs = options(__doc__, runs=N_RUNS).runs
    with tempfile.TemporaryDirectory() as scratch:
        generated = Path(scratch) / "generated"
        folder = DataFolder(Path(scratch) / "data")
        folder.path.mkdir()
        n_cases = generate(generated, n_runs)
        n_bytes = sum(file.stat().st_size for file in generated.iterdir())
        store = prepare(folder)
        add_cases(store, n_cases)
        store.close()
        took_s, entries = timed(
            lambda: list(import_in_place([generated], folder))
        )
        print(
            f"{n_runs:,} runs of {n_cases:,} cases: {len(entries)} files, "
            f"{n_bytes / 1e6:,.0f} MB; "
            f"checked and imported in place in {took_s:.1f} s; {machine()}"
        )
        with get_context("spawn").Pool(1) as apart:
            found, peak = apart.apply(ask, [folder.path])
    for credit, seconds in found.items():
        print(
            f"main table, {credit}: {seconds:.2f} s, "
            f"{seconds / MAX_SECONDS:.2f} of the limit of "
            f"{MAX_SECONDS:.0f} s"
        )
    print(
        f"peak memory {peak:.2f} GiB, {peak / MAX_GIBIBYTES:.2f} of the "
        f"limit of {MAX_GIBIBYTES:.0f} GiB; {machine()}"
    )
    if max(found.values()) > MAX_SECONDS or peak > MAX_GIBIBYTES:
        raise SystemExit("over the limit")


if __name__ == "__main__":
    main()
