"""The guideline says what the keys and codes of the program are, and its version follows its text."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from crane_core.annotation.guideline import (
    MOST_CHARACTERS,
    as_guideline,
    difference,
    guideline,
    sections,
)
from crane_core.annotation.journal import DIAGNOSIS_LABELS
from crane_core.annotation.mask import INPUT, MODEL
from crane_core.annotation.outcome import REASONS
from crane_core.domain import Label
from crane_core.pipeline.campaigns.cards import practice_items

EXAMPLE = re.compile(r'^- `(\w+)`: "(.+?)" \*Why:\* (.+?\.)$', re.MULTILINE)


def test_the_three_labels_stand_in_it_with_their_keys() -> None:
    rows = re.findall(r"^\| (\d) \| (\w+) \|", guideline(), flags=re.MULTILINE)
    assert rows == [
        (str(key), str(label))
        for key, label in enumerate(DIAGNOSIS_LABELS, start=1)
    ]


def test_every_reason_stands_in_it_under_its_code() -> None:
    listed = (
        sections(guideline())[0].partition("**Reasons**")[2].partition(":")[2]
    )
    assert [entry.split()[0] for entry in listed.split(";")] == list(REASONS)


def test_the_words_that_hide_something_are_explained() -> None:
    assert MODEL in guideline() and INPUT in guideline()


def examples() -> dict[str, list[tuple[str, str, str]]]:
    """Label to its examples: case, diagnosis, why."""
    folded = sections(guideline())[1]
    return {
        part.title.removeprefix("Examples: "): EXAMPLE.findall(
            re.sub(r"\n  (?=\S)", " ", part.text)
        )
        for part in folded
    }


def cases_of_minibench(root: Path) -> set[str]:
    with (root / "data" / "minibench" / "cases.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return {row["case_id"] for row in csv.DictReader(file)}


def test_six_examples_per_label_are_about_cases_that_ship_and_practice_asks_for_none_of_them(
    root: Path,
) -> None:
    found = examples()
    assert {label: len(entries) for label, entries in found.items()} == {
        str(label): 6 for label in DIAGNOSIS_LABELS
    }
    cases = [case for entries in found.values() for case, _, _ in entries]
    practised = [item.case_id for item in practice_items()]
    assert {*cases, *practised} <= cases_of_minibench(root)
    assert max(Counter([*cases, *practised]).values()) == 1
    texts = [text for entries in found.values() for _, text, _ in entries]
    practice_texts = [
        text for item in practice_items() for text, _ in item.texts
    ]
    assert max(Counter([*texts, *practice_texts]).values()) == 1


def test_reasons_of_examples_and_practice_follow_one_rule() -> None:
    """Only the symptom is partial (b), no definite problem is wrong (e): the same in table, examples and practice."""
    given = [
        (label, why)
        for label, entries in examples().items()
        for _, _, why in entries
    ]
    given += [(str(item.label), item.why) for item in practice_items()]
    named = {
        code: {
            label
            for label, why in given
            if re.search(rf"\((reason )?{code}\)", why)
        }
        for code in REASONS
    }
    assert named == {
        "a": {"wrong"}, "b": {"partial"}, "c": {"partial"}, "d": {"partial"}, "e": {"wrong"}, "f": {"partial"},
        "g": {"partial"},
    }  # fmt: skip
    assert not [
        why
        for label, why in given
        if label == Label.WRONG and not re.search(r"\((reason )?[ae]\)", why)
    ]
    rows = dict(
        re.findall(
            r"^\| \d \| (\w+) \| (.+) \|$", guideline(), flags=re.MULTILINE
        )
    )
    assert (
        "only the symptom is named" in rows["partial"]
        and "symptom" not in rows["wrong"]
    )


def test_sections_of_the_third_level_are_folded_and_nothing_is_lost() -> None:
    head, folded = sections(
        "Judge.\n\n### One\n\nfirst\n\n#### Deeper\n### Two\nsecond\n"
    )
    assert (head, folded) == (
        "Judge.\n\n",
        (("One", "first\n\n#### Deeper"), ("Two", "second")),
    )
    assert sections("no heading ### here") == ("no heading ### here", ())


def test_a_text_is_stored_with_one_kind_of_line_end_and_within_bounds() -> None:
    assert (
        as_guideline("\n\nJudge.\r\nWell.  \rOn.\0") == "Judge.\nWell.  \nOn.\n"
    )
    assert len(as_guideline("x" * (MOST_CHARACTERS - 1))) == MOST_CHARACTERS
    for text, words in {
        " \n": "is empty",
        "x" * MOST_CHARACTERS: f"has {MOST_CHARACTERS + 1:,} characters",
    }.items():
        with pytest.raises(ValueError, match=words):
            as_guideline(text)
    assert as_guideline(guideline()) == guideline()


def test_a_difference_is_the_changed_lines() -> None:
    assert difference("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n") == [
        "@@ -2,3 +2,3 @@",
        " b",
        "-c",
        "+C",
        " d",
    ]
    assert difference("a\n", "a\n") == []
