"""The page about the study: its figures are those that the program recomputes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from crane_core.pipeline.claims.claims import (
    checked_claims,
    interval_words,
    loaded_in,
    published_claims,
)
from crane_core.pipeline.claims.verdicts import ClaimVerdict
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import printed_numbers, verdict_frame
from crane_core.pipeline.study.study_tables import status_counts, study_tables
from crane_core.pipeline.study.table_cells import CellStatus
from crane_core.storage.store import Store

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join(
    (ROOT / "docs" / "researcher" / "study.md").read_text("utf-8").split()
)
MODELS = {
    "Gemini 2.5 Flash": "5.1-9",
    "Qwen2.5-32B-Instruct": "5.1-5",
    "GPT-5": "5.1-7",
}
"""By model, the claim of the paper that states its gain in accuracy with diagnosis."""


def row(model: str) -> list[str]:
    found = re.search(
        rf"\| {re.escape(model)} \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|",
        PAGE,
    )
    assert found
    return list(found.groups())


def test_accuracies_are_those_of_tables_2a_and_2b(
    embedded_store: Store,
) -> None:
    tables = study_tables(
        verdict_frame(embedded_store), printed_numbers(embedded_store)
    )
    ours = {
        (table, cell.row, cell.column): f"{float(cell.ours or 0):.1f}"
        for table in ("2a", "2b")
        for cell in tables[table].cells
    }
    for model in MODELS:
        before, after, _, detected_before, detected_after = row(model)
        told = [
            ours[table, model, f"Accuracy ({rt}RT)"]
            for table in ("2a", "2b")
            for rt in ("-", "+")
        ]
        assert [before, after, detected_before, detected_after] == told


def test_counts_of_compared_cells_are_those_of_report(
    embedded_store: Store,
) -> None:
    tables = study_tables(
        verdict_frame(embedded_store), printed_numbers(embedded_store)
    )
    n_of: Counter[CellStatus] = Counter()
    for counts in status_counts(tables.values()).values():
        n_of.update(counts)
    n_printed = (
        n_of[CellStatus.EQUAL]
        + n_of[CellStatus.DIFFERS]
        + n_of[CellStatus.PUBLISHED_ONLY]
    )
    assert f"the {n_printed:,} printed numbers" in PAGE
    assert f"{n_of[CellStatus.EQUAL]:,} cells, all equal" in PAGE
    assert (
        f"{n_of[CellStatus.PUBLISHED_ONLY]} printed cells have no data here"
        in PAGE
    )


def test_gains_and_verdicts_of_claims_are_those_of_report(
    embedded_store: Store, folder: DataFolder
) -> None:
    checked = checked_claims(
        loaded_in(embedded_store, folder), published_claims()
    )
    n_of = Counter(each.verdict for each in checked)
    assert f"compares {len(checked)} numbers and verbal claims" in PAGE
    assert (
        f"{n_of[ClaimVerdict.HOLDS]} hold, {n_of[ClaimVerdict.ROUNDS_DIFFERENTLY]} round differently"
        in PAGE
    )
    assert f"{n_of[ClaimVerdict.WITHIN_NOISE]} are within noise" in PAGE
    assert (
        f"{n_of[ClaimVerdict.CONTRADICTED]} are contradicted by the data, and {n_of[ClaimVerdict.NOT_TESTABLE]} need"
        in PAGE
    )
    intervals = {each.claim.id: interval_words(each) for each in checked}
    for model, claim in MODELS.items():
        assert f"({intervals[claim]})" in row(model)[2]


@pytest.mark.parametrize("model", MODELS)
def test_a_change_is_the_difference_of_its_rates(model: str) -> None:
    before, after, change, *_ = row(model)
    assert abs(float(after) - float(before) - float(change.split()[0])) < 0.11
