"""What a model is shown of a crash, and how strictly its reply is read."""

from __future__ import annotations

import pytest

from crane_core.prompts.repair_prompt import (
    MOST_REPLY,
    ReadFix,
    read_fix,
    repair_prompt,
)
from crane_core.prompts.template import template_for_repair

CELL = "n = ages['north']\nprint(n)"
REPLY = f"The key is lower case.\n\n```python\n{CELL}\n```\n"


def test_the_prompt_has_the_crash_without_secrets() -> None:
    key = "sk-" + "a" * 30
    text = repair_prompt("cells", "KeyError", key, 3, template_for_repair())
    assert "cells\n\n<<<crash\nexception: KeyError\n" in text
    assert key not in text and "line: 3\ncrash>>>" in text


@pytest.mark.parametrize(
    "text",
    [
        REPLY,
        REPLY.replace("python", ""),
        REPLY.replace("\n", "\r\n"),
        f"<think>or\n```\nn = 1\n```\n</think>\n{REPLY}",
    ],
    ids=["plain", "no language", "line ends", "thinking"],
)
def test_one_block_is_read(text: str) -> None:
    assert read_fix(text) == ReadFix(CELL, "The key is lower case.")


@pytest.mark.parametrize(
    ("text", "reason", "trouble"),
    [
        (CELL, "stop", "not exactly one code block"),
        (f"{REPLY}\n{REPLY}", "stop", "not exactly one code block"),
        (REPLY.replace("print(n)\n```", "print(n)"), "stop", "not exactly one"),
        (REPLY.replace("python", "diff"), "stop", "not Python"),
        (REPLY, "length", "cut off"),
        ("a" * (MOST_REPLY + 1), "stop", "too long"),
        ("", "stop", "not exactly one"),
    ],
)
def test_anything_else_is_refused(text: str, reason: str, trouble: str) -> None:
    read = read_fix(text, reason)
    assert read.source is None and trouble in read.trouble
