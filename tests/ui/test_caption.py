"""Captions: plain text with n, the test with adjusted p, whose labels count, and the source; tables for a paper."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.frame_formats import frame_latex, frame_markdown
from crane_core.pipeline.results.measures import Credit, VoteRule
from crane_core.stats.outcome import Outcome
from crane_core.ui.caption import (
    LABEL_FREE,
    captioned,
    counted,
    p_sentence,
    sampled,
    source_words,
)

COMPARED = pd.DataFrame(
    {
        "detector_title": ["GPT-5", "pylint"],
        "test": ["exact McNemar test", None],
        "p_holm": [0.0091, None],
        "p_by_case_holm": [0.0086, None],
        "outcome": [Outcome.GAIN, Outcome.NOT_TESTED],
        "n": [222, 220],
        "n_cases": [111, 111],
    }
)


def test_a_caption_is_plain_text_without_what_only_a_page_has() -> None:
    made = captioned(
        "**Does \\+RT help?**",
        ["Lines: intervals. Click a mark to see its cases.", "", "A &lt; B."],
        source="Data: x.",
    )
    assert made.title == "Does +RT help?"
    assert made.text == "Does +RT help? Lines: intervals. A < B. Data: x."


def test_only_the_caption_of_a_table_explains_its_columns() -> None:
    made = captioned("Why?", ["A."], source="B.", table="Power: **now**.")
    assert made.text == "Why? A. B."
    assert made.of_table == "Why? A. Power: now. B."


def test_a_caption_states_each_test_with_its_outcome() -> None:
    assert p_sentence(COMPARED) == (
        "Test: exact McNemar test, Holm-adjusted over 1 comparison; GPT-5: p = 0.009 (by case p = 0.009), gain; "
        "pylint: not tested."
    )
    assert sampled(COMPARED) == "n: 220 to 222 instances of 111 cases."


def test_a_caption_of_many_tests_gives_the_smallest_p_and_counts() -> None:
    many = pd.concat([COMPARED.iloc[:1]] * 6).rename(
        columns={"p_holm": "p_bh", "p_by_case_holm": "p_by_case_bh"}
    )
    assert p_sentence(many) == (
        "Test: exact McNemar test, Benjamini-Hochberg-adjusted over 6 comparisons; smallest p = 0.009. "
        "Of 6 comparisons, 6 are gains and none is a loss."
    )
    assert p_sentence(many, with_outcomes=False).endswith("p = 0.009.")


def test_without_a_test_a_caption_says_so() -> None:
    assert p_sentence(COMPARED.iloc[1:]) == "Not tested."


@pytest.mark.parametrize(
    ("credit", "ends"),
    [
        (Credit.STRICT, "labels: published human."),
        (Credit.DETECTION, LABEL_FREE),
    ],
)
def test_a_caption_says_whose_labels_count(credit: Credit, ends: str) -> None:
    assert counted(VoteRule.MAJORITY, credit, "published human").endswith(ends)


def test_only_a_published_study_is_cited() -> None:
    assert "arXiv:2602.18537" in source_words("JunoBench", "crane-llm-2025-10")
    assert "arXiv" not in source_words("JunoBench", "my run")


def test_a_table_for_latex_and_markdown_is_escaped() -> None:
    table = pd.DataFrame({"Name": ["a_b|c", None], "Share": ["63.1%", "1%"]})
    written = frame_latex(
        table,
        title="Share",
        caption="Share & name.",
        label="shares",
        numeric=["Share"],
    )
    assert r"\begin{tabular}{@{}lr@{}}" in written
    assert r"\caption[{Share}]{Share \& name.}" in written
    assert r"a\_b\textbar{}c & 63.1\% \\" in written
    assert frame_markdown(table).splitlines() == [
        "| Name | Share |",
        "| --- | --- |",
        "| a_b\\|c | 63.1% |",
        "|  | 1% |",
    ]
