"""Changes by group after partial pooling, on the published answers."""

from __future__ import annotations

import pandas as pd
import pytest

from crane_core.pipeline.results.breakdown import POOLED, with_pooled
from crane_core.pipeline.results.measures import (
    Credit,
    VoteRule,
    change_table,
)
from crane_core.stats.shrinkage import shrunken, standard_errors


@pytest.fixture(scope="module")
def changes(models: pd.DataFrame) -> pd.DataFrame:
    return _changes(models, by="library_group")


def _changes(models: pd.DataFrame, *, by: str) -> pd.DataFrame:
    return change_table(
        models,
        by=by,
        rule=VoteRule.MAJORITY,
        credit=Credit.STRICT,
        rate="Accuracy",
    )


def test_each_detector_is_pooled_by_itself_and_rows_keep_their_order(
    changes: pd.DataFrame,
) -> None:
    found = with_pooled(changes)
    pd.testing.assert_frame_equal(found[changes.columns], changes)
    for detector in changes["detector"].unique():
        rows = changes[changes["detector"] == detector]
        error = standard_errors(
            *(rows[name] for name in ("difference", "low", "high", "n_cases"))
        )
        of_group = found.loc[rows.index, "pooled"].tolist()
        # A group of one or two cases has no standard error, so it is not pooled.
        assert of_group == pytest.approx(
            shrunken(rows["difference"], error).value.tolist(), nan_ok=True
        )


def test_pooled_changes_are_nearer_to_each_other(changes: pd.DataFrame) -> None:
    found = with_pooled(changes)
    pooled = found[found["pooled"].notna()]
    assert len(pooled) == 7 * 3
    assert (pooled["pooled"].abs() <= pooled["difference"].abs().max()).all()
    by_detector = pooled.groupby("detector")[["difference", "pooled"]].std()
    assert (by_detector["pooled"] < by_detector["difference"]).all()
    assert (pooled["pooled_low"] < pooled["pooled"]).all()
    assert (pooled["pooled"] < pooled["pooled_high"]).all()
    assert pooled["pooled_weight"].between(0, 1).all()


def test_groups_of_one_or_two_cases_are_left_out(
    models: pd.DataFrame,
) -> None:
    """Of six root causes, one has a single case and one has two: four groups are too few."""
    found = with_pooled(_changes(models, by="root_cause"))
    assert sorted(found["n_cases"].unique()) == [1, 2, 18, 20, 25, 45]
    assert found["pooled"].isna().all()


def test_few_groups_and_no_groups_are_not_pooled(changes: pd.DataFrame) -> None:
    few = changes[
        changes["library_group"].isin(changes["library_group"].unique()[:2])
    ]
    assert with_pooled(few)[list(POOLED)].isna().all(axis=None)
    assert with_pooled(changes.head(0)).empty
