"""Guessing who wrote a text: right where style tells, at chance where it does not, never by the words of a case."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from crane_core.stats import guessability as module
from crane_core.stats.guessability import guessability

CASES = [f"case {n}" for n in range(20)]


def texts_of(endings: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """A text of each writer about each case, with the case's own words and an ending."""
    rows = [
        (f"The index {case} is out of bounds{ending}", writer, case)
        for case in CASES
        for writer, ending in endings.items()
    ]
    texts, writers, cases = (list(column) for column in zip(*rows, strict=True))
    return texts, writers, cases


def test_a_style_of_ones_own_is_guessed() -> None:
    found = guessability(*texts_of({"one": ".", "other": " — indeed!"}))
    assert found is not None
    assert found.share.value == 1.0
    assert found.share.low < 1.0 and found.share.n_clusters == len(CASES)
    assert found.most_frequent == 0.5


def test_the_same_texts_are_guessed_by_chance() -> None:
    found = guessability(*texts_of({"one": ".", "other": "."}))
    assert found is not None
    assert found.share.low <= 0.5 <= found.share.high


def test_the_words_of_a_case_help_nobody() -> None:
    """A classifier that had seen a text of the case would know the writer by its word."""
    draw = np.random.default_rng(3)
    words = ["".join(draw.choice(list("abcdefgh"), 12)) for _ in range(40)]
    writers = [*(["one"] * 20), *(["other"] * 20)]
    found = guessability(words * 3, writers * 3, words * 3)
    assert found is not None
    assert found.share.value < 0.75


def test_the_share_is_what_scikit_learn_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[np.ndarray] = []
    guess = module._guessed

    def kept(*arguments: object) -> np.ndarray:
        told.append(guess(*arguments))  # type: ignore[arg-type]
        return told[-1]

    monkeypatch.setattr(module, "_guessed", kept)
    texts, writers, cases = texts_of({"one": ".", "other": ".", "third": "!"})
    found = guessability(texts, writers, cases)
    assert found is not None
    assert found.share.value == pytest.approx(accuracy_score(writers, told[0]))


@pytest.mark.parametrize(
    ("writers", "cases"),
    [([], []), (["one"] * 4, ["a", "b", "c", "d"]), (["one", "other"], "ab")],
)
def test_it_is_not_estimated_where_it_cannot_be(
    writers: list[str], cases: list[str]
) -> None:
    assert guessability(["text"] * len(writers), writers, list(cases)) is None
