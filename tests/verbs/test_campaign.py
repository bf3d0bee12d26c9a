"""`campaign` as its user has it: a plan shown and stored, status, lock, export, and a campaign repeated from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.pipeline.campaigns import campaign_names, kept_campaign
from crane_core.pipeline.labelling import Desk
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, Spoken, speaker

Hold = Callable[[Path], AbstractContextManager[None]]
OURS = ("--benchmark", "minibench", "--experiment", "ours")
SEED = "20261121077"


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run an action of `campaign` on the test's own data folder, in this process."""
    return speaker(answered.path, capsys, "campaign")


def refused(spoken: Spoken, words: str) -> bool:
    """Exit 1 with one last line on stderr that holds these words and a remedy."""
    last = spoken.err.splitlines()[-1]
    return spoken.code == 1 and spoken.out == "" and last.startswith("error: ") and words in last


def label_all(folder: DataFolder, campaign: str) -> None:
    desk = Desk(folder, campaign)
    for annotator in desk.plan.annotators:
        while coming := desk.journal(annotator).upcoming(1):
            known = {"item": coming[0].item, "showing": coming[0].showing}
            event = f"{annotator}-{known['item']}-{known['showing']}"
            act = {"event": event, "action": "label", "label": "correct"} | known
            assert desk.take(annotator, [act]).refused == {}


def test_create_shows_the_plan_and_a_dry_run_stores_nothing(run: Run, answered: DataFolder) -> None:
    shown = run("create", "pilot", "--annotators", "ana,ben", *OURS, "--design", "all", "--dry-run")
    assert shown.code == 0
    assert "Population: 48 verdicts, minibench, ours; detected crash." in shown.out
    assert "heron · runtime" in shown.out
    assert "ana: 48 items and 2 hidden repeats, about 0.8 h at 60 s an item" in shown.out
    assert "Nothing was stored." in shown.err
    assert campaign_names(answered) == []


def test_the_seed_that_a_dry_run_shows_stores_that_plan(run: Run, answered: DataFolder) -> None:
    wish = ("pilot", "--annotators", "ana,ben", *OURS, "--margin", "0.2", "--title", "A pilot", "--by", "cleo")
    shown = json.loads(run("create", *wish, "--dry-run", "--json").out)
    assert shown["seed"] > 10**9
    stored = json.loads(run("create", *wish, "--seed", str(shown["seed"]), "--json").out)
    assert stored == shown
    plan = kept_campaign(answered, "pilot").plan
    assert (plan.seed, plan.title, plan.created_by, len(plan.items)) == (
        shown["seed"],
        "A pilot",
        "cleo",
        stored["items"],
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["create"], "needs a name and annotators"),
        (["create", "pilot"], "needs a name and annotators"),
        (["create", "Pilot", "--annotators", "ana", *OURS], "is not a valid name for a campaign"),
        (["create", "pilot", "--annotators", "ana", "--experiment", "theirs"], "No model has verdicts"),
        (["create", "pilot", "--annotators", "ana", *OURS, "--settings", "runtim"], "'runtim' is not among"),
        (["create", "pilot", "--annotators", "ana", *OURS, "--strata", "stage"], "is not a stratum"),
        (["create", "pilot", "--annotators", "ana", *OURS, "--margin", "0"], "No plan can be drawn"),
        (["create", "--from", "nowhere.json"], "nowhere.json"),
        (["create", "--from", "p.json", "--seed", "3"], "seed comes from the export"),
        (["status", "dream"], "no campaign 'dream'"),
        (["lock", "dream", "--by", "ana"], "no campaign 'dream'"),
        (["export", "dream", "--out", "x"], "no campaign 'dream'"),
        (["status", "../x"], "no campaign"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_with_a_remedy(arguments: list[str], words: str, run: Run) -> None:
    assert refused(run(*arguments), words)


def test_facts_without_texts_cannot_be_labelled_and_the_remedy_is_to_fetch(run: Run) -> None:
    spoken = run("create", "pilot", "--annotators", "ana")
    assert refused(spoken, "501 verdicts of junobench, crane-llm-2025-10 match, but their texts are not loaded.")
    assert "fetch crane-llm" in spoken.err


def test_a_name_is_taken_once(run: Run) -> None:
    wish = ("create", "pilot", "--annotators", "ana", *OURS, "--seed", SEED)
    assert run(*wish).code == 0
    again = run(*wish)
    assert again.code == 1
    assert "The campaign 'pilot' already exists." in again.err


def test_status_tells_every_campaign_and_one(run: Run) -> None:
    assert "There is no campaign" in run("status").err
    run("create", "one", "--annotators", "ana", *OURS, "--seed", SEED)
    run("create", "two", "--annotators", "ana,ben", *OURS, "--seed", SEED, "--overlap", "none", "--design", "all")
    assert {line.split(":")[0] for line in run("status").out.splitlines() if line[0] != " "} == {"one", "two"}
    (two,) = json.loads(run("status", "two", "--json").out)["campaigns"]
    assert [entry["unlabelled"] for entry in two["annotators"]] == [24, 24]
    assert two["locked"] is None


def test_lock_tells_what_is_open_and_refuses_until_told_anyway(run: Run) -> None:
    run("create", "pilot", "--annotators", "ana,ben", *OURS, "--design", "all", "--seed", SEED)
    spoken = run("lock", "pilot", "--by", "cleo")
    assert refused(spoken, "not finished")
    assert "unlabelled items: ana 48, ben 48" in spoken.err
    assert json.loads(run("status", "--json").out)["campaigns"][0]["locked"] is None
    assert "locked by cleo" in run("lock", "pilot", "--by", "cleo", "--anyway").out
    assert refused(run("lock", "pilot", "--by", "cleo"), "was locked by cleo")


def test_a_finished_campaign_is_locked_exported_and_repeated_elsewhere(
    run: Run, answered: DataFolder, answered_folder: DataFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("create", "pilot", "--annotators", "ana,ben", *OURS, "--margin", "0.1", "--seed", SEED)
    label_all(answered, "pilot")
    assert run("lock", "pilot", "--by", "cleo").code == 0
    out = tmp_path / "export"
    assert run("export", "pilot", "--out", out).code == 0
    assert refused(run("export", "pilot", "--out", out), "already contains an export")
    assert run("export", "pilot", "--out", out, "--force").code == 0

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sources").symlink_to(answered_folder.sources)
    arguments = ["--data", str(elsewhere), "campaign", "create", "--from", str(out / "plan.json"), "--by", "dora"]
    assert main(arguments) == 0
    assert "Items, names and orders are the same as in the export." in capsys.readouterr().err
    old, new = kept_campaign(answered, "pilot").plan, kept_campaign(DataFolder(elsewhere), "pilot").plan
    assert (new.items, new.orders, new.seed, new.created_by) == (old.items, old.orders, old.seed, "dora")


def test_everything_works_while_the_app_holds_the_database(
    run: Run, answered: DataFolder, tmp_path: Path, held: Hold
) -> None:
    with held(answered.database):
        created = run("create", "pilot", "--annotators", "ana", *OURS, "--seed", SEED)
        assert "is open in another process (python" in created.err
        assert created.code == 0
        label_all(answered, "pilot")
        assert json.loads(run("status", "pilot", "--json").out)["campaigns"][0]["open"]["unlabelled"] == 0
        assert run("export", "pilot", "--out", tmp_path / "before").code == 0
        assert run("lock", "pilot", "--by", "ana").code == 0
        assert run("export", "pilot", "--out", tmp_path / "after").code == 0


@pytest.mark.parametrize(
    "arguments", [[], ["create", "x", "--annotators", ","], ["lock", "x"], ["export", "x"], ["create", "--design", "x"]]
)
def test_wrong_usage_is_exit_2(arguments: list[str], run: Run) -> None:
    with pytest.raises(SystemExit) as left:
        run(*arguments)
    assert left.value.code == 2


def test_the_folder_may_be_named_after_the_action(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", "status", "--data", str(answered.path)]) == 0
    assert str(answered.ledger) in capsys.readouterr().err
