"""One contender of llm_concurrency in its own process: asks so many questions and prints what that took.

    python -m benchmarks._asking_process '{"who": "ours", "url": ..., "n": 9, "concurrency": 8, "prompt_chars": 6000}'

Seconds and processor time from the first question to the last answer, imports left out; resident memory before the
first, at half the time and after the last, and the most of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from typing import IO, Any

from openai import AsyncOpenAI

from benchmarks._asking_work import measured, prompt
from crane_core.llm.asking import ask_all
from crane_core.llm.endpoint import Endpoint
from crane_core.llm.question import Question
from crane_core.prompts.reply import reply_schema


def ours(work: dict[str, Any], kept: IO[str]) -> int:
    """Everything that a real job has: JSON Schema, retries, limiter, the answer handed over and written."""
    schema = reply_schema()
    questions = (
        Question(i, prompt(i, work["prompt_chars"]), schema) for i in range(work["n"])
    )
    tally = ask_all(
        questions,
        Endpoint("fake", work["url"]),
        on_answer=lambda answer: print(
            json.dumps([answer.key, answer.text]), file=kept
        ),
        concurrency=work["concurrency"],
    )
    return tally.n_answered


def bare(work: dict[str, Any], kept: IO[str]) -> int:
    """The client of the openai package as its own documentation shows it, and a semaphore."""
    return asyncio.run(_bare(work, kept))


async def _bare(work: dict[str, Any], kept: IO[str]) -> int:
    semaphore = asyncio.Semaphore(work["concurrency"])
    form = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": reply_schema()},
    }

    async def one(client: AsyncOpenAI, i: int) -> bool:
        async with semaphore:
            reply: Any = await client.chat.completions.create(
                model="fake",
                messages=[{"role": "user", "content": prompt(i, work["prompt_chars"])}],
                temperature=0.01,
                max_tokens=1_000,
                response_format=form,  # type: ignore[arg-type]
            )
        print(json.dumps([i, reply.choices[0].message.content]), file=kept)
        return True

    async with AsyncOpenAI(
        base_url=work["url"], api_key="none", max_retries=2
    ) as client:
        return sum(await asyncio.gather(*(one(client, i) for i in range(work["n"]))))


CONTENDERS: dict[str, Callable[[dict[str, Any], IO[str]], int]] = {
    "ours": ours,
    "bare": bare,
}


def main() -> None:
    work = json.loads(sys.argv[1])
    with tempfile.TemporaryFile("w") as kept:
        print(json.dumps(measured(lambda: CONTENDERS[work["who"]](work, kept))))


if __name__ == "__main__":
    main()
