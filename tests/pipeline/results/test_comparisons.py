"""Which inputs can be compared: two of one detector about one instance, and the address names them."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.domain import Setting
from crane_core.pipeline.results.comparisons import (
    RICHNESS,
    comparison_from,
    comparison_text,
    comparisons,
)
from crane_core.pipeline.results.measures import WITH_STATE, Inputs

CODE, RUNTIME, WITHOUT_V = (
    Setting.CODE,
    Setting.RUNTIME,
    Setting.RUNTIME_WITHOUT_V,
)


def frame(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["detector", "setting", "instance_id"])


def test_two_settings_of_one_detector_about_one_instance_can_be_compared() -> (
    None
):
    rows = frame(
        ("gpt", RUNTIME, "a"),
        ("gpt", WITHOUT_V, "a"),
        ("gpt", CODE, "b"),
        ("qwen", CODE, "a"),
    )
    assert comparisons(rows) == [Inputs(WITHOUT_V, RUNTIME)]


def test_that_of_the_study_is_first_and_the_richer_input_is_the_other() -> None:
    rows = frame(*(("gpt", setting, "a") for setting in reversed(Setting)))
    found = comparisons(rows)
    assert found[0] == WITH_STATE
    assert len(set(found)) == len(found) == 7 * 6 // 2
    assert all(
        RICHNESS.index(inputs.base) < RICHNESS.index(inputs.other)
        for inputs in found
    )
    assert set(RICHNESS) == set(Setting)


def test_nothing_can_be_compared_where_nothing_ran_twice() -> None:
    assert comparisons(frame()) == []
    assert comparisons(frame(("gpt", CODE, "a"), ("gpt", RUNTIME, "b"))) == []


@pytest.mark.parametrize("base", Setting)
def test_an_address_names_a_comparison(base: Setting) -> None:
    inputs = Inputs(base, Setting.RUNTIME)
    assert comparison_from(comparison_text(inputs)) == inputs
