"""Tokens counted in another process are those counted here, and a process that fails is told as an estimate."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from crane_core import helper_process
from crane_core.prompts import tokens_apart
from crane_core.prompts.tokens import (
    CACHE_VARIABLES,
    Tokens,
    count_tokens,
    estimate,
)
from crane_core.prompts.tokens_apart import count_apart

TEXTS = [
    "",
    "def f(x): return x + 1\n",
    "<|endoftext|>é😀",
    "a\udc80b",
    "x = [1, 2, 3]\n" * 500,
]
PRINT_MEMORY = """
import resource
from crane_core.prompts.tokens_apart import count_apart
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert count_apart(["x = 1\\n" * 1000])[0].n > 1000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was counted in an earlier test, and a table of this machine."""
    monkeypatch.setattr(tokens_apart, "_known", {})
    monkeypatch.setenv(CACHE_VARIABLES[0], str(tmp_path))


@pytest.fixture
def n_started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each process that was started was given."""
    found: list[int] = []
    counted = tokens_apart._counted

    def noted(texts: list[str], limit_s: float) -> list[Tokens]:
        found.append(len(texts))
        return counted(texts, limit_s)

    monkeypatch.setattr(tokens_apart, "_counted", noted)
    return found


@pytest.mark.slow
def test_another_process_counts_the_same(input_texts: dict[str, str]) -> None:
    texts = [*TEXTS, *list(input_texts.values())[::20]]
    assert count_apart(texts) == [count_tokens(text) for text in texts]


@pytest.mark.slow
def test_a_text_is_counted_once(n_started: list[int]) -> None:
    first = count_apart(["a b", "c", "a b"])
    assert [count.n for count in first] == [2, 1, 2]
    assert count_apart(["c", "d e f", "a b"]) == [
        first[1],
        count_tokens("d e f"),
        first[0],
    ]
    assert count_apart([]) == []
    assert n_started == [2, 1]


@pytest.mark.slow
def test_counts_that_are_remembered_are_bounded(
    n_started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_apart, "KEPT", 2)
    assert [count.n for count in count_apart(["a", "b b", "c c c"])] == [
        1,
        2,
        3,
    ]
    assert len(tokens_apart._known) == 2
    count_apart(["c c c"])
    count_apart(["a"])
    assert n_started == [3, 1]


@pytest.mark.slow
def test_a_process_that_is_too_slow_is_ended_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert count_apart(["x = 1"], limit_s=0.001) == [estimate("x = 1")]
    assert "no answer within 0.001 s" in caplog.text
    assert count_apart(["x = 1"])[0] == count_tokens("x = 1")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("exit(3)", "ended with 3"),
        ("print('[]')", "zip"),
        ("print('{')", "Expecting"),
    ],
)
def test_a_process_that_fails_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    program: str,
    why: str,
) -> None:
    package = tmp_path / "crane_core" / "prompts"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "tokens_apart.py").write_text(program)
    monkeypatch.setattr(helper_process, "HOME", str(tmp_path))
    with caplog.at_level(logging.WARNING):
        assert count_apart(["x = 1"]) == [estimate("x = 1")]
    assert why in caplog.text


def test_others_are_not_waited_for_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with tokens_apart._ONE_AT_A_TIME, caplog.at_level(logging.WARNING):
        assert count_apart(["x = 1"], limit_s=0.01) == [estimate("x = 1")]
    assert "others are being counted" in caplog.text


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="resource is not there")
def test_the_asking_process_loads_no_table() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_MEMORY],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 20_000, "kilobytes that it gained"
