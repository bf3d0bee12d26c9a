"""Data that measurements and browser tests need: the published archive, a hundred copies of it, a campaign on it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks._server import CHECKOUT
from crane_core.annotation.draw import CampaignRequest
from crane_core.annotation.plan import Design, Plan, Population
from crane_core.domain import (
    AnnotatorKind,
    Case,
    Cell,
    Instance,
    Judgement,
    KernelState,
    Prompt,
    Record,
    Run,
)
from crane_core.importers import crane_llm_october
from crane_core.importers.filetree import open_tree
from crane_core.pipeline.campaigns.campaigns import drawn_plan, keep_campaign
from crane_core.pipeline.loading.load import import_paths, prepare
from crane_core.pipeline.places import DataFolder
from crane_core.storage import write
from crane_core.storage.store import Cursor

ARCHIVE = CHECKOUT.parent / "shared" / "upstream" / "crane_llm.tar.gz"
CAMPAIGN = "pilot"
STUDY = Population("junobench", "crane-llm-2025-10")
SEED = 20261121
COPIES = 100
BATCH = 10
"""Copies that are written in one transaction."""


def archive_or_exit() -> Path:
    """Its path; without it there is nothing to measure, which is said and is not a failure."""
    if not ARCHIVE.is_file():
        print(f"Nothing measured: {ARCHIVE.name} is not in {ARCHIVE.parent}.")
        sys.exit(0)
    return ARCHIVE


def study_records() -> list[Record]:
    """What the published archive holds; without it nothing, which is said."""
    if not ARCHIVE.is_file():
        print(
            f"The study is left out: {ARCHIVE.name} is not in {ARCHIVE.parent}."
        )
        return []
    return list(crane_llm_october.read(open_tree(ARCHIVE)))


def cells_by_instance(records: Iterable[Record]) -> dict[str, list[Cell]]:
    """The cells of each instance in their order: those that ran, then the target."""
    found: dict[str, list[Cell]] = {}
    for record in records:
        if isinstance(record, Cell):
            found.setdefault(record.instance_id, []).append(record)
    for cells in found.values():
        cells.sort(key=lambda cell: cell.position)
    return found


def embedded_only(data: Path) -> DataFolder:
    """A data folder at `data` as a first start makes it."""
    data.mkdir(parents=True)
    folder = DataFolder(data)
    prepare(folder).close()
    return folder


def imported(data: Path) -> DataFolder:
    """A data folder at `data` with the embedded data and the archive."""
    folder = embedded_only(data)
    import_paths([archive_or_exit()], folder)
    return folder


def large(data: Path, copies: int = COPIES) -> DataFolder:
    """A data folder at `data` with so many of each case of the archive, and all that belongs to it.

    Labels of LLM judges are left at one copy: no page reads them.
    """
    folder = imported(data)
    records = [one for one in study_records() if not _is_judge(one)]
    store = prepare(folder)
    try:
        for first in range(1, copies, BATCH):
            numbers = range(first, min(first + BATCH, copies))
            store.write(partial(_write_copies, records, numbers))
    finally:
        store.close()
    return folder


def _is_judge(record: Record) -> bool:
    return (
        isinstance(record, Judgement)
        and record.annotator_kind is AnnotatorKind.JUDGE
    )


def _write_copies(
    records: list[Record], numbers: range, cursor: Cursor
) -> None:
    batch = [record for number in numbers for record in copied(records, number)]
    write.add_records(cursor, batch, source_id=f"copies-{numbers.start}")


def copied(records: Iterable[Record], number: int) -> Iterator[Record]:
    """The records of cases under ids of copy `number`: pandas_8 becomes pandas_8008 in the eighth."""
    for record in records:
        if isinstance(record, Case | Instance):
            yield replace(record, case_id=f"{record.case_id}{number:03d}")
        elif isinstance(record, Cell | KernelState | Prompt | Run | Judgement):
            case_id, _, version = record.instance_id.rpartition("_")
            yield replace(
                record, instance_id=f"{case_id}{number:03d}_{version}"
            )


def new_campaign(
    folder: DataFolder,
    annotators: tuple[str, ...],
    name: str = CAMPAIGN,
    design: Design | None = None,
) -> Plan:
    """Draw and keep the study's own design, 222 of 501, or another; nothing else has the store open."""
    request = CampaignRequest(
        name, annotators, STUDY, design=design or Design(), seed=SEED
    )
    store = prepare(folder)
    try:
        plan = drawn_plan(store, request)
    finally:
        store.close()
    keep_campaign(folder, plan)
    return plan
