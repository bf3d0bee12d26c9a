"""Makes the log beside it in both formats, with Inspect's mock model: `python tests/importers/inspect_logs/make.py`.

Needs inspect-ai 0.3.285, which the tests do not. Four questions twice; the fourth is about no instance. An answer is
cut off, and the last two samples fail because the mock model has no more answers. The questions are those of `prompt`
for the minibench, cut short to keep the log small.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

HERE = Path(__file__).parent
PYTHON = HERE.parents[2] / ".venv" / "bin" / "python"
SETTING = "runtime"
CRASH = '{"reasoning": "the column is missing", "detection": true}'
SAFE = 'I looked twice.\n```json\n{"reasoning": "the column exists", "detection": false}\n```'
CUT = '{"reasoning": "the column'


def question(instance: str) -> str:
    command = [
        PYTHON,
        "-m",
        "crane_core",
        "prompt",
        instance,
        "--benchmark",
        "minibench",
        "--setting",
        SETTING,
    ]
    return subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout[:200]


def said(text: str, stop: Any = "stop") -> ModelOutput:
    """With counts of tokens, which the mock model would else need a table from the network for."""
    answer = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
    answer.usage = ModelUsage(
        input_tokens=50, output_tokens=20, total_tokens=70
    )
    return answer


def task() -> Task:
    plain = {"benchmark": "minibench", "setting": SETTING}
    samples = [
        Sample(
            id=1,
            input=question("pandas_1_reproduced"),
            metadata=plain | {"instance": "pandas_1_reproduced"},
        ),
        Sample(
            id="minibench/pandas_1_fixed/runtime",
            input=question("pandas_1_fixed"),
        ),
        Sample(
            id="numpy_1_fixed", input=question("numpy_1_fixed"), metadata=plain
        ),
        Sample(id="warm-up", input="Say hello.", metadata=plain),
    ]
    return Task(dataset=samples, solver=generate(), epochs=2, name="crashes")


def main() -> int:
    answers = [
        said(CRASH),
        said(SAFE),
        said(SAFE),
        said("Hello."),
        said(CRASH),
        said(CUT, "max_tokens"),
    ]
    with tempfile.TemporaryDirectory() as place:
        [made] = eval(
            task(),
            model=get_model("mockllm/model", custom_outputs=answers),
            log_dir=place,
            log_format="eval",
            display="none",
            log_level="error",
            max_samples=1,
            max_connections=1,
            fail_on_error=False,
        )
        log = without_places(read_eval_log(made.location))
    for suffix in ("eval", "json"):
        write_eval_log(log, HERE / f"crashes.{suffix}")
    return 0


def without_places(log: EvalLog) -> EvalLog:
    """Without the events, which are most of a log, and without the folders of the machine that made it."""
    log.eval.revision, log.eval.task_file, log.eval.model_args = None, None, {}
    for sample in log.samples or []:
        sample.events, sample.attachments = [], {}
        if sample.error is not None:
            sample.error.traceback = sample.error.traceback_ansi = ""
    return log


if __name__ == "__main__":
    sys.exit(main())
