"""The certain-crash rules on kernels with other versions of Python and of the libraries than ours.

python -m benchmarks.rules_elsewhere --python PATH

The targets are those of the rules' own tests: small cells that raise, or run through, with the libraries pinned here.
Each is looked at and run by the interpreter named, the rules judge its state. What they predict and does not come
there is a false alarm; what is refused there and not predicted is only missed. Libraries that it lacks are counted.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from benchmarks import _minibench
from benchmarks._server import CHECKOUT
from benchmarks._timing import command, machine
from crane_core.runtime import interpreters, probe_source

TESTS = CHECKOUT / "tests" / "detectors" / "rules"
PROBE = Path(probe_source.__file__).with_name("kernel_side")
MOST_STARTS = 20
"""A target may end the interpreter; it is started again behind it."""

Target = dict[str, str]


class Targets:
    """A pytest plugin that takes the targets of the tests down and runs none of them."""

    def __init__(self) -> None:
        self.found: list[Target] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for plugin in session.config.pluginmanager.get_plugins():
            if getattr(plugin, "__file__", None) == str(TESTS / "conftest.py"):
                plugin.predicted_here = self.note

    def note(self, setup: str, target: str) -> None:
        self.found.append({"setup": setup, "target": target})
        pytest.skip("its target is run elsewhere")


def targets_of_tests() -> list[Target]:
    """Every target that a test runs in our own process, in the order of the files."""
    noted = Targets()
    quiet = ["-q", "-p", "no:cacheprovider", "-k", "not by_code", str(TESTS)]
    with redirect_stdout(io.StringIO()):
        pytest.main(quiet, plugins=[noted])
    return noted.found


def answers_of(
    python: str, asked: Sequence[Target], folder: Path
) -> Iterator[dict[str, Any]]:
    """The outcome of each target; one that ended the interpreter has failed."""
    targets, answers = folder / "targets.jsonl", folder / "answers.jsonl"
    targets.write_text(
        "".join(json.dumps(target) + "\n" for target in asked), "utf-8"
    )
    code = Path(__file__).with_name("_targets_run.py")
    environment = os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "MPLBACKEND": "Agg",
    }
    for _ in range(MOST_STARTS):
        ended = subprocess.run(
            [python, *map(str, (code, PROBE, targets, answers))],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        if not ended.returncode:
            break
    else:
        raise SystemExit(f"{python} could not run them: {ended.stderr[-500:]}")
    lines = map(json.loads, answers.read_text("utf-8").splitlines())
    told = {line["number"]: line for line in lines if "number" in line}
    return (
        told.get(number, {"failed": "ended the interpreter"})
        for number in range(len(asked))
    )


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--python", type=_minibench.interpreter, required=True)
    python = parser.parse_args().python
    interpreters.name(python)
    asked = targets_of_tests()
    with tempfile.TemporaryDirectory() as folder:
        answers = list(answers_of(python, asked, Path(folder)))
    versions: dict[str, str] = {}
    failed: Counter[str] = Counter()
    results = []
    for target, answer in zip(asked, answers, strict=True):
        if "failed" in answer:
            failed[answer["failed"]] += 1
            continue
        versions |= answer["state"].get("captured", {}).get("packages", {})
        report = _minibench.judged_target(**target, state=answer["state"])
        place = repr(target["target"])
        results.append(_minibench.judged(place, report, answer["raised"]))
    print(f"{len(asked):,} targets; {versions}; {machine()}")
    for why, n in sorted(failed.items()):
        print(f"{n:6,} {why}")
    print("\n".join(_minibench.counted("the others", results)))


if __name__ == "__main__":
    main()
