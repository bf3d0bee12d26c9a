"""Further members of a request: sent, kept with the job, and refused where they cannot be."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from crane_core.arguments import MOST_EXTRA, extra_body
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.llm.question import Answer, Question
from tests.spoken import speaker


def test_they_are_sent_with_each_request() -> None:
    answers: list[Answer] = []
    with fake_server(FakePlan(rejects=frozenset({"top_k"}))) as url:
        for extra in ({}, {"top_k": 4}):
            ask_all(
                [Question(1, "q")],
                Endpoint("fake", url, extra=extra),
                on_answer=answers.append,
            )
    assert [answer.trouble is None for answer in answers] == [True, False]
    assert "top_k" in (answers[1].trouble or "")


def test_they_are_kept_with_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--reasoning-effort",
        "low",
        "--extra-body",
        '{"top_k": 4}',
        "--max-tokens",
        "900",
        "--retries",
        "0",
    ]
    asked = [
        "detect",
        "--detector",
        "fake",
        "--setting",
        "code",
        "--benchmark",
        "minibench",
        "--runs",
        "1",
    ]
    said = speaker(tmp_path, capsys)(
        *asked, "--instances", "pandas_1_*", *options
    )
    assert said.code == 0, said.err
    lines = [
        line
        for path in (tmp_path / "ledger").rglob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    [job] = [
        record
        for record in map(json.loads, lines)
        if record.get("record") == "job"
    ]
    shaped = json.loads(job["options"])
    assert (shaped["extra_body"], shaped["max_output_tokens"]) == (
        {"top_k": 4, "reasoning_effort": "low"},
        900,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "[]",
        "{",
        '{"model": "x"}',
        '{"max_tokens": 1}',
        "[" * 9_000,
        '"' + "x" * MOST_EXTRA + '"',
    ],
)
def test_what_is_no_object_or_is_set_otherwise_is_wrong_usage(
    text: str,
) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        extra_body(text)
