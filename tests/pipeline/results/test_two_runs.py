"""Two runs are compared over the instances that both answered, as a hand count has it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.two_runs import two_runs
from crane_core.stats.paired import mcnemar
from crane_core.storage.answers import RunKey


@pytest.fixture
def verdicts(folder: DataFolder) -> Iterator[pd.DataFrame]:
    store = prepare(folder)
    try:
        yield verdict_frame(store)
    finally:
        store.close()


def runs_of(verdicts: pd.DataFrame) -> list[RunKey]:
    keys = verdicts[list(RunKey._fields)].drop_duplicates()
    return [
        RunKey(*map(str, key))
        for key in keys[keys["benchmark"] == "minibench"].itertuples(
            index=False
        )
    ]


def right_of(verdicts: pd.DataFrame, run: RunKey) -> pd.Series:
    """Right or wrong by the majority, by instance; instances without an answer are left out."""
    rows = verdicts[(verdicts[list(run._fields)] == list(run)).all(axis=1)]
    rows = rows[rows["n_crash"] + rows["n_safe"] > 0].set_index("instance_id")
    return (rows["n_crash"] > rows["n_safe"]) == rows["truth"].astype(bool)


def test_two_runs_are_compared_as_counted_by_hand(
    verdicts: pd.DataFrame,
) -> None:
    one, other = next(
        (a, b)
        for a in runs_of(verdicts)
        for b in runs_of(verdicts)
        if a.detector == "pylint" and b.detector == "rules"
    )
    a, b = right_of(verdicts, one), right_of(verdicts, other)
    both = a.index.intersection(b.index)
    a, b = a[both], b[both]
    found = two_runs(verdicts, one, other)
    assert found is not None
    assert (found["n"], found["without"], found["with_"]) == (
        len(both),
        pytest.approx(a.mean()),
        pytest.approx(b.mean()),
    )
    assert (found["lost"], found["gained"]) == (
        int((a & ~b).sum()),
        int((~a & b).sum()),
    )
    assert found["gained"] > 0
    assert found["p_value"] == pytest.approx(
        mcnemar(found["lost"], found["gained"])
    )
    turned = two_runs(verdicts, other, one)
    assert turned is not None and turned["difference"] == pytest.approx(
        -found["difference"]
    )


def test_runs_without_a_common_instance_have_no_comparison(
    verdicts: pd.DataFrame,
) -> None:
    run = runs_of(verdicts)[0]
    assert two_runs(verdicts, run, run) is None
    assert two_runs(verdicts, run, run._replace(experiment="nobody's")) is None
