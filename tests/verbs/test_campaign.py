"""`campaign` as its user has it: a plan shown and stored, status, lock, export, and a campaign repeated from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from uuid import uuid4

import pytest

from crane_core.annotation.guideline import version_of
from crane_core.cli import main
from crane_core.domain import Label
from crane_core.errors import CampaignError
from crane_core.pipeline.agreement.crowd_kit import is_installed
from crane_core.pipeline.campaigns.campaigns import (
    campaign_names,
    kept_campaign,
)
from crane_core.pipeline.campaigns.guideline import guideline_versions
from crane_core.pipeline.campaigns.label_frame import final_outcomes
from crane_core.pipeline.campaigns.labelling import LabelStore
from crane_core.pipeline.places import DataFolder
from tests.spoken import Run, Spoken, speaker

Hold = Callable[[Path], AbstractContextManager[None]]
OURS = "--benchmark minibench --experiment ours"
SEED = "20261121077"


@pytest.fixture
def run(answered: DataFolder, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run an action of `campaign` on the test's own data folder, in this process."""
    return speaker(answered.path, capsys, "campaign")


def refused(spoken: Spoken, words: str) -> bool:
    """Exit 1 with one last line on stderr that holds these words and a remedy."""
    last = spoken.err.splitlines()[-1]
    return (
        spoken.code == 1
        and spoken.out == ""
        and last.startswith("error: ")
        and words in last
    )


def label_all(folder: DataFolder, campaign: str) -> None:
    desk = LabelStore(folder, campaign)
    for annotator in desk.plan.annotators:
        while coming := desk.journal(annotator).upcoming(1):
            known = {"item": coming[0].item, "showing": coming[0].showing}
            event = f"{annotator}-{known['item']}-{known['showing']}"
            act = {
                "event": event,
                "action": "label",
                "label": "correct",
            } | known
            assert desk.take(annotator, [act]).refused == {}


def test_create_shows_the_plan_and_a_dry_run_stores_nothing(
    run: Run, answered: DataFolder
) -> None:
    shown = run(
        f"create pilot --annotators ana,ben {OURS} --design all --dry-run",
    )
    assert shown.code == 0
    assert "Population: 48 detected crashes of minibench, ours." in shown.out
    assert "heron · runtime" in shown.out
    assert (
        "ana: 48 items and 2 hidden repeats, about 0.8 h at 60 s an item"
        in shown.out
    )
    assert "Nothing was stored." in shown.err
    assert campaign_names(answered) == []


@pytest.mark.slow
def test_gold_items_come_from_a_file_and_from_a_locked_campaign(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    wish = f"--annotators ana,ben {OURS} --design all --seed {SEED}"
    assert run(f"create pilot {wish}").code == 0
    label_all(answered, "pilot")
    assert run("lock pilot --by cleo").code == 0
    table = tmp_path / "gold.csv"
    table.write_text(
        "instance,detector,setting,label,run\nnumpy_1_reproduced,heron,code,wrong,2\n"
    )
    shown = run(
        f"create second {wish} --gold {table} --gold-from pilot:2 --gold-feedback",
    )
    assert (
        "Gold: 3 items with a known label (gold.csv, pilot), once in everybody's order; annotators are told"
        in shown.out
    )
    plan = kept_campaign(answered, "second").plan
    assert (plan.gold[0].run, plan.gold_feedback, len(plan.items)) == (
        2,
        True,
        45,
    )
    assert "gold, ana: 0 of 0 right; 3 in all" in run("status second").out
    assert refused(
        run(f"create third {wish} --gold-from pilot"), "does not say how many"
    )
    assert refused(
        run(f"create third {wish} --gold-feedback"), "needs gold items"
    )


def test_the_seed_that_a_dry_run_shows_stores_that_plan(
    run: Run, answered: DataFolder
) -> None:
    wish = f"pilot --annotators ana,ben {OURS} --margin 0.2 --title 'A pilot' --by cleo"
    shown = json.loads(run(f"create {wish} --dry-run --json").out)
    assert shown["seed"] > 10**9
    style = shown.pop("guessability")
    assert 0 <= style["low"] <= style["value"] <= style["high"] <= 1
    stored = json.loads(
        run(f"create {wish} --seed", str(shown["seed"]), "--json").out
    )
    assert stored == shown
    plan = kept_campaign(answered, "pilot").plan
    assert (plan.seed, plan.title, plan.created_by, len(plan.items)) == (
        shown["seed"],
        "A pilot",
        "cleo",
        stored["items"],
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("create", "needs a name and annotators"),
        ("create pilot", "needs a name and annotators"),
        (f"create Pilot --annotators ana {OURS}", "is not a valid name for a campaign"),
        ("create pilot --annotators ana --experiment theirs", "No model has verdicts"),
        (f"create pilot --annotators ana {OURS} --settings runtim", "'runtim' is not among"),
        (f"create pilot --annotators ana {OURS} --strata stage", "is not a stratum"),
        (f"create pilot --annotators ana {OURS} --margin 0", "No plan can be drawn"),
        ("create --from nowhere.json", "nowhere.json"),
        ("create --from p.json --seed 3", "seed comes from the export"),
        ("status dream", "no campaign 'dream'"),
        ("lock dream --by ana", "no campaign 'dream'"),
        ("guideline dream", "no campaign 'dream'"),
        ("export dream --out x", "no campaign 'dream'"),
        ("status ../x", "no campaign"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_with_a_remedy(
    line: str, words: str, run: Run
) -> None:
    assert refused(run(line), words)


def test_facts_without_texts_cannot_be_labelled_and_the_remedy_is_to_fetch(
    run: Run,
) -> None:
    spoken = run("create pilot --annotators ana")
    assert refused(
        spoken,
        "501 verdicts of junobench, crane-llm-2025-10 match, but their texts are not loaded.",
    )
    assert "fetch crane-llm" in spoken.err


def test_a_name_is_taken_once(run: Run) -> None:
    wish = f"create pilot --annotators ana {OURS} --seed {SEED}"
    assert run(wish).code == 0
    again = run(wish)
    assert again.code == 1
    assert "The campaign 'pilot' already exists." in again.err


def test_status_tells_every_campaign_and_one(run: Run) -> None:
    assert "There is no campaign" in run("status").err
    run(f"create one --annotators ana {OURS} --seed {SEED}")
    run(
        f"create two --annotators ana,ben {OURS} --seed {SEED} --overlap none --design all",
    )
    assert {
        line.split(":")[0]
        for line in run("status").out.splitlines()
        if line[0] != " "
    } == {
        "one",
        "two",
    }
    (two,) = json.loads(run("status two --json").out)["campaigns"]
    assert [entry["unlabelled"] for entry in two["annotators"]] == [24, 24]
    assert two["locked"] is None


def test_lock_tells_what_is_open_and_refuses_until_told_anyway(
    run: Run,
) -> None:
    run(
        f"create pilot --annotators ana,ben {OURS} --design all --seed {SEED}",
    )
    spoken = run("lock pilot --by cleo")
    assert refused(spoken, "not finished")
    assert "unlabelled items: ana 48, ben 48" in spoken.err
    assert (
        json.loads(run("status --json").out)["campaigns"][0]["locked"] is None
    )
    assert "locked by cleo" in run("lock pilot --by cleo --anyway").out
    assert refused(run("lock pilot --by cleo"), "was locked by cleo")


def test_a_finished_campaign_is_locked_exported_and_repeated_elsewhere(
    run: Run,
    answered: DataFolder,
    answered_folder: DataFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(
        f"create pilot --annotators ana,ben {OURS} --margin 0.1 --seed {SEED}",
    )
    label_all(answered, "pilot")
    assert run("lock pilot --by cleo").code == 0
    out = tmp_path / "export"
    assert run(f"export pilot --out {out}").code == 0
    assert refused(
        run(f"export pilot --out {out}"), "already contains an export"
    )
    assert run(f"export pilot --out {out} --force").code == 0

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sources").symlink_to(answered_folder.sources)
    arguments = [
        "--data",
        str(elsewhere),
        "campaign",
        "create",
        "--from",
        str(out / "plan.json"),
        "--by",
        "dora",
    ]
    assert main(arguments) == 0
    assert (
        "Items, names and orders are the same as in the export."
        in capsys.readouterr().err
    )
    old, new = (
        kept_campaign(answered, "pilot").plan,
        kept_campaign(DataFolder(elsewhere), "pilot").plan,
    )
    assert (new.items, new.orders, new.seed, new.created_by) == (
        old.items,
        old.orders,
        old.seed,
        "dora",
    )


def test_a_locked_campaign_tells_who_is_likely_right(
    run: Run, answered: DataFolder
) -> None:
    run(f"create pilot --annotators ana,ben,cleo {OURS} --margin 0.2")
    assert refused(run("model pilot"), "not locked")
    label_all(answered, "pilot")
    assert run("lock pilot --by dora").code == 0
    told = run("model pilot").out
    assert "Dawid-Skene: the likely label of 0 of" in told
    assert "  ana: ability 9" in told
    document = json.loads(run("model pilot --json").out)
    [model] = document["models"].values()
    assert {item["final"] for item in model["items"]} == {"correct"}
    assert [one["annotator"] for one in model["people"]] == ["ana", "ben", "cleo"]  # fmt: skip
    if not is_installed():
        assert refused(run("model pilot --model all"), "[labels]")


def test_labels_made_elsewhere_are_stored_whole_or_not_at_all(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    run(
        f"create pilot --annotators ana,eva {OURS} --design all --seed {SEED}",
    )
    plan = kept_campaign(answered, "pilot").plan
    one, two, three, *_ = (item.item for item in plan.items)
    file = tmp_path / "labels.csv"
    file.write_text(
        f"item,label\n{one},good\n{two},bad\nnobody,good\n{two},good\n{three},\n",
        "utf-8",
    )
    told = (
        "labels",
        "pilot",
        "--file",
        file,
        "--annotator",
        "eva",
        "--map",
        "good=correct",
        "bad=wrong",
    )
    spoken = run(*told)
    assert refused(
        spoken,
        "2 rows cannot be stored (1 unknown item, 1 contradiction), so nothing was.",
    )
    assert "line 4: 'nobody' is not an item of pilot" in spoken.err
    assert (
        f"line 5: '{two}' stands on line 3 already, labelled wrong, and this row says 'correct'"
        in spoken.err
    )
    assert not (answered.ledger / "labels" / "pilot" / "eva.jsonl").exists()
    spoken = run(*told, "--skip-invalid")
    assert spoken.code == 0
    assert spoken.out.startswith(
        "pilot: 2 labels of eva stored, from labels.csv, sha256 "
    )
    assert (
        "skipped: 1 unknown item, 1 contradiction" in spoken.out
        and "1 row has no label" in spoken.out
    )
    [_, eva] = json.loads(run("status pilot --json").out)["campaigns"][0][
        "annotators"
    ]
    assert eva["unlabelled"] == 46
    assert refused(
        run(*told), "2 already labelled, 1 unknown item, 1 contradiction"
    )
    assert refused(
        run(*told, "--map", "good=best"),
        "'best' is not a label. Labels are correct, partial, wrong.",
    )
    with pytest.raises(SystemExit) as left:
        run(*told, "--map", "good=")
    assert left.value.code == 2


def test_an_export_has_the_form_and_the_texts_that_were_asked_for(
    run: Run, answered: DataFolder, tmp_path: Path
) -> None:
    run(
        f"create pilot --annotators ana,ben {OURS} --margin 0.3 --seed {SEED}",
    )
    out = tmp_path / "export"
    assert refused(
        run(f"export pilot --out {out} --with-texts"), "is blind and not locked"
    )
    assert not out.exists()
    label_all(answered, "pilot")
    assert run("lock pilot --by cleo").code == 0
    assert (
        run(f"export pilot --out {out} --form label-studio --with-texts").code
        == 0
    )
    assert sorted(file.name for file in out.iterdir()) == [
        "README.txt",
        "config.xml",
        "tasks.json",
    ]
    assert "fails, said" in (out / "tasks.json").read_text("utf-8")
    assert refused(
        run(f"export pilot --out {out} --force"),
        "something other than an export",
    )
    assert (
        run(f"export pilot --out {tmp_path / 'set'} --form dataset").code == 0
    )
    assert "fails, said" not in (tmp_path / "set" / "README.md").read_text(
        "utf-8"
    )
    with pytest.raises(SystemExit) as left:
        run(f"export pilot --out {out} --form sheet")
    assert left.value.code == 2


def test_the_guideline_is_printed_changed_compared_and_kept_by_a_repetition(
    run: Run, answered: DataFolder, answered_folder: DataFolder, tmp_path: Path
) -> None:
    run(
        f"create pilot --annotators ana {OURS} --margin 0.3 --seed {SEED}",
    )
    assert run("guideline pilot").out.startswith("**Your task.**")
    assert "has not changed" in run("guideline pilot --diff").err
    text = tmp_path / "mine.md"
    text.write_text("**Your task.** Judge.\n\nCauses count.\n", "utf-8")
    assert refused(
        run(f"guideline pilot --set {text}"), "the name of its author"
    )
    assert (
        "is in force since"
        in run(f"guideline pilot --set {text} --by cleo").out
    )
    assert refused(
        run(f"guideline pilot --set {text} --by cleo"),
        "is the guideline of 'pilot' already",
    )
    shown = run("guideline pilot")
    assert shown.out == "**Your task.** Judge.\n\nCauses count.\n"
    assert version_of(text.read_text("utf-8")) in shown.err
    changes = run("guideline pilot --diff").out.splitlines()
    assert "+Causes count." in changes and changes[1].endswith("cleo")
    text.write_bytes(b"\xff")
    assert refused(
        run(f"guideline pilot --set {text} --by cleo"), "is not UTF-8"
    )
    assert run("lock pilot --by cleo --anyway").code == 0
    text.write_text("Too late.", "utf-8")
    assert refused(
        run(f"guideline pilot --set {text} --by cleo"), "can no longer change"
    )
    out = tmp_path / "export"
    assert run(f"export pilot --out {out}").code == 0
    assert run(f"create second --from {out / 'plan.json'}").code == 0
    assert (
        kept_campaign(answered, "second").plan.guideline_text
        == "**Your task.** Judge.\n\nCauses count.\n"
    )


def label_some(
    folder: DataFolder, campaign: str, who: str, n: int, label: str = "correct"
) -> None:
    desk = LabelStore(folder, campaign)
    for _ in range(n):
        coming = desk.journal(who).upcoming(1)[0]
        known = {"item": coming.item, "showing": coming.showing}
        version = desk.guidelines()[-1].version
        act = {
            "event": f"{who}-{uuid4().hex}",
            "action": "label",
            "label": label,
            "guideline": version,
        } | known
        assert desk.take(who, [act]).refused == {}


@pytest.mark.slow
def test_a_team_calibrates_labels_two_of_four_and_is_replayed_elsewhere(
    run: Run,
    answered: DataFolder,
    answered_folder: DataFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Calibration by all, two of four in the main round, one replaced, items again after the lock, replay."""
    team = f"create pilot --annotators ana,ben,cem,dia {OURS} --design all --overlap some"
    assert run(f"{team} --calibration 8 --seed {SEED}").code == 0
    for who in ("ana", "ben", "cem", "dia"):
        label_some(answered, "pilot", who, 8)
    assert refused(run("lock pilot --by lead"), "not finished")
    text = tmp_path / "guideline.md"
    text.write_text("Judge the cause.", "utf-8")
    assert run(f"guideline pilot --set {text} --by lead").code == 0
    spoken = run("main pilot --by lead --why 'guideline is clear'")
    assert (
        "the main round is open for ana, ben, cem, dia: guideline is clear"
        in spoken.out
    )
    assert refused(run("main pilot --by lead"), "open already")
    label_some(answered, "pilot", "ana", 5)
    label_some(answered, "pilot", "ben", 3, "wrong")
    assert (
        "eva joined; ben left"
        in run("people pilot --replace ben=eva --by lead").out
    )
    with pytest.raises(CampaignError, match="no longer labels"):
        LabelStore(answered, "pilot").take("ben", [])
    for who in ("ana", "cem", "dia", "eva"):
        label_some(
            answered,
            "pilot",
            who,
            len(LabelStore(answered, "pilot").journal(who).upcoming(99)),
        )
    told = json.loads(run("status pilot --json").out)["campaigns"][0]
    assert told["open"]["unlabelled"] == told["open"]["unassigned"] == 0
    assert [entry["kind"] for entry in told["rounds"]] == [
        "main round",
        "people",
    ]
    assert run("lock pilot --by lead --anyway").code == 0
    assert refused(
        run("people pilot --add finn --by lead"), "was locked by lead"
    )
    assert refused(run("again pilot --by lead"), "Nothing says which items")
    assert (
        "items are labelled again by"
        in run("again pilot --labels correct --by lead").out
    )
    assert kept_campaign(answered, "pilot").lock is None
    for who in ("ana", "cem", "dia", "eva"):
        label_some(
            answered,
            "pilot",
            who,
            len(LabelStore(answered, "pilot").journal(who).upcoming(99)),
            "partial",
        )
    assert run("lock pilot --by lead --anyway").code == 0
    out = tmp_path / "export"
    assert run(f"export pilot --out {out}").code == 0

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sources").symlink_to(answered_folder.sources)
    source = ["--from", str(out / "plan.json"), "--with-labels"]
    assert main(["--data", str(elsewhere), "campaign", "create", *source]) == 0
    capsys.readouterr()
    there = DataFolder(elsewhere)
    old, new = (
        kept_campaign(answered, "pilot").plan,
        kept_campaign(there, "pilot").plan,
    )
    assert (new.items, new.orders, new.rounds, new.present) == (
        old.items,
        old.orders,
        old.rounds,
        old.present,
    )
    assert final_outcomes(there, new) == final_outcomes(answered, old)
    assert (
        guideline_versions(there, new)[1:]
        == guideline_versions(answered, old)[1:]
    )
    assert new.guideline_text == old.guideline_text
    assert {final.label for final in final_outcomes(there, new).values()} <= {
        None,
        Label.PARTIAL,
    }


def test_who_is_idle_hands_back(run: Run, answered: DataFolder) -> None:
    run(
        f"create pilot --annotators ana,ben,cem {OURS} --design all --overlap some",
    )
    label_some(answered, "pilot", "ana", 3)
    assert (
        "Everybody who has open items"
        in run("people pilot --idle-days 1 --by lead").err
    )
    assert (
        "open items were handed to others"
        in run("people pilot --hand-back cem --by lead").out
    )
    assert kept_campaign(answered, "pilot").plan.orders["cem"] == ()
    assert refused(
        run("people pilot --replace ana --by lead"),
        "does not say who takes over",
    )
    assert refused(
        run("people pilot --add ana --by lead"), "labels in it already"
    )
    assert refused(run("again pilot --labels best --by lead"), "is not a label")
    assert refused(run("again pilot --items none --by lead"), "is not an item")


def test_labels_come_with_their_export_alone(run: Run, tmp_path: Path) -> None:
    assert refused(
        run(f"create pilot --annotators ana {OURS} --with-labels"),
        "needs an export",
    )
    run(f"create pilot --annotators ana {OURS} --seed {SEED}")
    run("lock pilot --by lead --anyway")
    out = tmp_path / "export"
    run(f"export pilot --out {out}")
    source = ("--from", out / "plan.json", "--with-labels")
    assert refused(
        run("create other", *source), "have other names under another one"
    )
    (out / "acts.jsonl").write_text("no act\n")
    assert refused(run("create", *source), "does not hold the whole work")


@pytest.mark.slow
def test_everything_works_while_the_app_holds_the_database(
    run: Run, answered: DataFolder, tmp_path: Path, held: Hold
) -> None:
    with held(answered.database):
        created = run(f"create pilot --annotators ana {OURS} --seed {SEED}")
        assert "is open in another process (python" in created.err
        assert created.code == 0
        label_all(answered, "pilot")
        assert (
            json.loads(run("status pilot --json").out)["campaigns"][0]["open"][
                "unlabelled"
            ]
            == 0
        )
        assert run(f"export pilot --out {tmp_path / 'before'}").code == 0
        assert run("lock pilot --by ana").code == 0
        assert run(f"export pilot --out {tmp_path / 'after'}").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["create", "x", "--annotators", ","],
        ["lock", "x"],
        ["export", "x"],
        ["create", "--design", "x"],
    ],
)
def test_wrong_usage_is_exit_2(arguments: list[str], run: Run) -> None:
    with pytest.raises(SystemExit) as left:
        run(*arguments)
    assert left.value.code == 2


def test_the_folder_may_be_named_after_the_action(
    answered: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", "status", "--data", str(answered.path)]) == 0
    assert str(answered.ledger) in capsys.readouterr().err
