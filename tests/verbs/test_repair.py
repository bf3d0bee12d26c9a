"""`repair`: what is proposed is run in fresh kernels, counted, stored in the ledger, and not done twice."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Job, Run
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run as Say
from tests.spoken import speaker
from tests.written_pairs import write_notebook

pytestmark = pytest.mark.usefixtures("execution_allowed")
SETUP = "parts = ['1', '2']\nages = {'north': 3}"
REPLY = "The parts are strings.\n```python\n{}\n```"
REPAIRED = "total = sum(map(int, parts))"


def imported(run: Say, own: Path, crashing: str, fixed: str) -> str:
    """Import one pair with these targets; the name of its benchmark."""
    place = own / "benchmark" / "python_1"
    place.mkdir(parents=True)
    write_notebook(
        place / "python_1_reproduced.ipynb", [SETUP, crashing], error="KeyError"
    )
    write_notebook(place / "python_1_fixed.ipynb", [SETUP, fixed])
    assert run(f"import {own}").code == 0
    listed = json.loads(run("list benchmark --json").out)
    [name] = {entry["name"] for entry in listed} - {"minibench"}
    return str(name)


def runs_in(folder: DataFolder) -> dict[str, Run]:
    files = sorted((folder.ledger / "runs").glob("*.jsonl"))
    records = [record for file in files for record in ledger.tail(file).records]
    assert sum(isinstance(record, Job) for record in records) == len(files)
    return {
        record.instance_id: record
        for record in records
        if isinstance(record, Run)
    }


@pytest.mark.slow
def test_a_fix_of_the_rules_is_counted_stored_and_not_looked_for_again(
    run: Say, folder: DataFolder, tmp_path: Path
) -> None:
    name = imported(
        run, tmp_path / "oven", "n = ages['North']", "n = ages['north']"
    )
    asked = f"repair --detector rules --benchmark {name}"
    spoken = run(f"{asked} --json")
    assert spoken.code == 0, spoken.err
    [row] = json.loads(spoken.out)["rows"]
    counted = {
        "n": 1,
        "n_fixed_1": 1,
        "n_fixed_k": 1,
        "n_crash": 0,
        "n_same_cells": 1,
        "n_same_state": 1,
        "n_compared": 1,
        "n_fixed": 1,
        "n_regressions": 0,
        "n_open": 0,
        "n_requests": 0,
    }
    assert {key: row[key] for key in counted} == counted
    found = runs_in(folder)
    crash, fixed = found["python_1_reproduced"], found["python_1_fixed"]
    assert (crash.crashes, fixed.crashes) == (False, False)
    [details] = json.loads(crash.diagnostics or "")
    assert "+n = ages['north']" in details["fixes"][0]["diff"]
    again = run(f"{asked} --csv")
    [line] = csv.DictReader(io.StringIO(again.out))
    assert (line["detector_title"], line["n_fixed_1"]) == (
        "Repair by rules",
        "1",
    )
    assert runs_in(folder) == found


@pytest.mark.slow
def test_a_model_is_asked_over_http_and_the_first_fix_counts_by_itself(
    run: Say, folder: DataFolder, tmp_path: Path
) -> None:
    name = imported(
        run, tmp_path / "oven", "total = sum(parts)", "total = 1 + 2"
    )
    replies = (REPLY.format(REPAIRED), REPLY.format("total = sum(parts, '')"))
    with fake_server(FakePlan(replies=replies)) as address:
        spoken = run(
            f"repair --detector llm --model oven --k 2 --benchmark {name} --base-url {address} --json"
        )
    assert spoken.code == 0, spoken.err
    [row] = json.loads(spoken.out)["rows"]
    assert row["detector_title"] == "Repair by oven"
    assert (row["n"], row["n_fixed_1"], row["n_shown"]) == (1, 1, 1)
    # Another fix than the published one may end in the same state.
    assert (row["n_same_cells"], row["n_same_state"]) == (1, 1)
    assert row["n_requests"] == 2
    assert row["n_tokens"] > 100
    [details] = json.loads(
        runs_in(folder)["python_1_reproduced"].diagnostics or ""
    )
    assert [fix["by"] for fix in details["fixes"]] == ["oven"]
    assert details["not_shown"] == "1 crashed in its copy"


@pytest.mark.slow
def test_what_the_model_does_not_reply_to_is_no_verdict_and_tried_again(
    run: Say, folder: DataFolder, tmp_path: Path
) -> None:
    name = imported(
        run, tmp_path / "oven", "total = sum(parts)", "total = 1 + 2"
    )
    with fake_server(FakePlan(key="a-key-that-is-not-set")) as address:
        spoken = run(
            f"repair --detector llm --model oven --benchmark {name} --base-url {address}"
        )
    assert spoken.code == 1
    assert runs_in(folder)["python_1_reproduced"].crashes is None
    fake = run(f"repair --detector fake --benchmark {name} --json")
    [row] = json.loads(fake.out)["rows"]
    assert (row["n"], row["n_shown"], row["n_requests"]) == (1, 0, 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cap",
    ["--budget-tokens 10", "--budget-usd 0.01 --price-in 1 --price-out 1"],
)
def test_beyond_the_cap_no_request_is_sent_and_the_run_says_why(
    run: Say, folder: DataFolder, tmp_path: Path, cap: str
) -> None:
    name = imported(
        run, tmp_path / "oven", "total = sum(parts)", "total = 1 + 2"
    )
    asked = f"repair --detector fake --benchmark {name} --jobs 1 --json"
    capped = run(f"{asked} {cap}")
    assert capped.code == 1
    told = json.loads(capped.out)
    assert "more than the budget leaves" in told["ended_early"]
    # It is open, not failed: the same command with room goes on.
    assert "python_1_reproduced" not in runs_in(folder)
    assert run(asked).code == 0
    assert "python_1_reproduced" in runs_in(folder)


def test_nothing_runs_that_may_not_run(
    folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CRANE_ALLOW_EXECUTION", raising=False)
    say = speaker(folder.path, capsys)
    refused = say("repair --detector rules --benchmark minibench")
    assert refused.code == 1
    assert "CRANE_ALLOW_EXECUTION=1" in refused.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--detector rules --model m", "The rules ask no model."),
        ("--detector llm", "No model was given."),
        ("--detector rules --budget-usd 1", "The rules cost nothing."),
        ("--detector fake --price-in 1", "Only one of the two prices"),
        (
            "--detector llm --model m --base-url http://localhost:9 --budget-usd 1",
            "The price of m at localhost:9 is unknown",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run: Say, monkeypatch: pytest.MonkeyPatch, more: str, words: str
) -> None:
    monkeypatch.delenv("CRANE_MODEL", raising=False)
    refused = run(f"repair --benchmark minibench {more}")
    assert refused.code == 1
    assert words in refused.err


def test_a_dry_run_says_what_would_be_sent_and_runs_nothing(
    run: Say, folder: DataFolder
) -> None:
    said = run(
        "repair --detector fake --benchmark minibench --instances numpy_1_* --k 4 --dry-run --json"
    )
    told = json.loads(said.out)
    assert (said.code, told["open"], told["most_requests"]) == (0, 2, 8)
    assert not list(folder.ledger.glob("runs/*.jsonl"))
