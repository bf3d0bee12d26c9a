"""The benchmarks' harness: what is over a budget fails, what a noisy machine measured never passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as harness
from benchmarks._budgets import (
    BUDGETS,
    BudgetError,
    Budgets,
    Outcome,
    Quiet,
    judged,
    read_budgets,
)
from benchmarks._figures import Figure, FigureError, figure, read_figures
from benchmarks._history import HISTORY
from benchmarks._noise import watched

QUIET = Quiet(cores=1, others=0.25, spread=0.15)
ONE = Figure(
    "a question",
    ours=2.0,
    against=1.0,
    peer="plain Python",
    unit="s",
    n=5,
    spread=0.05,
    load=0.4,
)
ANY_NOISE = """
[quiet]
cores = 1
others = 1000
spread = 0.5
"""


def outcome(
    one: Figure, *, others: float = 0.0, cores: int = 2, ratio: float = 2.5
) -> Outcome:
    [told] = judged(
        "made_up",
        [one],
        others,
        Budgets(QUIET, {"made_up": {one.question: ratio}}),
        cores,
    )
    return told.outcome


@pytest.mark.parametrize(
    ("ratio", "wanted"), [(2.0, Outcome.HELD), (1.99, Outcome.OVER)]
)
def test_a_ratio_is_held_up_to_its_budget(
    ratio: float, wanted: Outcome
) -> None:
    assert outcome(ONE, ratio=ratio) is wanted


@pytest.mark.parametrize("ratio", [0.1, 100.0])
def test_a_noisy_machine_neither_passes_nor_fails(ratio: float) -> None:
    assert outcome(ONE, others=0.26, ratio=ratio) is Outcome.NOT_MEASURED
    assert (
        outcome(Figure(*[*_fields(ONE)[:6], 0.16, 0.4]), ratio=ratio)
        is Outcome.NOT_MEASURED
    )


def test_one_core_is_not_two() -> None:
    budgets = Budgets(QUIET._replace(cores=2), {"made_up": {ONE.question: 3.0}})
    [told] = judged("made_up", [ONE], 0.0, budgets, 1)
    assert told.outcome is Outcome.NOT_MEASURED
    assert "1 core" in told.why


def test_bytes_do_not_depend_on_the_machine() -> None:
    assert (
        outcome(Figure("size", 5.0, 2.0, "gzip", "MB", 1, 0.0, 9.0), others=2.0)
        is Outcome.HELD
    )


def test_a_question_without_a_figure_is_not_measured() -> None:
    [told] = judged(
        "made_up", [], 0.0, Budgets(QUIET, {"made_up": {"silent": 1.0}}), 2
    )
    assert (told.outcome, told.question, told.figure) == (
        Outcome.NOT_MEASURED,
        "silent",
        None,
    )


def test_a_figure_without_a_budget_is_shown() -> None:
    [told] = judged("made_up", [ONE], 0.0, Budgets(QUIET, {}), 2)
    assert told.outcome is Outcome.NO_BUDGET


def test_the_spread_is_the_median_distance_from_the_median() -> None:
    one = figure("q", [1.0, 2.0, 4.0, 2.0, 3.0], 4.0)
    assert (one.ours, one.n, one.ratio, one.spread) == (2.0, 5, 0.5, 0.5)


def test_what_differs_from_others_is_no_spread_of_its_repeats() -> None:
    one = figure(
        "q", {"fast": [1.0, 1.0, 1.0], "slow": [10.0, 11.0, 12.0]}, 4.0
    )
    assert (one.ours, one.n, one.spread) == (5.5, 6, 0.0)
    assert (
        figure("q", {"slow": [8.0, 10.0, 12.0, 14.0, 6.0]}, 4.0).spread == 0.2
    )


@pytest.mark.slow
def test_work_of_the_benchmark_itself_is_no_noise() -> None:
    busy = "import time\nwhile time.process_time() < 1: pass"
    with watched() as watch:
        shell = f"{sys.executable} -c '{busy}'; true"
        process = subprocess.Popen(shell, shell=True)
        watch.pid = process.pid
        process.wait()
    assert watch.own_s > 0.5


def test_every_budget_of_ours_belongs_to_a_benchmark() -> None:
    assert read_budgets().ratios.keys() <= set(harness.names())


def test_every_question_of_ours_is_asked_by_its_benchmark() -> None:
    for benchmark, questions in read_budgets().ratios.items():
        source = BUDGETS.with_name(f"{benchmark}.py").read_text("utf-8")
        assert all(f'"{question}"' in source for question in questions)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[quiet", "cannot be read"),
        ("[pages]\n'q' = 1", r"\[quiet\] needs exactly"),
        ("[quiet]\ncores = 2\nothers = 0.2", r"\[quiet\] needs exactly"),
        (ANY_NOISE, "no budget"),
        (ANY_NOISE + "[pages]\n", "needs a line"),
        (ANY_NOISE + "[pages]\n'q' = 0", "a number above 0, not 0"),
        (ANY_NOISE + "[pages]\n'q' = true", "not True"),
        (ANY_NOISE + "[pages]\n'q' = inf", "not inf"),
        (ANY_NOISE + "[pages]\n'q' = '2'", "not '2'"),
    ],
)
def test_wrong_budgets_are_refused_with_the_place(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "budgets.toml"
    path.write_text(text)
    with pytest.raises(BudgetError, match=says):
        read_budgets(path)


@pytest.mark.parametrize(
    "line", ["no JSON", "[]", "{}", json.dumps({"question": "q", "ours": 1})]
)
def test_a_line_that_is_no_figure_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "figures.jsonl").write_text(line)
    with pytest.raises(FigureError):
        read_figures(tmp_path / "figures.jsonl")


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three benchmarks that tell bytes, so that no other work can change the outcome."""
    folder = tmp_path / "made_up_benchmarks"
    folder.mkdir()
    tells = "from benchmarks._figures import figure, tell\ntell(figure('size', [{}], 2.0, peer='gzip', unit='MB'))\n"
    (folder / "__init__.py").write_text("")
    (folder / "small.py").write_text(tells.format(1.0))
    (folder / "large.py").write_text(tells.format(8.0))
    (folder / "silent.py").write_text("")
    (folder / "broken.py").write_text("raise SystemExit('broken')")
    budgets = "".join(
        f"[{name}]\n'size' = 1.5\n"
        for name in ("small", "large", "silent", "broken")
    )
    (folder / "budgets.toml").write_text(ANY_NOISE + budgets)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), str(BUDGETS.parents[1])])
    )
    return folder


def run(folder: Path, *arguments: str) -> int:
    return harness.main(
        arguments, package=folder.name, budgets_file=folder / "budgets.toml"
    )


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["small"], harness.HELD),
        (["small", "large"], harness.OVER),
        (["small", "silent"], harness.NOT_MEASURED),
        (["silent", "large"], harness.OVER),
        (["small", "broken"], harness.OVER),
        (["unheard"], harness.WRONG_CALL),
    ],
)
def test_check_ends_with_a_code_that_tells(
    made_up: Path, names: list[str], code: int
) -> None:
    assert run(made_up, "--check", *names) == code
    assert not (made_up / HISTORY.name).exists()


def test_the_table_and_the_history_hold_every_figure(
    made_up: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(made_up, "small", "large", "silent") == harness.HELD
    head, small, large, silent = capfd.readouterr().out.splitlines()
    assert head.split()[:6] == [
        "benchmark",
        "question",
        "ours",
        "against",
        "peer",
        "ratio",
    ]
    assert small.split()[:8] == [
        "small",
        "size",
        "1",
        "MB",
        "2",
        "MB",
        "gzip",
        "0.50",
    ]
    assert (small.split()[-1], large.split()[-1]) == ("held", "over")
    assert "not measured: the benchmark did not tell it" in silent
    [line] = (made_up / HISTORY.name).read_text().splitlines()
    written = json.loads(line)
    assert [
        (one["benchmark"], one["ratio"], one["outcome"])
        for one in written["figures"]
    ] == [
        ("small", 0.5, "held"),
        ("large", 4.0, "over"),
    ]
    assert written.keys() == {
        "measured_at",
        "commit",
        "machine",
        "versions",
        "figures",
    }
    assert written["machine"].keys() == {
        "cores",
        "memory_gib",
        "processor",
        "system",
    }
    assert os.uname().nodename not in line
    assert str(made_up.parent) not in line


def test_history_grows_by_one_line(made_up: Path) -> None:
    for _ in range(2):
        run(made_up, "small")
    assert len((made_up / HISTORY.name).read_text().splitlines()) == 2


def _fields(one: Figure) -> list[object]:
    return [getattr(one, name) for name in Figure.__slots__]
