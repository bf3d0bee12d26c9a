"""The values of the ablation charts: what is ours and what is the paper's is never mixed up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from crane_core.pipeline.study.table_cells import Measured, StudyTable, compared
from crane_core.ui.drops_words import PRINTED, RECOMPUTED, ablation_values

PLACES = {
    "Accuracy (+RT)": ("80.6%", Measured(Fraction(17900, 222), 222, "percent")),
    "Accuracy (+RT-S)": ("79.3%", None),
    "F1 (+RT)": ("80.5%", None),
}


@pytest.fixture
def table() -> StudyTable:
    cells = [
        compared("GPT-5", column, printed, "percent", ours)
        for column, (printed, ours) in PLACES.items()
    ]
    return StudyTable("4a", "Ablation", "paper", cells)


def test_recomputed_is_recomputed_and_printed_is_printed(
    table: StudyTable,
) -> None:
    ours, printed = ablation_values(table, "Accuracy").to_dict("records")
    assert ours == {
        "detector_title": "GPT-5", "setting": "+RT", "rate": "Accuracy", "value": 179 / 222, "source": RECOMPUTED,
        "printed": 0.806, "n": 222,
    }  # fmt: skip
    assert (printed["setting"], printed["value"], printed["source"]) == (
        "+RT−S",
        0.793,
        PRINTED,
    )
    [other] = ablation_values(table, "F1").to_dict("records")
    assert (other["value"], other["source"]) == (0.805, PRINTED)
