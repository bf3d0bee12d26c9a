"""`verify`: every pair of a benchmark is executed, to see whether it is what it claims to be."""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crane_core import arguments, terminal
from crane_core.arguments import add, flag, option
from crane_core.domain import Verification
from crane_core.pipeline.own_notebooks.check import refuse_if_forbidden
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_of
from crane_core.pipeline.verification import verified, verify, where
from crane_core.runtime.environment import environment_of
from crane_core.runtime.limits import most_memory, n_cores
from crane_core.runtime.program import program
from crane_core.verbs import capture, check

NAME = "verify"
HELP = "execute every pair of a benchmark: does one notebook crash as recorded, and does its fix run? Repeat to resume"
EXAMPLE = """python -m crane_core verify minibench
         python -m crane_core verify my_pairs --jobs 4 --python ~/envs/lab/bin/python --csv
         python -m crane_core verify my_pairs --dask tcp://10.0.0.5:8786"""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare what `verify` takes: a benchmark or folder of pairs, the kernel, its limits, and how many run at once."""
    add(
        verb,
        option(
            "benchmark BENCHMARK|FOLDER",
            "minibench, an imported benchmark, or a folder or archive of pairs; exit 1 if a pair is not as recorded",
            arguments.path_or_name,
        ),
        option(
            "--jobs N",
            "notebooks that run at the same time (default: one per two cores)",
            arguments.at_once,
        ),
    )
    kernel = verb.add_argument_group("the kernel")
    capture.add_interpreter(kernel)
    capture.add_bounds(verb)
    check.add_isolation(verb)
    capture.add_dask(verb)
    add(
        verb,
        flag("--again", "execute what is known from an earlier run too"),
    )
    add(
        verb.add_mutually_exclusive_group(),
        flag("--json", "print counts and notebooks as JSON to stdout"),
        flag("--csv", "print one row per notebook as CSV to stdout"),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Execute both notebooks of every pair and print how many are as recorded.

    Returns 0, or 1 if a pair is not as recorded. Raises KernelError if execution is forbidden, SourceError for an
    unknown benchmark.
    """
    refuse_if_forbidden(os.environ, remedy="Unset it, or set it to 1.")
    how = _how(chosen)
    with (
        # Notebooks of archives are unpacked here; those of a folder run where they are, beside their data.
        tempfile.TemporaryDirectory(prefix="crane-verify-") as place,
        terminal.stop_on_interrupt() as stop,
    ):
        found: list[Verification] = []
        for bench in where.benches(chosen.benchmark, folder, Path(place)):
            terminal.tell(
                f"{bench.benchmark}: {len(bench.pairs):,} pairs, Python {how.environment.python}, {how.n_jobs} at once"
            )
            n_told = [0]
            # The cluster is chosen by the number of notebooks, of which a pair has two.
            with capture.cluster_for(
                chosen, 2 * len(bench.pairs), how.n_jobs
            ) as cluster:
                executor = verify.on_cluster(cluster) if cluster else None
                here = verify.verify(
                    bench,
                    folder,
                    how,
                    stop=stop,
                    progress=_teller(n_told),
                    executor=executor,
                )
            # Progress is heard only for pairs that were executed now.
            if n_known := len(verified.pairs_of(here)) - n_told[0]:
                terminal.tell(
                    f"  {n_known:,} known from an earlier run of the same files; --again executes them too"
                )
            found += here
        if stop.is_set():
            # Half a table would read as a result; what was executed is in the ledger, and the same command
            # resumes.
            raise KeyboardInterrupt
    pairs = verified.pairs_of(found)
    if chosen.csv:
        terminal.give(csv_of(verified.as_table(found)))
    else:
        words = in_words(bench.benchmark, how.environment.python, pairs)
        document = _as_json(bench, how, pairs, found)
        terminal.give_either(document, words, as_json=chosen.json)
    return 1 if any(pair.is_wrong for pair in pairs) else 0


def _how(chosen: argparse.Namespace) -> verify.VerifyOptions:
    n_jobs = chosen.jobs or max(1, n_cores() // 2)
    limits = capture.bounded(chosen)
    if not chosen.memory_mib:
        limits = limits._replace(memory_bytes=most_memory() // n_jobs)
    kernel = program(python=chosen.python)
    return verify.VerifyOptions(
        kernel, environment_of(kernel), limits, n_jobs, chosen.again
    )


def _teller(n_told: list[int]) -> verify.Progress:
    def tell_pair(
        n_done: int, n_all: int, halves: Sequence[Verification]
    ) -> None:
        [pair] = verified.pairs_of(halves)
        n_told[0] += 1
        terminal.tell(
            f"  {n_done:,} of {n_all:,}: {pair.case_id}: {pair.outcome}"
        )

    return tell_pair


def _as_json(
    bench: where.Bench,
    how: verify.VerifyOptions,
    pairs: list[verified.VerifiedPair],
    found: list[Verification],
) -> dict[str, object]:
    return {
        "benchmark": bench.benchmark,
        "python": how.environment.python,
        "environment": how.environment.digest,
        "pairs": len(pairs),
        "counts": {
            str(outcome): n for outcome, n in verified.counts_of(pairs).items()
        },
        "notebooks": [
            {name: row[name] for name in verified.COLUMNS}
            for row in as_rows(verified.as_table(found))
        ],
    }


def in_words(
    benchmark: str, python: str, pairs: list[verified.VerifiedPair]
) -> str:
    """A count per outcome, then every pair that is not as recorded, with the reason."""
    counted = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    lines = [f"{benchmark}: {counted}, Python {python}"]
    lines += [
        f"  {n:>6,}  {outcome}"
        for outcome, n in verified.counts_of(pairs).items()
    ]
    wrong = [pair for pair in pairs if pair.is_wrong]
    apart = [pair for pair in pairs if pair.outcome in verified.APART]
    for title, listed in (
        ("Not what they claim to be:", wrong),
        ("Not verified here:", apart),
    ):
        if listed:
            lines += [title, *(f"  {_reason(pair)}" for pair in listed)]
    return "\n".join(lines)


def _reason(pair: verified.VerifiedPair) -> str:
    name = f"{pair.case_id}_{pair.of.version}"
    return terminal.one_line(f"{name}: {pair.outcome}: {pair.of.why}")
