"""The server of Transformers itself with a tiny model of random weights on the CPU: real tokens, nothing downloaded.

Its command comes with `transformers[serving]`; CRANE_TRANSFORMERS names one that is installed elsewhere.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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

BESIDE = shutil.which("transformers", path=str(Path(sys.executable).parent))
COMMAND = os.environ.get("CRANE_TRANSFORMERS") or BESIDE
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
SAVE = """
import sys, torch
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
torch.manual_seed(7)
letters = {text: n for n, text in enumerate(["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
bytes_only = Tokenizer(models.BPE(vocab=letters, merges=[]))
bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bytes_only.decoder = decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_only, bos_token="<s>", eos_token="</s>")
tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
shape = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
config = LlamaConfig(vocab_size=len(letters), max_position_embeddings=2048, bos_token_id=0, eos_token_id=1, **shape)
LlamaForCausalLM(config).save_pretrained(sys.argv[1])
tokenizer.save_pretrained(sys.argv[1])
"""
"""Run by the interpreter beside the command: a Llama of some ten thousand random weights that reads bytes."""

pytestmark = pytest.mark.skipif(
    not COMMAND,
    reason="transformers[serving] is not installed; CRANE_TRANSFORMERS names its command",
)


class ServedModel:
    """A running server: its address and the name of its model."""

    def __init__(self, base_url: str, model: str) -> None:
        self.base_url, self.model = base_url, model


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedModel]:
    place = tmp_path_factory.mktemp("transformers")
    model = place / "tiny"
    environ = OFFLINE | {"PATH": os.environ["PATH"], "HOME": str(place)}
    python = Path(str(COMMAND)).parent / "python"
    subprocess.run(
        [python, "-c", SAVE, str(model)],
        env=environ,
        cwd=place,
        check=True,
        timeout=300,
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        str(COMMAND),
        "serve",
        str(model),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--device",
        "cpu",
    ]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=place, env=environ, stdout=log, stderr=log
        )
        try:
            once(
                lambda: is_up(
                    f"http://127.0.0.1:{port}/health", process, place / "log"
                )
            )
            yield ServedModel(f"http://127.0.0.1:{port}/v1", str(model))
        finally:
            process.terminate()
            process.wait(60)


def asked(served: ServedModel, model: str) -> list[Answer]:
    answers: list[Answer] = []
    ask_all(
        [
            Question(number, f"question {number}", reply_schema())
            for number in range(4)
        ],
        Endpoint(model, served.base_url, Secret("none"), max_output_tokens=24),
        on_answer=answers.append,
        patience=RetryPatience(max_attempts=2, first_s=0.01),
        limiter=Limiter(),
    )
    return answers


def test_random_text_is_counted_and_is_no_verdict(served: ServedModel) -> None:
    answers = asked(served, served.model)
    assert len(answers) == 4
    for answer in answers:
        assert answer.trouble is None and answer.finish_reason == "length"
        assert answer.input_tokens and answer.output_tokens
        assert (
            read_reply(answer.text or "", answer.finish_reason).crashes is None
        )


def test_unknown_model_stops_the_job(served: ServedModel) -> None:
    with pytest.raises(DetectorError):
        asked(served, "nobody/nothing")
