"""The corpus: targets after a set-up, each predicted and then run for real. A file of corpus/ for each library.

    # %% set-up                  what has run before every target of the file
    # %% set-up for NAME ...     and before those alone that spell one of these names
    # %% raises [ERROR]          targets that crash, with this class: the rules predict it, and say a remedy
    # %% runs                    targets that run: nothing is predicted
    # %% untold                  targets of which nothing is predicted, whatever they do
    # %% ... by code             predicted from the code of the cells alone; "also": from the state as well

A blank line stands between targets; comments before a target name it, and are no part of it. A false alarm that was
found becomes a target that runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.optional import needs

from .conftest import Predict

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
CORPUS = Path(__file__).parent / "corpus"
SET_UP = "set-up"


def sections(text: str) -> list[tuple[str, str]]:
    """Heads and what stands below them."""
    _, *parts = re.split(r"^# %% (.+)\n", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


def set_up_for(target: str, parts: list[tuple[str, str]]) -> str:
    """The set-up of a file, without what is for other targets."""
    spelled = set(re.findall(r"\w+", target))
    wanted = []
    for head, code in parts:
        names = set(head.removeprefix(SET_UP).removeprefix(" for ").split())
        if not names or names & spelled:
            wanted.append(code)
    return "".join(wanted)


def examples() -> Iterator[object]:
    for file in sorted(CORPUS.glob("*.txt")):
        found = sections(file.read_text("utf-8"))
        parts = [(head, code) for head, code in found if head.startswith(SET_UP)]
        # Keras 2 refuses other things.
        marks = needs(keras=3) if file.stem.startswith("keras") else ()
        for outcome, body in found[len(parts) :]:
            for block in body.strip().split("\n\n"):
                target = re.sub(r"\A(?:# .*\n)+", "", block)
                first_line = block.removeprefix("# ").partition("\n")[0]
                values = set_up_for(target, parts), target, outcome
                # benchmarks/rules_elsewhere.py leaves these out by their names.
                way = " by_code" if outcome.endswith("by code") else ""
                name = f"{file.stem}{way}: {first_line}"
                yield pytest.param(*values, id=name, marks=marks)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets may write files, and may replace a method of pandas."""
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pd.Series, "fillna", pd.Series.fillna)


@pytest.mark.parametrize(("setup", "target", "outcome"), list(examples()))
def test_what_is_predicted_is_what_comes(
    predict_here: Predict,
    predict_by_code: Predict,
    setup: str,
    target: str,
    outcome: str,
) -> None:
    kind, *more = outcome.replace(",", "").split()
    ways = [predict_by_code] if "code" in more else [predict_here]
    if "also" in more:
        ways.append(predict_here)
    for predict in ways:
        seen = predict(setup, target)
        assert not seen.errors and not seen.contradictions
        if kind == "untold":
            assert not seen.findings
            continue
        assert seen.exception == seen.raised, (seen.findings, seen.error)
        assert (seen.raised is None) == (kind == "runs"), seen.error
        error = next((word for word in more if word[0].isupper()), seen.raised)
        assert seen.raised == error
        assert all(finding.remedy for finding in seen.findings)
