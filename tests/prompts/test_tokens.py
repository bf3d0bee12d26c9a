"""Tokens are counted where the table is available, by whichever library has it, and told apart from an estimate."""

from __future__ import annotations

import gzip
import importlib.util
import statistics
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from crane_core.prompts import tokens
from crane_core.prompts.tokens import (
    CACHE_VARIABLES,
    FALLBACK,
    TABLE_FILE,
    count_tokens,
    estimated,
)
from tests.examples import examples


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of tiktoken with the table of o200k_base that the fallback package brings."""
    found = importlib.util.find_spec(FALLBACK)
    if found is None or found.origin is None:
        pytest.skip(f"{FALLBACK} is not built for this platform")
    folder = tmp_path_factory.mktemp("tiktoken")
    packed = Path(found.origin).parent / "data" / "o200k_base.tiktoken.gz"
    (folder / TABLE_FILE).write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """What was found in an earlier test."""
    tokens._table_is_at_hand.cache_clear()
    tokens._fallback.cache_clear()


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLES[0], str(tmp_path))
    return tmp_path


@pytest.fixture(scope="session")
def oracle(table: Path) -> tiktoken.Encoding:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLES[0], str(table))
        return tiktoken.get_encoding("o200k_base")


def test_the_table_in_tiktokens_cache_gives_an_exact_count(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLES[0], str(table))
    assert count_tokens("def f(x): return x + 1\n") == (
        10,
        True,
        "tiktoken o200k_base",
    )
    assert count_tokens("").n == 0


def test_without_the_table_the_fallback_counts_the_same(
    oracle: tiktoken.Encoding, empty_cache: Path, input_texts: dict[str, str]
) -> None:
    for text in list(input_texts.values())[::6]:
        assert count_tokens(text) == (
            len(oracle.encode_ordinary(text)),
            True,
            "bpe_openai o200k_base",
        )


@examples(200)
@given(
    text=st.text(max_size=200)
    | st.text("aA1 \n\t<|endoftext|>é😀", max_size=200)
)
def test_both_count_the_same_for_any_text(
    oracle: tiktoken.Encoding, text: str
) -> None:
    counter = tokens._fallback()
    assert counter is not None
    assert counter(text) == len(oracle.encode_ordinary(text))


def test_a_marker_of_the_encoding_is_plain_text(
    oracle: tiktoken.Encoding, empty_cache: Path
) -> None:
    assert (
        count_tokens("<|endoftext|>").n
        == len(oracle.encode_ordinary("<|endoftext|>"))
        > 1
    )


def test_without_any_table_it_is_an_estimate_and_nobody_is_asked(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "FALLBACK", "a_package_that_is_not_there")
    monkeypatch.setattr(
        tokens, "_tiktoken", lambda: pytest.fail("the network would be asked")
    )
    counted = count_tokens("x = [1, 2, 3]\n" * 10)
    assert (counted.is_exact, counted.kind) == (False, "estimate")
    assert counted.n == estimated("x = [1, 2, 3]\n" * 10)


@pytest.mark.parametrize("content", [None, b"", b"not the table"])
def test_a_damaged_table_is_not_downloaded_anew(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    if content is not None:
        (empty_cache / TABLE_FILE).write_bytes(content)
    monkeypatch.setattr(tokens, "FALLBACK", "a_package_that_is_not_there")
    monkeypatch.setattr(
        tokens, "_tiktoken", lambda: pytest.fail("the network would be asked")
    )
    assert count_tokens("a").kind == "estimate"
    assert content is None or (empty_cache / TABLE_FILE).read_bytes() == content


def test_a_cache_that_is_switched_off_is_no_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CACHE_VARIABLES[0], "")
    monkeypatch.setattr(
        tokens, "_tiktoken", lambda: pytest.fail("the network would be asked")
    )
    assert count_tokens("a").how != "tiktoken o200k_base"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("word " * 200_000, id="a million characters"),
        pytest.param("a1" * 110_000, id="220,000 tokens"),
    ],
)
def test_a_text_too_long_for_the_fallback_is_estimated(
    empty_cache: Path, text: str
) -> None:
    assert count_tokens(text).kind == "estimate"


def test_the_estimate_is_as_good_as_it_says(
    oracle: tiktoken.Encoding, input_texts: dict[str, str]
) -> None:
    errors = []
    for text in list(input_texts.values())[1::2]:
        n = len(oracle.encode_ordinary(text))
        errors.append(abs(estimated(text) - n) / n)
    assert statistics.median(errors) < 0.015
    assert statistics.quantiles(errors, n=10)[-1] < 0.045


@given(st.text(max_size=300))
def test_an_estimate_is_positive_for_any_text(text: str) -> None:
    assert estimated(text) >= (1 if text else 0)
