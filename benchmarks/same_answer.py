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
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks._same_cells import Order, all_orders
from benchmarks._timing import machine, options
from crane_core.live.helper import Helper

N_CELLS = 130
N_ROUNDS = 5
N_BUSY = 2
MOST_REPEATS = 20
"""So often is asked again what was not asked yet; each time is waited for five seconds."""
NOT_YET = "not asked yet"


class HelperAnswer(NamedTuple):
    """An answer as far as it may not change: the findings as JSON, and what it says was not asked."""

    findings: str
    not_asked: tuple[str, ...]


Answers = list[tuple[HelperAnswer, HelperAnswer]]
"""By the place of the cell: when everything was new, and once more."""


def answered(helper: Helper, order: Order) -> HelperAnswer:
    answer = helper.ask(order)
    unsure = [one for one in answer["unsure"] if one.startswith(NOT_YET)]
    found = json.dumps(answer["findings"], sort_keys=True)
    return HelperAnswer(found, tuple(unsure))


def one_round(orders: Sequence[Order], seed: int) -> Answers:
    """A fresh process asked about every cell, in a shuffled order."""
    places = list(range(len(orders)))
    random.Random(seed).shuffle(places)
    helper = Helper()
    try:
        first = {place: answered(helper, orders[place]) for place in places}
        for place in [one for one in places if first[one].not_asked]:
            for _ in range(MOST_REPEATS):
                if not answered(helper, orders[place]).not_asked:
                    break
        later = {place: answered(helper, orders[place]) for place in places}
    finally:
        helper.end()
    return [(first[place], later[place]) for place in sorted(places)]


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


def differences(answers: Answers, expected: Answers) -> Counter[str]:
    """How many answers are not the later expected ones, by when they were given and whether they say so."""
    n: Counter[str] = Counter()
    for (first, later), (_, right) in zip(answers, expected, strict=True):
        for when, one in (("first", first), ("later", later)):
            n[f"{when}, said"] += bool(one.not_asked)
            n[f"{when}, silently"] += not one.not_asked and one != right
    return n


def main() -> int:
    n_rounds = options(__doc__, rounds=N_ROUNDS).rounds
    orders = all_orders()
    assert len(orders) == N_CELLS, len(orders)
    total: Counter[str] = Counter()
    expected: Answers = []
    for name, n_busy in (("idle", 0), ("load", N_BUSY)):
        with busy(n_busy):
            rounds = [one_round(orders, seed) for seed in range(n_rounds)]
        expected = expected or rounds[0]
        found: Counter[str] = Counter()
        for answers in rounds:
            found.update(differences(answers, expected))
        total.update(found)
        print(f"{name}: {n_rounds} rounds, answers that differ: {dict(found)}")
    n_predicted = sum(later.findings != "[]" for _, later in expected)
    print(f"{n_predicted} of {len(orders)} are predicted to crash")
    print(machine())
    # What is said at first is not wrong, and is asked for again.
    return int(total.total() > total["first, said"])


if __name__ == "__main__":
    sys.exit(main())
