"""Python's own types: lengths, values, inner shapes compared with numpy, objects by what they hold."""

from __future__ import annotations

import math
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.runtime.kernel_side.crane_probe.contents import sequences
from crane_core.runtime.kernel_side.crane_probe.limits import LookLimits
from crane_core.runtime.kernel_side.crane_probe.looking import Look
from tests.examples import examples

from .looks import State, after, entry, lacks, more

QUIET = examples(200)
NESTED = st.recursive(
    st.integers(0, 9),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.lists(inner, max_size=2).map(tuple),
    ),
)


def numpys_shape(value: Any) -> tuple[int, ...] | None:
    """The shape that numpy gives to a list of lists; None where it finds it ragged."""
    try:
        return np.array(value).shape
    except ValueError:
        return None


@QUIET
@given(value=st.lists(NESTED, min_size=1, max_size=4))
def test_inner_shapes_are_numpys(value: list[Any]) -> None:
    structure = entry(value).get("plus", {}).get("structure", {})
    shape = numpys_shape(value)
    if shape is None:
        assert "ragged" in structure
    elif len(shape) > 1:
        assert structure["nested_shape"] == list(shape)
    else:
        assert "nested_shape" not in structure


@QUIET
@given(
    value=st.lists(
        st.one_of(st.integers(-20, 20), st.floats(width=32), st.booleans()),
        min_size=1,
    )
)
def test_values_of_flat_lists(value: list[float]) -> None:
    info = entry(value)["values"]["value_info"]
    real = [item for item in value if not math.isnan(item)]
    assert info["has_nan"] == (len(real) < len(value))
    if real:
        told = [
            item["$float"] if isinstance(item, dict) else item
            for item in info["value_range"]
        ]
        assert list(map(float, told)) == [min(real), max(real)]
        assert info["num_unique"] == len(set(real))


@QUIET
@given(value=st.lists(st.text(max_size=5), min_size=1, max_size=40))
def test_values_of_lists_of_text(value: list[str]) -> None:
    info = entry(value)["values"]["value_info"]
    assert info["num_unique"] == len(set(value))


@pytest.mark.parametrize(
    ("value", "ragged"),
    [
        (
            [[1, 2], [3]],
            {
                "first_differing_index": 1,
                "shapes": {"[2]": 1, "[1]": 1},
                "n_distinct_shapes": 2,
            },
        ),
        (
            [np.zeros((2, 3)), np.zeros((2, 4))],
            {"first_differing_index": 1, "shapes": {"[2, 3]": 1, "[2, 4]": 1}},
        ),
        ([[1, 2], 3], {"shapes": {"[2]": 1, "single value": 1}}),
        ([[[1], [2, 3]], [[1], [2, 3]]], {"inside": "each item"}),
    ],
)
def test_ragged_lists_tell_where(value: list[Any], ragged: State) -> None:
    assert ragged.items() <= more(value, "structure")["ragged"].items()


def test_what_is_asked_of_a_long_container_is_looked_into() -> None:
    rows = [[at] * (at + 1) for at in range(500)]
    items = entry(rows, "value[499], value[17]")["plus"]["structure"]["items"]
    assert items["499"] == {"length": 500}
    assert items["17"] == {"length": 18}
    table = {f"k{at}": at for at in range(3000)}
    shown = entry(table, "value['k2999']")["plus"]
    assert shown["values"]["items"]["k2999"] == {"value": 2999}
    assert len(shown["values"]["keys"]) == 401
    assert shown["values"]["keys"][-1] == "… 2600 more"
    assert entry(list(range(1000)), "value[700]")["plus"]["values"][
        "asked_items"
    ] == {"700": 700}


def test_dicts_that_the_published_extractor_knows() -> None:
    history = entry({"loss": [0.5, 0.2], "acc": [0.1, 0.9]})
    assert history["structure"] == {"length": 2, "n_epochs": 2}
    assert history["values"] == {
        "detected": "training_history_dict",
        "metrics": ["loss", "acc"],
    }
    assert (
        entry({"f1": 0.5, "n": 3})["values"]["detected"]
        == "scalar_metrics_dict"
    )
    bunch = entry({"data": np.zeros((5, 2)), "target": np.zeros(5)})
    assert bunch["structure"] == {
        "length": 2,
        "data_shape": [5, 2],
        "target_shape": [5],
    }
    assert bunch["values"]["detected"] == "sklearn_dataset_dict"


def test_dicts_for_frames_tell_whether_lengths_agree() -> None:
    assert more({"a": [1, 2], "b": [1]}, "structure")["lengths_equal"] is False
    assert (
        more({"a": [1, 2], "b": np.zeros(2)}, "structure")["lengths_equal"]
        is True
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (3, 3),
        (10**30, str(10**30)),
        pytest.param(-(10**5000), {"bits": 16610, "sign": -1}, id="huge"),
        (float("-inf"), {"$float": "-inf"}),
        ("a" * 300, "a" * 200 + "… (300 characters)"),
        ("\ud800", "\\ud800"),
        (True, True),
        (None, None),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_scalars(value: Any, told: Any) -> None:
    assert entry(value)["values"] == {"value": told}


def test_iterators_are_not_advanced() -> None:
    rows = iter([1, 2, 3])
    next(rows)
    assert entry(rows, "for x in value: print(x)")["plus"] == {
        "structure": {"left": 2},
        "values": {"untouched": True},
    }
    assert list(rows) == [2, 3]
    squares = (n * n for n in range(3))
    told = entry(squares)["plus"]
    assert (told["values"]["exhausted"], told["values"]["stands"]) == (
        False,
        "not started",
    )
    assert told["structure"]["locals"] == {".0": {"left": 3}}
    assert list(squares) == [0, 1, 4]
    assert more(squares, "values") == {"exhausted": True, "untouched": True}
    pairs = zip([1], [2], strict=True)
    entry(pairs)
    assert list(pairs) == [(1, 2)]


def test_sets_come_in_an_order_of_their_own() -> None:
    assert more({"b", "a", "c"}, "values")["items"] == ["a", "b", "c"]
    assert entry({1, "a", None})["structure"] == {"length": 3}


def test_objects_of_the_notebook_by_the_data_they_hold() -> None:
    code = """
class Sensor:
    unit = "mm"
    def __init__(self):
        self.rows = [[1, 2], [3, 4]]
        self._gain = 2.5
    @property
    def trap(self):
        raise SystemExit
    def read(self, n=3):
        return self.rows[n]
class Compact:
    __slots__ = ("a", "b")
sensor, compact = Sensor(), Compact()
compact.a = 7
"""
    state = after(code, "sensor.read(5), sensor.trap, Sensor, compact")
    sensor = state["variables"]["sensor"]
    assert sensor["type"] == "__main__.Sensor"
    assert sensor["plus"]["structure"]["attributes"]["rows"][
        "nested_shape"
    ] == [2, 2]
    assert sensor["plus"]["values"]["attributes"]["_gain"] == {"value": 2.5}
    assert sensor["plus"]["representation"]["methods"] == ["read"]
    assert state["accesses"]["sensor.trap"] == {
        "type": "computed by code that is not run"
    }
    kind = state["variables"]["Sensor"]["plus"]
    assert kind["representation"]["signature"] == "()"
    assert kind["values"]["attributes"] == {"unit": {"value": "mm"}}
    assert state["variables"]["compact"]["plus"]["values"]["attributes"] == {
        "a": {"value": 7}
    }
    # What the method asks of the object stands among what lacks: rows has no sixth place.
    assert lacks(state, "keys", "of", "index", "via") == [
        ("sensor.rows", 5, ["read"])
    ]


def test_functions_tell_signature_and_names_from_outside() -> None:
    code = "rate = 2\ndef price(n, *, tax=0.1):\n    return n * rate + missing"
    plus = after(code, "price(3)")["variables"]["price"]["plus"]
    assert plus["representation"] == {
        "signature": "(n, *, tax=0.1)",
        "module": "__main__",
    }
    assert plus["values"] == {"free_variables": ["rate", "missing"]}


def test_modules_tell_their_version() -> None:
    plus = entry(np)["plus"]
    assert plus == {
        "representation": {"module": "numpy"},
        "values": {"version": np.__version__},
    }


def test_a_long_list_needs_little_besides_itself() -> None:
    import tracemalloc

    rows = [float(at) for at in range(300_000)]
    entry(rows)
    tracemalloc.start()
    try:
        info = entry(rows)["values"]["value_info"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert info["value_range"] == [0.0, 299_999.0]
    assert info["num_unique_at_least"] == 101
    assert peak < 0.1 * 300_000 * 32


@QUIET
@given(
    st.lists(
        st.integers(-(10**20), 10**20)
        | st.floats(allow_nan=False)
        | st.booleans(),
        max_size=30,
    )
    | st.lists(st.text(max_size=3), max_size=30),
    st.integers(0, 4000),
)
def test_distinct_values_are_counted_as_a_set_counts_them(
    few: list[Any], more: int
) -> None:
    rows = few + [type(few[0])(at) for at in range(more)] if few else few
    distinct = sequences.distinct_values(
        rows.__iter__, len(rows), Look(LookLimits(), {})
    )
    assert distinct is not None
    assert distinct.n == len(set(rows))
    assert distinct.few <= set(rows)


def test_counting_many_distinct_values_takes_little_memory() -> None:
    rows = [at * 0.37 for at in range(20_000)]
    tracemalloc.start()
    try:
        distinct = sequences.distinct_values(
            rows.__iter__, len(rows), Look(LookLimits(), {})
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert distinct is not None and distinct.n == 20_000
    assert peak < 0.5 * (sys.getsizeof(rows) + 24 * len(rows))
