"""Runs: words of the list, cards of answers, the command that the form makes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crane_core.errors import DetectorError
from crane_core.pipeline.detection.score import Rate, ScoreRow
from crane_core.pipeline.jobs.files import Spent
from crane_core.pipeline.jobs.words import progress_words
from crane_core.pipeline.jobs.work import JobProgress
from crane_core.stats.rates import RATES
from crane_core.storage.answers import RunKey
from crane_core.ui.code_html import prompt_html
from crane_core.ui.runs.address import address_of, key_of, run_id
from crane_core.ui.runs.listed import (
    judge_rows,
    row_cells,
    tokens_words,
)
from crane_core.ui.runs.names import run_called, run_words
from crane_core.ui.runs.one_instance import answer_html
from crane_core.ui.runs.one_run import facts_html, scores_html
from crane_core.ui.runs.started import KEPT_LOGS, far_in, forget_logs, job_in
from crane_core.ui.runs.starting import CASCADE, FAKE, LLM, JobForm
from crane_core.ui.runs.votes import runs_sentence, vote_words

TextOf = Callable[[str], str]
LISTS = (
    "<dl>",
    "</dl>",
    "<dt>",
    "</dt>",
    "<dd>",
    "</dd>",
    '<dl class="cw-facts">',
)
ROW: dict[str, Any] = {
    "benchmark": "minibench", "experiment": "fake-code-minibench-1", "detector": "fake", "setting": "code",
    "detector_title": "fake", "is_job": True, "started_at": "2026-11-21T13:38:33.710+00:00", "n_instances": 1_200,
    "n_answers": 6_000, "n_unanswered": 3, "agreement": None, "low": None, "high": None, "n_flips": 0,
    "accuracy": None, "accuracy_low": None, "accuracy_high": None,
    "options": '{"model": "m", "libraries": {"numpy": "2.4.6", "pandas": "3.1.1", "scikit-learn": "1.9.1", "a": "b"}}',
    "n_uncounted": 2, "input_tokens": 1_000_000, "output_tokens": None, "usd": 0.00002, "usd_reported": None,
    "seconds_median": 0.5, "seconds_p95": 2.0, "n_retried": 4,
}  # fmt: skip


def answer(**said: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(
        (
            "reasoning",
            "unanswered",
            "diagnostics",
            "seconds",
            "input_tokens",
            "output_tokens",
        )
    )
    others = dict.fromkeys(
        (
            "usd",
            "is_usd_reported",
            "attempts",
            "finish_reason",
            "truth",
            "crashes",
            "has_reply",
        )
    )
    return {"run_index": 1, **nothing, **others, **said}


def without_lists(html: str) -> str:
    for tag in LISTS:
        html = html.replace(tag, "")
    return html


def test_cost_that_a_gateway_reported_says_so_on_the_page() -> None:
    assert "as the gateway reports" not in facts_html(ROW)
    whole = ROW | {"usd": 0.5, "usd_reported": 0.5}
    assert "<dd>0.5000 USD, as the gateway reports</dd>" in facts_html(whole)
    assert (
        "<dd>0.7500 USD, 0.5000 USD of it as the gateway reports</dd>"
        in facts_html(whole | {"usd": 0.75})
    )
    told = answer(has_reply=True, usd=0.25, is_usd_reported=True)
    assert "0.2500 USD, as the gateway reports" in answer_html(told)
    assert "gateway" not in answer_html(told | {"is_usd_reported": None})


def cells_of(**row: Any) -> dict[str, str]:
    """The cells of a run that is over, on a benchmark of 1,200 notebooks."""
    return row_cells(ROW | row, state="ended", n_of=1_200)


def test_a_row_names_its_start_and_what_it_took() -> None:
    cells = cells_of(experiment="fake-code-minibench-5c7a5fa9-2")
    assert cells["Run"] == "2026-11-21 13:38 UTC, 5c7a5fa9-2, ended, 3 missing"
    assert cells["Detection accuracy"] == "–"
    assert cells["Cost"] == "less than 0.0001 USD"
    assert cells_of(usd=None)["Cost"] == "unknown"
    assert cells_of(usd=None, seconds_median=None)["Cost"] == "–"
    rated = cells_of(accuracy=0.775, accuracy_low=0.669, accuracy_high=0.855)
    assert rated["Detection accuracy"] == "77.5% (66.9 to 85.5%)"
    assert len(cells) <= 8


@pytest.mark.parametrize(
    ("row", "state", "words"),
    [
        ({}, "ended", "ended, 3 missing"),
        ({"is_job": False, "experiment": "mine"}, "imported", "3 missing"),
        ({"n_instances": 7, "n_answers": 1, "n_unanswered": 0}, "cancelled", "cancelled, on 7 of 1,200 notebooks"),
        ({"n_instances": 0, "n_answers": 0, "n_unanswered": 0}, "running", "running"),
        ({"n_answers": 0}, "ended", "failed, 3 missing"),
    ],
)  # fmt: skip
def test_a_row_says_how_the_run_ended(
    row: dict[str, Any], state: str, words: str
) -> None:
    shown = ROW | row
    cells = row_cells(shown, state=state, n_of=1_200)
    began = "2026-11-21 13:38 UTC" if shown["is_job"] else "mine"
    assert cells["Run"] == f"{began}, {words}"
    assert cells["Answers"] == f"{shown['n_answers']:,}"


def test_a_row_says_on_how_many_notebooks_its_answers_differ() -> None:
    assert cells_of()["Unstable"] == "–"
    assert cells_of(n_answers=0)["Unstable"] == "–"
    repeated = cells_of(agreement=0.9, n_instances=10, n_flips=4)
    assert repeated["Unstable"] == "4 of 10"


def test_tokens_that_no_endpoint_counted_are_unknown() -> None:
    assert tokens_words(ROW) == "1,000,000 / unknown, 2 not counted"
    assert tokens_words(ROW | {"input_tokens": None}) == "unknown"


def test_long_options_fold_away(text_of: TextOf) -> None:
    shown, folded = facts_html(ROW).split("<details")
    assert "model" in shown and "numpy" not in shown
    assert "libraries" in folded and "numpy 2.4.6, pandas 3.1.1" in folded
    assert "requests beyond the first" in shown and "answers agree" not in shown
    assert "1,200" in text_of(without_lists(facts_html(ROW)))


@pytest.mark.parametrize(
    ("crash", "safe", "truth", "words"),
    [(3, 2, True, "crash ✓"), (3, 2, False, "crash ✗"), (0, 1, True, "no crash ✗"), (0, 1, None, "no crash"),
     (2, 2, True, "tie, as no crash ✗"), (2, 2, False, "tie, as no crash ✓"), (0, 0, True, "no answer")],
)  # fmt: skip
def test_a_vote_in_words(
    crash: int,
    safe: int,
    truth: bool | None,  # noqa: FBT001
    words: str,
) -> None:
    assert (
        vote_words({"n_crash": crash, "n_safe": safe, "truth": truth}) == words
    )


def test_an_answer_tells_what_it_took_and_whether_it_is_right(
    text_of: TextOf,
) -> None:
    said = answer(
        crashes=True,
        truth=True,
        seconds=1.5,
        input_tokens=1_200,
        attempts=3,
        finish_reason="length",
    )
    words = text_of(without_lists(answer_html(said)))
    assert (
        "answer 1, 1.50 s, 1,200 tokens in, unknown out, 3 requests, ended with length"
        in words
    )
    assert "crash ✓" in words
    assert "no crash ✗" in answer_html(answer(crashes=False, truth=True))
    unread = answer_html(answer(unanswered="it is not JSON", truth=True))
    assert "no answer<" in unread and "it is not JSON" in unread


def test_replies_and_prompts_of_others_stay_text(
    hostile: str, text_of: TextOf
) -> None:
    said = answer(crashes=True, reasoning=hostile, finish_reason=hostile)
    assert "crash" in text_of(without_lists(answer_html(said)))
    assert text_of(prompt_html(hostile))
    assert len(answer_html(said)) < 100_000
    assert text_of(without_lists(facts_html(ROW | {"experiment": hostile})))


def test_published_rows_stand_beside_ours_in_bold(text_of: TextOf) -> None:
    rates = {name: Rate(0.5, 0.4, math.nan, 10, 5) for name in RATES}
    rows = [
        ScoreRow("<mine>", "code", "job", False, 10, 1, rates),
        ScoreRow("GPT", "code", "study", True, 10, 0, rates),
    ]
    html = scores_html(rows)
    assert html.count("<b>") == 1 and "<b>&lt;mine&gt;</b>" in html
    assert '<td data-head="n">9</td>' in html
    assert "50.0%" in text_of(html)


def test_the_form_makes_the_command_and_a_value_is_never_a_switch() -> None:
    fake = JobForm(FAKE, "minibench", ("code",), "--json", 2)
    assert fake.arguments == [
        "--detector=fake", "--setting=code", "--benchmark=minibench", "--instances=--json", "--runs=2",
    ]  # fmt: skip
    asked = JobForm(
        LLM,
        "minibench",
        ("code",),
        "*",
        5,
        ("--model x",),
        "--base-url=http://127.0.0.1:1",
        2.5,
    ).arguments
    assert asked[3:] == [
        "--runs=5", "--endpoint=--base-url=http://127.0.0.1:1", "--model=--model x", "--budget-usd=2.5",
    ]  # fmt: skip
    assert (
        JobForm("pylint", "minibench", ("code",)).arguments[-1]
        == "--benchmark=minibench"
    )
    assert (
        JobForm(LLM, "b", ("code",), models=("m",), budget_tokens=7).arguments[
            -1
        ]
        == "--budget-tokens=7"
    )
    assert not any(
        "budget" in part
        for part in JobForm(LLM, "b", ("code",), models=("m",)).arguments
    )


def test_several_models_and_inputs_are_a_run_each_and_may_have_a_name() -> None:
    several = JobForm(
        LLM,
        "b",
        ("code", "runtime"),
        models=("m", "n"),
        endpoint="ours",
        name=" pilot ",
        note="--json",
    )
    assert several.n_started == 4
    assert several.arguments[1] == "--setting=code,runtime"
    assert several.arguments[-4:] == [
        "--model=m",
        "--model=n",
        "--name=pilot",
        "--note=--json",
    ]
    assert (
        JobForm(FAKE, "b", ("code", "runtime"), models=("m", "n")).n_started
        == 2
    )
    assert (
        job_in(
            "run 1 of 2: m, code\njob m-code-1: 0 of 4\nrun 2 of 2: n, code\njob n-code-2: 0 of 4"
        )
        == "n-code-2"
    )


def test_a_cascade_is_asked_for_as_a_model_is() -> None:
    cascade = JobForm(
        CASCADE,
        "b",
        ("runtime",),
        models=("m",),
        endpoint="ours",
        budget_usd=3.0,
    ).arguments
    assert cascade[0] == "--detector=cascade"
    assert (
        cascade[3:]
        == JobForm(
            LLM,
            "b",
            ("runtime",),
            models=("m",),
            endpoint="ours",
            budget_usd=3.0,
        ).arguments[3:]
    )


@pytest.mark.parametrize("detector", [LLM, CASCADE])
def test_a_model_is_asked_only_where_the_server_is_configured_to_whatever_the_form_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detector: str
) -> None:
    (tmp_path / "endpoints.toml").write_text(
        '[ours]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = ["heron"]\n'
    )
    monkeypatch.setenv("CRANE_ENDPOINTS", str(tmp_path / "endpoints.toml"))
    usual = JobForm(
        detector, "minibench", ("code",), models=("heron",), endpoint="ours"
    )
    usual.check()
    for forged in ("http://192.0.2.1/v1", "", "api.openai.com/v1", "OURS"):
        with pytest.raises(
            DetectorError, match="No endpoint is configured with the name"
        ):
            usual._replace(endpoint=forged).check()
    with pytest.raises(
        DetectorError, match="not configured for the model 'gpt-5'"
    ):
        usual._replace(models=("heron", "gpt-5")).check()


def test_the_job_is_read_from_what_detect_says() -> None:
    assert job_in(
        "Loading\njob fake-code-mini-12ab-2: 0 of 4 questions answered so far\n1 of 4"
    ) == ("fake-code-mini-12ab-2")
    assert job_in("error: the job is unknown") is None


def test_only_the_newest_logs_stay_and_those_of_runs_at_work(
    tmp_path: Path,
) -> None:
    paths = [
        tmp_path / f"detect-20261121T0{n:02}.log" for n in range(KEPT_LOGS + 3)
    ]
    for path in [*paths, tmp_path / "other.log"]:
        path.touch()
    forget_logs(tmp_path, {paths[1]})
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name for path in [paths[1], *paths[3:]]
    } | {"other.log"}


def test_an_address_opens_what_it_was_made_of() -> None:
    run = key_of(ROW)
    assert run == RunKey("minibench", "fake-code-minibench-1", "fake", "code")
    assert address_of(run, "a_1_fixed") == address_of(run) | {
        "instance": "a_1_fixed"
    }


def test_what_a_judge_was_asked_is_told_in_words() -> None:
    row = {
        "job": "j",
        "benchmark": "junobench",
        "experiment": "crane-llm-2025-10",
        "annotator": "judge m",
    }
    row |= {
        "options": "{}",
        "started_at": "2026-11-20T10:30:00.000+00:00",
        "last_answer_at": None,
        "n_replies": 1200,
    }
    row |= {
        "n_labels": 1190,
        "n_troubles": 0,
        "n_uncounted": 0,
        "input_tokens": 5000,
        "output_tokens": 40,
        "usd": 0.0,
    }
    told = (
        judge_rows(pd.DataFrame([row | {"seconds_median": 1.234}]))
        .iloc[0]
        .to_dict()
    )
    assert told["Judged"] == "CRANE-LLM, release of October 2025"
    assert (
        told["Questions"],
        told["Labels"],
        told["No label"],
        told["No reply"],
    ) == (
        "1,200",
        "1,190",
        "10",
        "–",
    )
    assert (told["Tokens in / out"], told["Cost"], told["Median s"]) == (
        "5,000 / 40",
        "0.00 USD",
        "1.23",
    )
    assert told["Started"] == "2026-11-20 10:30 UTC"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("Loading", None),
        ("job a-1: 0 of 1,200 questions answered so far", "0 of 1,200 answers"),
        (
            "job a-1: 0 of 400 questions answered so far\n"
            "228 of 400 answered, 12.5 per s, 0.0200 USD so far, 14.0 s left",
            "228 of 400 answers, 12.5 per s, 0.0200 USD so far, 14.0 s left",
        ),
    ],
)
def test_the_bar_says_what_the_run_told_last(
    told: str, words: str | None
) -> None:
    far = far_in(told)
    assert (far and far.words) == words
    assert far is None or 0 <= far.share <= 1


def test_what_a_run_tells_of_its_progress_is_understood() -> None:
    spent = Spent(n_requests=3, input_tokens=10, output_tokens=2, usd=0.5)
    far = far_in(
        progress_words(
            JobProgress(
                n_all=2_000,
                n_done=1_500,
                n_now=9,
                n_troubles=1,
                spent=spent,
                elapsed_s=2.0,
            )
        )
    )
    assert far == (
        1_500,
        2_000,
        "1 without an answer, 5.0 per s, 0.5000 USD so far, 1 min 39 s left",
    )


def test_a_run_shows_what_its_user_calls_it() -> None:
    named = ROW | {
        "options": '{"name": "<b>pilot</b>", "note": "before the change"}'
    }
    assert cells_of(**named)["Run"].startswith(
        "<b>pilot</b>, 2026-11-21 13:38 UTC"
    )
    assert "<dt>note</dt><dd>before the change</dd>" in facts_html(named)
    assert "&lt;b&gt;pilot" in facts_html(named)


def test_the_title_counts_runs_and_names_the_one_that_changes_most() -> None:
    often = ROW | {"agreement": 0.9, "n_instances": 10, "n_flips": 4}
    seldom = often | {"setting": "runtime", "n_flips": 1}
    steady = often | {"n_flips": 0}
    for rows, said in (
        ([], "No runs yet"),
        ([ROW], "1 run"),
        ([steady], "1 run; none changes an answer when it is asked again"),
        (
            [ROW, often],
            "2 runs; the answers of fake −RT differ on 4 of 10 notebooks",
        ),
        (
            [ROW, seldom, often],
            "fake −RT is the least stable: its answers differ on 4 of 10 notebooks",
        ),
    ):
        assert runs_sentence(pd.DataFrame(rows, columns=list(ROW))) == said


def test_a_run_is_named_by_its_ids_and_an_old_address_by_its_words() -> None:
    name = run_id(key_of(ROW))
    assert name == "minibench~fake-code-minibench-1~fake~code"
    known = {name: run_words(ROW)}
    assert run_called(run_words(ROW), known) == name
    assert run_called("nobody's", known) == "nobody's"
