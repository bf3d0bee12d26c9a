"""How close to the ideal rate questions are answered: ours, the bare openai client, and Inspect AI on the same work.

    python -m benchmarks.llm_concurrency [--n 1110] [--latency-ms 200] [--without-inspect]

The fake endpoint runs in its own process and waits the same time before each reply; so a client that cost nothing
would reach concurrency / latency. Inspect AI does more for each sample than the others: it scores and keeps a log.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks._inspect import inspect_python, run_inspect
from benchmarks._peer import PeerMissingError
from benchmarks._server import CHECKOUT
from benchmarks._timing import machine

GOALS = {8: 0.95, 32: 0.85, 128: 0.60}
"""Concurrency and the share of the ideal rate that is wanted of us."""

FLAT_BYTES = 20_000_000
"""Memory may grow so much between half of the work and its end and still be called flat."""

PROMPT_CHARS = 6_000
RUN_S = 600

Contender = Callable[[dict[str, Any]], dict[str, Any]]


@contextmanager
def endpoint(latency_ms: float) -> Iterator[str]:
    """The fake endpoint; gives its base address."""
    command = [
        sys.executable,
        "-m",
        "crane_core.llm.fake_server",
        "--latency-ms",
        str(latency_ms),
    ]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def contender(who: str) -> Contender:
    """One of _asking_process, in its own process."""

    def run(work: dict[str, Any]) -> dict[str, Any]:
        command = [
            sys.executable,
            "-m",
            "benchmarks._asking_process",
            json.dumps(work | {"who": who}),
        ]
        done = subprocess.run(
            command,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=True,
        )
        measured: dict[str, Any] = json.loads(done.stdout)
        return measured

    return run


def contenders(*, with_inspect: bool) -> dict[str, Contender]:
    found = {"ours": contender("ours"), "bare client": contender("bare")}
    if with_inspect:
        try:
            python = inspect_python()
        except PeerMissingError as missing:
            print(f"Inspect AI is left out: {missing}")
        else:
            found["Inspect AI"] = lambda work: run_inspect(python, work)
    return found


def row(
    name: str, concurrency: int, n: int, latency_s: float, found: dict[str, Any]
) -> tuple[str, float]:
    """A line of the table, and the share of the ideal rate."""
    rate = found["n_answered"] / found["seconds"]
    share = rate / (concurrency / latency_s)
    start, half, end, most = (
        found["memory"][key] / 1e6 for key in ("start", "half", "end", "most")
    )
    memory = f"{start:4.0f} {half:4.0f} {end:4.0f} (most {most:.0f})"
    lost = f", {n - found['n_answered']} lost" if found["n_answered"] < n else ""
    cpu_ms = found["cpu_s"] / n * 1e3
    return (
        f"{name:12} {concurrency:5} {rate:7.1f}/s {share:6.1%} {cpu_ms:9.2f} ms   {memory}{lost}",
        share,
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1_110)
    parser.add_argument("--latency-ms", type=float, default=200.0)
    parser.add_argument("--without-inspect", action="store_true")
    chosen = parser.parse_args()
    found = contenders(with_inspect=not chosen.without_inspect)
    print(f"{chosen.n:,} requests, latency {chosen.latency_ms:g} ms, {machine()}")
    print(
        f"{'':12} {'conc.':>5} {'rate':>9} {'ideal':>6} {'CPU/request':>12}   MB at start, half, end"
    )
    is_reached = True
    for concurrency, goal in GOALS.items():
        for name, run in found.items():
            with endpoint(chosen.latency_ms) as url:
                work = {
                    "url": url,
                    "n": chosen.n,
                    "concurrency": concurrency,
                    "prompt_chars": PROMPT_CHARS,
                }
                try:
                    measured = run(work)
                except PeerMissingError as missing:
                    print(f"{name:12} {concurrency:5} left out: {missing}")
                    continue
            line, share = row(
                name, concurrency, chosen.n, chosen.latency_ms / 1e3, measured
            )
            print(line, flush=True)
            if name == "ours":
                grown = measured["memory"]["end"] - measured["memory"]["half"]
                is_reached &= (
                    share >= goal
                    and grown < FLAT_BYTES
                    and measured["n_answered"] == chosen.n
                )
    goals = ", ".join(
        f"{goal:.0%} at {concurrency}" for concurrency, goal in GOALS.items()
    )
    print(
        f"Goal for ours ({goals} of the ideal rate, flat memory): {'reached' if is_reached else 'missed'}; {machine()}"
    )
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main())
