"""Frames whose columns have several levels: a part of a label stands for all columns below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SETUP = """\
import pandas as pd
area = pd.DataFrame({("public", "a"): [1, 2], ("public", "b"): [3, 4], ("own", "a"): [5, 6]})
flat = pd.DataFrame({"k": ["x", "y", "x"], "a": [1, 2, 3], "b": [4.0, 5.0, 6.0]})
"""
RUN = """\
area["public"]["a"]
area[["public"]]; area["public", "a"]; area.loc[:, "public"]; area.loc[0, "own"]
area.drop(columns="own")["public"]; area.drop(columns=["a"], level=1)["public"]
area.rename(columns={"public": "p"})["p"]
area.sort_values(("public", "a")); area.groupby(("own", "a")).sum()["public"]
area["public", "c"] = [1, 2]; area["public", "c"]; area["public"]
area.pop("own"); area["public"]
area.copy()["public"]; area.isna()["own"]; pd.concat([area, area])["own"]; area[area["own"]["a"] > 5]["public"]
flat["u", "a"] = 1; flat["u", "a"]; flat["k"]
table = pd.DataFrame({(one, other): [1] for one in "uv" for other in "xy"}); table["u"]["x"]
collected = {}; collected["u", "a"] = [1]; table = pd.DataFrame(collected); table["u"]
flat.columns = pd.MultiIndex.from_tuples([("u", "a"), ("u", "b"), ("v", "c")]); flat["u"]["a"]
table = flat.groupby("k").agg(["min", "max"]); table["a"]["min"]; table["b", "max"]
table = flat.groupby("k").agg({"a": ["min"]}); table.columns = ["least"]; table["least"]
table = flat.pivot(index="a", columns="k"); table["b"]["x"]
table = flat.groupby(["k", "a"]).sum().unstack(); table["b"][1]
table = pd.concat([flat, flat], axis=1, keys=["l", "r"]); table["l"]["a"]; table["r", "b"]
table = pd.concat({"l": flat, "r": flat}); table["a"]; table.loc["l"]["a"]
"""


@pytest.mark.parametrize("target", RUN.splitlines())
def test_a_part_of_a_label_is_no_missing_column(
    target: str, predict_here: Callable[..., Any], predict_by_code: Callable[..., Any]
) -> None:
    for seen in (predict_here(SETUP, target), predict_by_code(SETUP, target)):
        assert (seen.raised, seen.findings, seen.errors) == (None, (), ())


@pytest.mark.parametrize(
    "target",
    ["area['nobody']", "flat['public']", "flat.rename(columns={'a': 'c'})['a']"],
)
def test_a_label_of_no_level_is_missing(target: str, check: Callable[..., Any]) -> None:
    assert check(SETUP, target).raised == "KeyError"
