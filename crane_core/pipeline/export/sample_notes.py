"""The note of a statistic that rests on a sample of labels: how many there are, and what they stand for.

A reader of an exported row sees neither the page's line about its labels nor the campaign, so the row says it itself.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from crane_core.pipeline.export.exported_statistic import ExportedStatistic, Material
from crane_core.pipeline.judging.judged import Coverage, coverage

Judged = tuple[str | None, str | None, str | None]
"""Benchmark, experiment and whose labels."""


def sample_notes(material: Material) -> dict[Judged, str]:
    """The note of every experiment and annotator with labels of some of the detected crashes only."""
    rows_of: dict[Judged, list[pd.DataFrame]] = {}
    for judging in material.judgings:
        rows_of.setdefault(
            (judging.benchmark, judging.experiment, judging.judge), []
        ).append(judging.rows)
    found = {judged: coverage(pd.concat(rows)) for judged, rows in rows_of.items()}
    return {
        judged: _words(one)
        for judged, one in found.items()
        if one.is_sample and one.n_labelled
    }


def with_sample_note(
    row: ExportedStatistic, notes: dict[Judged, str]
) -> ExportedStatistic:
    """The same with the note of its labels behind its own."""
    note = notes.get((row.benchmark, row.experiment, row.judged_by))
    return row if note is None else row._replace(note=_joined([row.note, note]))


def _words(found: Coverage) -> str:
    labelled = f"{found.n_labelled:,} of {found.n_detected:,} detected crashes of the experiment have a label"
    if not found.provenance:
        return f"{labelled}; the others are left out"
    said = [
        f"judged by a sample: {labelled}, and each stands for the unlabelled ones of its stratum",
        f"{found.n_open:,} sampled verdicts have no final label"
        if found.n_open
        else None,
        f"{found.n_uncovered:,} are outside the population or in a stratum without labels"
        if found.n_uncovered
        else None,
    ]
    return _joined(said)


def _joined(parts: Iterable[str | None]) -> str:
    return "; ".join(part for part in parts if part)
