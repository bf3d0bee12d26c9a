"""The study's language models as material of statistics: the embedded answers, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
import pytest

from crane_core.pipeline.judging.material import Material
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.exported_statistic import ExportedStatistic
from crane_core.storage.store import Store


@pytest.fixture(scope="session")
def study_models(
    embedded_store: Store, prepared_folder: DataFolder, models: pd.DataFrame
) -> Material:
    material = Material(embedded_store, prepared_folder)
    # In the place of what `verdicts` would keep.
    material.__dict__["verdicts"] = models
    return material


def only(
    rows: Iterable[ExportedStatistic], **members: object
) -> ExportedStatistic:
    """The one row with these members."""
    [found] = [
        row
        for row in rows
        if all(getattr(row, name) == value for name, value in members.items())
    ]
    return found


def holds(
    one: ExportedStatistic, row: dict[str, Any], key: str = "value"
) -> bool:
    """Whether a statistic has the value, the interval and the n of a row."""
    expected = (row[key], row["low"], row["high"], row["n"])
    return (one.value, one.low, one.high, one.n) == expected
