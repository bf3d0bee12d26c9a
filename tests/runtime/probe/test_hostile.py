"""Objects that raise, sleep, count or lie when they are touched: the state comes in time and nothing was called."""

from __future__ import annotations

import json
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from crane_core.runtime.kernel_side.crane_probe import shared
from crane_core.runtime.kernel_side.crane_probe.summarizers import for_builtins

from .looks import State, looked

CALLS: list[str] = []
SPECIAL = [
    "__repr__",
    "__str__",
    "__len__",
    "__iter__",
    "__next__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__hash__",
    "__bool__",
    "__int__",
    "__float__",
    "__index__",
    "__getattr__",
    "__getattribute__",
    "__getitem__",
    "__contains__",
    "__call__",
    "__array__",
    "__array_interface__",
    "__dir__",
    "__format__",
    "__reduce__",
    "__reduce_ex__",
    "__sizeof__",
    "__length_hint__",
    "__enter__",
    "__exit__",
    "__add__",
    "__class__",
    "__dict__",
    "__instancecheck__",
    "__subclasscheck__",
    "__mro_entries__",
    "__del__",
    "__fspath__",
    "__bytes__",
    "__reversed__",
    "__missing__",
    "__get__",
    "__set_name__",
    "__dataframe__",
    "__arrow_c_array__",
    "__torch_function__",
    "__sklearn_is_fitted__",
    "__sklearn_tags__",
    "_repr_html_",
    "shape",
    "dtype",
    "columns",
    "index",
    "__wrapped__",
    "__signature__",
    "__doc__",
    "__name__",
    "__module__",
    "__annotations__",
    "__version__",
    "__all__",
    "__path__",
]


def trap(name: str) -> Callable[..., Any]:
    def touched(*arguments: Any, **named: Any) -> Any:
        CALLS.append(name)
        raise SystemExit(name)

    return touched


def body(*, names: list[str]) -> State:
    """A class body in which each name is a method that traps, or a property that does."""
    plain = {"__module__": "__main__"}
    methods = {
        name: trap(name)
        for name in names
        if name.startswith("__") and name not in PROPERTIES
    }
    properties = {
        name: property(trap(name))
        for name in names
        if name in PROPERTIES or not name.startswith("__")
    }
    return {**methods, **properties, **plain}


PROPERTIES = {
    *(
        "__class__",
        "__dict__",
        "__wrapped__",
        "__signature__",
        "__doc__",
        "__name__",
        "__annotations__",
    ),
    *("__version__", "__all__", "__path__", "__array_interface__"),
}
QUIET = [
    name
    for name in SPECIAL
    if name not in ("__set_name__", "__mro_entries__", "__del__", "__module__")
]


TRAPS_OF_A_METACLASS: State = {
    name: trap("meta " + name)
    for name in (
        "__getattribute__",
        "__getattr__",
        "__instancecheck__",
        "__subclasscheck__",
        "__eq__",
        "__hash__",
        "__repr__",
        "__call__",
        "__iter__",
        "__len__",
        "__dir__",
        "__contains__",
    )
}
TRAPS_OF_A_METACLASS |= {
    name: property(trap("meta " + name))
    for name in ("__mro__", "__name__", "__dict__", "__doc__", "__bases__")
}
Meta = type("Meta", (type,), TRAPS_OF_A_METACLASS)
"""A metaclass that traps whatever is asked of its classes."""


@pytest.fixture(autouse=True)
def nothing_is_called() -> Iterator[None]:
    CALLS.clear()
    yield
    assert CALLS == []


def hostile_class(*bases: type, names: list[str] | None = None) -> type:
    return type(
        "Hostile",
        bases or (object,),
        body(names=QUIET if names is None else names),
    )


def instance(kind: type) -> Any:
    return object.__new__(kind)


def of_metaclass() -> Any:
    kind = type.__new__(
        Meta, "Cold", (object,), {"__module__": "__main__", "x": 1}
    )
    return object.__new__(kind)


def self_containing() -> list[Any]:
    rows: list[Any] = [1]
    rows.append(rows)
    rows.append({"rows": rows, "t": (rows,)})
    return rows


def deep() -> list[Any]:
    rows: list[Any] = []
    for _ in range(5000):
        rows = [rows]
    return rows


def lying_module() -> Any:
    class Lazy(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            CALLS.append("module " + name)
            raise SystemExit

        def __getattribute__(self, name: str) -> Any:
            CALLS.append("module " + name)
            raise SystemExit

    return Lazy("lazy")


def lazy_module() -> Any:
    module = types.ModuleType("lazily")
    module.__getattr__ = trap("module __getattr__")  # type: ignore[method-assign]
    return module


def impostor(module: str, name: str) -> Any:
    """An object whose class claims to be one of a library's."""
    return instance(
        type(name, (object,), {**body(names=QUIET), "__module__": module})
    )


def slotted() -> Any:
    kind = type(
        "Slotted", (object,), {**body(names=QUIET), "__slots__": ("a", "b")}
    )
    made = object.__new__(kind)
    vars(kind)["a"].__set__(made, 1)
    return made


def with_attributes() -> Any:
    kind = type(
        "Held",
        (object,),
        body(names=[name for name in QUIET if name != "__dict__"]),
    )
    made = object.__new__(kind)
    object.__setattr__(made, "inner", instance(hostile_class()))
    object.__setattr__(made, "n", 3)
    return made


def keyed() -> dict[Any, Any]:
    """A dict whose keys collide with a text that the target asks for."""

    class Key:
        def __hash__(self) -> int:
            return hash("wanted")

        def __eq__(self, other: object) -> bool:
            CALLS.append("key __eq__")
            raise SystemExit

    return {Key(): 1}


def generator() -> Any:
    def gives() -> Iterator[int]:
        CALLS.append("generator advanced")
        yield 1

    return gives()


HOSTILE: dict[str, Callable[[], Any]] = {
    "object": lambda: instance(hostile_class()),
    "list": lambda: list.__new__(hostile_class(list)),
    "tuple": lambda: tuple.__new__(hostile_class(tuple), (1, 2)),
    "dict": lambda: dict.__new__(hostile_class(dict)),
    "set": lambda: set.__new__(hostile_class(set)),
    "str": lambda: str.__new__(hostile_class(str), "text"),
    "int": lambda: int.__new__(hostile_class(int), 3),
    "float": lambda: float.__new__(hostile_class(float), 3.5),
    "bytes": lambda: bytes.__new__(hostile_class(bytes), b"ab"),
    "exception": lambda: Exception.__new__(hostile_class(Exception)),
    "metaclass": of_metaclass,
    "class of metaclass": lambda: type(of_metaclass()),
    "held": with_attributes,
    "slots": slotted,
    "inside": lambda: [
        1,
        {"k": instance(hostile_class())},
        (instance(hostile_class()), of_metaclass()),
    ],
    "many": lambda: [instance(hostile_class()) for _ in range(5000)],
    "false ndarray": lambda: impostor("numpy", "ndarray"),
    "false frame": lambda: impostor("pandas", "DataFrame"),
    "false frame of old": lambda: impostor("pandas.core.frame", "DataFrame"),
    "false estimator": lambda: impostor("sklearn.base", "BaseEstimator"),
    "false tensor": lambda: impostor("torch", "Tensor"),
    "false image": lambda: impostor("PIL.Image", "Image"),
    "lying module": lying_module,
    "lazy module": lazy_module,
    "self": self_containing,
    "deep": deep,
    "keys": keyed,
    "generator": generator,
    "bound method": lambda: types.MethodType(
        lambda self: None, instance(hostile_class())
    ),
    "million keys": lambda: dict.fromkeys(range(1_000_000)),
    "class with properties": lambda: hostile_class(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_object_is_told_and_not_touched(name: str) -> None:
    value = HOSTILE[name]()
    state = looked(
        {"value": value, "other": 3},
        "value.attribute; value['wanted']; value[0]; value.method(other); value(other); len(value); other + value\n"
        "for x in value:\n    print(x)\nother.__class__",
    )
    assert "type" in state["variables"]["value"]
    assert state["variables"]["other"]["values"] == {"value": 3}
    assert len(json.dumps(state)) < 100_000
    # What was made for the test goes without a sound.
    del value


def test_a_subclass_of_a_library_class_is_read_below_its_overrides() -> None:
    names = [
        "__repr__",
        "__len__",
        "__iter__",
        "__getitem__",
        "__eq__",
        "__array__",
        "shape",
        "dtype",
        "columns",
    ]
    array = np.zeros((2, 3)).view(
        type("Mine", (np.ndarray,), body(names=[*names, "__getattribute__"]))
    )
    kind = type(
        "Frame", (pd.DataFrame,), body(names=[*names, "index", "_constructor"])
    )
    frame = object.__new__(kind)
    object.__setattr__(frame, "_mgr", pd.DataFrame({"a": [1, 2]})._mgr)
    state = looked(
        {"array": array, "frame": frame},
        "array[5], frame['b'], frame.columns, array.shape",
    )
    assert state["variables"]["array"]["structure"] == {"shape": [2, 3]}
    assert state["variables"]["frame"]["structure"] == {"shape": [2, 1]}
    assert state["unavailable"] == {}


def test_an_estimator_of_the_notebook_is_read_by_what_it_holds() -> None:
    kind = type(
        "Mine",
        (BaseEstimator,),
        body(
            names=[
                "__repr__",
                "__getattr__",
                "__sklearn_is_fitted__",
                "get_params",
            ]
        ),
    )
    made = object.__new__(kind)
    object.__setattr__(made, "coef_", [1, 2])
    state = looked({"made": made}, "made.predict")
    assert state["variables"]["made"]["values"]["is_fitted"] is True


def test_a_summarizer_that_raises_becomes_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(value: Any, look: Any) -> State:
        raise RuntimeError("no luck\nand more")

    monkeypatch.setitem(for_builtins.SUMMARIZERS, "set", broken)
    state = looked({"a": {1}, "b": [{2}], "c": 1}, "a, b, c")
    assert state["unavailable"] == {"a": "RuntimeError: no luck"}
    assert state["variables"]["b"]["plus"]["values"]["items"]["0"] == {
        "unavailable": "RuntimeError: no luck"
    }
    assert state["variables"]["c"]["values"] == {"value": 1}


def test_an_error_with_hostile_words_is_told_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = type(
        "Cold", (Exception,), body(names=["__str__", "__repr__", "__getattr__"])
    )

    def broken(value: Any, look: Any) -> State:
        raise kind(instance(hostile_class()))

    monkeypatch.setitem(for_builtins.SUMMARIZERS, "set", broken)
    assert looked({"a": {1}}, "a")["unavailable"] == {"a": "__main__.Cold"}


def test_a_summary_that_is_no_json_is_made_json(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wild = {
        "values": {
            1: {float("nan"), object()},
            (2, "x"): object(),
            "s": "\ud800",
            "n": 10**5000,
            "t": (1, [2]),
        }
    }
    monkeypatch.setitem(
        for_builtins.SUMMARIZERS, "set", lambda value, look: wild
    )
    values = looked({"a": {1}}, "a")["variables"]["a"]["values"]
    assert values["(2, 'x')"] == "<object>"
    assert values["t"] == [1, [2]]
    assert values["s"] == "\\ud800"


def test_threads_that_change_a_dict_do_not_break_the_look() -> None:
    table: dict[int, int] = dict.fromkeys(range(2000), 0)
    stop = threading.Event()

    def churn() -> None:
        at = 0
        while not stop.is_set():
            table[at % 4000] = at
            table.pop((at * 7) % 4000, None)
            at += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    worker = threading.Thread(target=churn)
    worker.start()
    try:
        for _ in range(20):
            assert (
                looked({"table": table}, "table[1]")["variables"]["table"][
                    "type"
                ]
                == "dict"
            )
    finally:
        stop.set()
        worker.join()
        sys.setswitchinterval(interval)


def test_one_value_half_made_does_not_hide_the_others() -> None:
    half = object.__new__(pd.DataFrame)
    state = looked(
        {"rows": [half, np.zeros((2, 3))], "half": half},
        "rows[0].a; half['a'].b(); half.c(1)",
    )
    assert state["variables"]["rows"]["structure"] == {"length": 2}
    assert state["variables"]["rows"]["plus"]["structure"]["items"]["1"] == {
        "shape": [2, 3]
    }
    assert state["variables"]["half"]["type"].endswith("DataFrame")


def test_a_chain_that_cannot_be_followed_leaves_the_docs_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(value: Any, steps: Any) -> Any:
        raise RuntimeError("no way")

    monkeypatch.setattr(for_builtins, "FOLLOW", broken)
    state = looked(
        {"rows": [1], "len_of": len}, "rows.x.append(1)\nlen_of(rows)"
    )
    assert (
        state["unavailable"]["rows.x.append(\u2026)"] == "RuntimeError: no way"
    )
    assert state["variables"]["len_of"]["docs"]["signature"] == "(obj, /)"


def test_an_object_whose_dict_belongs_to_another_class_is_told() -> None:
    """As wrapt's proxies in Keras 2, which inherit `__dict__` from a class of another layout."""

    class Layout:
        pass

    class Proxy:
        __dict__ = vars(Layout)["__dict__"]

    state = looked(
        {"model": [Proxy()], "proxy": Proxy()}, "proxy.depth; model[0]"
    )
    assert state["variables"]["proxy"]["type"].endswith("Proxy")
    assert state["variables"]["model"]["structure"] == {"length": 1}


def test_where_sharing_cannot_be_told_everything_counts_as_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("no way")

    monkeypatch.setattr(shared, "shared", broken)
    state = looked({"rows": [1], "more": [2]}, "rows[0]; more")
    assert state["captured"]["held"] == ["more", "rows"]
    assert state["unavailable"] == {
        "what else holds the variables": "RuntimeError: no way"
    }
    assert state["variables"]["rows"]["structure"] == {"length": 1}
