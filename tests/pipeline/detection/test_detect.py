"""A job: asked in rounds, saved before told, resumed without asking twice, one process at a time, read again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest

from crane_core import ledger
from crane_core.domain import (
    Detector,
    DetectorKind,
    Job,
    Prompt,
    Reply,
    Run,
    Setting,
)
from crane_core.errors import DetectorError
from crane_core.pipeline.detection.detect import (
    JobPlan,
    JobQuestion,
    JobRequest,
    in_rounds,
    known_detector,
    plan_detection,
)
from crane_core.pipeline.detection.score import scores
from crane_core.pipeline.jobs.files import (
    alone,
    job_file,
    job_name,
    now,
    standing,
)
from crane_core.pipeline.jobs.work import (
    INTERRUPTED,
    JobOutcome,
    JobProgress,
    Keep,
    Key,
    Worker,
    carry_out,
)
from crane_core.pipeline.loading.load import prepare, rebuild
from crane_core.pipeline.places import DataFolder
from crane_core.storage import cases, jobs, state
from crane_core.storage.store import Store
from tests.pipeline.conftest import answers_of_job

HERON = Detector("heron", "Heron 1", DetectorKind.LLM)
CRASH = '{"reasoning": "It fails.", "detection": true}'


def wanted(**more: object) -> JobRequest:
    usual = {
        "instances": "numpy_[12]_*",
        "n_runs": 2,
        "options": {"model": "heron", "temperature": 0.01},
    }
    return JobRequest(
        HERON, Setting.CODE, "minibench", is_prompted=True, **usual | more
    )  # type: ignore[arg-type]


def planned(folder: DataFolder, **more: object) -> JobPlan:
    store = prepare(folder)
    try:
        return plan_detection(store, folder, wanted(**more))
    finally:
        store.close()


def reply(
    plan: JobPlan,
    key: Key,
    text: str | None,
    trouble: str | None = None,
    **more: object,
) -> Reply:
    job, (instance_id, run_index) = plan.job, key
    prompt = plan.inputs[instance_id].prompt
    assert prompt
    where = (
        job.job,
        job.benchmark,
        instance_id,
        job.detector,
        job.setting,
        run_index,
        prompt.sha256,
    )
    return Reply(*where, now(), text, trouble, **more)  # type: ignore[arg-type]


def saying(
    plan: JobPlan,
    text_of: Callable[[Key], str | None],
    *,
    at_most: int | None = None,
) -> Worker:
    """A worker that knows every answer by itself, and stops after some."""

    def work(items: Sequence[Key], keep: Keep, stop: Event) -> str | None:
        for n, key in enumerate(items):
            if stop.is_set() or n == at_most:
                return INTERRUPTED
            text = text_of(key)
            trouble = (
                None if text is not None else "the endpoint did not answer"
            )
            told = reply(
                plan,
                key,
                text,
                trouble,
                seconds=0.5,
                input_tokens=100,
                output_tokens=10,
                usd=0.25,
            )
            keep(told, plan.inputs[key[0]].prompt)
        return None

    return work


def done(
    folder: DataFolder, plan: JobPlan, text: str | None = CRASH, **more: int
) -> JobOutcome:
    return carry_out(folder, plan.work, saying(plan, lambda _: text, **more))  # type: ignore[arg-type]


def records(folder: DataFolder, plan: JobPlan) -> list[object]:
    return list(ledger.tail(job_file(folder, plan.job.job)).records)


def loaded(folder: DataFolder) -> Store:
    return prepare(folder)


def test_every_instance_is_asked_once_before_any_is_asked_twice() -> None:
    assert in_rounds(["a", "b"], 2) == [
        JobQuestion("a", 1),
        JobQuestion("b", 1),
        JobQuestion("a", 2),
        JobQuestion("b", 2),
    ]


def test_a_job_is_answered_saved_loaded_and_scored(folder: DataFolder) -> None:
    plan = planned(folder)
    outcome = done(folder, plan)
    assert (
        outcome.n_all,
        outcome.n_answered,
        outcome.n_open,
        outcome.ended,
    ) == (
        8,
        8,
        0,
        None,
    )
    assert outcome.spent[:3] == (800, 80, 2.0)
    store = loaded(folder)
    [job] = jobs.job_list(store.cursor()).to_dict("records")
    assert (
        job["job"],
        job["detector_title"],
        job["n_instances"],
        job["n_answered"],
    ) == (
        plan.job.job,
        "Heron 1",
        4,
        8,
    )
    assert (
        job["n_unreadable"],
        job["n_troubles"],
        job["n_retried"],
        job["usd"],
    ) == (
        0,
        0,
        0,
        2.0,
    )
    answers = answers_of_job(store, plan.job.job)
    assert answers["crashes"].tolist() == [True] * 8
    assert answers["reasoning"].tolist() == ["It fails."] * 8
    [row] = scores(store, plan.job.job)
    assert (row.title, row.n, row.is_published) == ("Heron 1", 4, False)
    assert [
        row.rates[name].value for name in ("Precision", "Recall", "Accuracy")
    ] == [
        0.5,
        1.0,
        0.5,
    ]
    assert row.rates["Accuracy"].n == 4
    store.close()


def test_the_raw_prompt_and_reply_of_any_run_can_be_shown(
    folder: DataFolder,
) -> None:
    plan = planned(folder)
    done(folder, plan)
    store = loaded(folder)
    answers = answers_of_job(store, plan.job.job)
    for name, index, sha in answers[
        ["instance_id", "run_index", "prompt_sha256"]
    ].itertuples(index=False):
        prompt = plan.inputs[name].prompt
        assert prompt and cases.prompt_text(store.cursor(), sha) == prompt.text
        assert (
            jobs.reply_text(
                store.cursor(), plan.job.job, "minibench", name, index
            )
            == CRASH
        )
    store.close()


def test_detector_job_and_each_prompt_stand_in_the_file_once_before_their_answers(
    folder: DataFolder,
) -> None:
    plan = planned(folder)
    done(folder, plan, at_most=3)
    done(folder, planned(folder))
    kept = records(folder, plan)
    assert kept[:2] == [HERON, plan.job]
    assert sum(isinstance(record, (Detector, Job)) for record in kept) == 2
    prompts = [record.sha256 for record in kept if isinstance(record, Prompt)]
    assert len(prompts) == len(set(prompts)) == 4
    known: set[str] = set()
    for record in kept:
        if isinstance(record, Prompt):
            known.add(record.sha256)
        assert not isinstance(record, Reply) or record.prompt_sha256 in known


def test_what_was_answered_is_not_asked_again(folder: DataFolder) -> None:
    first = done(folder, planned(folder), at_most=3)
    assert (first.n_answered, first.n_open, first.ended) == (3, 5, INTERRUPTED)
    plan = planned(folder)
    assert plan.work.open == plan.work.items[3:]
    second = done(folder, plan)
    assert (second.n_answered, second.n_open) == (8, 0)
    assert planned(folder).work.open == []
    assert done(folder, planned(folder)).spent == second.spent


def test_what_brought_nothing_is_asked_again_and_the_answer_counts(
    folder: DataFolder,
) -> None:
    plan = planned(folder)
    outcome = done(folder, plan, None)
    assert outcome.troubles == {"the endpoint did not answer": 8}
    assert (outcome.n_answered, outcome.n_open) == (0, 8)
    again = done(folder, planned(folder))
    assert (again.n_answered, again.troubles, again.spent.n_requests) == (
        8,
        {},
        16,
    )
    store = loaded(folder)
    assert answers_of_job(store, plan.job.job)["crashes"].tolist() == [True] * 8
    store.close()


def test_an_unreadable_reply_is_counted_with_the_reason_and_not_asked_again(
    folder: DataFolder,
) -> None:
    plan = planned(folder)
    outcome = done(folder, plan, "I would rather not say.")
    assert (outcome.n_answered, outcome.unreadable.total(), outcome.n_open) == (
        0,
        8,
        0,
    )
    assert planned(folder).work.open == []
    store = loaded(folder)
    answers = answers_of_job(store, plan.job.job)
    assert answers["crashes"].isna().all()
    [(reason, n)] = answers["unanswered"].value_counts().items()
    assert ({reason: n}, n) == (outcome.unreadable, 8)
    [job] = jobs.job_list(store.cursor()).to_dict("records")
    assert (job["n_answered"], job["n_unreadable"], job["n_troubles"]) == (
        0,
        8,
        0,
    )
    store.close()


@pytest.mark.slow
def test_a_rebuild_reads_every_reply_again_to_identical_rows(
    folder: DataFolder,
) -> None:
    plan = planned(folder)
    texts = [CRASH, "no JSON at all", None]
    carry_out(
        folder,
        plan.work,
        saying(
            plan, lambda key: texts[key[1] % 3 if key[0] < "numpy_2" else 0]
        ),
    )
    store = loaded(folder)
    before = state.content(store.cursor())
    store.close()
    rebuild(folder)
    store = loaded(folder)
    assert state.content(store.cursor()) == before
    assert (
        len(before["replies"])
        == len([row for row in before["runs"] if plan.job.job in row])
        == 8
    )
    store.close()


def test_a_smaller_job_grows_to_more_instances_and_runs(
    folder: DataFolder,
) -> None:
    done(folder, planned(folder, instances="numpy_1_*", n_runs=1))
    plan = planned(folder, instances="numpy_*", n_runs=3)
    assert len(plan.work.items) - len(plan.work.open) == 2


def test_a_repeat_is_a_job_of_its_own_and_is_gone_on_with(
    folder: DataFolder,
) -> None:
    first = planned(folder)
    done(folder, first)
    second = planned(folder, again=True)
    assert second.job.job == f"{first.job.job}-2"
    assert len(second.work.open) == 8
    done(folder, second, at_most=3)
    resumed = planned(folder)
    assert (resumed.job.job, len(resumed.work.open)) == (second.job.job, 5)
    assert planned(folder, again=True).job.job == f"{first.job.job}-3"


def test_what_shapes_answers_names_the_job_and_prices_do_not() -> None:
    options = {"model": "heron", "prices": {"input": 1.0}}
    name = job_name("heron", "runtime+", "minibench", options=options)
    assert name.startswith("heron-runtime-plus-minibench-")
    assert name == job_name(
        "heron", "runtime+", "minibench", options={"model": "heron"}
    )
    assert name != job_name(
        "heron", "runtime+", "minibench", options={"model": "heron", "seed": 1}
    )
    assert (
        name[-8:]
        != job_name("heron", "runtime", "minibench", options=options)[-8:]
    )


def test_new_prices_are_kept_with_the_job_and_its_beginning_stays(
    folder: DataFolder,
) -> None:
    old = planned(folder)
    done(folder, old, at_most=1)
    new = planned(folder, options=wanted().options | {"prices": {"input": 2.0}})
    done(folder, new, at_most=1)
    kept = standing(folder, old.job.job).job
    assert kept is not None
    assert (kept.job, kept.started_at) == (old.job.job, old.job.started_at)
    assert json.loads(kept.options)["prices"] == {"input": 2.0}


def test_two_processes_do_not_work_on_one_job(folder: DataFolder) -> None:
    plan = planned(folder)
    with (
        alone(folder, plan.job.job),
        pytest.raises(
            DetectorError, match="Another process is running"
        ) as refused,
    ):
        done(folder, plan)
    assert "--again" in refused.value.remedy
    assert not job_file(folder, plan.job.job).exists()
    assert done(folder, plan).n_answered == 8


def test_progress_counts_what_is_on_the_disk(folder: DataFolder) -> None:
    done(folder, planned(folder), at_most=3)
    plan = planned(folder)
    told: list[JobProgress] = []

    def hear(progress: JobProgress) -> None:
        assert (
            len(standing(folder, plan.job.job).replies)
            == progress.n_done + progress.n_troubles
        )
        told.append(progress)

    carry_out(
        folder,
        plan.work,
        saying(plan, lambda key: CRASH if key[1] == 1 else None),
        progress=hear,
    )
    last = told[-1]
    assert (last.n_all, last.n_done, last.n_now, last.n_troubles) == (
        8,
        4,
        1,
        4,
    )
    assert last.spent.usd == 2.0
    assert last.left_s == 0
    assert [progress.n_done for progress in told] == sorted(
        progress.n_done for progress in told
    )


def test_instances_that_cannot_be_shown_are_skipped_and_counted(
    folder: DataFolder,
) -> None:
    asked = JobRequest(HERON, Setting.CODE, "junobench", {}, is_prompted=True)
    store = prepare(folder)
    with pytest.raises(
        DetectorError, match="None of the 222 instances can be shown"
    ) as refused:
        plan_detection(store, folder, asked)
    store.close()
    assert "are not loaded" in str(refused.value)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"instances": "polars_*"}, "No instance of minibench"),
        ({"instances": "NUMPY_*"}, "No instance of minibench"),
    ],
)
def test_a_pattern_that_fits_nothing_is_refused(
    folder: DataFolder, more: dict[str, object], told: str
) -> None:
    with pytest.raises(DetectorError, match=told):
        planned(folder, **more)


def test_a_model_whose_name_is_an_analyzers_is_refused_and_a_published_one_keeps_its_title(
    embedded_store: Store,
) -> None:
    assert (
        known_detector(
            embedded_store, Detector("gpt-5", "gpt-5", DetectorKind.LLM)
        ).title
        == "GPT-5"
    )
    with pytest.raises(DetectorError, match="detector of another kind"):
        known_detector(
            embedded_store, Detector("pylint", "pylint", DetectorKind.LLM)
        )


def test_a_torn_last_reply_is_asked_again(folder: DataFolder) -> None:
    plan = planned(folder)
    done(folder, plan, at_most=4)
    path = job_file(folder, plan.job.job)
    path.write_bytes(path.read_bytes()[:-20])
    assert len(planned(folder).work.open) == 5
    assert done(folder, planned(folder)).n_answered == 8
    store = loaded(folder)
    assert len(answers_of_job(store, plan.job.job)) == 8
    assert (
        len(
            [
                p
                for p in state.load_problems(store.cursor())["path"]
                if p == path.name
            ]
        )
        == 1
    )
    store.close()


def test_an_answer_of_a_detector_here_is_a_run_without_a_reply(
    folder: DataFolder, tmp_path: Path
) -> None:
    here = Detector("rule", "Rule", DetectorKind.RULES)
    store = prepare(folder)
    asked = JobRequest(
        here,
        Setting.RUNTIME,
        "minibench",
        {"version": 1},
        is_prompted=False,
        instances="numpy_1_*",
    )
    plan = plan_detection(store, folder, asked)
    store.close()
    assert all(
        given.input and given.input.state for given in plan.inputs.values()
    )

    def work(items: Sequence[Key], keep: Keep, _: Event) -> str | None:
        for instance_id, index in items:
            said = None if instance_id.endswith("fixed") else True
            where = (
                "minibench",
                instance_id,
                "rule",
                Setting.RUNTIME,
                plan.job.job,
                index,
            )
            keep(
                Run(
                    *where,
                    said,
                    unanswered="the tool broke" if said is None else None,
                ),
                None,
            )
        return None

    outcome = carry_out(folder, plan.work, work)
    assert (outcome.n_answered, outcome.troubles, outcome.n_open) == (
        1,
        {"the tool broke": 1},
        1,
    )
    store = loaded(folder)
    [job] = jobs.job_list(store.cursor()).to_dict("records")
    assert (
        job["n_runs"],
        job["n_answered"],
        job["n_troubles"],
        job["n_unreadable"],
    ) == (
        2,
        1,
        1,
        0,
    )
    store.close()
