"""The corpus: targets after a set-up, each predicted and then run for real. A file of corpus/ for each library or idea.

    # %% set-up                  what has run before every target of the file
    # %% set-up for NAME ...     and before those alone that spell one of these names
    # %% raises [ERROR]          targets that crash, with this class: the rules predict it, and say a remedy
    # %% runs                    targets that run: nothing is predicted
    # %% raises or runs          whichever it is, it is predicted
    # %% perhaps [raises]        a crash may be missed, and is of the class that is predicted
    # %% untold                  nothing is predicted, whatever they do
    # %% ... by code             predicted from the code of the cells alone; "also": from the state as well

A blank line stands between targets; comments before a target name it and are left out of it. `# %%` alone stands
between cells that run before a target and the target. A false alarm that was found becomes a target that runs. Of each
section of corpus/ the first target and every eighth after it are tried by `make test`; what is in corpus/more takes
minutes, and is left to `make test-all` as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crane_core.detectors.rules_detector import described
from tests.optional import needs

from .conftest import Predict

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
CORPUS = Path(__file__).parent / "corpus"
SET_UP = "set-up"
# "../x.csv" and "..." may be quoted.
_UNREADABLE = re.compile(
    r"(?<![./])\.\.(?=\s|$)|\.: |refuses this|what the message asks for"
)
"""Two full stops, and paraphrases that say less than the library's own message."""
_IMPORTS = (
    "import numpy as np\nimport pandas as pd\nimport matplotlib.pyplot as plt\n"
)
_PANELS = f"{_IMPORTS}fig, axes = plt.subplots(1, 2)\n"
_OPTIONS = (
    "pd.options.display.max_columns = 5\npd.set_option('display.max_rows', 9)\n"
)
WITH_BOTH = (
    (f"{_PANELS}x = np.zeros((3, 4, 5))", "axes[1].imshow(x)"),
    (f"{_PANELS}x = [1, 2, 3]", "axes[1].imshow(x)"),
    (_PANELS, "axes[2].plot([1])"),
    (f"{_IMPORTS}fig, ax = plt.subplots(2, 2)", "ax[0].plot([1])"),
    (f"{_IMPORTS}{_OPTIONS}df = pd.DataFrame({{'a': [1]}})", "df['b']"),
    (f"{_IMPORTS}{_OPTIONS}df = pd.DataFrame({{'a': [1]}})", "df.groupby('z')"),
)
"""Set-ups and targets that crash, some of which were once predicted from the code alone."""
BEFORE = "# %%\n"
QUICK_SHARE = 8
"""One target of so many is tried by `make test`; they differ in what a library does, not in the way to a finding."""


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


def marks_of(file: Path, number: int) -> list[pytest.MarkDecorator]:
    """Marks of a target, counted from 0 in its section."""
    # Keras 2 refuses other things.
    marks = needs(keras=3) if file.stem.startswith("keras") else []
    is_quick = file.parent == CORPUS and number % QUICK_SHARE == 0
    return marks if is_quick else [*marks, pytest.mark.corpus]


def examples() -> Iterator[object]:
    for file in sorted(CORPUS.rglob("*.txt")):
        found = sections(file.read_text("utf-8"))
        parts = [
            (head, code) for head, code in found if head.startswith(SET_UP)
        ]
        for outcome, body in found[len(parts) :]:
            # benchmarks/rules_elsewhere.py leaves these out by their names.
            way = " by_code" if outcome.endswith("by code") else ""
            for number, block in enumerate(body.strip().split("\n\n")):
                first_line = block.removeprefix("# ").partition("\n")[0]
                before, _, target = block.rpartition(BEFORE)
                target = re.sub(r"\A(?:# .*\n)+", "", target)
                yield pytest.param(
                    set_up_for(block, parts) + before,
                    target,
                    outcome,
                    id=f"{file.stem}{way}: {first_line}",
                    marks=marks_of(file, number),
                )


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets may write files, and may replace a method of pandas."""
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(pd.Series, "fillna", pd.Series.fillna)


@pytest.mark.parametrize(("setup", "target", "outcome"), list(examples()))
def test_what_is_predicted_is_what_comes(
    predict_here: Predict,
    predict_by_code: Predict,
    setup: str,
    target: str,
    outcome: str,
) -> None:
    words = outcome.replace(",", "").split()
    ways = [predict_by_code] if "code" in words else [predict_here]
    if "also" in words:
        ways.append(predict_here)
    for predict in ways:
        seen = predict(setup, target)
        assert not seen.errors and not seen.contradictions
        assert all(finding.remedy for finding in seen.findings)
        assert not any(map(_UNREADABLE.search, map(described, seen.findings)))
        if "untold" in words:
            assert not seen.findings
            continue
        is_missed = "perhaps" in words and seen.exception is None
        assert is_missed or seen.exception == seen.raised, (
            seen.findings,
            seen.error,
        )
        if "raises" not in words and "runs" in words:
            assert seen.raised is None, seen.error
        elif "raises" in words and "runs" not in words:
            assert seen.raised is not None
        error = next((word for word in words if word[0].isupper()), seen.raised)
        assert seen.raised == error


def test_a_state_hides_nothing_that_the_code_alone_tells(
    predict_here: Predict,
    predict_by_code: Predict,
) -> None:
    """Cells of which only the code is followed, where the state was read from the values themselves."""
    for setup, target in WITH_BOTH:
        by_code, with_state = (
            predict_by_code(setup, target),
            predict_here(setup, target),
        )
        assert by_code.exception == by_code.raised, target
        assert with_state.exception == with_state.raised, target
