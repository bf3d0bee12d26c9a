"""What looking at large things costs, beside the published extractor in the same process.

python -m benchmarks.capture_cost [--python PATH] [SCENE ...]

Limits: 50 ms where the peer takes as long or longer, 1 s for any single variable, and at the most 10% of the object's
bytes as extra memory: the high-water mark of a fresh process in which nothing else is done. Libraries are imported and
both are warm before anything is measured. `--python` names the interpreter; it takes torch for some scenes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._cost_scenes import SCENES
from benchmarks._interpreter import interpreter, lacking
from benchmarks._peer import PEER, PeerMissingError, peer_folder
from benchmarks._timing import Times, machine
from crane_core.pipeline.places import CHECKOUT
from crane_core.runtime import kernel_side

LIMIT_S = 0.05
LIMIT_OF_ONE_S = 1.0
LIMIT_OF_MEMORY = 0.1
MB = 1e6


class Clocks(NamedTuple):
    """The same runs by the clock, and in seconds of processor, which other programs do not lengthen as much."""

    wall: Times
    processor: Times

    def in_words(self) -> str:
        return (
            f"{self.wall.in_ms()}, least {min(self.wall.seconds) * 1e3:,.1f} ms; "
            f"processor: median {self.processor.median * 1e3:,.1f} ms"
        )


class Cost(NamedTuple):
    """Seconds of both, the variable that takes us longest and its seconds, and the extra memory of both."""

    ours: Clocks
    peer: Clocks
    largest: tuple[str, float]
    memory: dict[str, int]
    n_bytes: int

    @property
    def misses(self) -> list[str]:
        """The limits that do not hold."""
        held = {
            f"{LIMIT_S * 1e3:.0f} ms": self.ours.wall.median < LIMIT_S or self.peer.wall.median < LIMIT_S,
            f"{LIMIT_OF_ONE_S:g} s for one variable": self.largest[1] < LIMIT_OF_ONE_S,
            f"{LIMIT_OF_MEMORY:.0%} of memory": self.memory["ours"] < LIMIT_OF_MEMORY * self.n_bytes,
        }
        return [limit for limit, holds in held.items() if not holds]


def cost(name: str, python: str, peer: Path) -> Cost:
    """A process for the times, and one for the memory of each. Raises CalledProcessError if one fails."""
    timed = _measured(name, python, peer, "times")
    memory = {who: _measured(name, python, peer, who) for who in ("ours", "peer")}
    ours, peers = (
        Clocks(*(Times(list(each)) for each in zip(*timed["seconds"][who], strict=True))) for who in ("ours", "peer")
    )
    extra = {who: told["extra"] for who, told in memory.items()}
    largest = (timed["largest"][0], timed["largest"][1])
    return Cost(ours, peers, largest, extra, memory["ours"]["of"])


def _measured(name: str, python: str, peer: Path, what: str) -> dict[str, Any]:
    command = [python, "-m", "benchmarks._cost_process", name, str(probe_folder()), str(peer), what]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def probe_folder() -> Path:
    return Path(next(iter(kernel_side.__path__)))


def in_words(words: str, told: Cost) -> str:
    name, seconds = told.largest
    shares = {who: f"{extra / MB:,.1f} MB ({extra / told.n_bytes:.1%})" for who, extra in told.memory.items()}
    return (
        f"{words}, {told.n_bytes / MB:,.0f} MB\n"
        f"    ours {told.ours.in_words()}\n"
        f"    peer {told.peer.in_words()}\n"
        f"    ratio ours / peer {told.ours.wall.median / told.peer.wall.median:.3f}, "
        f"of processor {told.ours.processor.median / told.peer.processor.median:.3f}\n"
        f"    the variable that takes longest: {name}, {seconds * 1e3:,.1f} ms\n"
        f"    extra memory: ours {shares['ours']}, peer {shares['peer']}\n"
        f"    {'over the limit of ' + ', '.join(told.misses) if told.misses else 'within the limits'}"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_cost")
    parser.add_argument("--python", type=interpreter, default=sys.executable, help="the interpreter in which both look")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"of {', '.join(SCENES)}; all without one")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.scenes) - set(SCENES):
        parser.error(f"there is no scene {', '.join(sorted(unknown))}")
    try:
        peer = peer_folder()
    except PeerMissingError as error:
        print(f"Not measured: {error}.")
        return
    print(f"{machine()}; peer {PEER}")
    for name in chosen.scenes or SCENES:
        words, _, packages = SCENES[name]
        if absent := lacking(chosen.python, packages):
            print(f"{words}: skipped, {', '.join(sorted(absent))} not installed")
        else:
            print(in_words(words, cost(name, chosen.python, peer)), flush=True)
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:])
