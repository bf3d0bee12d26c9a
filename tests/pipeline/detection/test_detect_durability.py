"""Killed at any moment, a job has lost no answer that it told as saved, and goes on without asking twice.

Its own process asks the fake model over HTTP a thousand times and more, telling after every write how many answers
are on the disk. It is killed once in `make test`, ten times in `make test-all`, at moments that a seed chooses;
nobody cleans up in between. The server lives here and counts for itself what it answered.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crane_core import ledger
from crane_core.domain import Prompt, Reply
from crane_core.llm.fake_server import FakeModel, FakePlan, fake_server
from crane_core.pipeline.jobs.files import Standing, standing
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from tests.pipeline.conftest import answers_of_job

SEED = 20_261_121
N_INSTANCES = 80
CONCURRENCY = 16
ON_THE_WAY = 3 * CONCURRENCY
"""Most questions that are with the model, wait for the disk or are being written at one moment."""

# One process loads the program and forks a client for every line that it is told: eleven starts would take a minute.
NURSERY = """
import json, os, sys
from pathlib import Path
from crane_core.domain import Detector, DetectorKind, Setting
from crane_core.llm.endpoint import Endpoint
from crane_core.pipeline.jobs.ask_models import asking
from crane_core.pipeline.detection.detect import JobRequest, plan_detection
from crane_core.pipeline.detection.models import predicting
from crane_core.pipeline.jobs.work import carry_out
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.prompts.tokens import count_tokens

count_tokens("so that the table is read before the first fork")
data, base_url, n_runs, concurrency = sys.argv[1:]

def say(*words):
    os.write(1, json.dumps(words).encode() + b"\\n")

def work():
    folder = DataFolder(Path(data))
    store = prepare_or_read(folder)
    heron = Detector("heron", "Heron", DetectorKind.LLM)
    wanted = JobRequest(heron, Setting.CODE, "minibench", {"model": "heron"}, is_prompted=True, n_runs=int(n_runs))
    plan = plan_detection(store, folder, wanted)
    store.close()
    asked = asking(Endpoint("heron", base_url), concurrency=int(concurrency))
    tell = lambda now: say("saved", now.n_done)
    outcome = carry_out(folder, plan.work, predicting(plan, asked), progress=tell, at_once=int(concurrency))
    say("done", plan.job.job, outcome.n_answered, outcome.n_open)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    say("begun", child)
    os.waitpid(child, 0)
    say("ended")
"""


class Client:
    """The nursery, what its clients say, and how to kill one."""

    def __init__(self, nursery: subprocess.Popen[str]) -> None:
        assert nursery.stdin and nursery.stdout
        self._ask, self._hear = nursery.stdin, nursery.stdout

    def begin(self) -> int:
        self._ask.write("go\n")
        self._ask.flush()
        word, child = self._next()
        assert word == "begun"
        return int(child)

    def told(self) -> Iterator[list[object]]:
        """What is said until the client has ended."""
        while (words := self._next()) != ["ended"]:
            yield words

    def _next(self) -> list[object]:
        line = self._hear.readline()
        assert line, "the nursery ended"
        words: list[object] = json.loads(line)
        return words


@pytest.fixture
def model() -> FakeModel:
    return FakeModel(FakePlan(seed=SEED, latency_s=0.01, latency_spread_s=0.02))


@pytest.fixture
def client(
    model: FakeModel, folder: DataFolder, root: Path, n_runs: int
) -> Iterator[Client]:
    with fake_server(model) as base_url:
        command = [
            sys.executable,
            "-c",
            NURSERY,
            str(folder.path),
            base_url,
            str(n_runs),
            str(CONCURRENCY),
        ]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=root,
            text=True,
            bufsize=1,
        ) as nursery:
            yield Client(nursery)
            assert nursery.stdin
            nursery.stdin.close()


def job_of(folder: DataFolder) -> str:
    [path] = (folder.ledger / "runs").glob("*.jsonl")
    return path.stem


def killed_at(client: Client, n_saved: int, rng: random.Random) -> int:
    """Let a client get to `n_saved` answers and a bit further, kill it; the last count that it told as saved."""
    child = client.begin()
    last, wait = 0, rng.randrange(5)
    for words in client.told():
        assert words[0] == "saved", "it was done before it was killed"
        last = int(str(words[1]))
        if last >= n_saved:
            wait -= 1
            if wait == 0 or last > n_saved + 60:
                os.kill(child, signal.SIGKILL)
    return last


def texts(found: Standing) -> dict[tuple[object, ...], str | None]:
    return {
        key: reply.text
        for key, reply in found.replies.items()
        if isinstance(reply, Reply)
    }


@pytest.mark.parametrize(
    ("n_kills", "n_runs"),
    [(1, 3), pytest.param(10, 13, marks=pytest.mark.slow)],
    ids=["once", "ten times"],
)
def test_a_killed_job_loses_nothing_that_was_told_and_asks_nothing_twice(
    client: Client,
    model: FakeModel,
    folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
    n_kills: int,
    n_runs: int,
) -> None:
    rng, n_questions = random.Random(SEED), N_INSTANCES * n_runs
    before: dict[tuple[object, ...], str | None] = {}
    n_lost = []
    for n_saved in sorted(rng.sample(range(1, n_questions - 150), n_kills)):
        told = killed_at(client, max(n_saved, len(before) + 1), rng)
        kept = texts(standing(folder, job_of(folder)))
        assert len(kept) >= told
        assert kept.items() >= before.items()
        before = kept
        n_lost.append(model.requests["answered"] - sum(n_lost) - len(kept))
        assert n_lost[-1] <= ON_THE_WAY
    record_property("tried", len(n_lost))
    client.begin()
    *_, done = client.told()
    assert done == ["done", job_of(folder), n_questions, 0]
    with capsys.disabled():
        n_sent = model.requests["answered"]
        sys.stdout.write(
            f"\n{n_questions} questions, {n_kills} kills: {n_sent} requests, {n_sent - n_questions} of them repeated, "
            f"at most {max(n_lost)} at one kill; concurrency {CONCURRENCY}\n"
        )
    assert texts(standing(folder, job_of(folder))).items() >= before.items()
    check_tables(folder, n_questions)


def check_tables(folder: DataFolder, n_questions: int) -> None:
    """Every instance and index is there once, with the reply of the ledger's one line about it and a prompt."""
    lines = ledger.tail(folder.ledger / "runs" / f"{job_of(folder)}.jsonl")
    replies = Counter(
        (record.instance_id, record.run_index)
        for record in lines.records
        if isinstance(record, Reply)
    )
    assert (len(replies), set(replies.values())) == (n_questions, {1})
    prompts = Counter(
        record.sha256 for record in lines.records if isinstance(record, Prompt)
    )
    assert set(prompts.values()) == {1}
    store = prepare(folder)
    answers = answers_of_job(store, job_of(folder))
    assert len(answers) == n_questions
    assert set(
        zip(answers["instance_id"], answers["run_index"], strict=True)
    ) == set(replies)
    assert answers["crashes"].notna().all()
    assert set(answers["prompt_sha256"]) == set(prompts)
    store.close()
