"""The pages of evidence: each command that they name exists, and figures of files that ship are those of the files."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest

from crane_core.stats.intervals import wilson

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "docs" / "evidence"
PAGES = sorted(EVIDENCE.glob("*.md"))
CORPORA = (EVIDENCE / "corpora.md").read_text("utf-8")
PERFORMANCE = (EVIDENCE / "performance.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_modules_that_a_page_runs_exist(page: Path) -> None:
    named = set(
        re.findall(
            r"python -m ((?:benchmarks|tests)[\w.]*)", page.read_text("utf-8")
        )
    )
    assert named
    assert [
        name for name in named if importlib.util.find_spec(name) is None
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:benchmarks|tests|tools|data|crane_core)/[^`\s]+)`",
        page.read_text("utf-8"),
    )
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_each_budget_names_the_benchmark_that_prints_it() -> None:
    table = PERFORMANCE.split("| question | budget |", 1)[1].split("\n\n", 1)[0]
    rows = [line for line in table.splitlines()[2:] if line.startswith("|")]
    printed_by = [re.findall(r"`(\w+)` \|$", line) for line in rows]
    assert len(rows) > 10
    assert all(len(found) == 1 for found in printed_by), rows
    assert [
        name
        for [name] in printed_by
        if not (ROOT / "benchmarks" / f"{name}.py").is_file()
    ] == []


def test_rules_on_published_states_are_those_of_the_table_that_ships() -> None:
    with (ROOT / "data" / "published" / "rules.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        n_of = Counter(
            (row["setting"], row["instance"].rpartition("_")[2])
            for row in csv.DictReader(file)
            if row["crashes"] == "1"
        )
    for words, setting in (
        ("code only (−RT)", "code"),
        ("with runtime state (+RT)", "runtime"),
    ):
        assert (
            f"| {words} | {n_of[setting, 'reproduced']} | {n_of[setting, 'fixed']} |"
            in CORPORA
        )


def test_totals_of_the_open_kernels_are_sums_of_their_kinds() -> None:
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| [\d.]+% \|$",
        CORPORA,
        re.MULTILINE,
    )
    kinds = {
        path.stem
        for path in (ROOT / "tests" / "live" / "corpus" / "kinds").glob(
            "*.cells"
        )
    }
    assert {row[0] for row in rows} == kinds
    cells, ran, alarms, crashed, predicted = (
        sum(int(row[place]) for row in rows) for place in range(1, 6)
    )
    total = f"| **all** | **{cells:,}** | **{ran}** | **{alarms}** | **{crashed}** | **{predicted}** |"
    assert f"{total} **{predicted / crashed:.1%}** |" in CORPORA
    high = wilson(0, ran, 1.96).high
    assert (
        f"0 false alarms in {ran} cells that ran: the 95% interval of the rate is 0 to {high:.1%}"
        in CORPORA
    )
