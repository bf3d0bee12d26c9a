"""What detectors said as HTML: a square per run, the vote against the truth, reasons counted once and cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from crane_core.domain import Label, Setting, Version
from crane_core.ui.pair_panel import answers_html
from crane_core.ui.verdict_matrix import (
    MAX_REASON,
    Answers,
    Strip,
    finding,
    matrix_html,
    rows_of,
    strip_html,
)

TextOf = Callable[[str], str]


def answer(index: int, said: object = None, **more: Any) -> dict[str, Any]:
    plain = {
        "run_index": index,
        "crashes": said,
        "unanswered": None,
        "reasoning": None,
        "diagnostics": None,
    }
    return plain | more


def html_of(
    crashing: Answers | None,
    fixed: Answers | None = None,
    title: str = "GPT-5",
    setting: str = "code",
) -> str:
    """The matrix and the reasons of one detector in one setting."""
    sides = {Version.REPRODUCED: crashing, Version.FIXED: fixed}
    rows = rows_of(
        [
            Strip(
                title,
                setting,
                {version: side for version, side in sides.items() if side},
            )
        ]
    )
    return matrix_html(rows) + answers_html(rows)


def strip(
    setting: str, crashing: str, fixed: str, title: str = "GPT-5"
) -> Strip:
    sides = {
        Version.REPRODUCED: Answers(
            [answer(1, crashing == "crash", reasoning="It.")], crashing, None
        ),
        Version.FIXED: Answers(
            [answer(1, fixed == "crash", reasoning="No.")], fixed, None
        ),
    }
    return Strip(title, setting, sides)


def test_runs_of_one_model_are_told_apart_by_their_experiment(
    text_of: TextOf,
) -> None:
    rows = rows_of(
        Strip("GPT-5", "code", {}, experiment=name)
        for name in ("gpt-5-code-1", "<gpt-5-code-2>")
    )
    shown = text_of(matrix_html(rows))
    assert shown.index("gpt-5-code-1") < shown.index("<gpt-5-code-2>")


def test_a_detector_is_a_row_and_its_inputs_are_columns(
    text_of: TextOf,
) -> None:
    html = matrix_html(
        rows_of(
            [
                strip("code", "safe", "safe"),
                strip("runtime", "crash", "safe"),
                strip("code", "safe", "crash", "B"),
            ]
        )
    )
    assert html.count("<tr>") == 2 + 2
    assert text_of(html).count("not asked") == 2
    assert "Crashing notebook" in text_of(html)


@pytest.mark.parametrize(
    ("without", "with_", "sentence"),
    [
        (
            ("safe", "safe"),
            ("crash", "safe"),
            "With runtime state (+RT), GPT-5 finds the crash",
        ),
        (
            ("crash", "safe"),
            ("crash", "crash"),
            "With runtime state (+RT), GPT-5 raises a false alarm",
        ),
        (
            ("safe", "safe"),
            ("crash", "crash"),
            "With runtime state (+RT), GPT-5 finds the crash; GPT-5 raises a false alarm",
        ),
        (
            ("crash", "tie"),
            ("crash", "safe"),
            "Runtime state (+RT) changes no verdict",
        ),
    ],
)
def test_the_heading_says_what_runtime_state_changed(
    without: tuple[str, str], with_: tuple[str, str], sentence: str
) -> None:
    assert (
        finding(rows_of([strip("code", *without), strip("runtime", *with_)]))
        == sentence
    )
    assert (
        finding(rows_of([strip("code", *without)]))
        == "What the detectors predict"
    )


def diagnosed(setting: str, label: str, title: str = "GPT-5") -> Strip:
    """A detector that predicts the crash; people labelled its diagnosis."""
    plain = strip(setting, "crash", "safe", title)
    crashing = plain.sides[Version.REPRODUCED]._replace(label=label)
    return plain._replace(sides=plain.sides | {Version.REPRODUCED: crashing})


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("correct", "wrong", ", but GPT-5's diagnosis turns wrong"),
        ("wrong", "correct", ", but GPT-5's diagnosis turns correct"),
        ("wrong", "partial", ", but GPT-5's diagnosis turns partial"),
        ("correct", "partial", ", but GPT-5's diagnosis turns only partial"),
        ("wrong", "wrong", ""),
        ("unverifiable", "wrong", ""),
    ],
)
def test_where_no_verdict_changes_the_heading_says_what_diagnosis_does(
    before: str, after: str, told: str
) -> None:
    rows = rows_of([diagnosed("code", before), diagnosed("runtime", after)])
    assert finding(rows) == f"Runtime state (+RT) changes no verdict{told}"


def test_diagnoses_that_turn_alike_are_said_once() -> None:
    rows = rows_of(
        diagnosed(setting, label, title)
        for title in ("GPT-5", "Qwen")
        for setting, label in (("code", "correct"), ("runtime", "wrong"))
    )
    assert finding(rows).endswith(
        "but the diagnoses of GPT-5 and Qwen turn wrong"
    )


def test_the_heading_says_what_more_state_changed_where_the_papers_changes_nothing() -> (
    None
):
    rows = rows_of(
        [
            strip("code", "safe", "safe"),
            strip("runtime", "safe", "safe"),
            strip("runtime+", "crash", "safe"),
        ]
    )
    assert finding(rows) == "With runtime state (+RT+), GPT-5 finds the crash"


def test_rules_are_several_in_a_sentence() -> None:
    rules = [
        strip("code", "safe", "safe", "Certain-crash rules"),
        strip("runtime", "crash", "safe", "Certain-crash rules"),
    ]
    said = "With runtime state (+RT), the certain-crash rules find the crash"
    assert finding(rows_of(rules)) == said


def test_answers_stand_by_version_and_input_and_the_changed_detector_is_open(
    text_of: TextOf,
) -> None:
    same = [
        strip(setting, "crash", "safe", "A") for setting in ("code", "runtime")
    ]
    html = answers_html(
        rows_of(
            [
                *same,
                strip("code", "safe", "safe", "B"),
                strip("runtime", "crash", "safe", "B"),
            ]
        )
    )
    shown = text_of(html)
    assert html.count("cw-texts") == 8
    assert html.count(" open>") == 1
    assert html.index(" open>") > html.index("<b>A</b>")
    assert shown.count("Fixed notebook, code only (−RT)") == 2
    assert "crashing: −RT no crash ✗ +RT crash ✓" in shown


def test_a_square_per_run(text_of: TextOf) -> None:
    runs = [
        answer(1, True),
        answer(2, False),
        answer(3, None, unanswered="not JSON"),
    ]
    html = html_of(Answers(runs, "tie", None))
    text_of(html)
    assert [
        html.count(f"cw-run-{kind}") for kind in ("crash", "safe", "none")
    ] == [
        1,
        1,
        1,
    ]
    assert 'title="answer 3: not JSON"' in html


@pytest.mark.parametrize(
    ("vote", "on_crashing", "on_fixed"),
    [("crash", "✓", "✗"), ("safe", "✗", "✓"), ("tie",) * 3],
)
def test_the_vote_stands_against_the_truth(
    text_of: TextOf, vote: str, on_crashing: str, on_fixed: str
) -> None:
    assert (
        text_of(strip_html(Answers([], vote, None), Version.REPRODUCED)).strip()
        == on_crashing
    )
    assert (
        text_of(strip_html(Answers([], vote, None), Version.FIXED)).strip()
        == on_fixed
    )
    assert text_of(strip_html(None, Version.FIXED)) == "not asked"


@pytest.mark.parametrize("label", Label)
def test_the_human_label_stands_at_the_crashing_notebook(
    text_of: TextOf, label: Label
) -> None:
    shown = text_of(
        html_of(
            Answers([], "crash", str(label)), Answers([], "safe", str(label))
        )
    )
    n_words = sum(
        word in shown
        for word in ("correct", "partial", "wrong", "unverifiable")
    )
    assert n_words == (label is not Label.MISDETECTED)


def test_answers_fold_by_agreement_and_other_wordings_fold_away(
    text_of: TextOf,
) -> None:
    runs = [
        answer(i, True, reasoning="The index is out of range.") for i in (1, 2)
    ]
    runs += [
        answer(3, True, reasoning="No `x`."),
        answer(4, False, reasoning="It runs."),
        answer(5, None, unanswered="not JSON"),
    ]
    html = html_of(Answers(runs, "crash", None))
    shown = text_of(html)
    assert shown.count("The index is out of range.") == 1
    assert "3 of 5 say crash 2× The index" in shown
    assert "1 other wording1× No x." in shown
    assert "1 of 5 says no crash It runs." in shown
    assert "1 of 5 gives no prediction without a reason" in shown
    assert "<code>x</code>" in html
    assert shown.index("3 of 5") < shown.index("1 of 5")


def test_a_mark_leads_to_its_texts_and_one_without_texts_leads_nowhere() -> (
    None
):
    rows = rows_of([strip("code", "crash", "safe")])
    [row] = rows
    row.by_setting["code"][Version.FIXED] = Answers([], "safe", None)
    html = matrix_html(rows, first=3)
    assert html.count("<a ") == 1
    place = "answers-3-reproduced-code"
    assert f'href="#{place}"' in html
    assert f'id="{place}"' in answers_html([*rows_of([]), *[row] * 4])


def test_diagnostics_of_an_analyzer_are_sentences(text_of: TextOf) -> None:
    found = json.dumps(
        [
            {
                "symbol": "no-member",
                "message": "no <b> here",
                "code_line": "x.y",
            },
            "plain",
            7,
        ]
    )
    shown = text_of(
        html_of(Answers([answer(1, True, diagnostics=found)], "crash", None))
    )
    assert "no <b> here [no-member] at x.y" in shown
    assert "plain" in shown


@pytest.mark.parametrize(
    "place", ["reasoning", "unanswered", "title", "diagnostics"]
)
def test_hostile_texts_are_text_and_bounded(
    text_of: TextOf, hostile: str, place: str
) -> None:
    value = (
        json.dumps([{"message": hostile, "symbol": hostile}])
        if place == "diagnostics"
        else hostile
    )
    title = hostile[:200] if place == "title" else "GPT-5"
    runs = [
        answer(
            1,
            None if place == "unanswered" else True,
            **({} if place == "title" else {place: value}),
        )
    ]
    html = html_of(Answers(runs, "crash", None), title=title)
    text_of(html)
    assert "<script" not in html
    assert len(html) < 20 * MAX_REASON


@pytest.mark.parametrize("setting", Setting)
def test_every_setting_has_a_column(text_of: TextOf, setting: Setting) -> None:
    assert "RT" in text_of(
        html_of(Answers([], "safe", None), setting=str(setting))
    )


def test_a_detector_without_texts_is_named_below_the_others(
    text_of: TextOf,
) -> None:
    silent = Strip(
        "pylint",
        "code",
        {
            version: Answers([answer(1, False, diagnostics="[]")], "safe", None)
            for version in Version
        },
    )
    told = strip("code", "crash", "safe", "Rules")
    html = answers_html(rows_of([silent, told]))
    assert text_of(html).endswith("Verdicts only, without texts: pylint.")
    assert "without texts" not in answers_html(rows_of([told]))
    assert "without a reason" not in html
    assert answers_html(rows_of([silent])) == ""
    assert '<details class="cw-reasons" open><summary><b>Rules</b>' in html
