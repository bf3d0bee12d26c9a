"""What is inside: items that differ from the first ones, variables of generators, methods of objects in a dict."""

from __future__ import annotations

import collections
import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from .looks import after, entry, lacks, looked, more


class Held:
    def __init__(self, n: Any) -> None:
        self.n = n


Held.__module__ = "__main__"
DIFFERING = {
    "keys": [{"a": 1}, {"a": 2}, {"a": 3}, {"b": 1}, {"a": 4}],
    "values of keys": [{"a": 1}, {"a": 2}, {"a": 3}, {"a": "x"}, {"a": 4}],
    "items": [[1, 2], [3, 4], [5, 6], ["x", "y"], [7, 8]],
    "attributes": [Held(1), Held(2), Held(3), Held("x"), Held(4)],
    "columns": [
        *[pd.DataFrame({"a": [1]})] * 3,
        pd.DataFrame({"b": [1]}),
        pd.DataFrame({"a": [2]}),
    ],
    "dtype of a series": [
        *[pd.Series([1])] * 3,
        pd.Series(["x"]),
        pd.Series([2]),
    ],
    "shape": [*[np.zeros(2)] * 3, np.zeros(3), np.zeros(2)],
}


@pytest.mark.parametrize("what", DIFFERING)
@pytest.mark.parametrize("kind", [list, tuple])
def test_an_item_that_differs_is_told(what: str, kind: type) -> None:
    assert "3" in more(kind(DIFFERING[what]), "representation")["items"]


def test_of_equal_items_the_first_three_are_told() -> None:
    assert list(
        more([{"a": n} for n in range(50)], "representation")["items"]
    ) == [
        "0",
        "1",
        "2",
    ]
    many = more([{str(n): n} for n in range(300)], "representation")["items"]
    assert len(many) == 8


def test_an_array_that_cannot_be_written_is_told() -> None:
    array = np.arange(3)
    assert "writeable" not in entry(array).get("plus", {}).get(
        "representation", {}
    )
    array.flags.writeable = False
    assert more(array, "representation")["writeable"] is False
    assert (
        more(np.broadcast_to(np.zeros(1), 3), "representation")["writeable"]
        is False
    )


class Given:
    pass


def rows(scale: int) -> Iterator[Any]:
    given, table = Given(), np.zeros((2, 3))
    yield given
    yield table * scale


def test_a_generator_tells_where_it_stands_and_its_variables() -> None:
    generator = rows(7)
    new = entry(generator)["plus"]
    assert (new["values"]["stands"], new["values"]["exhausted"]) == (
        "not started",
        False,
    )
    assert new["values"]["locals"] == {"scale": {"value": 7}}
    next(generator)
    waiting = entry(generator)["plus"]
    assert waiting["values"]["stands"] == "suspended"
    assert waiting["structure"]["locals"]["table"] == {"shape": [2, 3]}
    assert np.array_equal(next(generator), np.zeros((2, 3)))
    assert next(generator, "over") == "over"
    assert entry(generator)["plus"] == {
        "values": {"exhausted": True, "untouched": True}
    }


def test_looking_at_a_generator_keeps_nothing_alive() -> None:
    def drops() -> Iterator[Any]:
        held = Given()
        reference = weakref.ref(held)
        yield reference
        del held
        yield reference() is None

    generator = drops()
    next(generator)
    entry(generator)
    assert next(generator)


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="locals() gives its own dict each time"
)
def test_variables_that_the_generators_code_holds_as_a_dict_are_left_alone() -> (
    None
):
    def holds() -> Iterator[Any]:
        n = 1
        held = locals()
        n = 2
        yield held
        yield n

    generator = holds()
    held = next(generator)
    assert held["n"] == 1
    assert "locals" not in more(generator, "values")
    assert held["n"] == 1


def test_a_running_generator_is_not_asked_for_its_variables() -> None:
    def looks() -> Iterator[Any]:
        yield entry(generator)

    generator = looks()
    assert next(generator)["plus"]["values"] == {
        "exhausted": False,
        "untouched": True,
        "stands": "running",
    }
    assert gc.isenabled()


class Keeps(dict[str, Any]):
    pass


class Gives(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise SystemExit


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, Keeps])
def test_entries_of_derived_dicts_are_followed(kind: Any) -> None:
    state = looked(
        {"d": kind(rate=0.1, rows=[1, 2])},
        "d['rate'].upper()\nd['rows'][2]\nd['lost']",
    )
    assert lacks(state, "attributes", "attribute") == ["upper"]
    assert [
        lack.get("index", lack.get("key")) for lack in state["absent"]["keys"]
    ] == [
        2,
        "lost",
    ]


def test_entries_that_code_of_a_class_gives_are_not_followed() -> None:
    given = {"d": Gives(rate=0.1), "e": collections.defaultdict(list, a=[1])}
    state = looked(given, "d['rate'].upper(), d['lost'], e['lost'][0]")
    assert not any(state["absent"].values())


METHODS = """
class Model:
    def fit(self, table):
        return table["lost"] + LOST
models, row, pair, own, table = {"a": Model()}, [Model()], {"x": {"y": Model()}}, Model(), {"k": 1}
class Other:
    def fit(self, table):
        return 1
"""


@pytest.mark.parametrize(
    "call",
    [
        "models['a'].fit(table)",
        "row[0].fit(table)",
        "pair['x']['y'].fit(table)",
    ],
)
def test_methods_of_objects_in_containers_are_entered(call: str) -> None:
    absent = after(METHODS, call)["absent"]
    assert [
        (lack["name"], lack["certain"], len(lack["via"]))
        for lack in absent["names"]
    ] == [("LOST", True, 1)]
    assert [(lack["key"], lack["of"]) for lack in absent["keys"]] == [
        ("lost", "table")
    ]


@pytest.mark.parametrize(
    "target",
    [
        "models['a'] = Other()\nmodels['a'].fit(table)",
        "models.update(a=Other())\nmodels['a'].fit(table)",
        "row[0] = Other()\nrow[0].fit(table)",
        "pair['x']['y'] = Other()\npair['x']['y'].fit(table)",
    ],
)
def test_methods_of_what_the_target_puts_there_are_not_taken_for_the_kernels(
    target: str,
) -> None:
    assert not any(after(METHODS, target)["absent"].values())


def test_the_time_zone_of_an_index_is_told_wherever_the_index_is_taken() -> (
    None
):
    code = """
import pandas as pd
days = pd.date_range("2020", periods=2, tz="Europe/Berlin")
events = pd.DataFrame({"v": [1, 2]}, index=days)
column = events["v"]
both = events.set_index("v", append=True)
"""
    state = after(
        code, "events.index, column.index, column.index.no_such, both"
    )
    for text in ("events.index", "column.index"):
        assert state["accesses"][text]["representation"]["dtype"].endswith(
            "Europe/Berlin]"
        )
    assert lacks(state, "attributes", "of") == ["column.index"]
    dtypes = state["variables"]["both"]["plus"]["structure"]["index"][
        "level_dtypes"
    ]
    assert dtypes[0].endswith("Europe/Berlin]") and dtypes[1] == "int64"
