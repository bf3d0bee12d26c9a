"""Prompts in the forms that other evaluation tools ask from, so that their results come back by `import` alone.

Each question carries its instance, setting and benchmark where the mapping of the tool's results looks for them
(`importers.answer_maps`, for Inspect AI `importers.inspect_logs`). Refuses to know models: their owner names one.
"""

import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from crane_core.domain import Setting
from crane_core.errors import PromptError
from crane_core.pipeline.detection.detect import matching_instances
from crane_core.pipeline.detection.prompt import prompt_of_instance
from crane_core.storage.store import Store

_PROTECTED = ("{% raw %}", "{% endraw %}")
"""promptfoo renders variables as templates; between these Nunjucks takes a text as it is."""
_QUESTIONS = "questions.jsonl"


class TaskQuestion(NamedTuple):
    """One prompt, and what it is about."""

    benchmark: str
    setting: str
    instance: str
    prompt: str

    @property
    def about(self) -> dict[str, str]:
        """What a result has to bring back."""
        return {
            "instance": self.instance,
            "setting": self.setting,
            "benchmark": self.benchmark,
        }


class TaskQuestions(NamedTuple):
    """Questions in order of settings and instances, and by "SETTING INSTANCE" why one has none."""

    questions: list[TaskQuestion]
    skipped: dict[str, str]


def questions(
    store: Store,
    benchmark: str,
    settings: Sequence[Setting],
    *,
    pattern: str = "*",
) -> TaskQuestions:
    """The prompts of a benchmark's instances, as `detect` asks them. Raises DetectorError, PromptError for none."""
    names = matching_instances(store, benchmark, pattern)
    found: list[TaskQuestion] = []
    skipped: dict[str, str] = {}
    for setting in settings:
        for name in names:
            try:
                written = prompt_of_instance(
                    store, name, setting, benchmark=benchmark
                )
            except PromptError as error:
                skipped[f"{setting} {name}"] = str(error.args[0])
                continue
            text = written.prompt.text
            found.append(TaskQuestion(benchmark, str(setting), name, text))
    if not found:
        first = next(iter(skipped.values()))
        raise PromptError(
            f"There is no prompt of {benchmark} to export: {first}",
            remedy="Name another --setting or --benchmark, or `fetch` its texts.",
        )
    return TaskQuestions(found, skipped)


class TaskTool(StrEnum):
    """Tools that can ask."""

    INSPECT = "inspect"
    PROMPTFOO = "promptfoo"
    LM_EVAL = "lm-eval"


def task_files(
    tool: TaskTool, questions: Sequence[TaskQuestion]
) -> dict[str, str]:
    """The text of each file by its name, a README with the commands among them. Raises PromptError."""
    files, commands = _FORMS[tool](questions)
    n = len(questions)
    readme = (
        f"{n:,} question{'s' if n > 1 else ''} for {tool}, exported by Crane Workbench.\n\n"
        f"{commands}\n\nThe prompts hold code of notebooks, which belongs to its authors.\n"
    )
    return files | {"README.txt": readme}


_Form = tuple[dict[str, str], str]


def _for_inspect(questions: Sequence[TaskQuestion]) -> _Form:
    samples = [
        {
            "id": f"{one.benchmark}/{one.setting}/{one.instance}",
            "input": one.prompt,
            "metadata": one.about,
        }
        for one in questions
    ]
    commands = (
        "In this folder, with inspect-ai installed; the model and the number of repeats are yours:\n\n"
        "  inspect eval crashes.py --model openai/gpt-5 --epochs 5\n"
        "  crane import logs/*.eval"
    )
    return {
        _QUESTIONS: _lines(samples),
        "crashes.py": _INSPECT_TASK,
    }, commands


_INSPECT_TASK = f'''"""Asks every question once for each epoch; the reply is read when the log is imported."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.solver import generate


@task
def crashes():
    questions = Path(__file__).with_name("{_QUESTIONS}")
    return Task(dataset=json_dataset(str(questions)), solver=generate())
'''


def _for_promptfoo(questions: Sequence[TaskQuestion]) -> _Form:
    tests = [
        {"vars": one.about | {"prompt": _protected(one)}} for one in questions
    ]
    config = {
        "description": "Will the next notebook cell crash?",
        "prompts": ["{{prompt}}"],
        "providers": ["openai:gpt-5"],
        "tests": tests,
    }
    commands = (
        "In this folder, with Node.js 22.22 or newer; name your model under providers in promptfooconfig.json:\n\n"
        "  npx promptfoo eval --repeat 5 --no-cache --output results.json\n"
        "  crane import results.json"
    )
    text = json.dumps(config, ensure_ascii=False, indent=1)
    return {"promptfooconfig.json": f"{text}\n"}, commands


def _protected(one: TaskQuestion) -> str:
    begin, end = _PROTECTED
    if end in one.prompt:
        raise PromptError(
            f"The prompt of {one.instance} contains {end!r}, which promptfoo would take for its own.",
            remedy="Leave that instance out by --instances, or use another tool.",
        )
    return f"{begin}{one.prompt}{end}"


def _for_lm_eval(questions: Sequence[TaskQuestion]) -> _Form:
    documents = [one.about | {"prompt": one.prompt} for one in questions]
    commands = (
        "In this folder, with lm-eval installed; the model is yours. Its samples do not name it, so import does:\n\n"
        "  lm_eval --model hf --model_args pretrained=MODEL --tasks crane_crashes --include_path . --log_samples"
        " --output_path out\n"
        "  crane import out/*/samples_crane_crashes_*.jsonl --detector MODEL"
    )
    return {
        _QUESTIONS: _lines(documents),
        "crane_crashes.yaml": _LM_EVAL_TASK,
    }, commands


_LM_EVAL_TASK = f"""task: crane_crashes
dataset_path: json
dataset_kwargs:
  data_files:
    test: {_QUESTIONS}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{instance}}}}"
generation_kwargs:
  until: []
  max_gen_toks: 4096
  do_sample: true
  temperature: 0.01
repeats: 1
# Crane reads the replies; the harness needs some metric.
metric_list:
  - metric: bypass
"""


def _lines(rows: Sequence[object]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


_FORMS: dict[TaskTool, Callable[[Sequence[TaskQuestion]], _Form]] = {
    TaskTool.INSPECT: _for_inspect,
    TaskTool.PROMPTFOO: _for_promptfoo,
    TaskTool.LM_EVAL: _for_lm_eval,
}
