"""Whether the same question has the same answer, whenever it is asked: idle and under load, at once and later.

python -m benchmarks.same_answer [--rounds N]

130 cells (minibench with its captured states, and fifty more) are asked about as `%%crane` does, in a process
that was started a moment ago, in an order that each round shuffles. An answer that says what was not asked yet is asked
for again; then all cells are asked about once more. Five rounds idle and five beside two busy processes. Differences
are answers that differ from the first complete one: those that say so ("not asked yet") are counted apart from those
that do not. Ends with 1 where an answer differs silently, or where one differs once everything was asked.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from benchmarks._same_cells import Order, all_orders
from benchmarks._timing import machine, options
from crane_core.live.helper import Helper

N_CELLS, N_ROUNDS, N_BUSY = 130, 5, 2
MOST_REPEATS = 20
"""So often is asked again what was not asked yet; each time is waited for five seconds."""
NOT_YET = "not asked yet"


class Judged(NamedTuple):
    """An answer as far as it may not change: the findings as JSON, and what it says was not asked."""

    findings: str
    not_asked: tuple[str, ...]


class Round(NamedTuple):
    """Answers by the place of the cell: when everything was new, and when it was asked once more."""

    first: list[Judged]
    later: list[Judged]


def judged(helper: Helper, order: Order) -> Judged:
    answer: dict[str, Any] = helper.ask(order)
    not_asked = tuple(
        sentence
        for sentence in answer["unsure"]
        if sentence.startswith(NOT_YET)
    )
    return Judged(json.dumps(answer["findings"], sort_keys=True), not_asked)


def one_round(orders: Sequence[Order], seed: int) -> Round:
    """A fresh process asked about every cell, in a shuffled order."""
    places = list(range(len(orders)))
    random.Random(seed).shuffle(places)
    helper = Helper()
    try:
        first = {place: judged(helper, orders[place]) for place in places}
        for place in [place for place, said in first.items() if said.not_asked]:
            _until_asked(helper, orders[place])
        later = {place: judged(helper, orders[place]) for place in places}
    finally:
        helper.end()
    in_order = range(len(orders))
    return Round(
        [first[place] for place in in_order],
        [later[place] for place in in_order],
    )


def _until_asked(helper: Helper, order: Order) -> None:
    for _ in range(MOST_REPEATS):
        if not judged(helper, order).not_asked:
            return


@contextmanager
def busy(n_processes: int) -> Iterator[None]:
    """Processes that take a core each."""
    started = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(n_processes)
    ]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def differences(rounds: Sequence[Round]) -> dict[str, int]:
    """How many answers are not those of the first round once everything was asked there."""
    expected = rounds[0].later
    n: dict[str, int] = {}
    for when, answers in (
        ("first", [one.first for one in rounds]),
        ("asked once more", [one.later for one in rounds]),
    ):
        said = [one for of_round in answers for one in of_round]
        pairs = zip(said, expected * len(rounds), strict=True)
        n[f"{when}, silently"] = sum(
            a != b for a, b in pairs if not a.not_asked
        )
        n[f"{when}, said"] = sum(bool(one.not_asked) for one in said)
    return n


def main() -> int:
    n_rounds = options(__doc__, rounds=N_ROUNDS).rounds
    orders = all_orders()
    assert len(orders) == N_CELLS, len(orders)
    rounds: list[Round] = []
    for name, n_busy in (("idle", 0), ("load", N_BUSY)):
        with busy(n_busy):
            made = [one_round(orders, seed) for seed in range(n_rounds)]
        rounds += made
        told = ", ".join(f"{what} {n}" for what, n in differences(made).items())
        print(
            f"{name}: {len(made)} rounds of {len(orders)} cells; answers "
            f"that differ: {told}",
            flush=True,
        )
    total = differences(rounds)
    n_predicted = sum(said.findings != "[]" for said in rounds[0].later)
    print(
        f"all: {total}; {n_predicted} of {len(orders)} are predicted to crash"
    )
    print(machine())
    is_same = all(n == 0 for what, n in total.items() if what != "first, said")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
