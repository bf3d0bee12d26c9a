"""The sentences over the ablations: gains, losses and the rest, what is only printed, and where nothing is tested."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.study.table_cells import Measured, StudyTable, compared
from crane_core.stats.outcome import outcome
from crane_core.ui.drops_words import (
    about_tests,
    apart,
    finding,
    finding_by,
    printed_drops,
    title,
)

Row = tuple[str, str, float, float, float, float | None]


def measured(*rows: Row) -> pd.DataFrame:
    columns = [
        "detector_title",
        "setting",
        "difference",
        "low",
        "high",
        "p_holm",
    ]
    table = pd.DataFrame(rows, columns=columns).astype({"p_holm": float})
    return table.assign(
        outcome=[str(outcome(row[2], [row[5]])) for row in rows]
    )


SURE: Row = ("Heron", "runtime-V", -0.08, -0.12, -0.04, 0.001)
UNSURE: Row = ("Heron", "code", -0.05, -0.09, -0.01, 0.2)
BETTER: Row = ("Egret", "runtime+", 0.06, 0.02, 0.1, 0.003)
UNTESTED: Row = ("Heron", "code", -0.51, -0.8, -0.16, None)
NOTHING_PRINTED = printed_drops([], "Accuracy", measured())


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [SURE, UNSURE],
            "Against runtime state, of 2 comparisons of accuracy, none is a gain, 1 is a loss and 1 is without "
            "evidence. "
            "Losses: −8.0 pp for Heron without values (−12.0 to −4.0 pp).",
        ),
        (
            [UNSURE],
            "Against runtime state, the one comparison of accuracy is without evidence.",
        ),
        (
            [UNTESTED],
            "Against runtime state, the one comparison of accuracy is not tested.",
        ),
        ([], "Against runtime state, there is nothing to compare."),
        (
            [SURE, BETTER],
            "Against runtime state, of 2 comparisons of accuracy, 1 is a gain and 1 is a loss. Gains: +6.0 pp for "
            "Egret "
            "with the extended state (2.0 to 10.0 pp). Losses: −8.0 pp for Heron without values (−12.0 to −4.0 pp).",
        ),
    ],
)
def test_only_what_passes_the_adjusted_test_is_a_finding(
    rows: list[Row], said: str
) -> None:
    assert (
        finding(measured(*rows), NOTHING_PRINTED, "accuracy", Setting.RUNTIME)
        == f"**{said}**"
    )


def test_neither_direction_hides_the_other() -> None:
    many = [
        ("Heron", "code", -0.05 - i / 100, -0.2, -0.01, 0.001) for i in range(7)
    ]
    told = finding(
        measured(*many, BETTER), NOTHING_PRINTED, "F1", Setting.RUNTIME
    )
    assert (
        "of 8 comparisons of F1, 1 is a gain and 7 are losses. Gains: +6.0 pp for Egret"
        in told
    )
    assert "Losses: −11.0 pp for Heron" in told
    assert "and 3 more." in told


def test_the_tests_behind_the_outcomes_are_named() -> None:
    assert "exact McNemar test" in about_tests("Accuracy", 3)
    assert about_tests("F1", 1_200).startswith(
        "p: permutation test of F1, the two inputs swapped for whole cases"
    )
    assert "Holm-adjusted over all rows (1,200)" in about_tests("F1", 1_200)


def test_interval_and_tests_that_disagree_are_named() -> None:
    assert (
        "Heron with code only: the interval leads to another conclusion"
        in apart(measured(SURE, UNSURE))
    )
    assert apart(measured(SURE)) == ""


@pytest.fixture
def table() -> StudyTable:
    places = {
        "Accuracy (+RT)": (
            "80.6%",
            Measured(Fraction(17900, 222), 222, "percent"),
        ),
        "Accuracy (+RT-V)": ("77%", None),
        "Accuracy (+RT-S)": ("81.5%", None),
    }
    cells = [
        compared("GPT-5", column, printed, "percent", ours)
        for column, (printed, ours) in places.items()
    ]
    return StudyTable("4a", "Ablation", "paper", cells)


def test_what_is_printed_stands_beside_what_is_measured_and_never_for_it(
    table: StudyTable,
) -> None:
    printed = printed_drops(
        [table],
        "Accuracy",
        measured(("GPT-5", "runtime-S", 0.02, 0.0, 0.04, 0.5)),
    )
    [row] = printed.to_dict("records")
    assert (row["detector_title"], row["setting"]) == ("GPT-5", "runtime-V")
    assert row["difference"] == pytest.approx(-0.036)
    told = finding(measured(SURE), printed, "accuracy", Setting.RUNTIME)
    assert (
        "Among the changes that are only printed, the largest is −3.6 pp for GPT-5 without values"
        in told
    )
    assert told.endswith("without its runs it has no interval.")


def test_groups_with_gains_and_losses_are_named() -> None:
    shown = [("torch", -0.2, 0.01), ("numpy", -0.1, 0.3), ("a*b", 0.1, 0.02)]
    rows = pd.DataFrame(
        {
            "library_group": name,
            "detector_title": "Heron",
            "difference": d,
            "outcome": str(outcome(d, [p])),
        }
        for name, d, p in shown
    )
    assert finding_by(rows, "library_group", Setting.RUNTIME_WITHOUT_V) == (
        "**Without values, of 3 comparisons by library, 1 is a gain, 1 is a loss and 1 is without evidence.** "
        "Gains: a\\*b (+10.0 pp, Heron). Losses: torch (−20.0 pp, Heron)."
    )
    assert finding_by(rows[1:2], "library_group", Setting.CODE) == (
        "**With code only, the one comparison by library is without evidence.**"
    )


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [("Ibis", "code", -0.081, -0.14, -0.02, 0.03), UNSURE],
            "Ibis loses 8.1 points of accuracy with code only; no evidence for 1 other",
        ),
        ([UNTESTED], "the one comparison of accuracy is not tested"),
        (
            [SURE, UNSURE, BETTER],
            "of 3 comparisons of accuracy, 1 is a gain, 1 is a loss and 1 is without evidence",
        ),
        ([], "No detector has answered with two inputs yet"),
    ],
)
def test_the_title_names_who_changes_and_counts_the_rest(
    rows: list[Row], words: str
) -> None:
    said = title(measured(*rows), "accuracy", Setting.RUNTIME)
    assert said.removeprefix("Against runtime state, ") == words
