"""No quaint word: strings, docstrings, comments and documents are checked against `banned_words.toml`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.test_architecture import checkout_files, name_of

LIST = Path(__file__).with_name("banned_words.toml")
READ_WHOLE = {".md", ".html", ".js", ".css", ".toml"}
NO_PROSE = (
    "data/minibench/benchmark/",
    "data/minibench/sources/",
    "crane_core/prompts/templates/",
    "docs/vendor/",
)
"""Notebooks, prompts that are sent to models (their wording is versioned), and files of others with their licences."""


class Banned(NamedTuple):
    """An entry of the list, compiled; `allowed` is what may stay where the pattern matches."""

    pattern: re.Pattern[str]
    better: str
    allowed: re.Pattern[str] | None


@cache
def banned() -> tuple[Banned, ...]:
    entries = tomllib.loads(LIST.read_text("utf-8"))["banned"]
    return tuple(
        Banned(
            re.compile(rf"\b(?:{entry['pattern']})"),
            entry["better"],
            re.compile(entry["except"]) if "except" in entry else None,
        )
        for entry in entries
    )


@cache
def any_banned() -> re.Pattern[str]:
    """All patterns at once: most texts hold none."""
    return re.compile("|".join(entry.pattern.pattern for entry in banned()))


def faults(text: str) -> Iterator[str]:
    """Each banned phrase of a text, with the better one; line breaks count as blanks."""
    flat = " ".join(text.lower().split())
    if not any_banned().search(flat):
        return
    for entry in banned():
        kept = entry.allowed.sub("", flat) if entry.allowed else flat
        yield from (
            f"{found[0]!r}: {entry.better}"
            for found in entry.pattern.finditer(kept)
        )


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of everything in a file that people read."""
    source = path.read_text("utf-8")
    if path.suffix in READ_WHOLE:
        yield 1, source
    else:
        yield from _strings(ast.parse(source))
        yield from _comments(source)


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every string and docstring; the holes of an f-string are left open."""
    pieces = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces |= {id(part) for part in node.values}
            yield (
                node.lineno,
                "".join(
                    str(p.value) if isinstance(p, ast.Constant) else "{}"
                    for p in node.values
                ),
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in pieces
        ):
            yield node.lineno, node.value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments, those on neighbouring lines as one text."""
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != last + 1:
                yield first, " ".join(block)
                block = []
            first = token.start[0] if not block else first
            last = token.start[0]
            block.append(token.string.lstrip("# "))
    if block:
        yield first, " ".join(block)


def read_files() -> list[Path]:
    return [
        path
        for path in checkout_files()
        if path.suffix in READ_WHOLE | {".py"}
        and not name_of(path).startswith(NO_PROSE)
        and path not in (LIST, Path(__file__))
    ]


def test_no_file_holds_a_banned_word() -> None:
    found = [
        f"{name_of(path)}:{line}: {fault}"
        for path in read_files()
        for line, text in prose(path)
        for fault in faults(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "the crash was foretold",
        "is no notebook that can be read",
        "an array of truth values",
        "a whole\n    number is expected",
        "With the archive at hand",
        "Whoever leads makes one",
        "a process of its own.",
        "nothing of it was taken",
        "drawn anew",
        "In truth it does not crash",
        "Cells that are the same fold.",
        "the model GPT 5",
        "nobody who is let in",
        "What became of the import",
    ],
)
def test_quaint_words_are_found(text: str) -> None:
    assert list(faults(text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "a predicted crash",
        "there is no notebook",
        "it is no longer there",
        "The truth value of an array with more than one element is ambiguous",
        "run by the interpreter of its own environment",
        "your own notebooks",
        "neither the name nor the type",
    ],
)
def test_plain_words_pass(text: str) -> None:
    assert list(faults(text)) == []


def test_comments_of_several_lines_are_one_text() -> None:
    assert list(_comments("x = 1  # of its\n# own.\n\n# more\n")) == [
        (1, "of its own."),
        (4, "more"),
    ]


def test_every_entry_says_what_is_better() -> None:
    assert all(
        entry.better and not entry.pattern.search(entry.better.lower())
        for entry in banned()
    )
