"""The marks of a picture: the majority against the truth, and how many runs agree."""

from __future__ import annotations

import pandas as pd

from crane_core.pipeline.cases.picture import (
    MOST_COLUMNS,
    PictureColumn,
    picture,
)

ROWS = [
    ("a", "code", True, 5, 0, "correct"),
    ("a", "code", False, 1, 4, None),
    ("a", "runtime", True, 3, 2, "wrong"),
    ("a", "runtime", False, 5, 0, None),
    ("b", "code", True, 0, 5, None),
    ("b", "runtime", False, 2, 2, None),
    ("b", "runtime-S", True, 5, 0, None),
]


def verdicts(title: str = "A", kind: str = "llm") -> pd.DataFrame:
    frame = pd.DataFrame(
        ROWS,
        columns=["case_id", "setting", "truth", "n_crash", "n_safe", "human"],
    )
    return frame.assign(
        detector_title=title, experiment="study", detector_kind=kind
    )


def test_marks_by_hand() -> None:
    drawn = picture(verdicts(), ["A"])
    assert drawn.columns == (
        PictureColumn("A", "study", "code"),
        PictureColumn("A", "study", "runtime"),
    )
    assert drawn.marks == {
        "a": ["r3", "p1", "r2", "w3"],
        "b": ["w3", "", "", "u1"],
    }
    assert drawn.n_left_out == 0


def test_columns_stand_in_the_order_of_detectors_and_are_bounded() -> None:
    titles = [f"D{i}" for i in range(30)]
    drawn = picture(
        pd.concat([verdicts(title) for title in titles], ignore_index=True),
        titles[::-1],
    )
    assert drawn.columns[0].title == "D29"
    assert (len(drawn.columns), drawn.n_left_out) == (
        MOST_COLUMNS,
        60 - MOST_COLUMNS,
    )
    assert {len(marks) for marks in drawn.marks.values()} == {2 * MOST_COLUMNS}


def test_some_cases_have_the_columns_of_all() -> None:
    """No code was asked about the cases that are drawn; its column stands and is empty."""
    rows = verdicts()
    drawn = picture(
        rows[(rows["case_id"] == "b") & (rows["setting"] != "code")],
        ["A"],
        asked=rows,
    )
    assert drawn == (picture(rows, ["A"]).columns, 0, {"b": ["", "", "", "u1"]})


def test_without_verdicts_nothing_is_drawn() -> None:
    assert picture(verdicts().head(0), []) == ((), 0, {})


def test_what_is_no_model_comes_after_all_models() -> None:
    both = pd.concat([verdicts("pylint", "analyzer"), verdicts("Z")])
    columns = picture(both, ["pylint", "Z"]).columns
    assert [one.title for one in columns] == ["Z", "Z", "pylint", "pylint"]
    assert [one.is_model for one in columns] == [True, True, False, False]
