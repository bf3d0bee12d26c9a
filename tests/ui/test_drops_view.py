"""The sentences over the ablations: what changes beyond chance, what is only printed, and where nothing is tested."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.study.table_cells import Measured, StudyTable, compared
from crane_core.ui.drops_view import finding_by
from crane_core.ui.drops_words import apart, finding, printed_drops

NAN = float("nan")


def measured(*rows: tuple[str, str, float, float, float, float]) -> pd.DataFrame:
    columns = ["detector_title", "setting", "difference", "low", "high", "p_holm"]
    return pd.DataFrame(rows, columns=columns)


SURE = ("Heron", "runtime-V", -0.08, -0.12, -0.04, 0.001)
UNSURE = ("Heron", "code", -0.05, -0.09, -0.01, 0.2)
NOTHING_PRINTED = printed_drops([], "Accuracy", measured())


def test_only_what_passes_the_adjusted_test_is_a_finding() -> None:
    told = finding(measured(SURE, UNSURE), NOTHING_PRINTED, "accuracy", Setting.RUNTIME)
    assert told == (
        "**Against runtime state, accuracy changes beyond chance by −8.0 pp for Heron without values "
        "(−12.0 to −4.0 pp).**"
    )
    none = finding(measured(UNSURE), NOTHING_PRINTED, "accuracy", Setting.RUNTIME)
    assert none == "**No input changes accuracy beyond chance against runtime state: 1 compared.**"


def test_a_rate_without_a_test_goes_by_its_interval() -> None:
    rows = measured(("Heron", "code", -0.05, -0.09, -0.01, NAN), ("Heron", "runtime+", 0.01, -0.02, 0.04, NAN))
    told = finding(rows, NOTHING_PRINTED, "F1", Setting.RUNTIME)
    assert "F1 changes beyond chance by −5.0 pp for Heron with code only" in told
    assert "extended" not in told


def test_interval_and_p_that_disagree_are_named() -> None:
    assert "Heron −RT: interval and p lead to different conclusions" in apart(measured(SURE, UNSURE))
    assert apart(measured(SURE)) == ""


@pytest.fixture
def table() -> StudyTable:
    places = {
        "Accuracy (+RT)": ("80.6%", Measured(Fraction(17900, 222), 222, "percent")),
        "Accuracy (+RT-V)": ("77%", None),
        "Accuracy (+RT-S)": ("81.5%", None),
    }
    cells = [compared("GPT-5", column, printed, "percent", ours) for column, (printed, ours) in places.items()]
    return StudyTable("4a", "Ablation", "paper", cells)


def test_what_is_printed_stands_beside_what_is_measured_and_never_for_it(table: StudyTable) -> None:
    printed = printed_drops([table], "Accuracy", measured(("GPT-5", "runtime-S", 0.02, 0.0, 0.04, 0.5)))
    [row] = printed.to_dict("records")
    assert (row["detector_title"], row["setting"]) == ("GPT-5", "runtime-V")
    assert row["difference"] == pytest.approx(-0.036)
    told = finding(measured(SURE), printed, "accuracy", Setting.RUNTIME)
    assert "Among the changes that are only printed, the largest is −3.6 pp for GPT-5 without values" in told
    assert told.endswith("without its runs it has no interval.")


def test_groups_are_named_where_they_stand_out() -> None:
    columns = ["library_group", "detector_title", "difference", "p_bh"]
    rows = pd.DataFrame([("torch", "Heron", -0.2, 0.01), ("numpy", "Heron", -0.1, 0.3)], columns=columns)
    told = finding_by(rows, "library_group", Setting.RUNTIME_WITHOUT_V)
    assert told == "**Without values, the change is beyond chance for torch (−20.0 pp, Heron).**"
    assert "none of 1" in finding_by(rows.tail(1), "library_group", Setting.CODE)
