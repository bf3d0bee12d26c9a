"""How close to the ideal rate the whole of `detect` comes: prompts, questions, every answer fsynced, tables, scores.

    python -m benchmarks.detect_rate [--runs 14] [--latency-ms 200]

The limit is the endpoint: one that waits the same time before each reply lets through concurrency / latency. What the
door alone reaches, beside other clients, prints `benchmarks.llm_concurrency`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._server import CHECKOUT
from benchmarks._timing import machine
from benchmarks.llm_concurrency import GOALS, RUN_S, endpoint


def detect(data: Path, url: str, concurrency: int, runs: int) -> dict[str, Any]:
    """What the command says of a job over minibench's states."""
    asked = [
        "--detector",
        "llm",
        "--model",
        f"at-{concurrency}",
        "--base-url",
        url,
        "--setting",
        "runtime",
    ]
    much = [
        "--benchmark",
        "minibench",
        "--runs",
        str(runs),
        "--concurrency",
        str(concurrency),
        "--json",
    ]
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(data),
        "detect",
        *asked,
        *much,
    ]
    done = subprocess.run(
        command,
        cwd=CHECKOUT,
        env=os.environ | {"OPENAI_API_KEY": "none-is-needed"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=RUN_S,
        check=True,
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=14, help="answers per instance, of 80 instances"
    )
    parser.add_argument("--latency-ms", type=float, default=200.0)
    chosen = parser.parse_args()
    is_reached = True
    with tempfile.TemporaryDirectory() as folder:
        for concurrency, goal in GOALS.items():
            with endpoint(chosen.latency_ms) as url:
                said = detect(Path(folder), url, concurrency, chosen.runs)
            rate = said["answered"] / said["elapsed_s"]
            share = rate / (concurrency / (chosen.latency_ms / 1e3))
            print(
                f"{concurrency:4} at once: {said['answered']:,} of {said['questions']:,} answered in "
                f"{said['elapsed_s']:.1f} s, {rate:.1f} per s, {share:.1%} of the ideal rate (goal {goal:.0%})",
                flush=True,
            )
            is_reached &= share >= goal and said["answered"] == said["questions"]
    print(f"Goal {'reached' if is_reached else 'missed'}; {machine()}")
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main())
