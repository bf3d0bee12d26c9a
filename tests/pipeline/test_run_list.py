"""What ran, with how far the runs agree: on what ships, and on a job of the fake model over HTTP."""

from __future__ import annotations

from itertools import combinations

import pytest

from crane_core.cli import main
from crane_core.pipeline.evaluate import verdict_frame
from crane_core.pipeline.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.run_list import run_list
from crane_core.storage import answers


def test_the_agreement_of_published_runs_is_that_of_their_pairs(folder: DataFolder) -> None:
    store = prepare(folder)
    table = run_list(store, verdict_frame(store))
    said = (
        store.cursor()
        .execute(
            "SELECT instance_id, list(crashes ORDER BY run_index) FROM runs WHERE detector = 'gpt-5'"
            " AND setting = 'runtime' AND experiment = 'crane-llm-2025-10' GROUP BY 1"
        )
        .fetchall()
    )
    store.close()
    [row] = table[(table["detector"] == "gpt-5") & (table["setting"] == "runtime")].to_dict("records")
    pairs = [a == b for _, runs in said for a, b in combinations(runs, 2)]
    assert len(pairs) == 222 * 10
    assert row["agreement"] == pytest.approx(sum(pairs) / len(pairs))
    assert row["low"] < row["agreement"] < row["high"]
    assert row["n_flips"] == sum(len(set(runs)) == 2 for _, runs in said)
    assert not row["is_job"]


def test_one_answer_each_agrees_with_nothing(folder: DataFolder) -> None:
    store = prepare(folder)
    table = run_list(store, verdict_frame(store))
    store.close()
    assert table.loc[table["detector"] == "pylint", "agreement"].isna().all()


def test_a_job_stands_first_with_what_it_took(folder: DataFolder) -> None:
    command = ["detect", "--detector", "fake", "--setting", "runtime", "--benchmark", "minibench"]
    assert main(["--data", str(folder.path), *command, "--instances", "pandas_1_*", "--runs", "3"]) == 0
    store = prepare(folder)
    first = run_list(store, verdict_frame(store)).to_dict("records")[0]
    key = {name: first[name] for name in ("benchmark", "experiment", "detector", "setting")}
    found = answers.answers(store.cursor(), **key)
    store.close()
    assert first["is_job"] and (first["n_instances"], first["n_answers"]) == (2, 6)
    assert first["input_tokens"] > 0 and first["seconds_median"] > 0
    assert found["run_index"].tolist() == [1, 2, 3, 1, 2, 3]
    assert found["has_reply"].all() and found["prompt_sha256"].nunique() == 2
    assert found["truth"].tolist() == [False] * 3 + [True] * 3
