"""Which pairs are worth a look: every pattern on a frame made by hand, and the list's filters and order."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.cases.pairs import (
    PATTERN_MEANING,
    Pattern,
    cases_answered,
    hardest_first,
    keep,
    natural_order,
    pair_table,
    sorted_by,
    voted,
)
from crane_core.pipeline.results.beside import OWN
from crane_core.pipeline.results.measures import Inputs
from crane_core.storage import cases as stored_cases
from crane_core.storage.store import Store

Answer = tuple[str, str, bool, int, int, str | None]
"""Detector, setting, truth, runs that say crash, runs that say not, what people said."""


def verdicts(*answers: Answer, case_id: str = "a") -> pd.DataFrame:
    frame = pd.DataFrame(
        answers,
        columns=["detector", "setting", "truth", "n_crash", "n_safe", "human"],
    )
    version = frame["truth"].map({True: "reproduced", False: "fixed"})
    return frame.astype({"truth": bool}).assign(
        case_id=case_id,
        instance_id=case_id + "_" + version,
        version=version,
        benchmark="mine",
        experiment="study",
    )


def case_list(*case_ids: str) -> pd.DataFrame:
    facts = {
        "library": "numpy",
        "root_cause": None,
        "exception": "valueerror",
        "crash_type": "x (y)",
        "stage": None,
    }
    return pd.DataFrame({"case_id": list(case_ids)}).assign(**facts)


def patterns(*answers: Answer) -> set[Pattern]:
    return set(
        pair_table(case_list("a"), verdicts(*answers))["patterns"].iloc[0]
    )


FOUND, SAFE = (
    ("d1", "code", True, 5, 0, "correct"),
    ("d1", "code", False, 0, 5, "correct"),
)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([FOUND, SAFE], set()),
        ([FOUND, ("d2", "code", True, 0, 5, None)], {Pattern.DIFFER}),
        ([FOUND, ("d2", "runtime", True, 0, 5, None)], set()),
        ([FOUND, ("d2", "code", True, 2, 2, None)], {Pattern.FLIP}),
        ([("d1", "code", True, 4, 1, "correct"), SAFE], {Pattern.FLIP}),
        ([("d1", "code", True, 5, 0, "partial"), SAFE], {Pattern.WRONG_REASON}),
        ([("d1", "code", True, 5, 0, "wrong"), SAFE], {Pattern.WRONG_REASON}),
        ([("d1", "code", True, 0, 5, "partial"), SAFE], {Pattern.MISSED}),
        ([("d1", "code", True, 0, 5, None), ("d1", "runtime", True, 5, 0, None)], {Pattern.CHANGED, Pattern.HELPED}),
        ([FOUND, ("d1", "runtime", True, 0, 5, None)], {Pattern.CHANGED, Pattern.HURT}),
        ([FOUND, ("d1", "code", False, 5, 0, None), ("d1", "runtime", False, 0, 5, None)],
         {Pattern.ALARM, Pattern.CHANGED, Pattern.HELPED}),
        ([("d1", "code", True, 0, 5, None), ("d1", "runtime-S", True, 5, 0, None)], set()),
        ([("d1", "code", True, 0, 5, "misdetected"), ("d2", "runtime", True, 1, 4, None)],
         {Pattern.MISSED, Pattern.FLIP}),
        ([("d1", "code", True, 0, 0, None)], {Pattern.MISSED}),
        ([FOUND, ("d1", "code", False, 3, 2, None)], {Pattern.ALARM, Pattern.FLIP}),
        ([("d1", "code", True, 2, 2, None), ("d1", "runtime", True, 5, 0, None)], {Pattern.FLIP}),
    ],
)  # fmt: skip
def test_patterns_by_hand(
    answers: Sequence[Answer], expected: set[Pattern]
) -> None:
    assert patterns(*answers) == expected


def test_the_same_detector_in_two_experiments_is_not_mixed() -> None:
    rows = verdicts(
        ("d1", "code", True, 0, 5, None), ("d1", "runtime", True, 5, 0, None)
    )
    apart = rows.assign(experiment=["study", "another"])
    assert pair_table(case_list("a"), apart)["patterns"].tolist() == [()]


def test_counts_of_a_pair() -> None:
    rows = verdicts(
        FOUND,
        SAFE,
        ("d2", "code", True, 0, 5, None),
        ("d2", "code", False, 4, 1, None),
    )
    row = pair_table(case_list("a", "b"), rows).set_index("case_id")
    assert row.loc["a", ["n_asked", "n_found", "n_alarms"]].tolist() == [
        2,
        1,
        1,
    ]
    assert row.loc[
        "b", ["n_asked", "n_found", "n_alarms", "patterns"]
    ].tolist() == [
        0,
        0,
        0,
        (),
    ]


def test_without_verdicts_or_cases_the_table_is_whole_and_plain() -> None:
    table = pair_table(case_list("a"), verdicts(FOUND).head(0))
    assert table[
        ["n_asked", "n_found", "n_alarms", "patterns"]
    ].to_numpy().tolist() == [[0, 0, 0, ()]]
    assert pair_table(case_list(), verdicts(FOUND)).empty


def test_what_a_vote_says_and_whether_it_is_right() -> None:
    rows = voted(
        verdicts(
            FOUND,
            SAFE,
            ("d", "code", True, 2, 2, None),
            ("d", "code", True, 0, 0, None),
        )
    )
    assert rows["said"].tolist() == ["crash", "safe", "tie", "no answer"]
    assert rows["right"].tolist() == [True, True, None, None]


def test_every_pattern_has_a_meaning() -> None:
    assert set(PATTERN_MEANING) == set(Pattern)


def test_filters_keep_rows_that_pass_all() -> None:
    rows = pd.concat(
        [
            verdicts(FOUND, SAFE, case_id="a"),
            verdicts(("d1", "code", True, 4, 1, None), case_id="b"),
        ]
    )
    table = pair_table(
        case_list("a", "b", "c").assign(library=["numpy", "numpy", "pandas"]),
        rows,
    )
    assert keep(table)["case_id"].tolist() == ["a", "b", "c"]
    assert keep(table, library=["numpy"])["case_id"].tolist() == ["a", "b"]
    assert keep(table, library=["numpy", "pandas"], stage=[])[
        "case_id"
    ].tolist() == [
        "a",
        "b",
        "c",
    ]
    assert keep(table, pattern=Pattern.FLIP)["case_id"].tolist() == ["b"]
    assert keep(table, pattern=Pattern.FLIP, library=["pandas"]).empty
    assert keep(table, find=" PAND ")["case_id"].tolist() == ["c"]
    assert keep(table, find="x (y)")["case_id"].tolist() == ["a", "b", "c"]
    assert keep(table, find=".*").empty
    assert keep(
        table.head(0), find="a", pattern=Pattern.FLIP, library=["numpy"]
    ).empty


def test_a_gap_in_the_labels_is_not_found_as_a_word() -> None:
    table = pair_table(case_list("a"), verdicts(FOUND))
    assert keep(table, find="none").empty
    assert keep(table.assign(root_cause=float("nan")), find="nan").empty


def test_natural_order_counts_numbers() -> None:
    names = [
        "pandas_10",
        "pandas_2",
        "Numpy_1",
        "torch",
        "NBspecific_3",
        "a_2_1",
        "a_10",
        "2",
    ]
    ordered = natural_order(case_list(*names))["case_id"].tolist()
    assert ordered == [
        "2",
        "a_10",
        "a_2_1",
        "NBspecific_3",
        "Numpy_1",
        "pandas_2",
        "pandas_10",
        "torch",
    ]


def test_a_text_that_stands_elsewhere_keeps_the_case() -> None:
    table = pair_table(case_list("a", "b"), verdicts(FOUND, SAFE))
    assert keep(table, find="nowhere", holding={"b"})["case_id"].tolist() == [
        "b"
    ]
    assert keep(table, find="", holding={"b"})["case_id"].tolist() == ["a", "b"]


def test_a_case_counts_once_for_each_detector_that_answered_it() -> None:
    second = ("d2", "code", True, 5, 0, None)
    rows = pd.concat(
        [verdicts(FOUND, SAFE), verdicts(FOUND, second, case_id="b")],
        ignore_index=True,
    )
    assert cases_answered(rows, "detector") == {"d1": 2, "d2": 1}
    assert cases_answered(rows, "setting") == {"code": 2}
    assert cases_answered(rows.iloc[:0], "detector") == {}


def test_orders_of_the_list() -> None:
    names = ["x_2", "x_10", "x_1", "y_1"]
    table = case_list(*names).assign(
        library=["x", "X", "x", "a"],
        n_asked=[4, 4, 4, 0],
        n_found=[1, 1, 11, 0],
        n_alarms=[0, 2, 0, 0],
    )
    assert hardest_first(table)["case_id"].tolist() == [
        "y_1",
        "x_10",
        "x_2",
        "x_1",
    ]
    assert sorted_by(table, "n_found", descending=True)["case_id"].tolist() == [
        "x_1",
        "x_2",
        "x_10",
        "y_1",
    ]
    assert sorted_by(table, "n_found", descending=False)[
        "case_id"
    ].tolist() == [
        "x_2",
        "x_10",
        "x_1",
        "y_1",
    ]
    assert sorted_by(table, "case_id", descending=True)["case_id"].tolist() == [
        "y_1",
        "x_10",
        "x_2",
        "x_1",
    ]
    assert (
        sorted_by(table, "library", descending=False)["case_id"].tolist()[0]
        == "y_1"
    )


def test_the_published_cases(
    embedded_store: Store, study: pd.DataFrame
) -> None:
    """The one vote that the human outcome contradicts (2 of 5 for numpy_10) is not a right call."""
    listed = stored_cases.case_list(embedded_store.cursor(), "junobench")
    table = natural_order(
        pair_table(listed, study[study["detector"] == "gpt-5"])
    )
    assert len(table) == 111
    assert table["case_id"].tolist()[:2] == ["lightgbm_1", "matplotlib_1"]
    assert table["n_asked"].eq(2).all()
    by_case = table.set_index("case_id")["patterns"]
    assert Pattern.WRONG_REASON not in by_case["numpy_10"]
    assert int(table["n_found"].sum()) == int(
        (
            study.query("detector == 'gpt-5' and truth").eval(
                "n_crash > n_safe"
            )
        ).sum()
    )


def test_flips_say_of_which_experiment_they_are() -> None:
    """The runs of the study agree, those of another experiment flip: the case is not one of the study's flips."""
    study = verdicts(FOUND, SAFE)
    other = verdicts(("d2", "code", True, 3, 2, None)).assign(
        experiment="another"
    )
    [patterns_in] = pair_table(
        case_list("a"), pd.concat([study, other], ignore_index=True)
    )["patterns_in"]
    assert dict(patterns_in) == {Pattern.FLIP: ("another",)}


def test_what_two_experiments_say_differently_is_no_difference_of_detectors() -> (
    None
):
    study = verdicts(FOUND)
    other = verdicts(("d2", "code", True, 0, 5, None)).assign(
        experiment="another"
    )
    assert pair_table(
        case_list("a"), pd.concat([study, other], ignore_index=True)
    )["patterns"].tolist() == [()]


def test_any_two_inputs_can_be_compared() -> None:
    rows = verdicts(
        ("d1", "runtime", True, 5, 0, None),
        ("d1", "runtime-V", True, 0, 5, None),
    )
    assert pair_table(case_list("a"), rows)["patterns"].tolist() == [()]
    inputs = Inputs(Setting.RUNTIME_WITHOUT_V, Setting.RUNTIME)
    assert pair_table(case_list("a"), rows, inputs=inputs)[
        "patterns"
    ].tolist() == [(Pattern.CHANGED, Pattern.HELPED)]


def test_own_runs_are_one_experiment_whose_settings_are_compared() -> None:
    rows = verdicts(
        ("d1", "code", True, 0, 5, None), ("d1", "runtime", True, 5, 0, None)
    )
    apart = rows.assign(experiment=["job-1", "job-2"])
    [patterns_in] = pair_table(case_list("a"), apart, jobs={"job-1", "job-2"})[
        "patterns_in"
    ]
    assert dict(patterns_in) == {
        Pattern.CHANGED: (OWN,),
        Pattern.HELPED: (OWN,),
    }
