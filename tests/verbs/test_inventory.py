"""`list`, `remove`, `restore`, `rename`: what is removed is nowhere, nothing is lost, each act is in the ledger."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.domain import InventoryAction, Listed
from crane_core.pipeline.campaigns.campaigns import campaign_names
from crane_core.pipeline.inventory import acts
from crane_core.pipeline.loading import load
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from tests.spoken import say
from tests.stored import Content, content
from tests.written_pairs import write_pair

RULES = (
    "detect",
    "--detector",
    "rules",
    "--setting",
    "code",
    "--benchmark",
    "lab",
    "--concurrency",
    "1",
)


def add_lab(folder: DataFolder) -> None:
    """Import a benchmark, and run the rules on it."""
    write_pair(
        folder.path.parent / "lab",
        "trip",
        ["a = 0", "1 / a"],
        ["a = 1", "1 / a"],
    )
    import_paths([folder.path.parent / "lab"], folder)
    assert main(["--data", str(folder.path), *RULES]) == 0


@pytest.fixture(scope="module")
def whole_lab_folder(
    prepared_folder: DataFolder, tmp_path_factory: pytest.TempPathFactory
) -> DataFolder:
    """All embedded data, such a benchmark and its run; to be copied, not changed."""
    place = tmp_path_factory.mktemp("whole") / "data"
    folder = DataFolder(Path(shutil.copytree(prepared_folder.path, place)))
    add_lab(folder)
    return folder


@pytest.fixture
def whole_lab(whole_lab_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """Such a data folder of the test's own."""
    return DataFolder(
        Path(shutil.copytree(whole_lab_folder.path, tmp_path / "data"))
    )


@pytest.fixture(scope="module")
def small_lab_folder(
    small_prepared_folder: DataFolder,
    three_pairs: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> DataFolder:
    """The same with three pairs in place of all embedded data."""
    place = tmp_path_factory.mktemp("small") / "data"
    folder = DataFolder(
        Path(shutil.copytree(small_prepared_folder.path, place))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "embedded", lambda: three_pairs)
        add_lab(folder)
    return folder


@pytest.fixture
def lab(
    small_lab_folder: DataFolder, three_pairs_ship: None, tmp_path: Path
) -> DataFolder:
    """Such a data folder of the test's own."""
    return DataFolder(
        Path(shutil.copytree(small_lab_folder.path, tmp_path / "data"))
    )


def without_acts(found: Content) -> Content:
    return {
        name: rows
        for name, rows in found.items()
        if name not in ("inventory_acts", "ledger_files")
    }


def listed(
    folder: DataFolder, capsys: pytest.CaptureFixture[str], *arguments: str
) -> dict[str, str]:
    return {
        entry["name"]: entry["held"]
        for entry in json.loads(
            say(folder, capsys, "list", *arguments, "--json").out
        )
    }


def run_name(folder: DataFolder) -> str:
    return next(
        path.stem for path in (folder.ledger / "runs").glob("rules-*.jsonl")
    )


def test_list_shows_everything_with_counts(
    whole_lab: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(whole_lab, capsys, "benchmark") == {
        "junobench": "111 cases",
        "minibench": "40 cases",
        "lab": "1 case",
    }
    assert listed(whole_lab, capsys, "run")[run_name(whole_lab)] == "2 answers"
    said = say(whole_lab, capsys, "list")
    assert (
        said.code == 0
        and "ships with the app" in said.out
        and run_name(whole_lab) in said.out
    )


def test_a_reply_without_an_answer_is_not_counted_as_one(
    whole_lab: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        listed(whole_lab, capsys, "run")["junobench-construct"]
        == "1,078 answers, 8 without one"
    )
    predictions = whole_lab.path / "few.jsonl"
    row = {
        "instance": "a_1_fixed",
        "detector": "m",
        "setting": "code",
        "benchmark": "lab",
    }
    rows = [row | {"index": index, "crashes": None} for index in (1, 2)]
    predictions.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert say(whole_lab, capsys, "import", str(predictions)).code == 0
    assert listed(whole_lab, capsys, "run")["few"] == "0 answers, 2 without one"


@pytest.mark.parametrize(
    "kind",
    [
        Listed.BENCHMARK,
        pytest.param(Listed.SOURCE, marks=pytest.mark.slow),
        pytest.param(Listed.RUN, marks=pytest.mark.slow),
    ],
)
def test_what_is_removed_is_in_no_table_and_comes_back_whole(
    lab: DataFolder, capsys: pytest.CaptureFixture[str], kind: Listed
) -> None:
    source = next(path.name for path in lab.sources.iterdir())
    name = {
        Listed.BENCHMARK: "lab",
        Listed.SOURCE: source,
        Listed.RUN: run_name(lab),
    }[kind]
    before = content(lab)
    assert say(lab, capsys, "remove", str(kind), name, "--by", "lea").code == 0
    gone = content(lab)
    for table in (
        ("runs",) if kind is Listed.RUN else ("cases", "instances", "cells")
    ):
        assert len(before[table]) - len(gone[table]) > 0
    assert name not in listed(lab, capsys, str(kind))
    assert "removed by lea" in say(lab, capsys, "list", "--removed").out
    assert say(lab, capsys, "rebuild").code == 0
    assert content(lab) == gone
    assert say(lab, capsys, "doctor").code == 0
    assert say(lab, capsys, "restore", str(kind), name).code == 0
    assert without_acts(content(lab)) == without_acts(before)
    assert [act.action for act in acts(lab)] == [
        InventoryAction.REMOVE,
        InventoryAction.RESTORE,
    ]


def test_a_removed_run_has_no_verdict_and_is_not_resumed_in_secret(
    lab: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    name = run_name(lab)
    assert say(lab, capsys, "remove", "run", name).code == 0
    store = prepare(lab)
    assert name not in set(verdict_frame(store)["experiment"])
    store.close()
    again = say(lab, capsys, *RULES)
    assert (
        again.code == 1
        and f"The run {name} was removed" in again.err
        and f"restore run {name}" in again.err
    )


@pytest.mark.slow
def test_a_removed_campaign_is_told_and_keeps_its_labels(
    answered: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    wish = (
        "--annotators",
        "ana",
        "--benchmark",
        "minibench",
        "--experiment",
        "ours",
    )
    assert say(answered, capsys, "campaign", "create", "pilot", *wish).code == 0
    files = {
        path: path.read_bytes()
        for path in answered.ledger.rglob("pilot*.jsonl")
    }
    assert say(answered, capsys, "remove", "campaign", "pilot").code == 0
    assert campaign_names(answered) == []
    refused = say(answered, capsys, "campaign", "status", "pilot")
    assert (
        refused.code == 1
        and "was removed by" in refused.err
        and "restore campaign pilot" in refused.err
    )
    assert {path: path.read_bytes() for path in files} == files
    assert say(answered, capsys, "restore", "campaign", "pilot").code == 0
    assert (
        say(
            answered, capsys, "rename", "campaign", "pilot", "Spring pilot"
        ).code
        == 0
    )
    assert campaign_names(answered) == ["pilot"]
    assert "Spring pilot" in say(answered, capsys, "list", "campaign").out


@pytest.mark.slow
def test_a_pack_leaves_out_what_is_removed_and_a_backup_keeps_it(
    lab: DataFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name, source = (
        run_name(lab),
        next(path.name for path in lab.sources.iterdir()),
    )
    assert say(lab, capsys, "remove", "run", name).code == 0
    assert say(lab, capsys, "remove", "source", source).code == 0
    assert (
        say(
            lab,
            capsys,
            "export",
            "--out",
            str(tmp_path / "pack"),
            "--without-statistics",
        ).code
        == 0
    )
    packed = {path.name for path in (tmp_path / "pack").rglob("*")}
    assert not packed & {f"{name}.jsonl", source}
    other = DataFolder(tmp_path / "other")
    other.path.mkdir()
    assert say(other, capsys, "import", str(tmp_path / "pack")).code == 0
    assert without_acts(content(other)) == without_acts(content(lab))
    assert say(lab, capsys, "backup", str(tmp_path / "copy")).code == 0
    back = DataFolder(tmp_path / "back")
    back.path.mkdir()
    assert say(back, capsys, "restore", str(tmp_path / "copy")).code == 0
    assert say(back, capsys, "restore", "source", source).code == 0
    assert say(back, capsys, "restore", "run", name).code == 0
    assert name in listed(back, capsys, "run")


def test_importing_what_was_removed_says_so(
    lab: DataFolder,
    small_lab_folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = next(path.name for path in lab.sources.iterdir())
    assert say(lab, capsys, "remove", "source", source, "--by", "lea").code == 0
    said = say(lab, capsys, "import", str(small_lab_folder.path.parent / "lab"))
    assert (
        said.code == 1
        and "removed at" in said.err
        and f"restore source {source}" in said.err
    )


@pytest.mark.slow
def test_a_rebuild_right_after_a_removal_elsewhere_is_no_loss(
    lab: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another machine's act arrives with its ledger file; the database here has not seen it."""
    database = lab.path / "crane.before"
    shutil.copy(lab.database, database)
    assert say(lab, capsys, "remove", "run", run_name(lab)).code == 0
    shutil.copy(database, lab.database)
    assert say(lab, capsys, "rebuild").code == 0


def test_a_new_name_is_shown_and_the_id_stays(
    lab: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        say(lab, capsys, "rename", "benchmark", "lab", "Our  lab\n2026").code
        == 0
    )
    store = prepare(lab)
    rows = (
        store.cursor()
        .execute("SELECT title FROM benchmarks WHERE benchmark = 'lab'")
        .fetchall()
    )
    store.close()
    assert rows == [("Our lab 2026",)]


@pytest.mark.parametrize(
    "thing",
    [
        ("benchmark", "junobench"),
        ("source", "published"),
        ("run", "crane-llm-2025-10"),
    ],
)
def test_what_the_pages_rest_on_stays(
    whole_folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    thing: tuple[str, str],
) -> None:
    said = say(whole_folder, capsys, "remove", *thing)
    assert said.code == 1 and "ships with the app" in said.err
    assert acts(whole_folder) == []
