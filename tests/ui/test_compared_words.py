"""A comparison of runs in words and HTML: who is right more often, by which test, and nothing of others unescaped."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.results.run_comparison import Share
from crane_core.ui.runs.compared_html import instances_html, versus_html
from crane_core.ui.runs.compared_words import (
    drawn_groups,
    headline,
    list_headline,
    quality_table,
    ties_words,
)
from crane_core.ui.runs.names import short_names

NAMES = ["GPT-5, −RT", "GPT-5, +RT"]
ROW: dict[str, Any] = {
    "place": 1, "n": 222, "n_cases": 111, "without": 0.7, "with_": 0.754, "difference": 0.054, "low": 0.01,
    "high": 0.1, "gained": 20, "lost": 8, "p_holm": 0.0357, "p_by_case_holm": 0.0101, "outcome": "gain",
}  # fmt: skip
RUN: dict[str, Any] = {
    "place": 0, "n": 222, "value": 0.7, "low": 0.6, "high": 0.8, "tokens": 900.4, "usd": 1.1, "seconds": None,
    "is_input_only": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "GPT-5, +RT is right on 12 more of 222 instances than GPT-5, −RT; the tests find a gain, adjusted "
             "p = 0.036"),
        ({"gained": 8, "lost": 9, "outcome": "no evidence", "p_holm": 1.0},
         "GPT-5, +RT is right on 1 fewer of 222 instances than GPT-5, −RT; the tests find no evidence of a "
         "difference, adjusted p = 1.000"),
        ({"gained": 8, "lost": 8, "outcome": "no evidence", "p_holm": 1.0},
         "GPT-5, +RT is right as often as GPT-5, −RT on 222 instances; the tests find no evidence of a difference, "
         "adjusted p = 1.000"),
    ],
)  # fmt: skip
def test_the_title_answers(changes: dict[str, Any], said: str) -> None:
    assert headline([ROW | changes], NAMES) == said


def test_the_title_counts_several_runs_and_names_what_is_missing() -> None:
    rows = [ROW, ROW | {"place": 2, "outcome": "loss"}]
    names = [*NAMES, "pylint, −RT", "pyright, −RT"]
    assert headline(rows, names) == (
        "Against GPT-5, −RT, 1 of 2 runs gains, 1 loses, 1 with nothing to compare"
    )
    assert headline([], NAMES).startswith("Nothing to compare: ")
    assert headline([], NAMES[:1]) == "Choose a run to compare with GPT-5, −RT"


def test_ties_are_told() -> None:
    votes = {"instance_id": ["a", "b"], "crash_baseline": [1, 2]}
    votes |= {"safe_baseline": [1, 0], "crash_other": [0, 2]}
    told = ties_words(pd.DataFrame(votes | {"safe_other": [3, 0]}))
    assert told.endswith("a tie counts as no crash (here on 1).")
    assert list_headline(Share.OTHER, 1, *NAMES) == (
        "On 1 instance, only GPT-5, +RT is right"
    )


def test_a_library_and_a_root_cause_of_one_name_are_two_rows() -> None:
    group = ROW | {"detector": "1", "group": "other"}
    groups = pd.DataFrame(
        [
            group | {"by": "library_group"},
            group | {"by": "root_cause", "n_cases": 2},
        ]
    )
    drawn = drawn_groups(pd.DataFrame([ROW]), groups, NAMES)
    assert drawn.labels == [
        "all instances",
        "by library",
        "other (n 222)",
        "by root cause",
        "other (n 222), root cause",
    ]
    assert drawn.meant[drawn.labels[-1]] == ("root_cause", "other")
    # An interval over two cases would set the scale of all others.
    assert drawn.table["low"].isna().tolist() == [False, False, True]


def test_what_is_unknown_of_every_run_is_no_column() -> None:
    runs = [RUN, RUN | {"place": 1, "usd": None}]
    table = quality_table([ROW], runs, NAMES)
    assert "Seconds" not in table
    assert table["USD per 1,000"].tolist() == ["1.10", "unknown"]
    assert table["Tokens"].tolist() == ["900", "900"]
    free = RUN | {"place": 1, "tokens": 0, "usd": 0}
    table = quality_table([ROW], [RUN, free], NAMES)
    assert table["Tokens"].tolist() == ["900", "none"]
    assert "Tokens" not in quality_table([], [free], NAMES)


def test_names_of_others_are_escaped_and_zero_opens_nothing() -> None:
    hostile = "<script>alert(1)</script>"
    counts = dict.fromkeys(Share, 3) | {Share.NEITHER: 0}
    html = versus_html(
        [RUN, RUN | {"place": 1}],
        [ROW],
        {1: counts},
        [NAMES[0], hostile],
        {hostile: "#5aa2c9"},
        run_links=["?a", "?b"],
        link_to=lambda place, share: f"?right={share}",
    )
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert 'href="?right=other"' in html and 'href="?right=neither"' not in html
    row = {
        "instance_id": hostile, "truth": True, "library_group": hostile, "root_cause": None, "crash_baseline": 2,
        "safe_baseline": 2, "crash_other": 3, "safe_other": 1,
    }  # fmt: skip
    listed = instances_html(
        [row],
        (hostile, hostile),
        ["Library", "Root cause"],
        link_to=lambda name: "?x",
    )
    assert "<script>" not in listed
    assert "tie, as no crash ✗ <small>2 of 4</small>" in listed
    assert "crash ✓ <small>3 of 4</small>" in listed


def test_runs_of_one_name_are_told_apart() -> None:
    imported = {
        "detector_title": "GPT-5", "setting": "code", "is_job": False, "experiment": "crane-llm-2025-10",
    }  # fmt: skip
    job = imported | {"is_job": True, "experiment": "gpt-5-code-1a2b3c4d"}
    worded = {"options": '{"template": "paraphrase-from-code-465e15469d7d"}'}
    named = job | {"options": '{"name": "pilot"}', "experiment": "x-2"}
    names = short_names(
        {
            "a": imported,
            "b": named,
            "c": job | {"options": None},
            "d": imported | {"setting": "runtime"},
            "e": job | worded,
        }
    )
    assert names == {
        "a": "GPT-5, −RT, CRANE-LLM, release of October 2025",
        "b": "GPT-5, −RT, pilot",
        "c": "GPT-5, −RT",
        "d": "GPT-5, +RT",
        "e": "GPT-5, −RT, paraphrase-from-code",
    }
