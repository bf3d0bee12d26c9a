"""The rule by which a state tells a decisive fact, on states of different layouts."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks._decisive import Fact, facts_of, is_told, missing

SOIL = Fact(
    "",
    "soil",
    "list(soil.columns)",
    ["sample", "pH"],
    (["sample", "pH"],),
    ("columns", "depth_cm"),
)


def fact(*shows: Any, variable: str = "grid") -> Fact:
    return Fact("", variable, None, None, shows, None)


def state(entry: Any, name: str = "grid") -> dict[str, Any]:
    return {"variables": {name: entry}, "accesses": {}, "absent": {}}


@pytest.mark.parametrize(
    ("way", "entry"),
    [
        ([18, 3], {"structure": {"shape": [18, 3]}}),
        ([18, 3], {"shape": (18, 3), "dtype": "float64"}),
        ([18, 3], {"shape": "torch.Size([18, 3])"}),
        (["None", 9], {"structure": {"input_shape": [None, 9]}}),
        ([7.7, 25.4], {"value_range": (7.7, 25.4)}),
        (-1, {"min": -1}),
        ("yield_kg ", {"per_column": {"yield_kg ": {}}}),
        (["coarse", "fine"], {"unique": ["fine", "medium", "coarse"]}),
        ("float64", {"dtype": "torch.float64"}),
        ("-inf", {"values": {"min": "-inf"}}),
        (
            {"all": [41, 58]},
            {
                "samples": [
                    {"shape": [41], "dtype": "f"},
                    {"shape": [58], "dtype": "f"},
                ]
            },
        ),
        ({"fitted": False}, {"values": {"fitted": False}}),
        (
            {"returned.dtype": "str"},
            {"columns": {"returned": {"is": {"dtype": "str"}}}},
        ),
        (
            {"returned.dtype": "str"},
            {
                "columns": [
                    {"name": "lent"},
                    {"name": "returned", "dtype": "str"},
                ]
            },
        ),
    ],
)
def test_a_way_is_found(way: Any, entry: Any) -> None:
    assert is_told(fact(way), state(entry))


@pytest.mark.parametrize(
    ("way", "entry"),
    [
        ([18, 3], {"shape": [18, 4], "n": 3}),
        ([18, 3], {"shape": [3, 18]}),
        ([18, 3], {"rows": 18, "columns": 3}),
        (18, {"length": 180}),
        (18, {"mean": 18.5}),
        (1, {"min": -1}),
        (23, {"key_23": 2}),
        (4, {"values": {}, "assigned": {"cell": 4, "line": 1}}),
        ("float", {"dtype": "float64"}),
        ("yield_kg ", {"columns": ["yield_kg"]}),
        (["coarse", "fine"], {"unique": ["fine", "medium"]}),
        ({"fitted": False}, {"values": {"fitted": True, "sparse": False}}),
        ({"duplicated": 1}, {"duplicated": True}),
        (
            {"returned.dtype": "str"},
            {
                "columns": {
                    "lent": {"dtype": "str"},
                    "returned": {"dtype": "date"},
                }
            },
        ),
    ],
)
def test_what_only_looks_like_it_is_not(way: Any, entry: Any) -> None:
    assert not is_told(fact(way), state(entry))


def test_any_of_several_ways_will_do() -> None:
    assert is_told(
        fact({"fitted": False}, "not fitted"), state({"state": "not fitted"})
    )


def test_another_variable_does_not_count() -> None:
    assert not is_told(fact([18]), state({"shape": [18]}, "grid_2"))
    assert is_told(
        fact([18]),
        {"variables": {}, "accesses": {"grid.shape": {"value": [18]}}},
    )


@pytest.mark.parametrize(
    ("absent", "told"),
    [
        ({"columns": [{"of": "soil", "column": "depth_cm", "line": 1}]}, True),
        ({"columns": [{"of": "soil", "column": "depth"}]}, False),
        ({"columns": [{"of": "soil_2", "column": "depth_cm"}]}, False),
        ({"keys": [{"of": "soil", "key": "depth_cm"}]}, False),
        ({}, False),
    ],
)
def test_an_absence_is_stated_of_its_variable(
    absent: dict[str, Any],
    told: bool,  # noqa: FBT001
) -> None:
    assert is_told(SOIL, {"variables": {}, "absent": absent}) is told


def test_all_columns_tell_an_absence_as_well() -> None:
    assert is_told(SOIL, state({"columns": {"sample": {}, "pH": {}}}, "soil"))


def test_a_missing_name_needs_no_variable() -> None:
    (only,) = facts_of("NBspecific_4")
    assert (
        missing(
            "NBspecific_4",
            {"absent": {"names": [{"name": "EXTRA_MINUTES", "line": 2}]}},
        )
        == []
    )
    assert missing(
        "NBspecific_4", {"variables": {"expected_delay": {"type": "function"}}}
    ) == [only]
