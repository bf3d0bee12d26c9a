"""A judge's reply: a label with its reason wherever it stands, and None with the reason in words for all else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import Label
from crane_core.prompts.judge_reply import (
    LABELS,
    MAX_EXPLANATION,
    MAX_TEXT,
    SCHEMA_FILE,
    Presentation,
    judge_prompt,
    judge_reply_schema,
    read_judge_reply,
)
from crane_core.prompts.template import PLACEHOLDER, Template

BARE = Template("bare", PLACEHOLDER)


def said(label: object, explanation: object = "Both blame the index.") -> str:
    return json.dumps({"explanation": explanation, "label": label})


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(
    "around",
    ["{}", "```json\n{}\n```", "I compared {{both}} texts.\n{}\nThat is all."],
)
def test_a_label_is_found_wherever_its_object_stands(
    label: Label, around: str
) -> None:
    read = read_judge_reply(around.replace("{}", said(str(label))))
    assert read == (label, "Both blame the index.", None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the reply is empty"),
        ("The label is correct.", "no JSON object"),
        ('{"verdict": "correct"}', "no object in the reply has the key label"),
        (said("correct")[:-1], "cut off or malformed"),
        (
            "<think>I would say " + said("correct"),
            "ends inside the model's thinking",
        ),
        (
            "<think>" + "so " * 20_000 + said("correct"),
            "ends inside the model's thinking",
        ),
        (said("correct", "..."), "repeats the answer format"),
        ('{"label": "correct", "label": "wrong"}', "has a duplicate key"),
        (
            said("misdetected"),
            "not one of correct, partial, wrong, unverifiable",
        ),
        (said(None), "not one of correct"),
        (said(["correct"]), "not one of correct"),
        (said("correct") + said("wrong"), "2 different labels"),
        ('{"a":' * 50_000, "too complex to parse"),
        ("[" * 100_000 + said("correct")[:-1], "cut off or malformed"),
    ],
)
def test_what_holds_no_label_says_why(text: str, why: str) -> None:
    read = read_judge_reply(text)
    assert read.label is None
    assert why in str(read.trouble)


def test_a_label_counts_after_the_thinking_and_in_a_whole_reply_alone() -> None:
    thought = f"<think>{said('wrong')}</think>{said('correct')}"
    assert read_judge_reply(thought).label == Label.CORRECT
    cut = read_judge_reply(said("correct"), "length")
    assert cut == (None, None, "the reply was cut off at the token limit")


def test_the_same_label_twice_is_one_label() -> None:
    assert read_judge_reply(
        said("wrong", "one") + "\n" + said("wrong", "two")
    ) == (
        Label.WRONG,
        "two",
        None,
    )


def test_an_explanation_is_kept_within_bounds_and_can_be_written() -> None:
    read = read_judge_reply(
        said("wrong", "x" * (MAX_EXPLANATION - 100) + "\ud83d")
    )
    assert read.explanation is not None
    assert read.explanation.endswith("\\ud83d")
    assert read_judge_reply(said("wrong", ["no", "text"])).explanation is None


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    read = read_judge_reply(text)
    assert (read.label is None) == (read.trouble is not None)


def test_both_orders_show_the_same_two_texts() -> None:
    normal = judge_prompt("the index", "the column", Presentation.NORMAL, BARE)
    reversed_ = judge_prompt(
        "the index", "the column", Presentation.REVERSED, BARE
    )
    assert sorted(normal.split("\n\n")) == sorted(reversed_.split("\n\n"))
    assert normal.index("the index") < normal.index("the column")
    assert reversed_.index("the column") < reversed_.index("the index")


def test_a_text_is_shown_within_bounds() -> None:
    assert (
        len(judge_prompt("x" * 10**6, "y" * 10**6, Presentation.NORMAL, BARE))
        < 2 * MAX_TEXT + 200
    )


def test_own_labels_are_read_in_place_of_the_studys() -> None:
    assert (
        read_judge_reply(
            '{"explanation": "so", "label": " Unsound"}', own="sound,unsound"
        ).label
        == "unsound"
    )
    assert (
        read_judge_reply(said("unverifiable"), own="sound,unsound").label
        == "unverifiable"
    )
    other = read_judge_reply(said("correct"), own="sound,unsound")
    assert other == (
        None,
        None,
        "the label is not one of sound, unsound, unverifiable",
    )
    schema = judge_reply_schema("sound,unsound")["properties"]["label"]
    assert schema["enum"] == ["sound", "unsound", "unverifiable"]
    assert judge_reply_schema() == json.loads(SCHEMA_FILE.read_text("utf-8"))
