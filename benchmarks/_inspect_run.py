"""Inspect AI at the same work; run by the interpreter of its own environment, which has nothing of the checkout."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _asking_work import measured, prompt


def main() -> None:
    work: dict[str, Any] = json.loads(sys.argv[1])
    os.environ["INSPECT_NO_ANSI"] = "1"
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.solver import generate

    config = GenerateConfig(
        max_connections=work["concurrency"],
        temperature=0.01,
        max_tokens=1_000,
        max_retries=2,
    )
    model = get_model(
        "openai-api/fake/fake", base_url=work["url"], api_key="none", config=config
    )
    samples = [
        Sample(input=prompt(i, work["prompt_chars"]), id=i + 1)
        for i in range(work["n"])
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate())

    def run() -> int:
        [log] = eval(
            task,
            model=model,
            max_samples=work["concurrency"],
            display="none",
            log_dir="logs",
        )
        return sum(bool(sample.output.completion) for sample in log.samples or [])

    print(json.dumps(measured(run)))


if __name__ == "__main__":
    main()
