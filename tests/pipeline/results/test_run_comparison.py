"""Runs are compared with a baseline over the instances that both answered, as a hand count has it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.results.evaluate import verdict_frame
from crane_core.pipeline.results.run_comparison import (
    GROUPS,
    RunComparison,
    Share,
    compare_runs,
    right_and_answered,
)
from crane_core.pipeline.results.run_list import run_list
from crane_core.stats.multiplicity import benjamini_hochberg, holm
from crane_core.stats.paired import mcnemar
from crane_core.storage.answers import RunKey
from crane_core.storage.store import Store

PYLINT = RunKey("minibench", "shipped", "pylint", "code")
PYRIGHT = RunKey("minibench", "shipped", "pyright", "code")
RULES = RunKey("minibench", "shipped", "rules", "runtime")


@pytest.fixture
def store(folder: DataFolder) -> Iterator[Store]:
    store = prepare(folder)
    yield store
    store.close()


@pytest.fixture
def verdicts(store: Store) -> pd.DataFrame:
    return verdict_frame(store)


def compared(
    store: Store, verdicts: pd.DataFrame, *runs: RunKey
) -> RunComparison:
    """The first run is the baseline."""
    return compare_runs(verdicts, run_list(store, verdicts), runs[0], runs[1:])


def right_of(verdicts: pd.DataFrame, run: RunKey) -> pd.Series:
    """Right or wrong by the majority, by instance; instances without an answer are left out."""
    rows = verdicts[(verdicts[list(run._fields)] == list(run)).all(axis=1)]
    rows = rows[rows["n_crash"] + rows["n_safe"] > 0].set_index("instance_id")
    return (rows["n_crash"] > rows["n_safe"]) == rows["truth"].astype(bool)


def test_two_runs_are_compared_as_counted_by_hand(
    store: Store, verdicts: pd.DataFrame
) -> None:
    a, b = right_of(verdicts, PYLINT), right_of(verdicts, RULES)
    both = a.index.intersection(b.index)
    a, b = a[both], b[both]
    found = compared(store, verdicts, PYLINT, RULES)
    [row] = found.differences.to_dict("records")
    assert (row["n"], row["without"], row["with_"]) == (
        len(both),
        pytest.approx(a.mean()),
        pytest.approx(b.mean()),
    )
    assert found.counts(1) == {
        Share.BOTH: int((a & b).sum()),
        Share.BASELINE: int((a & ~b).sum()),
        Share.OTHER: int((~a & b).sum()),
        Share.NEITHER: int((~a & ~b).sum()),
    }
    assert (row["lost"], row["gained"]) == (
        found.counts(1)[Share.BASELINE],
        found.counts(1)[Share.OTHER],
    )
    assert row["gained"] > 0
    assert row["p_value"] == pytest.approx(mcnemar(row["lost"], row["gained"]))
    only_other = found.instances["share"] == Share.OTHER
    named = found.instances.loc[only_other, "instance_id"]
    assert set(named) == set(both[(~a & b).to_numpy()])
    [turned] = compared(store, verdicts, RULES, PYLINT).differences.to_dict(
        "records"
    )
    assert turned["difference"] == pytest.approx(-row["difference"])


def test_a_run_alone_is_right_on_what_a_hand_counts(
    verdicts: pd.DataFrame,
) -> None:
    right = right_of(verdicts, PYLINT)
    assert right_and_answered(verdicts, PYLINT) == (right.sum(), len(right))
    nobody = PYLINT._replace(experiment="nobody's")
    assert right_and_answered(verdicts, nobody) == (0, 0)


def test_several_runs_are_one_family_and_their_groups_one_grid(
    store: Store, verdicts: pd.DataFrame
) -> None:
    others = [
        RULES,
        RULES._replace(setting="code"),
        RunKey("minibench", "shipped", "pyright", "code"),
    ]
    found = compared(store, verdicts, PYLINT, *others)
    table = found.differences
    assert table["place"].tolist() == [1, 2, 3]
    assert table["p_holm"].tolist() == pytest.approx(
        holm(table["p_value"].to_numpy()).tolist()
    )
    groups = found.groups
    assert set(groups["by"]) == set(GROUPS)
    adjusted = benjamini_hochberg(groups["p_value"].to_numpy())
    assert groups["p_bh"].tolist() == pytest.approx(adjusted.tolist())
    for by in GROUPS:
        n_of = groups[groups["by"] == by].groupby("detector")["n"].sum()
        assert n_of.tolist() == table["n"].tolist()
    assert found.runs["place"].tolist() == [0, 1, 2, 3]
    assert found.runs["tokens"].tolist() == [0, 0, 0, 0]


def test_a_tie_counts_as_no_crash(store: Store, verdicts: pd.DataFrame) -> None:
    tied = verdicts[list(RunKey._fields)].eq(list(RULES)).all(axis=1)
    verdicts = verdicts.copy()
    verdicts.loc[tied, ["n_crash", "n_safe"]] = 2
    found = compared(store, verdicts, PYLINT, RULES)
    votes = found.instances
    assert (votes["crash_other"] == votes["safe_other"]).all()
    assert (votes["crash_baseline"] != votes["safe_baseline"]).all()
    is_right = found.instances["share"].isin([Share.BOTH, Share.OTHER])
    assert (is_right == ~found.instances["truth"]).all()
    counted = found.counts(1)
    assert (
        counted[Share.BOTH] + counted[Share.OTHER]
        == (~found.instances["truth"]).sum()
    )


def test_runs_without_a_common_instance_have_no_comparison(
    store: Store, verdicts: pd.DataFrame
) -> None:
    for other in (
        PYLINT,
        PYLINT._replace(experiment="nobody's"),
        RunKey("junobench", "crane-llm-2025-10", "gpt-5", "code"),
    ):
        found = compared(store, verdicts, PYLINT, other)
        assert found.differences.empty
        assert found.groups.empty
        assert found.instances.empty
        assert found.runs["place"].tolist() == [0]


def test_the_smallest_effect_of_interest_decides_outcomes(
    store: Store, verdicts: pd.DataFrame
) -> None:
    """Two tools that differ by less than 90 points, whatever else is unsure."""
    listed = run_list(store, verdicts)
    usual, wide = (
        compare_runs(verdicts, listed, PYLINT, [PYRIGHT], bound)
        for bound in (0.05, 0.9)
    )
    assert usual.differences["outcome"].tolist() == ["no evidence"]
    assert wide.differences["outcome"].tolist() == ["smaller than 90 points"]
