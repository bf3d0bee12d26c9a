"""An invalidated answer is in no statistic, is counted with who and why, survives a rebuild, and can be restored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core.domain import Listed
from crane_core.pipeline.inventory import inventory
from crane_core.pipeline.loading.load import import_paths, prepare, rebuild
from crane_core.pipeline.maintenance.invalidate import invalidated
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.storage.answers import RunKey
from tests.spoken import say
from tests.stored import content

INSTANCE = "pandas_1_fixed"
REASON = "The notebook was cut off."
RUN = RunKey("minibench", "mine", "m", "code")


@pytest.fixture
def mine(small_folder: DataFolder, tmp_path: Path) -> DataFolder:
    """A folder with three imported answers to one instance, two of which predict a crash."""
    file = tmp_path / "mine.jsonl"
    row = {"instance": INSTANCE, "detector": "m", "setting": "code"}
    rows = [
        row | {"benchmark": "minibench", "index": index, "crashes": index > 1}
        for index in (1, 2, 3)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    import_paths([file], small_folder)
    return small_folder


def counts(folder: DataFolder) -> tuple[int, int]:
    """How many answers predict a crash of the instance, and how many none."""
    store = prepare(folder)
    frame = verdict_frame(store)
    store.close()
    of_mine = frame[frame["experiment"] == "mine"]
    return int(of_mine["n_crash"].sum()), int(of_mine["n_safe"].sum())


def test_an_invalid_answer_counts_no_more_until_it_is_restored(
    mine: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content(mine)
    assert counts(mine) == (2, 1)
    said = say(
        mine,
        capsys,
        *("invalidate", "mine", "--instance", INSTANCE, "--index", "2"),
        *("--reason", REASON, "--by", "ana"),
    )
    assert said.code == 0
    # Nothing else is loaded again for one answer.
    assert "loading everything again" not in said.err
    assert counts(mine) == (1, 1)
    [act] = invalidated(mine, RUN)
    assert invalidated(mine, RUN, INSTANCE) == [act]
    assert invalidated(mine, RUN, "pandas_1") == []
    assert (act.acted_by, act.reason) == ("ana", REASON)
    shown = json.loads(say(mine, capsys, "list", "answer", "--json").out)
    assert [(one["removed_by"], one["reason"]) for one in shown] == [
        ("ana", REASON)
    ]
    after = content(mine)
    rebuild(mine)
    assert content(mine) == after
    assert say(mine, capsys, "restore", "answer", act.name).code == 0
    assert counts(mine) == (2, 1)
    assert content(mine)["runs"] == before["runs"]
    assert inventory(mine).of_kind(Listed.ANSWER) == []


def test_all_answers_to_an_instance_are_meant_without_an_index(
    mine: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    said = say(
        mine,
        capsys,
        *("invalidate", "mine", "--instance", INSTANCE, "--reason", REASON),
    )
    assert "invalidated 3 answers" in said.out
    assert counts(mine) == (0, 0)
    # The same file, brought by another folder, does not bring them back.
    assert say(mine, capsys, "rebuild").code == 0
    assert counts(mine) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--instance", "pandas_1_reproduced"), "There is no such answer"),
        (("--instance", INSTANCE, "--index", "4"), "There is no such answer"),
        (
            ("--instance", INSTANCE, "--setting", "runtime"),
            "There is no such answer",
        ),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_noted(
    mine: DataFolder,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    said = say(
        mine, capsys, "invalidate", "mine", *arguments, "--reason", REASON
    )
    assert said.code == 1 and words in said.err
    assert inventory(mine).removed == {}


def test_a_word_for_several_detectors_is_refused(
    mine: DataFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"instance": INSTANCE, "detector": "n", "setting": "code"}
    row |= {"benchmark": "minibench", "experiment": "mine", "index": 1}
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(row | {"crashes": True}), "utf-8")
    import_paths([other], mine)
    said = say(
        mine,
        capsys,
        *("invalidate", "mine", "--instance", INSTANCE, "--reason", REASON),
    )
    assert said.code == 1
    assert "detector m, n" in said.err and "--detector" in said.err


@pytest.mark.slow
def test_an_answer_of_a_local_run_is_left_out_and_its_reply_stays(
    small_folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("detect", "--detector", "fake", "--setting", "code")
    about = ("--benchmark", "minibench", "--runs", "2")
    assert say(small_folder, capsys, *asked, *about).code == 0
    before = content(small_folder)
    [job] = {str(row[0]) for row in before["jobs"]}
    instance = next(str(row[1]) for row in before["runs"] if row[4] == job)
    said = say(
        small_folder,
        capsys,
        *("invalidate", job, "--instance", instance, "--index", "1"),
        *("--reason", REASON),
    )
    assert said.code == 0
    after = content(small_folder)
    assert len(after["runs"]) == len(before["runs"]) - 1
    assert after["replies"] == before["replies"]
    rebuild(small_folder)
    assert content(small_folder) == after
