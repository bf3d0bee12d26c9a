"""Prompts exported for another tool come back by import alone, as the tool's results name what they are about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crane_core.domain import Run, Setting
from crane_core.errors import PromptError
from crane_core.importers.filetree import open_tree
from crane_core.importers.registry import importer_for
from crane_core.pipeline.export.task_files import (
    TaskQuestion,
    TaskTool,
    questions,
    task_files,
)
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder

REPLY = '{"reasoning": "column b is missing", "detection": true}'
INSTANCE = "pandas_1_reproduced"


@pytest.fixture
def asked(small_folder: DataFolder) -> list[TaskQuestion]:
    store = prepare(small_folder)
    settings = [Setting.CODE, Setting.RUNTIME]
    found = questions(store, "minibench", settings, pattern="pandas_1_*")
    store.close()
    assert found.skipped == {}
    return found.questions


def read(file: Path) -> list[Run]:
    tree = open_tree(file)
    records = importer_for(tree).read(tree)
    return [record for record in records if isinstance(record, Run)]


def result_of_promptfoo(test: dict[str, Any]) -> dict[str, Any]:
    """As `promptfoo eval` writes it: variables rendered in the prompt, and stated as they were."""
    prompt = test["vars"]["prompt"]
    begin, end = "{% raw %}", "{% endraw %}"
    assert prompt.startswith(begin) and prompt.endswith(end)
    return {
        "vars": test["vars"],
        "provider": {"id": "openai:gpt-5"},
        "prompt": {"raw": prompt.removeprefix(begin).removesuffix(end)},
        "response": {"output": REPLY},
    }


def test_results_of_promptfoo_name_every_question(
    asked: list[TaskQuestion], tmp_path: Path
) -> None:
    files = task_files(TaskTool.PROMPTFOO, asked)
    config = json.loads(files["promptfooconfig.json"])
    results = [result_of_promptfoo(test) for test in config["tests"]]
    file = tmp_path / "results.json"
    file.write_text(
        json.dumps({"evalId": "e", "results": {"results": results}})
    )
    check(read(file), asked)


def test_samples_of_lm_eval_name_every_question(
    asked: list[TaskQuestion], tmp_path: Path
) -> None:
    files = task_files(TaskTool.LM_EVAL, asked)
    documents = map(json.loads, files["questions.jsonl"].splitlines())
    samples = [
        {
            "doc_id": number,
            "doc": document,
            "arguments": {"gen_args_0": {"arg_0": document["prompt"]}},
            "resps": [[REPLY]],
            "filtered_resps": [REPLY],
            "model": "m",
        }
        for number, document in enumerate(documents)
    ]
    file = tmp_path / "samples_crane_crashes.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in samples))
    check(read(file), asked)


def check(runs: list[Run], asked: list[TaskQuestion]) -> None:
    """Each question has its answer, under the digest of exactly its prompt."""
    assert [
        (run.benchmark, str(run.setting), run.instance_id, run.prompt_sha256)
        for run in runs
    ] == [
        (
            one.benchmark,
            one.setting,
            one.instance,
            sha256(one.prompt.encode()).hexdigest(),
        )
        for one in asked
    ]
    assert {run.crashes for run in runs} == {True}


def test_a_prompt_that_would_end_the_protection_is_refused() -> None:
    question = TaskQuestion("b", "code", "a_1_fixed", "x = '{% endraw %}'")
    with pytest.raises(PromptError, match="a_1_fixed contains"):
        task_files(TaskTool.PROMPTFOO, [question])


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="inspect-ai is not installed"
)
def test_inspect_itself_asks_the_questions_and_its_log_comes_back(
    asked: list[TaskQuestion], tmp_path: Path
) -> None:
    for name, text in task_files(TaskTool.INSPECT, asked).items():
        (tmp_path / name).write_text(text, "utf-8")
    # With counts of tokens, which the mock model would else need a table from the network for.
    script = (
        "from inspect_ai import eval\n"
        "from inspect_ai.model import ModelOutput, ModelUsage, get_model\n"
        "from crashes import crashes\n"
        f"said = ModelOutput.from_content('mockllm/model', {REPLY!r})\n"
        "said.usage = ModelUsage(input_tokens=9, output_tokens=3, total_tokens=12)\n"
        f"model = get_model('mockllm/model', custom_outputs=[said] * {len(asked)})\n"
        "eval(crashes(), model=model, log_dir='logs', display='none')\n"
    )
    (tmp_path / "ask.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, "ask.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    [log] = (tmp_path / "logs").glob("*.eval")
    runs = sorted(read(log), key=lambda run: (run.setting, run.instance_id))
    check(runs, sorted(asked, key=lambda one: (one.setting, one.instance)))
