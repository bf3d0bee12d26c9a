"""What the page says of a specification curve."""

import pandas as pd

from crane_core.ui.specification_words import by_reading, finding, line, words

ROW = {"detector": "m", "detector_title": "GPT-5", "credit": "correct diagnosis", "judged_by": "people", "n": 8}
CURVE = pd.DataFrame(
    [
        ROW | {"rule": "majority", "test": "exact McNemar", "p_value": 0.01, "conclusion": "gain"},
        ROW | {"rule": "majority", "test": "sign flips by case", "p_value": 0.2, "conclusion": "no evidence"},
        ROW | {"rule": "all five", "test": "sign flips by case", "p_value": 0.0002, "conclusion": "gain"},
    ]
).assign(difference=[0.05, 0.05, 0.02], low=0.0, high=0.1)


def test_the_sentence_counts_tests_and_readings() -> None:
    assert finding(CURVE) == (
        "**Of 3 tests of 2 readings of these answers, 2 find a gain, 1 finds no evidence and none finds a loss.** It "
        "depends most on the vote rule: with all five 1 of 1 find a gain, with majority 1 of 2."
    )
    assert line(CURVE) == "GPT-5: a gain in 2 of 3, differences of +2.0 to +5.0 pp"
    assert line(CURVE[:1]) == "GPT-5: a gain in 1 of 1, a difference of +5.0 pp"


def test_a_mark_is_filled_where_every_test_finds_the_change() -> None:
    marks = by_reading(CURVE).set_index("rule")
    assert marks["is_found"].to_dict() == {"majority": False, "all five": True}
    assert marks["place"].to_dict() == {"all five": 1, "majority": 2}
    assert marks.loc["all five", "found"] == "sign flips by case: p < 0.001"


def test_a_reading_of_detection_alone_names_no_judge() -> None:
    read = {"rule": "majority", "credit": "detection only", "judged_by": "nobody"}
    assert words(read) == "majority, detection only"
    assert words(read | {"judged_by": "people"}) == "majority, detection only, judged by people"
