"""What the store knows of time: cells timed by a capture beside replies timed by their job."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crane_core.domain import (
    Benchmark,
    Case,
    Detector,
    DetectorKind,
    Instance,
    Job,
    KernelState,
    Record,
    Reply,
    Setting,
    Version,
)
from crane_core.storage.answers import query_times
from crane_core.storage.store import IN_MEMORY, Store, open_store
from crane_core.storage.write import add_records

TIME = "2026-11-21T10:00:00+00:00"
CRASHING, FIXED, UNTIMED = (
    "numpy_1_reproduced",
    "numpy_1_fixed",
    "numpy_2_reproduced",
)


def look(instance: str, *seconds: float) -> KernelState:
    cells = [
        {"cell": place, "seconds": took} for place, took in enumerate(seconds)
    ] or [{"cell": 0}]
    return KernelState(
        "mine",
        instance,
        Setting.RUNTIME_PLUS,
        "capture",
        {},
        captured={"cells": cells},
    )


def reply(instance: str, run_index: int, seconds: float | None) -> Reply:
    where = ("job", "mine", instance, "model", Setting.RUNTIME, run_index)
    return Reply(*where, "0" * 64, TIME, "It will.", seconds=seconds)


RECORDS: list[Record] = [
    Benchmark("mine", "Mine"),
    *(Case("mine", case) for case in ("numpy_1", "numpy_2")),
    *(
        Instance("mine", case, version)
        for case in ("numpy_1", "numpy_2")
        for version in Version
    ),
    Detector("model", "A model", DetectorKind.LLM),
    Job("job", "mine", "model", Setting.RUNTIME, "{}", TIME),
    look(CRASHING, 1.5, 2.25),
    look(FIXED, 4.0),
    look(UNTIMED),
    reply(CRASHING, 1, 0.5),
    reply(CRASHING, 2, 1.5),
    reply(FIXED, 1, None),
    reply(UNTIMED, 1, 0.5),
]


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store(IN_MEMORY)
    opened.write(lambda cursor: add_records(cursor, RECORDS, source_id="a"))
    yield opened
    opened.close()


def test_cells_add_up_and_replies_are_averaged_where_both_were_timed(
    store: Store,
) -> None:
    table = query_times(store.cursor(), "mine", "job")
    assert table.to_dict("records") == [
        {"instance_id": CRASHING, "detector": "model", "setting": "runtime"}
        | {"seconds_before": 3.75, "seconds_of_query": 1.0}
    ]


def test_another_job_has_no_times(store: Store) -> None:
    assert query_times(store.cursor(), "mine", "another").empty
