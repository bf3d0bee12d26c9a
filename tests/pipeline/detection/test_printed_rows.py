"""What the paper prints stands beside a job's row, and only where no answer of it is loaded."""

from __future__ import annotations

import math

import pytest

from crane_core.domain import Setting
from crane_core.pipeline.detection.score import (
    Rate,
    ScoreRow,
    printed_beside,
    printed_rows,
    table_words,
)
from crane_core.pipeline.results.evaluate import printed_numbers
from crane_core.stats.rates import RATES
from crane_core.storage.store import Store


def row(title: str, setting: str, *, is_published: bool = False) -> ScoreRow:
    return ScoreRow(
        title,
        setting,
        "any",
        is_published,
        2,
        0,
        {name: Rate(0.5, 0.1, 0.9, 2, 1) for name in RATES},
    )


@pytest.mark.parametrize(
    ("setting", "table", "cells"),
    [
        ("runtime-V", "4a", {"F1": "75.8%", "Accuracy": "77%"}),
        ("runtime-R", "4a", {"F1": "82%", "Accuracy": "82%"}),
        ("runtime+docs", "4b", {"F1": "79.3%", "Accuracy": "79.7%"}),
    ],
)
def test_cells_are_those_of_the_table_that_prints_the_setting(
    embedded_store: Store, setting: str, table: str, cells: dict[str, str]
) -> None:
    found = {
        one.title: one
        for one in printed_rows(
            printed_numbers(embedded_store), Setting(setting)
        )
    }
    assert list(found) == ["Gemini 2.5 Flash", "Qwen2.5-32B-Instruct", "GPT-5"]
    assert (found["GPT-5"].table, found["GPT-5"].cells) == (table, cells)


def test_a_detector_whose_answers_are_loaded_is_not_printed_too(
    embedded_store: Store,
) -> None:
    rows = [
        row("mine", "runtime-V"),
        row("GPT-5", "runtime-V", is_published=True),
    ]
    found = printed_beside(embedded_store, "junobench", rows)
    assert [one.title for one in found] == [
        "Gemini 2.5 Flash",
        "Qwen2.5-32B-Instruct",
    ]
    assert printed_beside(embedded_store, "minibench", rows) == []
    assert printed_beside(embedded_store, "junobench", []) == []


@pytest.mark.parametrize("setting", ["code", "runtime+"])
def test_of_other_settings_nothing_is_printed(
    embedded_store: Store, setting: str
) -> None:
    assert printed_rows(printed_numbers(embedded_store), Setting(setting)) == []


def test_the_text_table_says_what_is_printed(embedded_store: Store) -> None:
    rows = [
        row("mine", "runtime-V")._replace(
            rates={name: Rate(math.nan, 0, 1, 0, 0) for name in RATES}
        )
    ]
    told = table_words(rows, printed_beside(embedded_store, "junobench", rows))
    lines = {line.split("  ")[0]: line.split() for line in told.splitlines()}
    assert lines["Gemini 2.5 Flash p"][-3:] == ["runtime-V", "76.7", "74.3"]
    assert "p: printed in the paper's table 4a, over all its notebooks" in told
    assert "p: printed" not in table_words(rows)


def test_the_text_table_says_what_a_star_is() -> None:
    published = row("GPT-5", "runtime-V", is_published=True)
    told = table_words([row("mine", "runtime-V"), published]).splitlines()
    assert any(line.startswith("mine *") for line in told)
    assert "*: this run, not published" in told
    assert "*" not in table_words([row("mine", "runtime-V")])
