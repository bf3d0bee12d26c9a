"""LiteLLM's proxy itself, with mock answers: its words about cost, an unknown model and a wrong key are understood.

The proxy has a hundred requirements, so the development environment has none. CRANE_LITELLM names the command of one
that is installed elsewhere (`pip install 'litellm[proxy]'` in a separate environment).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest

from crane_core.errors import DetectorError
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.keys import Secret
from crane_core.llm.limiter import Limiter
from crane_core.llm.question import Answer, Question
from crane_core.llm.retrying import RetryPatience
from crane_core.prompts.reply import read_reply, reply_schema
from tests.patience import is_up, once

LITELLM = os.environ.get("CRANE_LITELLM") or shutil.which("litellm")
KEY, OTHER_KEY = "sk-of-the-proxy", "sk-of-nobody"
VERDICT = '{"reasoning": "x is not defined", "detection": true}'
MOCK = {"model": "openai/gpt-4o-mini"}
MODELS = {"heron": VERDICT, "thinker": f"<think>{VERDICT}. Or is it so"}
CONFIGURATION = {
    "model_list": [
        {"model_name": name, "litellm_params": MOCK | {"mock_response": text}}
        for name, text in MODELS.items()
    ],
    "general_settings": {"master_key": KEY},
}

pytestmark = pytest.mark.skipif(
    not LITELLM,
    reason="LiteLLM's proxy is not installed; CRANE_LITELLM names its command",
)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its base address; it answers from its configuration and reaches nobody."""
    place = tmp_path_factory.mktemp("proxy")
    (place / "proxy.yaml").write_text(json.dumps(CONFIGURATION), "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    command = [
        str(LITELLM),
        "--config",
        "proxy.yaml",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=place, env=environ, stdout=log, stderr=log
        )
        try:
            once(
                lambda: is_up(
                    f"http://127.0.0.1:{port}/health/liveliness",
                    process,
                    place / "log",
                )
            )
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(60)


def asked(proxy: str, model: str, key: str = KEY) -> list[Answer]:
    answers: list[Answer] = []
    ask_all(
        [
            Question(number, f"question {number}", reply_schema())
            for number in range(20)
        ],
        Endpoint(model, proxy, Secret(key)),
        on_answer=answers.append,
        patience=RetryPatience(max_attempts=2, first_s=0.01),
        limiter=Limiter(),
    )
    return answers


def test_answers_come_with_the_cost_that_the_proxy_reports(proxy: str) -> None:
    answers = asked(proxy, "heron")
    assert [
        read_reply(answer.text or "", answer.finish_reason).crashes
        for answer in answers
    ] == [True] * 20
    assert all(
        answer.usd and answer.input_tokens and answer.output_tokens
        for answer in answers
    )


def test_thought_without_an_end_is_no_verdict(proxy: str) -> None:
    readings = [
        read_reply(answer.text or "", answer.finish_reason)
        for answer in asked(proxy, "thinker")
    ]
    assert {reading.trouble for reading in readings} == {
        "the reply ends inside the model's thinking"
    }


def test_unknown_model_stops_the_job_at_once(proxy: str) -> None:
    with pytest.raises(
        DetectorError, match="The endpoint has no such model: status 400"
    ):
        asked(proxy, "nobody")


def test_wrong_key_stops_the_job_at_once(proxy: str) -> None:
    with pytest.raises(
        DetectorError, match="The endpoint refuses the key: status 4"
    ):
        asked(proxy, "heron", OTHER_KEY)
