"""Numbers of arrays and frames, compared with numpy and pandas: exact, or said not to be computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crane_core.runtime.kernel_side.crane_probe.budget import OverBudgetError
from crane_core.runtime.kernel_side.crane_probe.looking import Look
from tests.examples import examples

from .looks import State, entry, more, number

QUIET = examples(150)
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7)


def same(told: Any, true: Any) -> bool:
    told = number(told)
    return told == true or (math.isnan(told) and math.isnan(true))


@QUIET
@given(
    array=hnp.arrays(dtype=DTYPES, shape=SHAPES),
    step=st.integers(1, 3),
    turned=st.booleans(),
)
def test_ranges_of_arrays_are_numpys(
    array: np.ndarray, step: int, *, turned: bool
) -> None:
    array = (array.T if turned else array)[::step]
    found = entry(array)
    assert found["structure"] == {"shape": list(array.shape)}
    assert found["representation"] == {"dtype": str(array.dtype)}
    if array.size == 0:
        assert found["values"]["value_range"] == "empty array"
        return
    is_nan = (
        np.isnan(array)
        if array.dtype.kind == "f"
        else np.zeros(array.shape, bool)
    )
    assert found["values"]["has_nan"] == is_nan.any()
    assert (
        found.get("plus", {}).get("values", {}).get("n_nan", 0) == is_nan.sum()
    )
    if not is_nan.all():
        low, high = found["values"]["value_range"]
        assert same(low, array[~is_nan].min().item())
        assert same(high, array[~is_nan].max().item())
    else:
        assert "value_range" not in found["values"]


@QUIET
@given(array=hnp.arrays(dtype=DTYPES, shape=st.tuples(st.integers(1, 60))))
def test_distinct_values_of_arrays_are_numpys(array: np.ndarray) -> None:
    info = entry(array)["values"]["value_info"]
    true = np.unique(
        array[~np.isnan(array)] if array.dtype.kind == "f" else array
    )
    assert info["num_unique"] == len(true)
    if 0 < len(true) <= 10:
        assert all(
            same(told, value.item())
            for told, value in zip(info["unique_values"], true, strict=True)
        )
        assert info["value_type"].startswith(
            "binary" if set(true.tolist()) <= {0, 1} else "categorical numeric"
        )


@pytest.mark.parametrize("n_distinct", [1, 2, 12, 13, 100, 101, 5000])
@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int64", "float32", "float64", "M8[s]"]
)
def test_distinct_values_of_long_arrays(n_distinct: int, dtype: str) -> None:
    if dtype == "int8" and n_distinct > 200:
        pytest.skip("int8 holds no more")
    rng = np.random.default_rng(n_distinct)
    values = (
        (rng.permutation(10 * n_distinct)[:n_distinct] - 3)
        if dtype != "int8"
        else np.arange(n_distinct) - 100
    )
    array = values[rng.integers(0, n_distinct, 70_000)].astype(dtype)
    array[-n_distinct:] = values.astype(dtype)
    info = entry(array)["values"]["value_info"]
    is_near = dtype[0] in "iu" and int(array.max()) - int(array.min()) < 1024
    if n_distinct <= 100 or is_near:
        assert info["num_unique"] == len(np.unique(array))
    else:
        assert info["num_unique_at_least"] == 101


def test_a_strided_walk_gives_what_numpy_gives() -> None:
    base = np.random.default_rng(0).normal(size=(9001, 7))
    base[5, 3] = np.nan
    frame = pd.DataFrame(base, copy=False)
    for told, column in zip(
        entry(frame)["values"]["per_column"].values(), base.T, strict=True
    ):
        assert told["value_range"] == [np.nanmin(column), np.nanmax(column)]
        assert told["has_nan"] == bool(np.isnan(column).any())


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "longdouble"]
)
def test_infinite_values_and_nan_are_told(dtype: str) -> None:
    found = entry(np.array([1, -np.inf, np.nan, 2], dtype=dtype))
    assert found["values"]["value_range"] == [{"$float": "-inf"}, 2.0]
    assert found["values"]["has_nan"] is True
    assert found["plus"]["values"]["n_nan"] == 1
    assert found["plus"]["values"]["has_inf"] is True


def test_what_is_masked_counts_for_no_number() -> None:
    array = np.ma.masked_array([1.0, -999, 3, np.nan], mask=[0, 1, 0, 1])
    masked = entry(array)
    assert masked["structure"] == {"shape": [4]}
    assert masked["values"]["value_range"] == [array.min(), array.max()]
    assert masked["values"]["has_nan"] is False
    assert masked["values"]["value_info"]["num_unique"] == 2
    assert masked["plus"]["values"] == {
        "n_masked": 2,
        "items": [1.0, None, 3.0, None],
    }


def test_a_table_with_masked_elements_and_one_masked_throughout() -> None:
    table = entry(np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]))
    assert table["values"] == {"has_nan": False, "value_range": [1, 4]}
    assert table["plus"]["values"] == {
        "n_masked": 1,
        "items": [[1, None], [3, 4]],
    }
    nothing = entry(np.ma.masked_all((2,)))
    assert nothing["values"]["value_range"] == "empty array"
    assert more(np.ma.masked, "values") == {"n_masked": 1, "items": None}
    assert more(np.ma.masked_array([1, 2]), "values")["items"] == [1, 2]
    long = np.ma.masked_array(
        np.zeros(1_000_001), mask=np.ones(1_000_001, bool)
    )
    assert "not_computed" in entry(long)["values"]


def test_matrices_are_read_as_arrays() -> None:
    assert entry(np.matrix([[1, 2]]))["structure"] == {"shape": [1, 2]}


@pytest.mark.parametrize(
    ("array", "facts"),
    [
        (
            np.array(["x", "y", "x"]),
            {"num_unique": 2, "unique_values": ["x", "y"]},
        ),
        (
            np.array(["2020-01-01", "NaT"], "M8[D]"),
            {"num_unique": 1, "unique_values": ["2020-01-01"]},
        ),
        (np.array([], float), {}),
    ],
)
def test_other_arrays(array: np.ndarray, facts: State) -> None:
    assert facts.items() <= entry(array)["values"].get("value_info", {}).items()


def test_a_table_of_objects_tells_which_column_holds_what() -> None:
    array = np.array([[1, "a", 2.5], [2, "b", None]] * 20, dtype=object)
    plus = entry(array)["plus"]
    assert plus["representation"]["column_types"] == [
        {"int": 40},
        {"str": 40},
        {"NoneType": 20, "float": 20},
    ]
    assert plus["values"]["examples_by_type"] == {
        "int": [1, 2, 1],
        "str": ["a", "b", "a"],
        "float": [2.5, 2.5, 2.5],
        "NoneType": [None, None, None],
    }


def test_an_array_of_objects_tells_what_is_inside() -> None:
    array = np.array([[1, 2], [3], None, "x"], dtype=object)
    plus = entry(array)["plus"]
    assert plus["representation"]["item_types"] == {
        "list": 2,
        "NoneType": 1,
        "str": 1,
    }
    assert plus["structure"]["items"] == {
        "0": {"length": 2},
        "1": {"length": 1},
        "3": {"length": 1},
    }


FRAMES = st.builds(
    lambda columns, n: pd.DataFrame(
        {f"c{at}": column[:n] for at, column in enumerate(columns)}
    ),
    st.lists(
        st.one_of(
            hnp.arrays(
                "float64", 20, elements=st.floats(allow_nan=True, width=64)
            ),
            hnp.arrays("int64", 20),
            hnp.arrays("bool", 20),
            hnp.arrays(
                "M8[s]",
                20,
                elements=st.integers(0, 10**9).map(
                    lambda s: np.datetime64(s, "s")
                ),
            ),
            st.lists(
                st.sampled_from(["a", "b", None, "1", "c c"]),
                min_size=20,
                max_size=20,
            ),
            st.lists(
                st.one_of(st.none(), st.integers(-5, 5)),
                min_size=20,
                max_size=20,
            ).map(lambda items: pd.array(items, dtype="Int64")),
            st.lists(
                st.sampled_from(["u", "v", None]), min_size=20, max_size=20
            ).map(pd.Categorical),
            st.lists(
                st.one_of(st.none(), st.sampled_from(["s", "t"])),
                min_size=20,
                max_size=20,
            ).map(lambda items: pd.array(items, dtype="string")),
            st.lists(
                st.sampled_from([1, "a", 2.5, None]), min_size=20, max_size=20
            ).map(lambda items: np.array(items, dtype=object)),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 20),
)


@QUIET
@given(frame=FRAMES)
def test_columns_are_pandas(frame: pd.DataFrame) -> None:
    found = entry(frame)
    assert found["structure"] == {"shape": list(frame.shape)}
    assert found["values"]["has_nan"] == bool(frame.isna().any().any())
    for name, column in frame.items():
        told = found["values"]["per_column"][str(name)]
        beyond = (
            found["plus"]
            .get("values", {})
            .get("per_column", {})
            .get(str(name), {})
        )
        assert found["representation"]["dtypes"][str(name)] == str(column.dtype)
        if len(column):
            assert told["has_nan"] == bool(column.isna().any())
            assert beyond.get("n_nan", 0) == column.isna().sum()
        if "num_unique" in told:
            assert told["num_unique"] == column.nunique()
        if column.dtype.kind in "if" and column.notna().any():
            assert all(
                map(same, told["value_range"], [column.min(), column.max()])
            )


@QUIET
@given(frame=FRAMES)
def test_series_are_pandas(frame: pd.DataFrame) -> None:
    series = frame.iloc[:, 0]
    found = entry(series)
    assert found["structure"] == {"length": len(series)}
    assert found["representation"] == {"dtype": str(series.dtype)}
    if len(series):
        assert found["values"]["has_nan"] == bool(series.isna().any())


@pytest.mark.parametrize(
    "dtype",
    [
        "int64[pyarrow]",
        "float64[pyarrow]",
        "string[pyarrow]",
        "timestamp[us][pyarrow]",
        "bool[pyarrow]",
        "Float32",
        "boolean",
    ],
)
def test_nullable_and_arrow_dtypes(dtype: str) -> None:
    plain = {
        "string[pyarrow]": ["a", None, "b"],
        "bool[pyarrow]": [True, None, False],
        "boolean": [True, None, False],
    }
    items = plain.get(dtype, [2, None, 1])
    found = entry(pd.Series(pd.array(items, dtype=dtype)))
    assert found["representation"]["dtype"] == str(
        pd.array(items, dtype=dtype).dtype
    )
    assert found["values"]["has_nan"] is True
    if dtype[:3] in ("int", "flo", "Flo"):
        assert found["values"]["value_info"]["value_range"] == [1, 2]
        assert found["plus"]["values"]["n_nan"] == 1


@pytest.mark.parametrize(
    ("items", "facts"),
    [
        (
            ["1", "2", "lost", "4"],
            {
                "texts_look_like": "numbers",
                "n_other_texts": 1,
                "other_texts": ["lost"],
            },
        ),
        (
            ["2020-01-02", "2020/01/03", "lost"],
            {"texts_look_like": "dates", "other_texts": ["lost"]},
        ),
        (
            ["01/02/2021", "02/12/2021", "31/1/2021"],
            {"telling_dates": ["01/02/2021", "31/1/2021", "02/12/2021"]},
        ),
        (["a", "b", "1"], {}),
    ],
)
def test_texts_that_are_no_numbers_among_numbers(
    items: list[str], facts: State
) -> None:
    for dtype in ("object", "str"):
        beyond = more(pd.Series(items, dtype=dtype), "values")
        assert facts.items() <= beyond.items()
        assert facts or "other_texts" not in beyond


def test_mixed_columns_tell_where_the_odd_ones_stand() -> None:
    beyond = entry(pd.Series(["1", "2", 3, np.nan, "5"], dtype=object))["plus"]
    assert beyond["values"]["other_types_at"] == {"2": "int 3"}
    assert beyond["representation"]["item_types"] == {
        "str": 3,
        "float": 1,
        "int": 1,
    }
    assert beyond["values"]["n_nan"] == 1


def test_categories_are_listed_and_unused_ones_counted() -> None:
    found = entry(
        pd.Series(
            pd.Categorical(["u", None], categories=["u", "v"], ordered=True)
        )
    )
    assert found["plus"]["representation"] == {
        "categories": ["u", "v"],
        "ordered": True,
    }
    assert found["plus"]["values"]["n_unused_categories"] == 1
    assert found["values"]["value_info"]["num_unique"] == 1


def test_duplicate_columns_and_labels() -> None:
    frame = pd.DataFrame(
        [[1, 2.0], [3, None]], columns=["x", "x"], index=[5, 5]
    )
    found = entry(frame)
    assert found["plus"]["values"]["repeated_columns"] == ["x"]
    assert found["representation"]["dtypes"] == {
        "x [0]": "int64",
        "x [1]": "float64",
    }
    index = found["plus"]["structure"]["index"]
    assert (index["unique"], index["n_duplicates"]) == (False, 1)


@pytest.mark.parametrize(
    ("index", "facts"),
    [
        (
            pd.RangeIndex(2, 10, 2),
            {"type": "RangeIndex", "range": [2, 10, 2], "unique": True},
        ),
        (
            pd.Index([3, 1, 3]),
            {"first": [3, 1, 3], "unique": False, "n_duplicates": 1},
        ),
        (
            pd.MultiIndex.from_product([["a"], [1, 2]], names=["l", None]),
            {"names": ["l", None], "level_sizes": [1, 2]},
        ),
        (
            pd.date_range("2020", periods=4, name="day"),
            {"type": "DatetimeIndex", "names": ["day"], "length": 4},
        ),
        (pd.Index([], dtype=object), {"length": 0, "unique": True}),
    ],
)
def test_indexes(index: pd.Index, facts: State) -> None:
    assert facts.items() <= more(index, "structure")["index"].items()


def test_rows_that_a_pivot_would_find_twice() -> None:
    frame = pd.DataFrame(
        {"day": [1, 1, 2], "counter": ["a", "a", "b"], "n": [1, 2, 3]}
    )
    told = entry(
        frame, "value.pivot(index='day', columns='counter', values='n')"
    )["plus"]["values"]["duplicates"]
    assert told == {"day, counter": {"n_duplicates": 1, "first": [1, "a"]}}


def test_all_columns_that_are_asked_for_are_told() -> None:
    frame = pd.DataFrame(
        np.zeros((3, 60)), columns=[f"c{at}" for at in range(60)]
    )
    told = entry(
        frame,
        "value[['c55', 'c3']]; value.c41; value.loc[:, 'c59']; names = ['c50']\nplot(value, x='c57')",
    )
    expected = {"c55", "c3", "c41", "c59", "c50", "c57"}
    assert expected <= set(told["values"]["per_column"])
    assert len(told["values"]["per_column"]) == 20
    assert told["plus"]["representation"]["columns"] == list(frame.columns)
    assert len(entry(frame, "value", columns=7)["values"]["per_column"]) == 7


def test_columns_that_are_no_numbers_are_told_beyond_the_limit() -> None:
    frame = pd.DataFrame(
        np.zeros((3, 60)), columns=[f"c{at}" for at in range(60)]
    )
    frame["c50"] = ["1", "two", "3"]
    found = entry(frame)
    assert "c50" not in found["values"]["per_column"]
    assert found["plus"]["representation"]["dtypes"] == {"c50": "str"}
    assert found["plus"]["values"]["per_column"]["c50"]["other_texts"] == [
        "two"
    ]


def test_missing_values_of_columns_that_are_not_told_are_counted() -> None:
    frame = pd.DataFrame(np.zeros((3, 60)))
    frame.iloc[1, 44] = np.nan
    frame.iloc[2, 45] = np.inf
    found = entry(frame)
    assert found["values"]["has_nan"] is True
    assert found["plus"]["values"]["n_nan"] == {"44": 1}
    assert found["plus"]["values"]["columns_with_inf"] == ["45"]


def test_what_costs_too_much_is_said_not_to_be_computed() -> None:
    array = np.arange(100_000.0)
    assert (
        entry(array, variable_steps=50_000)["values"]["not_computed"]
        == "range and NaN of 100000 values"
    )
    frame = pd.DataFrame({"a": array, "b": ["x"] * 100_000})
    found = entry(frame, variable_steps=50_000)
    assert found["structure"] == {"shape": [100_000, 2]}
    assert "not_computed" in found["values"]["per_column"]["a"]
    assert "not_computed" in found["values"]["per_column"]["b"]
    assert isinstance(found["values"]["has_nan"], str)


@pytest.mark.parametrize(
    "value",
    [
        list(range(9)),
        {"a": 1},
        np.zeros(9),
        pd.DataFrame({"a": [1.5], "b": ["x"]}),
    ],
)
def test_time_that_is_up_leaves_shape_and_length(
    monkeypatch: pytest.MonkeyPatch, value: Any
) -> None:
    def no_time(self: Any, *arguments: Any) -> bool:
        raise OverBudgetError("looking at it took more than 1 s")

    monkeypatch.setattr(Look, "affords", no_time)
    found = entry(value)
    assert next(iter(found["structure"].values())) in (9, 1, [9], [1, 2])
    assert "looking at it took more than 1 s" in str(found)


@pytest.mark.parametrize(("n", "is_told"), [(1_000, True), (200_000, False)])
def test_values_of_large_columns_are_not_counted_one_by_one(
    n: int, *, is_told: bool
) -> None:
    assert (
        "n_of_rarest" in str(entry(pd.Series(["a", "b"] * (n // 2))))
    ) is is_told
