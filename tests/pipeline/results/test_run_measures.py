"""Stability from counts per case against the tables from rows: on the published study, and on random answers."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core import domain
from crane_core.domain import DetectorKind, Record, Setting
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.five_runs import (
    answers_by_run,
    run_table,
    stability,
    vote_table,
)
from crane_core.pipeline.study.table_scores import BENCHMARK, STUDY
from crane_core.storage import write
from crane_core.storage.inventory import empty
from crane_core.storage.store import Store
from tests.examples import examples


def assert_as_from_rows(store: Store, benchmark: str, experiment: str) -> int:
    """Compare every table; how many rows they have."""
    frame = verdict_frame(store)
    mine = frame[
        (frame["benchmark"] == benchmark) & (frame["experiment"] == experiment)
    ]
    found = stability(
        store,
        benchmark,
        experiment,
        dict(zip(mine["detector"], mine["detector_title"], strict=True)),
    )
    same(
        found.runs,
        run_table(mine, answers_by_run(store, benchmark, experiment)),
        ["detector", "setting"],
    )
    same(found.votes[None], vote_table(mine), ["detector"])
    for setting in found.votes:
        if setting is not None:
            same(
                found.votes[setting],
                vote_table(mine[mine["setting"] == setting]),
                ["detector"],
            )
    return len(found.runs)


def same(counted: pd.DataFrame, of_rows: pd.DataFrame, key: list[str]) -> None:
    assert list(counted) == list(of_rows)
    ours, theirs = (
        table.sort_values(key, kind="stable").reset_index(drop=True)
        for table in (counted, of_rows)
    )
    texts = [
        name
        for name in theirs
        if name in ("detector", "detector_title", "setting", "measure")
    ]
    assert ours[texts].astype(str).equals(theirs[texts].astype(str))
    numbers = [
        table.drop(columns=texts).to_numpy(dtype=float)
        for table in (ours, theirs)
    ]
    np.testing.assert_allclose(*numbers, rtol=0, atol=1e-12)


def test_counts_per_case_give_what_the_rows_of_the_study_give(
    embedded_store: Store,
) -> None:
    assert assert_as_from_rows(embedded_store, BENCHMARK, STUDY) == 3 * 2 * (
        5 + 5 + 1 + 1
    )


ANSWERS = st.lists(st.sampled_from([True, False, None]), min_size=0, max_size=4)
CASES = st.lists(
    st.lists(ANSWERS, min_size=4, max_size=4), min_size=1, max_size=8
)
"""Of each case the answers to the crashing and to the fixed notebook, each with both inputs."""


def records(cases: list[list[list[bool | None]]]) -> list[Record]:
    found: list[Record] = [
        domain.Benchmark("b", "B"),
        domain.Detector("d", "D", DetectorKind.LLM),
    ]
    for number, answered in enumerate(cases):
        found.append(domain.Case("b", f"c_{number}"))
        found += [
            domain.Instance("b", f"c_{number}", version)
            for version in domain.Version
        ]
        asked = itertools.product(
            domain.Version, (Setting.CODE, Setting.RUNTIME)
        )
        for (version, setting), answers in zip(asked, answered, strict=True):
            key = ("b", f"c_{number}_{version}", "d", setting, "e")
            found += [
                domain.Run(*key, k, crashes)
                for k, crashes in enumerate(answers, start=1)
            ]
    return found


@pytest.mark.slow
@examples(30)
@given(cases=CASES)
def test_counts_per_case_give_what_the_rows_of_any_answers_give(
    emptied_store: Store, cases: list[list[list[bool | None]]]
) -> None:
    emptied_store.write(empty)
    emptied_store.write(
        lambda cursor: write.add_records(
            cursor, records(cases), source_id="random"
        )
    )
    assert_as_from_rows(emptied_store, "b", "e")


def test_votes_stand_for_each_input_and_for_all(embedded_store: Store) -> None:
    assert set(
        stability(embedded_store, BENCHMARK, STUDY, {"gpt-5": "GPT-5"}).votes
    ) == {
        None,
        "code",
        "runtime",
    }
