"""The end of a job as people are notified of it: which events it is, what it says, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from threading import Event

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.pipeline.jobs.ask_models import over_budget
from crane_core.pipeline.jobs.end import end_announced, end_of
from crane_core.pipeline.jobs.files import Spent
from crane_core.pipeline.jobs.work import INTERRUPTED, JobOutcome
from crane_core.pipeline.notifications.announce import wait_for_messages
from crane_core.pipeline.notifications.channels import EventKind, add_channel
from crane_core.pipeline.places import DataFolder
from tests.patience import PATIENCE_S
from tests.spoken import Run
from tests.webhooks import needs_apprise, webhook

JOB, BUDGET = EventKind.JOB_ENDED, EventKind.BUDGET_REACHED


def outcome(
    n_answered: int, ended: str | None = None, n_requests: int = 10
) -> JobOutcome:
    return JobOutcome(
        job="m-code-b-1a2b3c4d",
        n_all=10,
        n_answered=n_answered,
        troubles=Counter(),
        unreadable=Counter({"no JSON": 1}),
        spent=Spent(n_requests=n_requests),
        elapsed_s=1.0,
        ended=ended,
    )


@pytest.mark.parametrize(
    ("n_answered", "ended", "kinds", "title", "body"),
    [
        (
            *(9, None, (JOB,), "job ended"),
            "Job m-code-b-1a2b3c4d ended: 10 of 10 questions have a reply.",
        ),
        (
            *(4, None, (JOB,), "job ended with open questions"),
            "Job m-code-b-1a2b3c4d ended: 5 of 10 questions have a reply; the same command resumes there.",
        ),
        (
            *(4, INTERRUPTED, (JOB,), "job stopped"),
            "Job m-code-b-1a2b3c4d was stopped: 5 of 10 questions have a reply; the same command resumes there.",
        ),
        (
            *(4, over_budget("0.1 USD"), (BUDGET, JOB), "budget reached"),
            "Job m-code-b-1a2b3c4d stopped at its budget: "
            "5 of 10 questions have a reply; the same command resumes there.",
        ),
    ],
)
def test_the_end_is_told_in_counts(
    n_answered: int,
    ended: str | None,
    kinds: tuple[EventKind, ...],
    title: str,
    body: str,
) -> None:
    event = end_of(outcome(n_answered, ended))
    assert event.kinds == kinds
    assert event.message == (f"Crane Workbench: {title}", body)
    assert event.person is None


def test_a_job_that_got_further_is_another_event_and_one_that_did_not_is_none() -> (
    None
):
    budget = over_budget("0.1 USD")
    first = end_of(outcome(4, budget)).key
    assert end_of(outcome(4, budget)).key == first
    assert end_of(outcome(5, budget)).key != first
    assert end_of(outcome(4, budget, n_requests=12)).key != first
    assert end_of(outcome(4, INTERRUPTED)).key != first


ON = "--setting code --benchmark minibench --instances numpy_1_* --runs 2"
PRICES = "--price-in 1000 --price-out 1000"


@needs_apprise
def test_a_run_tells_its_budget_and_its_end_once_each(
    folder: DataFolder, run: Run
) -> None:
    with webhook() as hook, fake_server(FakePlan()) as base_url:
        add_channel(folder, hook.channel("all", JOB, BUDGET, path="all"))
        add_channel(folder, hook.channel("money", BUDGET, path="money"))
        detect = f"detect --detector llm --model heron --base-url {base_url} {ON} {PRICES} --budget-usd"
        for usd in ("0.001", "0.001", "1000000"):
            run(f"{detect} {usd}")
    came = [(one.path, one.title.partition(": ")[2]) for one in hook.posted]
    assert sorted(came) == [
        ("/all", "budget reached"),
        ("/all", "job ended"),
        ("/money", "budget reached"),
    ]
    texts = " ".join(one.message for one in hook.posted)
    assert "0 of 4 questions" in texts and "4 of 4 questions" in texts


@needs_apprise
def test_a_run_that_an_error_ends_tells_it_without_its_words(
    folder: DataFolder, run: Run
) -> None:
    with webhook() as hook, fake_server(FakePlan(key="right")) as base_url:
        add_channel(folder, hook.channel())
        spoken = run(
            f"detect --detector llm --model heron --base-url {base_url} {ON}"
        )
    assert spoken.code == 1 and "error: " in spoken.err
    [posted] = hook.posted
    assert posted.title == "Crane Workbench: job failed"
    assert base_url not in posted.message and "key" not in posted.message


@needs_apprise
def test_a_job_that_another_process_runs_is_not_told_as_failed(
    folder: DataFolder,
) -> None:
    with webhook() as hook:
        add_channel(folder, hook.channel())
        with (
            pytest.raises(DetectorError),
            end_announced(folder, "job-1", lambda *_: None),
        ):
            raise DetectorError("Another process is running it.", remedy="No.")

        def fails(*_: object) -> str | None:
            raise DetectorError("The endpoint has gone.", remedy="No.")

        with (
            pytest.raises(DetectorError),
            end_announced(folder, "job-1", fails) as watched,
        ):
            watched([], lambda *_: None, Event())
        wait_for_messages(PATIENCE_S)
    assert hook.titles == ["Crane Workbench: job failed"]
