"""What the page says of a specification curve."""

import pandas as pd

from crane_core.pipeline.results.specification_curve import NOBODY
from crane_core.ui.specification_words import (
    by_reading,
    choices_html,
    finding,
    judge_caveat,
    line,
    title,
    words,
)

ROW = {
    "detector": "m",
    "detector_title": "GPT-5",
    "credit": "correct diagnosis",
    "judged_by": "people",
    "n": 8,
}
CURVE = pd.DataFrame(
    [
        ROW
        | {
            "rule": "majority",
            "test": "exact McNemar",
            "p_value": 0.01,
            "conclusion": "gain",
        },
        ROW
        | {
            "rule": "majority",
            "test": "sign flips by case",
            "p_value": 0.2,
            "conclusion": "no evidence",
        },
        ROW
        | {
            "rule": "all answers",
            "test": "sign flips by case",
            "p_value": 0.0002,
            "conclusion": "gain",
        },
    ]
).assign(difference=[0.05, 0.05, 0.02], low=0.0, high=0.1)


def test_the_sentence_counts_tests_and_readings() -> None:
    assert finding(CURVE) == (
        "**Of 3 tests (one or two of each detector in 2 readings of these answers), 2 find a gain, none finds a loss "
        "and 1 finds no evidence.** It depends most on the vote rule: with “all answers” 1 of 1 finds a gain, with "
        "“majority” 1 of 2."
    )
    assert line(CURVE) == (
        "GPT-5: of 3 tests, 2 find a gain, none finds a loss and 1 finds no evidence; differences of +2.0 to +5.0 pp"
    )
    assert line(CURVE[:1]) == (
        "GPT-5: of 1 test, 1 finds a gain and none finds a loss; a difference of +5.0 pp"
    )


def test_losses_are_told_as_gains_are() -> None:
    losses = CURVE.assign(
        conclusion=["loss", "no evidence", "loss"],
        difference=[-0.05, -0.05, -0.02],
    )
    assert "none finds a gain, 2 find a loss and 1 finds no evidence" in line(
        losses
    )
    assert finding(losses).endswith(
        "with “all answers” 1 of 1 finds a loss, with “majority” 1 of 2."
    )
    all_lost = losses.assign(conclusion="loss")
    assert (
        "none finds a gain and 3 find a loss.** It depends on none"
        in finding(all_lost)
    )


def test_a_mark_is_filled_where_every_test_finds_the_change() -> None:
    marks = by_reading(CURVE).set_index("rule")
    assert marks["is_found"].to_dict() == {
        "majority": False,
        "all answers": True,
    }
    assert marks["place"].to_dict() == {"all answers": 1, "majority": 2}
    assert marks.loc["all answers", "found"] == "sign flips by case: p < 0.001"


def test_a_reading_of_detection_alone_names_no_judge() -> None:
    read = {
        "rule": "majority",
        "credit": "detection only",
        "judged_by": "nobody",
    }
    assert words(read) == "majority, detection only"
    assert (
        words(read | {"judged_by": "people"})
        == "majority, detection only, judged by “people”"
    )


def test_each_choice_counts_its_outcomes_for_narrow_windows() -> None:
    curve = pd.DataFrame(
        {
            "rule": ["majority", "majority", "all answers"],
            "credit": "detection only",
            "judged_by": NOBODY,
            "conclusion": ["gain", "loss", "no evidence"],
        }
    )
    table = choices_html(curve)
    assert "majority</th><td>1</td><td>1</td><td>0</td>" in table
    assert "all answers</th><td>0</td><td>0</td><td>1</td>" in table
    assert table.count('scope="row"') == 3  # nobody judged


def test_overview_names_the_judges_only_where_they_decide_most() -> None:
    def curve(column: str) -> pd.DataFrame:
        rows = [
            dict.fromkeys(("rule", "credit", "judged_by", "test"), "same")
            | {column: name, "conclusion": outcome, "detector_title": "GPT-5"}
            for name, outcome in (("a", "gain"), ("b", "no evidence"))
        ]
        return pd.DataFrame(rows)

    tests = (
        " All tests read the same answers of 1 detector; they differ in the vote rule, the credit for a diagnosis and "
        "the kind of test."
    )
    assert judge_caveat(curve("judged_by"), ()) == (
        "Who judged decides the conclusion: with the labels “a”, 1 of 1 tests find a gain; with the labels “b”, "
        f"0 of 1.{tests}"
    )
    assert judge_caveat(curve("judged_by"), {"b"}) == (
        "Who judged decides the conclusion: with a person's labels, 1 of 1 tests find a gain; with the model judge's "
        f"labels, 0 of 1.{tests}"
    )
    assert judge_caveat(curve("credit"), ()) is None
    assert title(curve("judged_by"), {"b"}) == (
        "Who judged decides: 1 of 1 tests finds a gain with a person's labels, 0 of 1 with the model judge's"
    )
    assert title(curve("judged_by"), ()).endswith(
        "with the labels “a”, 0 of 1 with the labels “b”"
    )
    assert title(curve("credit"), ()) == "1 of 2 tests find a gain"
    lost = curve("credit").assign(conclusion=["gain", "loss"])
    assert title(lost, ()) == "1 of 2 tests find a gain, 1 a loss"
