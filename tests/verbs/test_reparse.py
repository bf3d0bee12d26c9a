"""Replies that an older reader took for verdicts are read again: changes are listed, and the old verdicts are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Reply, Reread
from crane_core.llm.fake_server import FakePlan, ServerFault, fake_server
from crane_core.pipeline.jobs import reply_reading
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.reply import ReadReply
from crane_core.storage.jobs import verdicts_of_job
from tests.spoken import Run

ON = (
    "--setting",
    "code",
    "--benchmark",
    "minibench",
    "--instances",
    "numpy_1_*",
    "--runs",
    "2",
)
THINKING = "the reply ends inside the model's thinking"


def credulous(text: str, finish_reason: str | None = None) -> ReadReply:
    """A reader of before: a word anywhere in the reply is the verdict."""
    return ReadReply('"detection": true' in text, "as it was read before", None)


@pytest.fixture
def job(run: Run, folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of four replies, the second and the fourth of which are thoughts without an end, as read before."""
    with (
        monkeypatch.context() as older,
        fake_server(
            FakePlan(faults={ServerFault.ENDLESS_THINKING: 2})
        ) as base_url,
    ):
        older.setattr(reply_reading, "read_reply", credulous)
        asked = (
            "--model",
            "heron",
            "--base-url",
            base_url,
            "--concurrency",
            "1",
        )
        assert run("detect --detector llm", *ON, *asked).code == 0
    [path] = (folder.ledger / "runs").glob("*.jsonl")
    return path.stem


def loaded(
    folder: DataFolder, job: str
) -> dict[tuple[str, int], tuple[bool | None, str | None]]:
    store = prepare(folder)
    try:
        return verdicts_of_job(store.cursor(), job)
    finally:
        store.close()


def kept(path: Path, kind: type) -> list[object]:
    return [
        record
        for record in ledger.tail(path).records
        if isinstance(record, kind)
    ]


def test_changed_verdicts_are_listed_taken_and_kept(
    run: Run, folder: DataFolder, job: str
) -> None:
    path = folder.ledger / "runs" / f"{job}.jsonl"
    before, replies = loaded(folder, job), kept(path, Reply)
    planned = run(f"reparse {job} --dry-run")
    assert (planned.code, loaded(folder, job), kept(path, Reread)) == (
        0,
        before,
        [],
    )
    assert "2 of 4 verdicts would change" in planned.out
    told = run(f"reparse {job}")
    assert told.code == 0 and "2 of 4 verdicts changed" in told.out
    assert told.out.count(f"-> no answer ({THINKING})") == 2
    after = loaded(folder, job)
    changed = {key for key in before if before[key] != after[key]}
    assert {after[key] for key in changed} == {(None, THINKING)} and len(
        changed
    ) == 2
    assert kept(path, Reply) == replies
    rereads = kept(path, Reread)
    assert {
        (each.instance_id, each.run_index): each.crashes_before
        for each in rereads
    } == {  # type: ignore[attr-defined]
        key: before[key][0] for key in changed
    }
    again = run(f"reparse {job} --json")
    assert json.loads(again.out) == {"replies": 4, "changed": []}


@pytest.mark.slow
def test_a_rebuild_gives_the_same_and_the_run_is_not_asked_again(
    run: Run, folder: DataFolder, job: str
) -> None:
    run(f"reparse {job}")
    after = loaded(folder, job)
    assert run("rebuild").code == 0
    assert loaded(folder, job) == after
    assert run("doctor").code == 0


@pytest.mark.parametrize("name", ["nobody's", "../../etc/passwd"])
def test_run_that_is_not_there_is_one_error(
    run: Run, folder: DataFolder, name: str
) -> None:
    spoken = run("reparse", name)
    assert (spoken.code, spoken.out) == (1, "")
    assert "No run has the name" in spoken.err


def test_run_without_replies_has_nothing_to_read(
    run: Run, folder: DataFolder
) -> None:
    assert run("detect --detector rules --concurrency 1", *ON[:-2]).code == 0
    [path] = (folder.ledger / "runs").glob("rules-*.jsonl")
    spoken = run(f"reparse {path.stem}")
    assert spoken.code == 1 and "holds no reply of a model" in spoken.err
