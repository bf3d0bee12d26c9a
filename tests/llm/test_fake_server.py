"""The fake endpoint answers as an endpoint does, from its own process too."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from typing import Any

from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.fake_server import FakePlan, fake_server
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question
from crane_core.prompts.reply import read_reply
from tests.patience import PATIENCE_S


def fetched(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
        return json.load(response)


def test_models_are_listed() -> None:
    with fake_server(FakePlan(models=("a", "b"))) as url:
        assert [model["id"] for model in fetched(f"{url}/models")["data"]] == [
            "a",
            "b",
        ]


def test_repetitions_of_a_question_differ_and_come_again_with_the_seed() -> (
    None
):
    def texts() -> list[str | None]:
        answers: list[Answer] = []
        with fake_server(FakePlan(seed=3)) as url:
            repeated = (Question(i, "the same") for i in range(40))
            ask_all(
                repeated,
                Endpoint("m", url),
                on_answer=answers.append,
                concurrency=1,
                limiter=Limiter(),
            )
        return [answer.text for answer in answers]

    first = texts()
    assert texts() == first
    assert {read_reply(text or "").crashes for text in first} == {True, False}


def test_crash_probability_is_a_share() -> None:
    for probability in (0.0, 1.0):
        answers: list[Answer] = []
        with fake_server(FakePlan(crash_probability=probability)) as url:
            ask_all(
                [Question(i, f"{i}") for i in range(20)],
                Endpoint("m", url),
                on_answer=answers.append,
            )
        assert {
            read_reply(answer.text or "").crashes for answer in answers
        } == {bool(probability)}


def test_process_prints_its_address_answers_and_ends() -> None:
    command = [
        sys.executable,
        "-m",
        "crane_core.llm.fake_server",
        "--latency-ms",
        "1",
        "--every",
        "prose=2",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:")
            assert [
                model["id"] for model in fetched(f"{url}/models")["data"]
            ] == ["fake"]
            answers: list[Answer] = []
            ask_all(
                [Question(i, "q") for i in range(2)],
                Endpoint("m", url),
                on_answer=answers.append,
                concurrency=1,
            )
            assert [str(answer.text)[0] for answer in answers] == ["{", "L"]
        finally:
            process.terminate()
    assert process.returncode is not None
