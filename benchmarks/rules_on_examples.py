"""The certain-crash rules beside the peer's checker on the examples of the installed libraries' docstrings.

python -m benchmarks.rules_on_examples [--seconds N] [--seed N] [LIBRARY ...]

Every example is a target of what stands before it, as it is and broken by one change (_mutations.py); what is predicted
is compared with what really happens. Targets of two statements follow: one gives a value, the next does with it what it
does not allow (_follow_ups.py). Each library in its own process, for that many seconds. The peer judges the same
namespaces before the target runs. A predicted crash of a target that runs is a false alarm; its code is shown, and that
of a crash of another class than was predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks._examples import (
    MODULES,
    THEN,
    Peer,
    Text,
    TooLongError,
    Trial,
    each_statement,
    followed,
    in_new_room,
    is_false_alarm,
    is_wrong_class,
    rest_of,
    texts,
)
from benchmarks._mutations import broken
from benchmarks._peer import PEER, PeerMissingError, peer_folder
from benchmarks._peer_look import of_peer
from benchmarks._timing import command, machine

SECONDS = 60.0
_BROKEN_STATEMENTS = 3


# In the process of a library


def trials_of(
    library: str, seconds: float, seed: int, peer: Peer | None
) -> Iterator[Trial]:
    started = perf_counter()
    found = list(texts(library))
    random.Random(seed).shuffle(found)
    for text in found:
        if perf_counter() - started > seconds:
            return
        try:
            yield from _of_text(text, seed, peer)
        except TooLongError:
            continue


def _of_text(text: Text, seed: int, peer: Peer | None) -> Iterator[Trial]:
    yield from each_statement(text, peer)
    yield from rest_of(text, 0, peer)
    if len(text.statements) > 3:
        yield from rest_of(text, len(text.statements) // 2, peer)
    chosen = random.Random(zlib.crc32(text.name.encode()) + seed)
    for at in chosen.sample(
        range(len(text.statements)),
        min(_BROKEN_STATEMENTS, len(text.statements)),
    ):
        for one in broken(text.statements[at], seed + at):
            yield from in_new_room(
                text, one.kind, text.before(at), one.code, peer
            )
        yield from followed(text, at, seed, peer)


def _peer(folder: str) -> Peer:
    run_checks = of_peer(folder, "checker", "run_checks")

    def asked(target: str, namespace: dict[str, Any]) -> str | None:
        found = run_checks(target, namespace, None)
        return None if found is None else str(found.exception)

    return asked


def _write(library: str, seconds: float, seed: int, folder: str) -> None:
    peer = _peer(folder) if folder else None
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        for trial in trials_of(library, seconds, seed, peer):
            print(json.dumps(trial), file=sys.__stdout__)


# Tables


def measured(
    library: str, seconds: float, seed: int, folder: str
) -> list[Trial]:
    quiet = {
        "MPLBACKEND": "Agg",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
    }
    child = [
        sys.executable,
        "-m",
        "benchmarks.rules_on_examples",
        "--child",
        library,
        "--peer",
        folder,
    ]
    done = subprocess.run(
        [*child, "--seconds", str(seconds), "--seed", str(seed)],
        capture_output=True,
        text=True,
        env=os.environ
        | quiet
        | {"PYTHONPATH": str(Path(__file__).parent.parent)},
        timeout=seconds * 3 + 120,
        check=False,
    )
    if done.returncode:
        print(f"{library}: {done.stderr.strip()[-300:]}")
    return [
        Trial(*json.loads(line))
        for line in done.stdout.splitlines()
        if line.startswith("[")
    ]


def row(name: str, trials: Sequence[Trial]) -> str:
    """What each side found of the targets that crash, its false alarms, and crashes of another class than it said."""
    crashing = [one for one in trials if one.raised is not None]
    cells = ""
    for side in ("ours", "theirs"):
        said = [one for one in trials if getattr(one, side) is not None]
        found = [one for one in said if one.raised is not None]
        n_class = sum(getattr(one, side) != one.raised for one in found)
        share = f"{len(found)} ({len(found) / max(1, len(crashing)):.0%})"
        cells += f"{share:>15}{len(said) - len(found):>7}{n_class:>7}"
    return f"{name:<20}{len(trials):>8}{len(crashing):>9}{cells}"


HEAD = f"{'':<20}{'targets':>8}{'crashing':>9}{'ours':>15}{'false':>7}{'class':>7}{'peer':>15}{'false':>7}{'class':>7}"


def shown(trial: Trial) -> str:
    before = "\n".join(
        f"    | {line}" for line in trial.setup.splitlines()[-6:]
    )
    target = "\n".join(
        f"    > {line}" for line in trial.target.splitlines()[:25]
    )
    head = (
        f"  {trial.name} ({trial.kind}): predicted {trial.ours}, raised "
        f"{trial.raised}; {trial.why}"
    )
    return f"{head}\n{before}\n{target}"


def report(trials: Sequence[Trial]) -> Iterator[str]:
    then = [trial for trial in trials if trial.kind == THEN]
    changed = [trial for trial in trials if trial.kind != THEN]
    yield from _by_library(
        "Examples, as they are and broken by one change", changed
    )
    yield "\nBy change"
    for kind in sorted({trial.kind for trial in changed}):
        yield row(kind, [trial for trial in changed if trial.kind == kind])
    yield from _by_library(
        "\nTwo statements: one gives a value, the next does with it what it "
        "does not allow",
        then,
    )
    crashing = [trial for trial in trials if trial.raised is not None]
    by_side = Counter(
        (one.ours is not None, one.theirs is not None) for one in crashing
    )
    yield (
        f"\nFound by the peer alone: {by_side[False, True]}, by us alone: "
        f"{by_side[True, False]}"
    )
    failed = [error for trial in trials for error in trial.errors]
    yield f"Rules that failed: {len(failed)}"
    yield from (f"  {error}" for error in list(dict.fromkeys(failed))[:10])
    for one in trials:
        if is_false_alarm(one) or is_wrong_class(one):
            yield shown(one)


def _by_library(title: str, trials: Sequence[Trial]) -> Iterator[str]:
    yield title
    yield HEAD
    yield from (
        row(library, of)
        for library in MODULES
        if (of := [one for one in trials if one.library == library])
    )
    yield row("all", trials)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="for each library"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--peer", default="", help=argparse.SUPPRESS)
    parser.add_argument(
        "libraries",
        nargs="*",
        metavar="LIBRARY",
        help=f"of {', '.join(MODULES)}; all without one",
    )
    chosen = parser.parse_args()
    if chosen.child:
        _write(chosen.child, chosen.seconds, chosen.seed, chosen.peer)
        return
    if unknown := set(chosen.libraries) - set(MODULES):
        parser.error(f"no examples of {', '.join(sorted(unknown))} are known")
    try:
        folder = str(peer_folder())
        print(f"{machine()}; peer {PEER}")
    except PeerMissingError as error:
        folder = ""
        print(f"{machine()}; no peer: {error}")
    trials = [
        trial
        for library in chosen.libraries or MODULES
        for trial in measured(library, chosen.seconds, chosen.seed, folder)
    ]
    print("\n".join(report(trials)))


if __name__ == "__main__":
    main()
