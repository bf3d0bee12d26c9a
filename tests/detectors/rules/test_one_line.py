"""Several statements on one line: what an earlier one makes is not missing for a later one."""

from __future__ import annotations

import pytest

from .conftest import Predict

SETUP = 'import pandas as pd\ndf = pd.DataFrame({"id": [1, 2, 3], "age": [4, 5, 6], "name": ["a", "b", "a"]})'


@pytest.mark.parametrize(
    "target",
    [
        'df["total"] = df["id"] * df["age"]; df.groupby("name")["total"].sum()',
        'df["month"] = 1; df.groupby("month").size()',
        'df.__setitem__("zz", 1); df["zz"]',
        'df.insert(0, "zz", 1); print(df["zz"])',
        'exec("df[\'zz\'] = 1"); df["zz"]',
        'df = df.rename(columns={"id": "key"}); df["key"]',
        'if len(df): df["zz"] = 1; df["zz"]',
    ],
)
def test_what_a_line_makes_is_there_for_its_rest(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is None


@pytest.mark.parametrize(
    "target",
    [
        'x = 1; df["none"]',
        'df["none"]; x = 1',
        'df["total"] = df["id"]; df["none"]',
        "y = len(df); df.nothing",
    ],
)
def test_what_nobody_makes_is_missing_on_any_line(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is not None


@pytest.mark.parametrize(
    "target",
    [
        'df2 = df.copy()\ndf2["new"] = 1\ndf["new"]',
        'def f(d):\n    d = d.copy()\n    d["zz"] = 1\n    return d\nf(df)\ndf["zz"]',
    ],
)
def test_a_copy_is_another_object(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised == "KeyError"


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        ("other = df", 'other["new"] = 1\ndf["new"]'),
        ("box = [df]", 'box[0]["new"] = 1\ndf["new"]'),
        (
            "other = df.copy()\nbox = {'a': df}",
            'other["x"] = 1\nbox["a"]["new"] = 1\ndf["new"]',
        ),
        ("class H:\n    pass\nh = H()\nh.frame = df", 'h.frame["new"] = 1\ndf["new"]'),
    ],
)
def test_one_object_under_two_names_is_changed_under_both(
    check: Predict, setup: str, target: str
) -> None:
    assert check(f"{SETUP}\n{setup}", target).raised is None
