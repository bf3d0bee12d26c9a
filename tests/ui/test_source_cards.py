"""Cards of sources and the title of Data: what is missing, whose licence, records in words, hostile names."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.loading.sources import StagedSource
from crane_core.releases import Release
from crane_core.ui.data_view import (
    differing_html,
    loaded_sentence,
    problem_html,
)
from crane_core.ui.source_cards import (
    LoadedSource,
    RecordCount,
    n_missing,
    published_card,
    records_words,
    size_words,
    source_card,
)


def source(
    kind: str = "predictions",
    name: str = "mine",
    release: Release | None = None,
) -> LoadedSource:
    """A loaded source; with a release also its kept copy."""
    staged = StagedSource(
        source_id="s1",
        kind=kind,
        name=name,
        file="f",
        sha256="ab" * 32,
        n_bytes=2_000_000,
        imported_at="2026-01-02T03:04:05",
        origin="there",
        release=release,
    )
    return LoadedSource(
        source_id="s1",
        kind=kind,
        name=name,
        sha256="ab" * 32,
        n_bytes=2_000_000,
        loaded="2026-01-02 03:04 UTC",
        n_problems=0,
        records={
            "runs": RecordCount(1, 1),
            "detectors": RecordCount(9, 9),
            "cells": RecordCount(1905, 1905),
        },
        staged=staged if release else None,
    )


def test_what_others_publish_is_missing_until_it_is_loaded() -> None:
    assert n_missing([source()]) == 3
    by_kind = source(kind="crane-llm-2026")
    by_release = source(
        kind="notebook-pairs", release=Release("junobench", "main")
    )
    assert n_missing([by_kind, by_release]) == 1


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        (0, "2 cases and 1 answer are loaded, and all published archives"),
        (
            1,
            "2 cases and 1 answer are loaded; 1 more archive can be fetched",
        ),
        (3, "2 cases and 1 answer are loaded; 3 archives can be fetched"),
    ],
)
def test_the_title_says_what_is_loaded_and_what_is_not(
    missing: int, sentence: str
) -> None:
    assert loaded_sentence(2, 1, missing) == sentence


def test_records_are_counted_in_the_words_of_people() -> None:
    assert (
        records_words(
            {
                "judgements": RecordCount(1, 1),
                "runs": RecordCount(7548, 7548),
                "detectors": RecordCount(3, 3),
                "cases": RecordCount(0, 0),
            }
        )
        == "7,548 answers, 1 label"
    )


def test_a_card_of_others_says_whether_it_is_loaded_and_under_which_licence() -> (
    None
):
    release = ("commit 5f64351", "https://example.org/tree/5f64351")
    card = published_card("crane-llm", [source()], release)
    assert "not fetched" in card
    assert "BSD-3-Clause" in card
    assert 'href="https://example.org/tree/5f64351"' in card
    loaded = published_card("crane-llm", [source("crane-llm-2026")], release)
    assert "✓ loaded" in loaded and "2026-01-02 03:04 UTC" in loaded
    assert "1,905 cells, 1 answer" in loaded
    assert (
        "Download: about 2\xa0MB" in card
        and "Download: about 2\xa0MB" in loaded
    )


def test_the_checksum_of_a_source_is_a_tooltip() -> None:
    card = source_card(source())
    assert f'title="sha256 {"ab" * 32}"' in card
    assert "2.0 MB" in card
    assert size_words(1_500) == "1.5 kB"


def differing(place: str, why: str) -> pd.DataFrame:
    places = [f"{place}, PC (+RT)", f"{place}, Total (+RT)"]
    columns = {"Where": places, "Printed": ["3", "10"], "Computed": ["2", "9"]}
    return pd.DataFrame(columns | {"Why": why})


def test_numbers_that_differ_for_one_reason_share_its_row() -> None:
    html = differing_html(
        differing("table 3, GPT-5", "numpy_10_fixed is counted")
    )
    assert html.count("Table 3, GPT-5") == html.count("Why: ") == 1
    assert '<th scope="row">Partial diagnoses (+RT)</th>' in html
    assert 'href="cases?case=numpy_10"' in html and ">numpy_10_fixed<" in html


def test_hostile_names_are_text(hostile: str) -> None:
    card = source_card(source(kind=hostile[:200], name=hostile[:200]))
    problem = problem_html("unreadable", hostile, hostile, hostile)
    told = differing_html(differing(hostile, hostile))
    assert "<script" not in card + problem + told
