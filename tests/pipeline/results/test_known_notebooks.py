"""Accuracy on copies against originals: on made-up answers whose difference and p-values a hand computes."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from crane_core.pipeline.results.known_notebooks import (
    CopiedBenchmark,
    KnownNotebooks,
    copied_benchmarks,
    known_notebooks,
)
from crane_core.pipeline.results.measures import Credit
from crane_core.pipeline.rows import as_rows
from crane_core.stats.intervals import clustered_difference
from crane_core.stats.outcome import Outcome
from crane_core.ui.known_notebooks_words import (
    findings,
    heading_of,
    lead,
    readable_known,
    unlike,
)

LAB = CopiedBenchmark("lab", "lab-varied")
N_CASES = 20
N_FORGOTTEN = 10
"""Cases whose crash the detector finds in the original and misses in the copy."""


def answers(
    benchmark: str,
    *,
    missed: int = 0,
    n_cases: int = N_CASES,
    **others: object,
) -> pd.DataFrame:
    """The rows of one run that is right, but for the crashes of the first `missed` cases."""
    rows = []
    for case in range(n_cases):
        for is_crash in (True, False):
            says_crash = is_crash and case >= missed
            row = {
                "benchmark": benchmark, "case_id": f"c{case}", "instance_id": f"c{case}_{is_crash}", "truth": is_crash,
                "detector": "heron", "detector_title": "Heron", "detector_kind": "llm", "setting": "runtime",
                "experiment": f"on {benchmark}", "n_crash": 2 * says_crash, "n_safe": 2 * (not says_crash),
                "human": None, "label_stratum": None,
            }  # fmt: skip
            rows.append(row | others)
    return pd.DataFrame(rows)


def runs_of(frame: pd.DataFrame, **options: str) -> pd.DataFrame:
    """The list of the runs of a frame; options: JSON by experiment, the others are imported."""
    key = ["benchmark", "experiment", "detector", "setting"]
    runs = frame[key].drop_duplicates()
    return runs.assign(options=runs["experiment"].map(options))


def compared(
    *runs: pd.DataFrame, credit: Credit = Credit.DETECTION
) -> KnownNotebooks:
    frame = pd.concat(runs, ignore_index=True)
    return known_notebooks(frame, runs_of(frame), LAB, credit)


def test_a_model_that_loses_on_copies_is_counted_as_by_hand() -> None:
    found = compared(answers("lab"), answers("lab-varied", missed=N_FORGOTTEN))
    [row] = as_rows(found.table)
    assert (row["n"], row["n_cases"]) == (2 * N_CASES, N_CASES)
    assert (row["original_value"], row["copy_value"]) == (1.0, 0.75)
    assert row["difference"] == pytest.approx(-0.25)
    assert (row["gained"], row["lost"]) == (0, N_FORGOTTEN)
    # Ten coins that fall on one side, once by instance and once by case.
    assert row["p_value"] == pytest.approx(2 / 2**N_FORGOTTEN)
    assert row["p_by_case"] == pytest.approx(2 / 2**N_FORGOTTEN)
    assert row["outcome"] == Outcome.LOSS
    case = [number for number in range(N_CASES) for _ in range(2)]
    right = [
        float(place % 2 == 1 or place // 2 >= N_FORGOTTEN)
        for place in range(2 * N_CASES)
    ]
    ones = [1.0] * len(case)
    estimate = clustered_difference(ones, ones, right, ones, case)
    assert (row["low"], row["high"]) == pytest.approx(
        (estimate.low, estimate.high)
    )
    [said] = findings(found)
    assert said.startswith("Heron +RT loses 25.0 pp on the copies (95% −")
    assert said.endswith("p = 0.002; 40 instances of 20 cases)")
    assert lead(found) == "**Copies against originals: the one comparison is a loss.**"  # fmt: skip


def test_the_rows_of_one_kind_of_detector_are_one_family() -> None:
    of_rules = {"detector": "rules", "detector_kind": "rules"}
    found = compared(
        answers("lab"),
        answers("lab-varied", missed=N_FORGOTTEN),
        answers("lab", setting="code"),
        answers("lab-varied", setting="code"),
        answers("lab", **of_rules),
        answers("lab-varied", missed=N_FORGOTTEN, **of_rules),
    )
    p_of = {
        (row["detector"], row["setting"]): row["p_by_case_holm"]
        for row in as_rows(found.table)
    }
    once = 2 / 2**N_FORGOTTEN
    assert p_of == {
        ("heron", "runtime"): pytest.approx(2 * once),
        ("heron", "code"): 1.0,
        ("rules", "runtime"): pytest.approx(once),
    }


def test_only_instances_that_both_answered_count() -> None:
    silent = answers("lab-varied")
    silent.loc[silent["case_id"] == "c0", ["n_crash", "n_safe"]] = 0
    [row] = as_rows(compared(answers("lab", n_cases=12), silent).table)
    assert (row["n"], row["n_cases"]) == (22, 11)


def test_nothing_is_compared_that_has_no_counterpart() -> None:
    ran = {"detector_kind": "rehearsal"}
    for run in (
        answers("lab-varied", setting="code"),
        answers("lab-varied", detector="egret"),
        answers("another"),
    ):
        assert compared(answers("lab"), run).table.empty
    executed = compared(answers("lab", **ran), answers("lab-varied", **ran))
    assert executed.table.empty


def test_runs_with_other_options_are_counted_and_not_compared() -> None:
    frame = pd.concat([answers("lab"), answers("lab-varied")])
    asked = {"template": "protocol", "prices": {"input": 1}}
    options = {
        "on lab": json.dumps(asked),
        "on lab-varied": json.dumps(asked | {"prices": {"input": 2}}),
    }
    found = known_notebooks(frame, runs_of(frame, **options), LAB)
    assert (len(found.table), found.n_unlike, unlike(found)) == (1, 0, "")
    options["on lab-varied"] = json.dumps(asked | {"template": "paraphrase"})
    found = known_notebooks(frame, runs_of(frame, **options), LAB)
    assert (len(found.table), found.n_unlike) == (0, 1)
    assert unlike(found).startswith("1 pair of runs of one detector and input")
    # Of an imported run nothing is known that would differ.
    del options["on lab"]
    found = known_notebooks(frame, runs_of(frame, **options), LAB)
    assert (len(found.table), found.n_unlike) == (1, 0)


def test_each_repeat_has_a_row_with_its_name() -> None:
    again = answers("lab-varied", experiment="again", missed=3)
    found = compared(answers("lab"), answers("lab-varied"), again)
    differences = found.table["difference"].tolist()
    assert differences == pytest.approx([0, -3 / 40])
    names = readable_known(found)["Detector"].tolist()
    assert "Heron +RT (again against on lab)" in names


def test_a_correct_diagnosis_needs_labels_on_both_sides() -> None:
    correct = answers("lab", human="correct")
    unjudged = answers("lab-varied")
    strict = Credit.STRICT
    assert compared(correct, unjudged, credit=strict).table.empty
    wrong = answers("lab-varied", human="correct")
    wrong.loc[wrong["case_id"].isin(["c0", "c1"]), "human"] = "wrong"
    found = compared(correct, wrong, credit=strict)
    [row] = as_rows(found.table)
    assert (row["original_value"], row["copy_value"]) == (1.0, 38 / 40)
    assert row["outcome"] == Outcome.NO_EVIDENCE
    titles = {"lab": "Lab", "lab-varied": "Lab, varied"}
    assert heading_of(found, titles) == "Lab, varied against Lab, correct diagnosis"  # fmt: skip
    assert findings(found)[0].startswith(
        "Heron +RT: no evidence of a change on the copies (−5.0 pp, 95% −"
    )


def test_many_cases_without_a_difference_show_that_it_is_small() -> None:
    found = compared(
        answers("lab", n_cases=400), answers("lab-varied", n_cases=400)
    )
    assert found.table["outcome"].tolist() == ["smaller than 5 points"]
    assert findings(found)[0].startswith(
        "Heron +RT: a change smaller than 5 points on the copies (0.0 pp, 95%"
    )


def test_each_benchmark_of_copies_is_compared_with_its_originals() -> None:
    varied = {"a2": "a", "a3": "a"}
    assert copied_benchmarks(varied) == [("a", "a2"), ("a", "a3")]
