"""How many tokens a text has for the models of the study: encoding o200k_base, as the paper counts (section 4.5).

Knows where the encoding's table may lie on this machine. Refuses to ask the network for it, and to pass an estimate off
as a count.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
TABLE_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""What tiktoken calls the table of o200k_base in its cache: the sha1 of the table's address."""

TABLE_SHA256 = (
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)
CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
"""Environment variables that set tiktoken's cache, the first that is set."""

FALLBACK = "bpe_openai"
"""A package that brings the table with it and counts the same (optional; not built for every platform)."""

_LOWER = r"[^\W\d_A-Z]"
_PIECE = re.compile(
    rf"(?P<word>(?P<before>[^\S\r\n]|[^\w\s]|_)?(?P<letters>[A-Z]*{_LOWER}+(?:'(?:s|t|re|ve|m|ll|d))?|[A-Z]+))"
    r"|\d{1,3}"
    r"|(?P<mark> ?(?:[^\w\s]|_)+[\r\n/]*)"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Approximately the pieces into which the encoding splits a text before the look-up: most are one token."""

_MERGES_WITH_WORD = frozenset(" .([_")
_PER_PIECE = 1.036


class Tokens(NamedTuple):
    """`how` names the counting method.

    An estimate of a prompt is off by 1.5% (median), and in nine of ten by less than 4.5%.
    """

    n: int
    is_exact: bool
    how: str

    @property
    def kind(self) -> str:
        """The word that pages and commands show: exact, or estimate."""
        return "exact" if self.is_exact else "estimate"


def count_tokens(text: str) -> Tokens:
    """By tiktoken where its table is available, else by bpe_openai where that is installed, else an estimate."""
    folder = _cache_folder()
    encoding = (
        _tiktoken()
        if folder is not None and _table_is_at_hand(folder / TABLE_FILE)
        else None
    )
    if encoding is not None:
        return Tokens(
            len(encoding.encode_ordinary(text)),
            is_exact=True,
            how=f"tiktoken {ENCODING}",
        )
    counter = _fallback()
    n = counter(text) if counter is not None else None
    if n is None:
        return estimate(text)
    return Tokens(n, is_exact=True, how=f"bpe_openai {ENCODING}")


def estimate(text: str) -> Tokens:
    """What a text has about, without a table; see `estimated`."""
    return Tokens(estimated(text), is_exact=False, how="the pieces of the text")


def _cache_folder() -> Path | None:
    """Where tiktoken keeps what it downloaded, by its own rule; None if it must keep nothing."""
    named = next(
        (os.environ[name] for name in CACHE_VARIABLES if name in os.environ),
        None,
    )
    if named is None:
        return Path(tempfile.gettempdir(), "data-gym-cache")
    return Path(named) if named else None


@cache
def _table_is_at_hand(path: Path) -> bool:
    """tiktoken would download a table that is missing or damaged, without a time limit: it is checked beforehand."""
    return (
        path.is_file()
        and hashlib.sha256(path.read_bytes()).hexdigest() == TABLE_SHA256
    )


@cache
def _tiktoken() -> tiktoken.Encoding | None:
    """None without the extra `models`."""
    try:
        encoding: tiktoken.Encoding = importlib.import_module(
            "tiktoken"
        ).get_encoding(ENCODING)
    except ImportError:
        return None
    return encoding


@cache
def _fallback() -> Callable[[str], int | None] | None:
    """A counter, which returns None for a text that the package refuses to count."""
    try:
        encoding = importlib.import_module(FALLBACK).get_encoding(ENCODING)
    except (ImportError, AttributeError):
        return None

    def counted(text: str) -> int | None:
        # bpe_openai 0.1.4 refuses texts of a million characters, and of more than 200,000 tokens: both are ValueErrors.
        try:
            return len(encoding.encode_ordinary(text))
        except ValueError:
            return None

    return counted


def estimated(text: str) -> int:
    """Pieces, and what their length adds; fitted to half of the published inputs and of minibench, held to the rest."""
    tokens = 0.0
    for piece in _PIECE.finditer(text):
        tokens += _PER_PIECE
        if piece["word"]:
            tokens += _beyond_one(piece["letters"])
            tokens += (
                0.554
                if piece["before"] and piece["before"] not in _MERGES_WITH_WORD
                else 0
            )
        elif piece["mark"]:
            tokens += 0.147 * max(0, len(piece[0]) - 3)
    return max(1, round(tokens)) if text else 0


def _beyond_one(letters: str) -> float:
    """Tokens that a word takes beyond its first."""
    if not letters.isascii():
        return 0.521 * len(letters)
    return (
        0.284 * max(0, len(letters) - 3)
        if letters.isupper()
        else 0.141 * max(0, len(letters) - 7)
    )
