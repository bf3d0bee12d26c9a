"""`verify`: a pair is what both of its notebooks do when they run, and a run that was stopped is resumed."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import venv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Verification
from crane_core.notebooks import CodeCell
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.verification.pair_claims import PairClaim
from crane_core.pipeline.verification.verified import summaries
from crane_core.pipeline.verification.verify import _digest
from tests.spoken import Run, speaker
from tests.written_pairs import write_notebook, write_pair

pytestmark = pytest.mark.usefixtures("three_pairs_ship")

GOOD = (["a = 0", "1 / a"], ["a = 1", "1 / a"])


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(tmp_path / "data", capsys, "verify")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return tmp_path / "lab"


def outcomes(out: str) -> dict[str, str]:
    """Notebook to outcome, of --json."""
    return {
        f"{one['case_id']}_{one['version']}": one["outcome"]
        for one in json.loads(out)["notebooks"]
    }


def stored(tmp_path: Path) -> list[Verification]:
    files = sorted(
        (tmp_path / "data" / "ledger" / "runs").glob("verify-*.jsonl")
    )
    return [
        one
        for file in files
        for one in ledger.tail(file).records
        if isinstance(one, Verification)
    ]


def test_a_pair_that_is_what_it_claims_ends_with_zero(
    run: Run, pairs: Path, tmp_path: Path
) -> None:
    write_pair(pairs, "trip", *GOOD)
    said = run(pairs)
    assert said.code == 0
    assert "lab: 1 pair, Python" in said.out
    assert "1  as recorded" in said.out
    assert [
        (one.version, one.exception, one.cell) for one in stored(tmp_path)
    ] == [
        ("reproduced", "ZeroDivisionError", 1),
        ("fixed", None, None),
    ]


NO_PAIRS = {
    "calm": (
        (["a = 1", "1 / a"], GOOD[1]),
        "no crash",
        "code cell 1, raised nothing",
    ),
    "other": (
        (["a = ''", "1 / a"], GOOD[1]),
        "other exception",
        "raised TypeError: unsupported operand",
    ),
    "early": (
        (["1 / 0", "1 / 0"], GOOD[1]),
        "crash in another cell",
        "code cell 0, before its target, raised ZeroDiv",
    ),
    "same": (
        (GOOD[0], GOOD[0]),
        "fixed notebook crashes",
        "same_fixed: fixed notebook crashes: code cell 1 raised",
    ),
    "late": (
        (GOOD[0], [*GOOD[1], "{}[1]"]),
        "fixed notebook crashes",
        "code cell 2 raised KeyError: 1",
    ),
    "short": (
        (GOOD[0], ["a = 1"]),
        "not a pair",
        "there is no code cell 1; the notebook has 1",
    ),
}
"""Pairs that are not what they claim: their cells, the outcome, and its reason in words."""


@pytest.mark.slow
def test_a_pair_that_is_not_what_it_claims_ends_with_one_and_the_reason(
    run: Run, pairs: Path, subtests: pytest.Subtests
) -> None:
    """All in one run, which starts two kernels for each pair."""
    write_pair(pairs, "good", *GOOD)
    for name, (cells, _, _) in NO_PAIRS.items():
        write_pair(pairs, name, *cells)
    said = run(pairs)
    assert said.code == 1
    assert (
        "1  as recorded" in said.out
        and "Not what they claim to be:" in said.out
    )
    n_of = Counter(outcome for _, outcome, _ in NO_PAIRS.values())
    for name, (_, outcome, words) in NO_PAIRS.items():
        with subtests.test(name):
            assert f"{n_of[outcome]}  {outcome}" in said.out
            assert [
                line
                for line in said.out.splitlines()
                if f"{name}_" in line and outcome in line and words in line
            ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "import no_such_module_here",
            "a module is missing: code cell 0 raised ModuleNotFoundError",
        ),
        pytest.param(
            "open('readings.csv')",
            "a file is missing: code cell 0 raised",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "raise RuntimeError('Found no NVIDIA driver on your system')",
            "it needs a GPU",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "raise ConnectionError('no route')",
            "it needs the network",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_cannot_run_here_is_told_and_counted_apart(
    run: Run, pairs: Path, source: str, words: str
) -> None:
    write_pair(pairs, "trip", [source, "1 / 0"], [source, "1"])
    said = run(pairs)
    assert said.code == 0
    assert (
        "1  cannot run here" in said.out
        and "Not verified here:" in said.out
        and words in said.out
    )


@pytest.mark.slow
def test_a_recorded_missing_file_is_a_crash_like_any_other(
    run: Run, pairs: Path
) -> None:
    write_pair(
        pairs, "trip", ["open('no.csv')"], ["1"], error="FileNotFoundError"
    )
    assert run(pairs).code == 0


def test_an_outcome_of_before_does_not_count_where_cells_are_left_out() -> None:
    """A release that ran the SQL of a notebook as Python found out something else about it."""
    plain = CodeCell(0, "SELECT 1", None, None)
    digests = {
        _digest(None, {}, PairClaim([cell], 0, None))
        for cell in (
            plain,
            replace(plain, language="sql"),
            replace(plain, tags=frozenset({"raises-exception"})),
        )
    }
    assert len(digests) == 3


@pytest.mark.slow
def test_tagged_cells_may_raise_or_are_left_out_but_the_target_counts(
    run: Run, pairs: Path
) -> None:
    lesson = {0: "raises-exception", 1: "skip-execution"}
    for name, tags, cells in (
        ("lesson", lesson, ["1 / 0", "not python", "a = 0"]),
        ("tagged", {1: "raises-exception"}, ["a = 0"]),
        ("still", {1: "raises-exception"}, ["a = 0"]),
    ):
        crashing = [*cells, "1 / a"]
        fixed = crashing if name == "still" else [*cells, "a", "[][0]"]
        write_notebook(
            pairs / name / f"{name}_reproduced.ipynb",
            crashing,
            error="ZeroDivisionError",
            tagged=tags,
        )
        write_notebook(
            pairs / name / f"{name}_fixed.ipynb",
            fixed,
            tagged=tags
            if name == "still"
            else tags | {len(fixed) - 1: "raises-exception"},
        )
    assert outcomes(run(f"{pairs} --json").out) == {
        "lesson_reproduced": "as recorded",
        "lesson_fixed": "as recorded",
        "tagged_reproduced": "as recorded",
        "tagged_fixed": "as recorded",
        "still_reproduced": "as recorded",
        "still_fixed": "fixed notebook crashes",
    }


@pytest.mark.slow
def test_a_limit_is_counted_apart(run: Run, pairs: Path) -> None:
    write_pair(pairs, "trip", ["while True: pass", "1 / 0"], GOOD[1])
    said = run(f"{pairs} --timeout-s 1")
    assert said.code == 0
    assert (
        "1  stopped at a limit" in said.out
        and "ran longer than 1 s" in said.out
    )


@pytest.mark.slow
def test_cells_run_in_the_order_of_their_counts(run: Run, pairs: Path) -> None:
    write_notebook(
        pairs / "t_reproduced.ipynb",
        ["a = 0", "1 / a", "a = 1"],
        error="NameError",
        target=1,
        counts=[2, 1, 3],
    )
    write_notebook(
        pairs / "t_fixed.ipynb",
        ["a = 0", "1 / a", "a = 1"],
        counts=[None, 2, 1],
    )
    assert run(pairs).code == 0


def test_half_a_pair_and_a_broken_file_are_told(run: Run, pairs: Path) -> None:
    write_notebook(pairs / "half_fixed.ipynb", ["1"])
    (pairs / "torn_reproduced.ipynb").write_text("{")
    write_notebook(pairs / "torn_fixed.ipynb", ["1"])
    said = run(pairs)
    assert said.code == 1
    assert "there is no half_reproduced.ipynb" in said.out
    assert "torn_reproduced.ipynb is not a readable notebook" in said.out


def test_a_table_that_contradicts_the_notebook_is_told(
    run: Run, pairs: Path
) -> None:
    write_pair(pairs, "trip", *GOOD)
    (pairs / "cases.csv").write_text("case_id,exception\ntrip,keyerror\n")
    said = run(pairs)
    assert said.code == 1
    assert (
        "cases.csv states keyerror, but the error output of trip_reproduced.ipynb ZeroDivisionError"
        in said.out
    )


@pytest.mark.slow
def test_a_second_run_executes_only_what_is_not_known(
    run: Run, pairs: Path, tmp_path: Path
) -> None:
    count = tmp_path / "count.txt"
    counted = f"open({str(count)!r}, 'a').write('x')"
    write_pair(pairs, "trip", [counted, "1 / 0"], [counted, "1"])
    assert run(pairs).code == 0
    assert count.read_text() == "xx"
    said = run(pairs)
    assert (said.code, count.read_text()) == (0, "xx")
    assert (
        "1 known from an earlier run" in said.err
        and "1  as recorded" in said.out
    )
    write_notebook(pairs / "trip" / "trip_fixed.ipynb", [counted, "2"])
    assert (run(pairs).code, count.read_text()) == (0, "xxx")
    (pairs / "trip" / "data.csv").write_text("other data beside them")
    assert (run(pairs).code, count.read_text()) == (0, "xxxxx")
    assert (run(f"{pairs} --again").code, count.read_text()) == (0, "xxxxxxx")


@pytest.mark.slow
def test_a_run_that_was_interrupted_is_resumed(
    pairs: Path, tmp_path: Path
) -> None:
    """One pair is done, the other hangs until the interrupt; the next run executes the other alone."""
    count, hang = tmp_path / "count.txt", tmp_path / "hang"
    hang.touch()
    wait = f"import os, time\nwhile os.path.exists({str(hang)!r}): time.sleep(0.05)"
    write_pair(
        pairs, "a", [f"open({str(count)!r}, 'a').write('a')", "1 / 0"], GOOD[1]
    )
    write_pair(
        pairs,
        "b",
        [f"open({str(count)!r}, 'a').write('b')\n{wait}", "1 / 0"],
        GOOD[1],
    )
    command = [
        sys.executable,
        "-m",
        "crane_core",
        "--data",
        str(tmp_path / "data"),
        "verify",
        str(pairs),
        "--jobs",
        "1",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        assert any("1 of 2: a: as recorded" in line for line in first.stderr)
        while not count.exists() or "b" not in count.read_text():
            assert first.poll() is None
        first.send_signal(signal.SIGINT)
        assert "the same command resumes there" in first.stderr.read()
    assert first.returncode == 130
    hang.unlink()
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "2  as recorded" in again.stdout
    assert count.read_text() == "abb"


@pytest.mark.slow
def test_verifying_leaves_the_folder_as_it_was(run: Run, pairs: Path) -> None:
    (pairs / "shared").mkdir(parents=True)
    (pairs / "shared" / "n.txt").write_text("0")
    write = "open('own.txt', 'w').write('x'); n = int(open('../shared/n.txt').read())"
    write_pair(pairs, "trip", [write, "1 / n"], [write, "1"])
    before = sorted(pairs.rglob("*"))
    assert run(pairs).code == 0
    assert sorted(pairs.rglob("*")) == before


@pytest.mark.slow
def test_an_imported_benchmark_is_verified_where_it_lay_and_without_its_folder(
    run: Run, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = "n = int(open('n.txt').read())"
    write_pair(pairs, "trip", [read, "1 / n"], [read, "1"])
    (pairs / "trip" / "n.txt").write_text("0")
    assert speaker(tmp_path / "data", capsys, "import")(pairs).code == 0
    assert outcomes(run("lab --json").out) == {
        "trip_reproduced": "as recorded",
        "trip_fixed": "as recorded",
    }
    pairs.rename(tmp_path / "moved")
    assert set(outcomes(run("lab --json").out).values()) == {"cannot run here"}


@pytest.mark.slow
def test_csv_has_one_row_per_notebook_and_no_formula(
    run: Run, pairs: Path
) -> None:
    write_pair(pairs, "trip", ["raise KeyError('=1+1')"], ["1"])
    said = run(f"{pairs} --csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [
        (row["case_id"], row["version"], row["outcome"]) for row in rows
    ] == [
        ("trip", "reproduced", "other exception"),
        ("trip", "fixed", "as recorded"),
    ]
    assert not any(
        cell.startswith("=") for row in rows for cell in row.values()
    )


@pytest.mark.slow
def test_the_database_holds_the_newest_outcome(
    run: Run, pairs: Path, tmp_path: Path
) -> None:
    write_pair(pairs, "trip", ["a = 1", "1 / a"], GOOD[1])
    assert run(pairs).code == 1
    write_pair(pairs, "trip", *GOOD)
    assert run(pairs).code == 0
    store = prepare(DataFolder(tmp_path / "data"))
    [summary] = summaries(store)
    store.close()
    assert (
        summary.benchmark,
        [(pair.case_id, pair.outcome) for pair in summary.pairs],
    ) == (
        "lab",
        [("trip", "as recorded")],
    )


def test_what_is_no_benchmark_and_a_ban_are_refused(
    run: Run, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run("nobench")
    assert (
        said.code == 1
        and "nobench is neither a folder with pairs nor a benchmark" in said.err
    )
    pairs.mkdir()
    assert run(pairs).code == 1
    monkeypatch.setenv("CRANE_ALLOW_EXECUTION", "0")
    assert "forbids running notebooks" in run("minibench").err


def test_an_interpreter_without_ipykernel_is_refused(
    run: Run, pairs: Path, tmp_path: Path
) -> None:
    write_pair(pairs, "trip", *GOOD)
    bare = tmp_path / "bare"
    venv.create(bare)
    said = run(f"{pairs} --python {bare / 'bin' / 'python'}")
    assert (
        said.code == 1
        and "did not start" in said.err
        and "Install ipykernel" in said.err
    )
