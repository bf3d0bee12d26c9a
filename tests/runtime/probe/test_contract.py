"""Every summarizer over many values: JSON alone, bounded, the same again, never an error, and nothing changed.

The folder is the registry: a class name in a `for_<package>.py` without a value here fails, where its package is
installed and is one of those below.
"""

from __future__ import annotations

import array
import collections
import contextlib
import copy
import datetime
import decimal
import fractions
import functools
import importlib
import io
import math
import pathlib
import pickle
import random
import re
import types
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler

from crane_core.runtime.kernel_side.crane_probe.anatomy import mro_of, name_of
from crane_core.runtime.kernel_side.crane_probe.look import look

from .looks import (
    after,
    entry,
    is_told_inside_and_in_short,
    keeps_the_contract,
    looked,
    more,
)

PACKAGES = [
    "builtins",
    "stdlib",
    "numpy",
    "pandas",
    "scipy",
    "sklearn",
    "PIL",
    "matplotlib",
]
mpl.use("Agg")


class Point(NamedTuple):
    x: int
    y: float


class Plain:
    kind = "class data"

    def __init__(self) -> None:
        self.rows = [1, 2]
        self._hidden = "h"

    def method(self, n: int = 3) -> int:
        return n


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = 1


def gives() -> Iterator[int]:
    yield from (1, 2, 3)


def half_used(iterator: Iterator[Any]) -> Iterator[Any]:
    next(iterator)
    return iterator


def builtin_values() -> list[Any]:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    return [
        0,
        -1,
        10**30,
        10**5000,
        -(10**4999),
        True,
        None,
        1.5,
        math.nan,
        -math.inf,
        2j,
        "",
        "x" * 5000,
        "\ud800é\0",
        b"ab",
        bytearray(b"abc"),
        memoryview(b"abcd"),
        range(2, 20, 3),
        range(10**30),
        slice(1, None),
        ...,
        NotImplemented,
        [],
        [1, 2, 2],
        [1, "a", None, 2.5],
        [[1, 2], [3, 4]],
        [[1], [2, 3]],
        [[[1], [2]], [[3], [4, 5]]],
        cycle,
        (),
        (100, 3700),
        Point(1, 2.5),
        (np.zeros(3), "x"),
        [math.nan, 1],
        list(range(30_000)),
        ["a"] * 30_000,
        {},
        {"a": 1, "b": [1, 2]},
        {1: "x", (1, 2): None},
        {"loss": [0.5, 0.25], "acc": [0.1, 0.2]},
        {"f1": 0.5, "n": 3},
        {"data": np.zeros((4, 2)), "target": [0, 1, 0, 1]},
        dict.fromkeys(range(5000)),
        collections.OrderedDict(a=1),
        collections.defaultdict(list, a=[1]),
        collections.Counter("abca"),
        collections.deque([1, 2], maxlen=5),
        {1, 2, 3},
        frozenset({"a", "b"}),
        {1, "a"},
        set(),
        {}.keys(),
        {"a": 1}.values(),
        {"a": 1}.items(),
        half_used(iter([1, 2, 3])),
        half_used(gives()),
        zip([1], [2], strict=False),
        map(str, [1]),
        filter(None, [1]),
        enumerate([1]),
        iter({1: 2}),
        iter({1}),
        iter("ab"),
        iter(range(3)),
        iter((1,)),
        iter({}.items()),
        iter({}.values()),
        reversed([1]),
        iter(b"ab"),
        iter(bytearray(b"ab")),
        len,
        str.upper,
        [].append,
        "".join,
        dict.fromkeys,
        object.__repr__,
        (1).__add__,
        half_used,
        Plain().method,
        functools.partial(half_used, 3),
        Plain,
        Point,
        int,
        Plain(),
        Slotted(),
        types,
        math,
        lambda x, *, y=1: x,
        ValueError("no"),
        types.SimpleNamespace(a=1),
        object(),
        array.array("d", [1.0]),
        contextlib.nullcontext(3),
    ]


def stdlib_values() -> list[Any]:
    return [
        datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
        datetime.date(2020, 1, 2),
        datetime.time(3),
        datetime.timedelta(1),
        datetime.UTC,
        decimal.Decimal("1.50"),
        fractions.Fraction(1, 3),
        uuid.UUID(int=1),
        pathlib.Path(),
        pathlib.PurePath("a/b"),
        re.compile("(a)b"),
        io.StringIO("text"),
        io.BytesIO(b"text"),
    ]


def numpy_values() -> list[Any]:
    rng = np.random.default_rng(0)
    store = io.BytesIO()
    np.savez(store, a=np.zeros(2))
    store.seek(0)
    return [
        rng.normal(size=(30, 4)),
        np.array([]),
        np.array(5),
        np.arange(100_000),
        np.array([1, np.nan, np.inf]),
        np.array(["x", "yy"]),
        np.array([b"x"]),
        np.array([[1], [2, 3]], dtype=object),
        np.zeros((2, 0, 3)),
        np.zeros(3, dtype=[("a", "i4"), ("b", "U3")]),
        np.array(["2020", "NaT"], "M8[D]"),
        np.array([1], "m8[s]"),
        np.array([1 + 2j]),
        np.array([True, False]),
        np.float16([1]),
        np.array([1], np.longdouble),
        rng.normal(size=(6, 6))[::2, ::3],
        np.ma.masked_array([1, 2], mask=[0, 1]),
        np.array([1, 2], dtype=">i4"),
        np.array(["a" * 500]),
        np.float32(0.1),
        np.int64(7),
        np.bool_(1),
        np.str_("s"),
        np.datetime64("2020-01-01"),
        np.longdouble(1.5),
        np.dtype("f4"),
        rng,
        np.random.RandomState(0),
        np.sum,
        np.load(store),
    ]


def pandas_values() -> list[Any]:
    pyarrow = importlib.import_module("pyarrow")
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [1.0, np.nan, np.inf],
            "s": ["a", None, "c"],
            "o": pd.Series([[1], {"k": 1}, None], dtype=object),
            "m": pd.Series(["1", 2, 3.5], dtype=object),
            "c": pd.Categorical(["u", "v", "u"], categories=["u", "v", "w"]),
            "t": pd.to_datetime(["2020", None, "2021"]),
            "z": pd.to_datetime(["2020", "2020", "2021"]).tz_localize("UTC"),
            "d": pd.to_timedelta([1, 2, None], unit="s"),
            "p": pd.period_range("2020", periods=3, freq="M"),
            "v": pd.interval_range(0, 3),
            "I": pd.array([1, None, 3], dtype="Int64"),
            "B": pd.array([True, None, False], dtype="boolean"),
            "y": pd.array([1, None, 2], dtype="int64[pyarrow]"),
            "l": pd.array(
                [[1], None, [2]],
                dtype=pd.ArrowDtype(pyarrow.list_(pyarrow.int64())),
            ),
            "S": pd.arrays.SparseArray([0, 1, 0]),
            "b": [True, False, True],
        }
    )
    several = frame.set_index(["i", "s"])
    wide = pd.DataFrame(
        np.zeros((5, 90)),
        columns=pd.MultiIndex.from_product([list("abc"), range(30)]),
    )
    double = pd.DataFrame(
        [[1, 2]], columns=["x", "x"], index=[pd.Timestamp("2020")]
    )
    return [
        frame,
        several,
        wide,
        double,
        frame.iloc[:0],
        frame[[]],
        pd.DataFrame(),
        *(frame[name] for name in frame),
        frame.index,
        frame.columns,
        several.index,
        wide.columns,
        double.index,
        pd.Index([1.5, 2]),
        pd.Index([], dtype=object),
        pd.Timestamp("2020"),
        pd.Timedelta(1),
        pd.Period("2020"),
        pd.Interval(0, 1),
        pd.NA,
        pd.NaT,
        frame.groupby("b"),
        frame.groupby("b")["f"],
        frame["c"].array,
    ]


def sklearn_values() -> list[Any]:
    iris = load_iris(as_frame=True)
    x, y = iris.data, iris.target
    prepare = ColumnTransformer(
        [
            ("n", StandardScaler(), list(x.columns[:2])),
            ("c", OneHotEncoder(), [x.columns[2]]),
        ]
    )
    models = [
        LinearRegression().fit(x, y),
        LogisticRegression(max_iter=200, C=0.5).fit(x, y),
        LabelEncoder().fit(["a", "b"]),
        StandardScaler().fit(x),
        OneHotEncoder().fit(x[x.columns[:1]]),
        RandomForestClassifier(3, random_state=0).fit(x, y),
        KNeighborsClassifier().fit(x, y),
        CountVectorizer().fit(["a bc", "bc d"]),
        Pipeline([("p", prepare), ("m", LinearRegression())]).fit(x, y),
        GridSearchCV(LinearRegression(), {"fit_intercept": [True]}, cv=2).fit(
            x, y
        ),
        LinearRegression(),
        Pipeline([("s", StandardScaler()), ("m", "passthrough")]),
        VotingClassifier([("a", LogisticRegression())]),
    ]
    return [*models, iris]


def picture_values() -> list[Any]:
    figure = Figure()
    axes = figure.subplots(2, 2)
    axes[0, 0].plot([1, 2])
    axes[0, 0].set_title("title")
    images = [
        Image.new(mode, (4, 5)) for mode in ("RGB", "L", "1", "RGBA", "P")
    ]
    return [figure, axes, axes[0, 0], Figure(), *images]


def sparse_values() -> list[Any]:
    rng = np.random.default_rng(0)
    base = sp.random(10, 6, density=0.2, random_state=rng)
    formats = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
    return [*map(base.asformat, formats), sp.csr_array(np.eye(3))]


VALUES: dict[str, Callable[[], list[Any]]] = {
    "builtins": builtin_values,
    "stdlib": stdlib_values,
    "numpy": numpy_values,
    "pandas": pandas_values,
    "scipy": sparse_values,
    "sklearn": sklearn_values,
    "pictures": picture_values,
}


def fingerprint(value: Any) -> Any:
    """What must be the same before and after: the value's bytes, or what an iterator still has to give."""
    if type(value) is collections.deque or hasattr(value, "__length_hint__"):
        return (
            repr(type(value)),
            value.__length_hint__()
            if hasattr(value, "__length_hint__")
            else len(value),
        )
    if isinstance(value, types.GeneratorType):
        return value.gi_frame.f_lasti
    if isinstance(value, zip | map | filter | enumerate):
        return repr(value.__reduce__()[1])
    if isinstance(
        value, BaseException
    ):  # pickled by tblib, which Dask installs, it is given a __dict__
        return repr(value.__reduce__())
    if (
        isinstance(value, Axes)
        or isinstance(value, np.ndarray)
        and value.dtype == object
        and isinstance(value.flat[0], Axes)
    ):
        return fingerprint(np.ravel(value)[0].figure)
    if isinstance(value, Figure):
        return [
            (
                axes.stale,
                axes.get_children(),
                axes._viewLim.get_points().tolist(),
            )
            for axes in value.get_axes()
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pickle.dumps(value)
        except (
            TypeError,
            pickle.PicklingError,
            AttributeError,
            RecursionError,
        ):
            return repr(value)


def surroundings() -> Any:
    state = np.random.get_state()
    return (
        random.getstate(),
        state[1].tobytes(),
        state[2:],
        np.geterr(),
        pd.options.display.max_rows,
    )


@pytest.mark.slow
@pytest.mark.parametrize("package", VALUES)
def test_every_value_is_told_the_same_again_and_nothing_changes(
    package: str,
) -> None:
    for value in VALUES[package]():
        keeps_the_contract(
            value, lambda one: (fingerprint(one), surroundings())
        )
    for value in VALUES[package]():
        is_told_inside_and_in_short(value)


def test_each_summarizer_has_a_value_here() -> None:
    met = {
        name_of(kind)
        for make in VALUES.values()
        for value in make()
        for kind in mro_of(type(value))
    }
    for package in PACKAGES:
        file = importlib.import_module(
            f"crane_core.runtime.kernel_side.crane_probe.summarizers.for_{package}"
        )
        names = {name.rpartition(".")[2] for name in file.SUMMARIZERS}
        assert names - met <= NOT_HERE, package


NOT_HERE = {
    "coroutine",
    "async_generator",
    "classmethod_descriptor",
    "method_descriptor",
    "TextIOWrapper",
    "BufferedReader",
    "BufferedWriter",
    "FileIO",
    "spmatrix",
    "str_ascii_iterator",
    "FigureBase",
    "_AxesBase",
    "timezone",
}
"""Classes that cannot be pickled or made at ease, old names, and parents of classes that are here."""


def test_a_copy_tells_the_same() -> None:
    for value in [*numpy_values()[:15], *pandas_values()[:5]]:
        assert entry(value) == entry(copy.deepcopy(value)), type(value)


def test_files_are_told_without_moving_in_them(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("a\nb\nc\n")
    with path.open() as rows, path.open("rb") as raw:
        rows.readline()
        raw.read(1)
        for file in (rows, raw):
            assert more(file, "values") == {"closed": False}
        assert rows.readline() == "b\n"
        assert raw.tell() == 1
    assert more(rows, "values") == {"closed": True}


def test_pandas_keeps_no_lookup_tables_from_being_looked_at() -> None:
    frame = pd.DataFrame(
        {"a": np.arange(1000)}, index=np.arange(1000)[::-1].copy()
    )
    looked(
        {"frame": frame}, "frame.loc[5], frame['a'], frame['zz'], frame.index"
    )
    for index in (frame.index, frame.columns):
        assert "_engine" not in index._cache


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="no such limit: colums"):
        look({}, {"target": "1", "limits": {"colums": 3}})


def test_packages_of_the_variables_are_told_with_their_versions() -> None:
    state = looked({"np": np, "frame": pd.DataFrame()}, "np, frame")
    assert state["captured"]["packages"] == {
        "numpy": np.__version__,
        "pandas": pd.__version__,
    }


def test_packages_of_functions_and_of_classes_with_a_metaclass_are_told() -> (
    None
):
    code = "from sklearn.linear_model import Ridge\nfrom sklearn.metrics import r2_score\nfrom scipy.stats import norm"
    for target, package in (
        ("Ridge()", "sklearn"),
        ("r2_score(1, 2)", "sklearn"),
        ("norm.pdf(1)", "scipy"),
    ):
        assert set(after(code, target)["captured"]["packages"]) == {package}
