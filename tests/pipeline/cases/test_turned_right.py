"""The case that the start page shows: runtime state turned a wrong answer into a right one, and its texts are there."""

from __future__ import annotations

import pandas as pd

from crane_core.domain import DetectorKind, Setting
from crane_core.pipeline.cases.turned_right import (
    candidates,
    turned_right,
    turned_right_by_votes,
)
from crane_core.storage.store import Store


def test_the_case_is_missed_from_the_code_and_found_with_the_state(
    embedded_store: Store, verdicts: pd.DataFrame
) -> None:
    shipped = verdicts[
        (verdicts["experiment"] == "shipped")
        & (verdicts["detector_kind"] == DetectorKind.RULES)
    ]
    example = turned_right(embedded_store, shipped)
    assert example is not None
    rows = shipped[
        (shipped["case_id"] == example.case_id) & shipped["truth"]
    ].set_index("setting")
    assert rows["n_safe"][Setting.CODE] == 1
    assert rows["n_crash"][Setting.RUNTIME] == 1
    assert (example.without.crashes, example.with_.crashes) == (False, True)
    assert example.with_.text
    assert example.code.splitlines()[(example.crash_line or 1) - 1]


def test_facts_without_texts_give_candidates_and_no_case(
    embedded_store: Store, models: pd.DataFrame
) -> None:
    found = candidates(models)
    assert len(found) == 42
    assert found[0]["human"] == "correct"
    assert turned_right(embedded_store, models) is None


def test_facts_alone_give_the_votes_of_the_detectors_that_were_helped(
    models: pd.DataFrame,
) -> None:
    example = turned_right_by_votes(models)
    assert example is not None
    assert example.case_id == "pandas_9"
    assert {vote.detector_title for vote in example.votes} == {
        "Gemini 2.5 Flash",
        "GPT-5",
        "Qwen2.5-32B-Instruct",
    }
    for vote in example.votes:
        rows = models[
            (models["detector_title"] == vote.detector_title)
            & (models["instance_id"] == "pandas_9_reproduced")
        ]
        rows = rows.set_index("setting")
        assert (vote.n_without, vote.of_without) == (
            rows["n_crash"][Setting.CODE],
            5,
        )
        assert (vote.n_with, vote.of_with) == (
            rows["n_crash"][Setting.RUNTIME],
            5,
        )
        assert vote.label == rows["human"][Setting.RUNTIME] == "correct"
    assert (
        turned_right_by_votes(models[models["setting"] == Setting.CODE]) is None
    )
