"""Words that make docstrings of crane_core hard to read: their numbers in `word_counts.toml` only fall."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.test_architecture import checkout_files, name_of

TABLE = Path(__file__).with_name("word_counts.toml")
BETTER = {
    "asked": "say who does what; keep it where a request really is made",
    "everybody": "each annotator, all visitors",
    "gives": "returns, has, is the result of, assigns",
    "nobody": "no ..., unknown, without ...",
    "somebody": "a user, a person, another process",
    "stands": "is, is written, is in",
    "told": "stated, shown, listed",
}
WORD = re.compile("[a-z]+")
HOLDERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Every string that stands alone as a statement: docstrings, and those below a constant or a field."""
    for node in ast.walk(tree):
        if isinstance(node, HOLDERS):
            values = [
                statement.value
                for statement in node.body
                if isinstance(statement, ast.Expr)
            ]
            constants = [
                value.value
                for value in values
                if isinstance(value, ast.Constant)
            ]
            yield from (text for text in constants if isinstance(text, str))


def counted(texts: Iterator[str]) -> Counter[str]:
    n_of = Counter(
        word for text in texts for word in WORD.findall(text.lower())
    )
    return Counter({word: n_of[word] for word in BETTER})


@cache
def counts_today() -> Counter[str]:
    files = [
        path
        for path in checkout_files()
        if path.suffix == ".py" and name_of(path).startswith("crane_core/")
    ]
    return counted(
        text
        for path in files
        for text in docstrings(ast.parse(path.read_text("utf-8")))
    )


def table() -> dict[str, int]:
    allowed: dict[str, int] = tomllib.loads(TABLE.read_text("utf-8"))
    return allowed


@pytest.mark.parametrize("word", sorted(BETTER))
def test_a_word_is_as_frequent_as_the_table_says(word: str) -> None:
    n, allowed = counts_today()[word], table()[word]
    assert n <= allowed, (
        f"{word!r} stands {n} times in docstrings, {allowed} are allowed. Better: {BETTER[word]}."
    )
    assert n >= allowed, (
        f"{word!r} stands {n} times only: write `{word} = {n}` into {TABLE.name}, so that it stays so."
    )


def test_the_table_names_each_word_once() -> None:
    assert sorted(table()) == sorted(BETTER)


def test_words_are_counted_in_docstrings_alone() -> None:
    lines = [
        '"""Nobody asked."""',
        "X = 1",
        '"""What it gives, and gives again."""',
        'y = "asked"  # nobody',
        "def f():",
        '    """Told."""',
    ]
    code = "\n".join(lines)
    found = counted(docstrings(ast.parse(code)))
    assert {word: n for word, n in found.items() if n} == {
        "nobody": 1,
        "asked": 1,
        "gives": 2,
        "told": 1,
    }
