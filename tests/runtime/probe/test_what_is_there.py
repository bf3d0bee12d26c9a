"""Nothing that an object has is told as absent: `hasattr` is the oracle, over all names that `dir` knows."""

from __future__ import annotations

import argparse
import ctypes
import functools
import gc
import io
import keyword
import logging
import pathlib
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression

from .looks import looked
from .test_contract import VALUES


class Kept:
    def method(self) -> int:
        return 3


Kept.method.note = 1  # type: ignore[attr-defined]


class Structure(ctypes.Structure):
    _fields_ = [("note", ctypes.c_int)]


def opened() -> Any:
    return pathlib.Path(__file__).open("rb")


def noted(value: Any) -> Any:
    """The value, with its own attribute."""
    value.note = 1
    return value


KEPT = Kept()
NOTED: dict[str, Callable[[], Any]] = {
    "partial": lambda: noted(functools.partial(print, end="")),
    "cached function": lambda: noted(functools.lru_cache(len)),
    "text file": lambda: noted(io.TextIOWrapper(io.BytesIO())),
    "file of bytes": lambda: noted(opened()),
    "text in memory": lambda: noted(io.StringIO()),
    "namespace": lambda: types.SimpleNamespace(note=1),
    "arguments": lambda: argparse.Namespace(note=1),
    "of a thread": lambda: noted(threading.local()),
    "proxy": lambda: weakref.proxy(noted(KEPT)),
    "bound method": lambda: KEPT.method,
    "exception": lambda: noted(ValueError()),
    "logger": lambda: noted(logging.Logger("x")),
    "structure": Structure,
    "generic class": lambda: types.GenericAlias(
        type("Mine", (Kept,), {"note": 1}), int
    ),
    "frame": lambda: noted(pd.DataFrame({"a": [1]})),
    "series": lambda: noted(pd.Series([1])),
    "levels of columns": lambda: pd.DataFrame(
        [[1]], columns=pd.MultiIndex.from_tuples([("note", 1)])
    ),
    "levels of rows": lambda: pd.Series(
        [1], index=pd.MultiIndex.from_tuples([("note", 1)])
    ),
    "array": lambda: noted(np.zeros(3).view(type("Mine", (np.ndarray,), {}))),
    "records": lambda: np.array([(1,)], dtype=[("note", "i4")]).view(
        np.recarray
    ),
}
ONLY_RUNNING_TELLS = (
    "of a thread",
    "proxy",
    "records",
    "generic class",
    "levels of rows",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NOTED)
def test_an_attribute_that_was_given_is_there(name: str) -> None:
    value = NOTED[name]()
    assert hasattr(value, "note")
    assert looked({"value": value}, "value.note")["absent"]["attributes"] == []


@pytest.mark.parametrize(
    "name", [name for name in NOTED if name not in ONLY_RUNNING_TELLS]
)
def test_one_that_was_not_given_is_absent(name: str) -> None:
    [lack] = looked({"value": NOTED[name]()}, "value.nowhere")["absent"][
        "attributes"
    ]
    assert (lack["of"], lack["attribute"], lack["certain"]) == (
        "value",
        "nowhere",
        True,
    )


def test_a_partial_and_a_file_are_given_no_dict_by_looking() -> None:
    made: list[Any] = [
        functools.partial(print, end=""),
        io.StringIO(),
        io.BytesIO(),
    ]
    before = [len(gc.get_referents(value)) for value in made]
    looked(
        {"made": made, "a": made[0], "b": made[1], "c": made[2]},
        "made; a.x; b.x; c.x",
    )
    assert [len(gc.get_referents(value)) for value in made] == before


def test_what_a_selector_has_whatever_its_estimator_has() -> None:
    selector = RFE(LogisticRegression())
    assert hasattr(selector, "set_output")
    assert (
        looked({"selector": selector}, "selector.set_output")["absent"][
            "attributes"
        ]
        == []
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", VALUES)
def test_nothing_that_dir_knows_is_absent(package: str) -> None:
    for value in VALUES[package]():
        names = [
            name
            for name in dir(value)
            if name.isidentifier() and not keyword.iskeyword(name)
        ]
        lacks = looked(
            {"value": value}, "\n".join(f"value.{name}" for name in names)
        )["absent"]["attributes"]
        told = [lack["attribute"] for lack in lacks if lack["of"] == "value"]
        assert [name for name in told if hasattr(value, name)] == []
