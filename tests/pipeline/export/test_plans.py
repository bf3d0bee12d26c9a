"""Exports mark what no registered plan names; without a plan they mark no row."""

from __future__ import annotations

from pathlib import Path

import pytest

from crane_core.pipeline.audit import at_the_terminal
from crane_core.pipeline.export import all_statistics as collecting
from crane_core.pipeline.export.all_statistics import (
    EXPLORATORY,
    all_statistics,
)
from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.comparisons import exported_gains
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.pipeline.results.study_plan import TEMPLATE, register


@pytest.fixture(autouse=True)
def one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "KINDS", {"gains": exported_gains})


def decided(material: Material) -> list[ExportedStatistic]:
    rows = all_statistics(material)["gains"]
    return [one for one in rows if one.outcome is not None]


def test_only_what_a_plan_names_is_not_exploratory(
    study_models: Material, tmp_path: Path
) -> None:
    folder = DataFolder(tmp_path)
    register(folder, "first", TEMPLATE, 0, at_the_terminal())
    planned = Material(study_models.store, folder)
    planned.__dict__["verdicts"] = study_models.verdicts
    rows = decided(planned)
    unmarked = [one for one in rows if EXPLORATORY not in (one.note or "")]
    found = {(one.detector, one.runs, one.credit) for one in unmarked}
    assert found == {("GPT-5", "majority", "detection only")}
    assert len(rows) > len(unmarked)


def test_without_a_plan_nothing_is_marked(study_models: Material) -> None:
    rows = decided(study_models)
    assert rows
    assert not any(EXPLORATORY in (one.note or "") for one in rows)
