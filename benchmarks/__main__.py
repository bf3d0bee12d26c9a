"""Speed and size against their budgets: one table, one line of history.

    python -m benchmarks [--check] [NAME ...]

Runs the benchmarks that have a budget in budgets.toml, or those that are named, each in its own process on two cores.
--check writes no history and ends with 0 where every budget is held, 1 where one is not or a benchmark failed, 3 where
one could not be measured: other programs were busy, the repeats differ too much, or the published archive is not there.
2 is a wrong call or wrong budgets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import _history
from benchmarks._budgets import (
    BUDGETS,
    BudgetError,
    Outcome,
    Told,
    judged,
    read_budgets,
)
from benchmarks._figures import FILE, FigureError, read_figures
from benchmarks._noise import watched

HELD = 0
OVER = 1
WRONG_CALL = 2
NOT_MEASURED = 3
_COLUMNS = "{:16}{:38}{:>10}{:>12}  {:14}{:>6}{:>8}{:>6}{:>7}  {}"
_HEAD = (
    "benchmark",
    "question",
    "ours",
    "against",
    "peer",
    "ratio",
    "spread",
    "load",
    "others",
    "budget",
)


class BenchmarkFailedError(RuntimeError):
    """A benchmark ended with an error, which it printed."""


def names(folder: Path = BUDGETS.parent) -> list[str]:
    """Every benchmark that can be run."""
    return sorted(file.stem for file in folder.glob("[a-z]*.py"))


def measure(
    name: str, cores: Sequence[int], package: str = "benchmarks"
) -> tuple[Path, float]:
    """Run a benchmark in its own process; the file of its figures, and the cores that other programs took.

    Raises BenchmarkFailedError.
    """
    figures = Path(tempfile.mkdtemp(prefix="crane-figures-")) / "figures.jsonl"
    with watched() as watch:
        process = subprocess.Popen(
            [sys.executable, "-m", f"{package}.{name}"],
            env=os.environ | {FILE: str(figures)},
            stdout=sys.stderr,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        watch.pid = process.pid
        code = process.wait()
    if code:
        raise BenchmarkFailedError(f"{name} ended with {code}")
    return figures, watch.others


def table(told: Sequence[Told]) -> str:
    """One line per question; `others` are the cores that other programs took."""
    head = _COLUMNS.format(*_HEAD)
    return "\n".join([head, *map(_row, told)])


def _row(one: Told) -> str:
    outcome = f"{one.outcome}: {one.why}" if one.why else str(one.outcome)
    if one.figure is None:
        return _COLUMNS.format(one.benchmark, one.question, *"-------", outcome)
    of = one.figure
    return _COLUMNS.format(
        one.benchmark,
        of.question,
        f"{of.ours:,.3g} {of.unit}",
        f"{of.against:,.3g} {of.unit}",
        of.peer,
        f"{of.ratio:.2f}",
        f"{of.spread:.0%}",
        f"{of.load:.1f}",
        f"{one.others:.2f}",
        outcome,
    )


def exit_code(told: Sequence[Told], *, failed: bool) -> int:
    """Of --check: what is over its budget counts before what was not measured."""
    outcomes = {one.outcome for one in told}
    if failed or Outcome.OVER in outcomes:
        return OVER
    return (
        NOT_MEASURED
        if Outcome.NOT_MEASURED in outcomes or Outcome.HELD not in outcomes
        else HELD
    )


def main(
    arguments: Sequence[str],
    *,
    package: str = "benchmarks",
    budgets_file: Path = BUDGETS,
) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="default: those that have a budget",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="fail where a budget is not held; write no history",
    )
    chosen = parser.parse_args(arguments)
    try:
        budgets = read_budgets(budgets_file)
    except BudgetError as error:
        print(f"error: {error}", file=sys.stderr)
        return WRONG_CALL
    known = names(budgets_file.parent)
    if unknown := [
        name for name in (*chosen.names, *budgets.ratios) if name not in known
    ]:
        print(
            f"error: there is no benchmark {unknown[0]!r}; there are "
            f"{', '.join(known)}",
            file=sys.stderr,
        )
        return WRONG_CALL
    cores = sorted(os.sched_getaffinity(0))[: int(budgets.quiet.cores)]
    told: list[Told] = []
    failed = False
    for name in chosen.names or budgets.ratios:
        print(f"== {name}", file=sys.stderr)
        try:
            file, others = measure(name, cores, package)
            figures = read_figures(file)
        except (BenchmarkFailedError, FigureError) as error:
            print(f"error: {error}", file=sys.stderr)
            failed = True
            continue
        told += judged(name, figures, others, budgets, len(cores))
    print(table(told))
    if not chosen.check:
        _history.append(told, budgets_file.with_name(_history.HISTORY.name))
        return OVER if failed else HELD
    return exit_code(told, failed=failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
