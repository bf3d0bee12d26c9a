"""`judge --campaign` as its user has it: over HTTP, what it says, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.campaigns.campaigns import kept_campaign
from crane_core.pipeline.places import DataFolder
from tests.own_labels import TWO_TEXT
from tests.spoken import Run, speaker


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    return speaker(answered.path, capsys)


@pytest.mark.slow
def test_a_campaign_is_judged_and_says_under_which_guideline(
    run: Run, answered: DataFolder
) -> None:
    create = (
        "--annotators ana --benchmark minibench --experiment ours --margin 0.2"
    )
    assert run(f"campaign create pilot {create} --seed 7").code == 0
    plan = kept_campaign(answered, "pilot").plan
    with fake_server(FakePlan(seed=7)) as base_url:
        ask = f"judge --campaign pilot --model egret --base-url {base_url} --presentation normal"
        shown = run(f"{ask} --dry-run")
        assert (
            f"{len(plan.items)} items of pilot under guideline {plan.guideline}; 0 of"
            in shown.out
        )
        told = json.loads(run(f"{ask} --json").out)
        assert told["annotator"] == "judge egret on pilot"
        assert sum(told["labels"].values()) == len(plan.items)
        again = json.loads(run(f"{ask} --dry-run --json").out)
    assert (again["answered"], again["questions"], again["guideline"]) == (
        len(plan.items),
        len(plan.items),
        plan.guideline,
    )


def test_a_campaign_with_its_own_labels_is_judged_by_them(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    file = tmp_path / "labels.toml"
    file.write_text(TWO_TEXT, "utf-8")
    create = (
        "--annotators ana --benchmark minibench --experiment ours --margin 0.2"
    )
    assert run(f"campaign create two {create} --labels {file}").code == 0
    with fake_server(FakePlan(seed=7)) as base_url:
        ask = f"judge --campaign two --model egret --base-url {base_url} --presentation normal"
        told = json.loads(run(f"{ask} --json").out)
    assert told["annotator"] == "judge egret on two"
    assert (
        {"sound", "unsound"}
        <= set(told["labels"])
        <= {"sound", "unsound", "unverifiable"}
    )
    assert sum(told["labels"].values()) == len(
        kept_campaign(answered, "two").plan.items
    )


@pytest.mark.slow
def test_without_an_experiment_that_of_the_benchmark_is_judged(
    run: Run,
) -> None:
    several = run("judge --fake --benchmark minibench --dry-run")
    assert several.code == 1
    assert (
        "experiments on 'minibench' have diagnoses: ours, shipped. Name one with --experiment"
        in several.err
    )
    assert run("remove run ours --by ana").code == 0
    only = run("judge --fake --benchmark minibench --dry-run")
    assert only.code == 0 and only.out.startswith(
        "job judge-fake-minibench-shipped-"
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--campaign", "dream"), "There is no campaign 'dream'"),
        (("--campaign", "../x"), "There is no campaign"),
        (
            ("--campaign", "dream", "--setting", "code"),
            "--campaign says which verdicts are judged",
        ),
        (
            ("--campaign", "dream", "--experiment", "ours"),
            "so does --experiment",
        ),
        (
            ("--benchmark", "dream"),
            "No answer on 'dream' predicts a crash and gives a reason",
        ),
    ],
)
def test_what_cannot_be_judged_is_one_line_with_a_remedy(
    run: Run, more: tuple[str, ...], words: str
) -> None:
    spoken = run("judge --fake", *more)
    last = spoken.err.splitlines()[-1]
    assert (spoken.code, spoken.out) == (1, "")
    assert last.startswith("error: ") and words in last
