"""Labels as data: the study's set is what the app has always had; a bad file is one line that says where and why."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.annotation.guideline import first_guideline, guideline
from crane_core.annotation.label_check import (
    DESK_KEYS,
    FEWEST,
    GROUNDS,
    LEAST_CONTRAST,
    MOST,
    MOST_REASONS,
    OF_LABEL,
    checked_labels,
    contrast,
    labels_from_toml,
)
from crane_core.annotation.label_set import (
    LabelSet,
    Scale,
    means_the_study,
    same_meaning,
    shares_with_study,
    study_labels,
)
from crane_core.annotation.plan import Plan, plan_from_json
from crane_core.domain import Label
from crane_core.stats.rates import diagnosis_credit
from tests.examples import examples

STUDY = (files("crane_core.annotation") / "study_labels.toml").read_text(
    "utf-8"
)


def body() -> dict[str, Any]:
    """The study's document under another name, to be changed."""
    return copy.deepcopy(tomllib.loads(STUDY)) | {"name": "mine"}


def test_the_study_s_labels_are_the_three_of_the_paper_from_best_to_worst() -> (
    None
):
    study = study_labels()
    assert labels_from_toml(STUDY) == study
    assert (study.codes, study.scale) == (
        (Label.CORRECT, Label.PARTIAL, Label.WRONG),
        Scale.ORDINAL,
    )
    assert [label.key for label in study.labels] == ["1", "2", "3"]
    assert [label.code for label in study.with_reasons] == ["partial", "wrong"]
    assert "".join(study.reason_words) == "abcdefg"
    assert study.of("wrong").reasons == tuple("abcdef"), (
        "a part that is missing is partial"
    )


def test_labels_stored_with_fewer_reasons_still_mean_the_study() -> None:
    study = study_labels()
    before = replace(study, reasons=study.reasons[:6])
    assert before != study and same_meaning(before, study)
    other = replace(study, scale=Scale.NOMINAL)
    assert not same_meaning(other, study) and same_meaning(other, other)


def test_credit_is_that_of_the_rates() -> None:
    """Half credit of `stats.rates` gives each label the credit of the file."""
    study = study_labels()
    assert [label.credit for label in study.labels] == diagnosis_credit(
        study.codes, partial=0.5
    ).tolist()


def test_colours_are_those_of_the_style_sheet(root: Path) -> None:
    style = (root / "crane_core" / "ui" / "style.css").read_text("utf-8")
    known = dict(
        re.findall(
            r"--cw-(\w+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", style
        )
    )
    assert [f"{label.colour}, {label.colour_dark}" for label in study_labels().labels] == [
        known["good"], known["part"], known["crash"]
    ]  # fmt: skip
    assert ", ".join(GROUNDS.values()) == known["ground"]


def test_contrast_is_that_of_the_standard() -> None:
    """WCAG 2.1: black on white 21, the same colour 1, and #767676 the lightest grey with 4.5 on white."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#123456", "#123456") == 1
    assert (
        contrast("#777777", "#ffffff") < 4.5 <= contrast("#767676", "#ffffff")
    )


def test_letters_of_the_desk_are_refused_as_keys(root: Path) -> None:
    desk = (root / "crane_core" / "ui" / "annotate" / "desk.js").read_text(
        "utf-8"
    )
    (letters,) = re.findall(r"const LETTERS = \{(.*?)\};", desk, re.DOTALL)
    assert set(re.findall(r"^  ([a-z]): ", letters, re.MULTILINE)) == DESK_KEYS


def edit(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    whole = body()
    change(whole)
    return whole


def label_with(**members: Any) -> dict[str, Any]:
    return edit(lambda whole: whole["labels"][1].update(members))


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "name: nothing is not a line of text"),
    (
        body() | {"scale": "rank"},
        "scale: 'rank' is not one of ordinal, nominal",
    ),
    (
        body() | {"labels": body()["labels"][:1]},
        f"labels: there are 1; a set has 2 to {MOST}",
    ),
    (body() | {"labels": body()["labels"] * 3}, "labels: there are 9"),
    (body() | {"labels": "abc"}, "labels: 'abc' is not a list"),
    (body() | {"labels": ["abc", 1]}, "labels 1: 'abc' is not a table"),
    (body() | {"colour": "red"}, "the file: 'colour' is unknown; it may hold"),
    (
        body() | {"name": "two\nlines"},
        r"name: 'two\\nlines' is not a line of text",
    ),
    (
        label_with(code="Partial"),
        "labels 2, code: 'Partial' is not a code; use 1 to 24 of a-z",
    ),
    (
        label_with(code="correct"),
        "labels 2, credit: the study's 'correct' has 1",
    ),
    (
        label_with(code="correct", credit=1),
        "labels 2, code: labels 1 has 'correct' already",
    ),
    (
        label_with(code="unverifiable"),
        "labels 2, code: 'unverifiable' is an outcome that is computed",
    ),
    (
        label_with(word="CORRECT"),
        "labels 2, word: labels 1 has 'CORRECT' already",
    ),
    (label_with(word="x" * 25), "labels 2, word: .* more than 24 characters"),
    (label_with(word="a\u202eb"), "labels 2, word: .* is not a line of text"),
    (label_with(sign="✓"), "labels 2, sign: labels 1 has .* already"),
    (label_with(key="12"), "labels 2, key: '12' is not a key"),
    (label_with(key="1"), "labels 2, key: labels 1 has '1' already"),
    (label_with(key="4"), "reasons 1, key: labels 2 has '4' already"),
    (
        label_with(colour="green"),
        "labels 2, colour: 'green' is not a colour; write it as #rrggbb",
    ),
    (
        label_with(colour="#e0b040"),
        "labels 2, colour: #e0b040 has a contrast of 2.0 with the page's #fcfcfb",
    ),
    (
        label_with(colour_dark="#333333"),
        "labels 2, colour_dark: #333333 has a contrast of",
    ),
    (
        label_with(code="nearly", credit=1.5),
        "labels 2, credit: 1.5 is not a number from 0 to 1",
    ),
    (
        label_with(code="nearly", credit=True),
        "labels 2, credit: True is not a number",
    ),
    (
        label_with(code="nearly", credit=10**400),
        "labels 2, credit: 1000.* is not a number",
    ),
    (
        label_with(reasons=["z"]),
        "labels 2, reasons: 'z' is not the code of a reason",
    ),
    (label_with(reasons=["a", "a"]), "labels 2, reasons: one is named twice"),
    (label_with(size=3), "labels 2: 'size' is unknown"),
    (
        edit(lambda whole: whole["reasons"][0].update(code="b")),
        "reasons 2, code: reasons 1 has 'b' already",
    ),
    (
        edit(lambda whole: whole.update(reasons=whole["reasons"] * 3)),
        "reasons: there are 21",
    ),
]


@pytest.mark.parametrize(("document", "told"), BAD)
def test_a_fault_is_named_with_its_place_and_remedy(
    document: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=f"^{told}"):
        checked_labels(document)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = ", "it is not TOML"),
        ("a = " + "[" * 5_000, "it is not TOML"),
        (
            STUDY.replace('key = "1"', 'key = "u"').replace(
                '"study"', '"mine"'
            ),
            "labels 1, key: 'u' has a meaning",
        ),
        (
            STUDY.replace('word = "correct"', 'word = "right"'),
            "name: 'study' is the name of the study's labels",
        ),
    ],
)
def test_a_file_that_is_no_set_of_one_s_own_is_refused(
    text: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told) as raised:
        labels_from_toml(text)
    assert "\n" not in str(raised.value)


USUAL = st.sampled_from(["a", "1", "#00704f"])
scraps = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["a", "1", "#00704f"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
places = st.sampled_from(["name", "scale", "labels", "reasons"])
members = st.sampled_from(
    [
        "code",
        "word",
        "words",
        "sign",
        "key",
        "colour",
        "colour_dark",
        "credit",
        "reasons",
        "means",
    ]
)


def one_line_or_a_set(read: Callable[[], LabelSet]) -> None:
    """Either a valid set, or one bounded line."""
    told = ""
    try:
        assert 2 <= len(read().labels) <= MOST
    except ValueError as error:
        told = str(error)
    assert len(told) < 500 and told.isprintable()


@examples(200)
@given(
    whole=st.dictionaries(places, scraps),
    of_label=st.dictionaries(members, scraps),
    of_reason=st.dictionaries(members, scraps),
)
def test_whatever_a_document_holds_is_a_set_or_one_line(
    whole: dict[str, Any], of_label: dict[str, Any], of_reason: dict[str, Any]
) -> None:
    changed = body()
    changed["labels"][0].update(of_label)
    changed["reasons"][0].update(of_reason)
    one_line_or_a_set(lambda: checked_labels(changed))
    one_line_or_a_set(lambda: checked_labels(changed | whole))


@examples(100)
@given(
    text=st.text(max_size=60),
    start=st.integers(0, len(STUDY)),
    end=st.integers(0, 40),
)
def test_whatever_stands_in_a_file_is_a_set_or_one_line(
    text: str, start: int, end: int
) -> None:
    one_line_or_a_set(
        lambda: labels_from_toml(STUDY[:start] + text + STUDY[start + end :])
    )


def test_a_plan_holds_its_labels_and_one_from_before_has_the_study_s(
    plan_of: Callable[..., Plan],
) -> None:
    mine = checked_labels(label_with(code="nearly", credit=0.25, reasons=["b"]))
    plan = plan_of(6, labels=mine)
    assert plan_from_json(plan.to_json()) == plan
    assert plan_from_json(plan.to_json()).labels == mine
    before = {
        name: member
        for name, member in json.loads(plan.to_json()).items()
        if name != "labels"
    }
    assert plan_from_json(json.dumps(before)).labels == study_labels()
    with pytest.raises(ValueError, match="labels 1, key"):
        plan_from_json(plan.to_json().replace('"key": "1"', '"key": "100"'))


def test_other_words_keep_the_study_s_meaning_and_other_labels_do_not() -> None:
    assert means_the_study(checked_labels(label_with(word="teilweise")))
    nearly = checked_labels(label_with(code="nearly"))
    assert (means_the_study(nearly), shares_with_study(nearly)) == (False, True)


def test_the_first_guideline_of_own_labels_lists_them_and_escapes_markup() -> (
    None
):
    assert first_guideline(study_labels()) == guideline()
    told = first_guideline(
        checked_labels(
            label_with(
                code="nearly", word="<b>*near*", reasons=["b"], means="Almost."
            )
        )
    )
    assert (
        r"- **◐ \<b\>\*near\*** (key 2): Almost\. Reasons: symptom only (b)."
        in told
    )


def test_the_example_of_the_documentation_is_a_set_of_four(root: Path) -> None:
    (example,) = re.findall(
        r"```toml\n(.*?)```",
        (root / "docs" / "lead" / "campaign.md").read_text("utf-8"),
        re.DOTALL,
    )
    found = labels_from_toml(example)
    assert (found.codes, found.scale) == (
        ("correct", "partial", "wrong", "unclear"),
        Scale.NOMINAL,
    )
    assert (found.of("unclear").credit, found.of("unclear").reasons) == (
        None,
        ("vague",),
    )


def test_the_documentation_names_every_member_and_bound(root: Path) -> None:
    told = (root / "docs" / "lead" / "campaign.md").read_text("utf-8")
    assert all(
        f"`{member}`" in told
        for member in OF_LABEL | {"name", "scale", "reasons"}
    )
    assert f"not {', '.join(sorted(DESK_KEYS))}, which" in told
    assert "two to seven labels" in told and (FEWEST, MOST) == (2, 7)
    assert (
        f"up to {MOST_REASONS} under" in told
        and f"{LEAST_CONTRAST} or more" in told
    )
