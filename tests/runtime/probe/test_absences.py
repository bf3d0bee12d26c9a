"""Attributes, columns, keys and labels that are not there. What is said to lack is tried out: it must raise.

The expressions below are made by hypothesis from a small grammar, looked at, then evaluated by Python, pandas and
numpy themselves. A lack that is stated and does not raise would be a lie.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.optional import needs

from .looks import State, after, lacks, looked

RAISED = (
    KeyError,
    AttributeError,
    IndexError,
    TypeError,
    ValueError,
    pd.errors.UndefinedVariableError,
)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "a": [1, 2, 3],
            "b": ["x", "y", None],
            "c": pd.to_datetime(["2020", "2021", "2022"]),
            "d e": pd.Categorical(["u", "v", "u"]),
            7: [0.5, np.nan, 2.5],
        },
        index=pd.Index([10, 20, 30], name="row"),
    )


def namespace() -> State:
    return {
        "pd": pd,
        "np": np,
        "frame": frame(),
        "wide": pd.DataFrame(
            np.zeros((2, 2)),
            columns=pd.MultiIndex.from_product([["p"], ["q", "r"]]),
        ),
        "named": frame().set_index("b"),
        "series": pd.Series([1, 2], index=["s", "t"], name="u"),
        "months": pd.Series(
            range(3), index=pd.period_range("2020-01", periods=3, freq="M")
        ),
        "groups": frame().groupby("a"),
        "array": np.arange(12).reshape(3, 4),
        "rows": [[1, 2], {"k": (3, 4)}, "text"],
        "table": {"k": [1, 2], "m": {"n": 1}},
        "number": 3,
        "mask": np.array([True, False, True]),
    }


def all_lacks(state: State) -> list[State]:
    return [fact for group in state["absent"].values() for fact in group]


def raises(expression: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(expression, namespace())
        except RAISED:
            return True
    return False


LABELS = st.sampled_from(
    [
        "'a'",
        "'b'",
        "'c'",
        "'d e'",
        "7",
        "'z'",
        "'A'",
        "'row'",
        "0",
        "10",
        "('p', 'q')",
        "'p'",
    ]
)
NUMBERS = st.sampled_from(["0", "2", "-3", "3", "12", "-5"])
KEYS = st.one_of(
    LABELS,
    NUMBERS,
    st.lists(LABELS, min_size=1, max_size=3).map(
        lambda labels: f"[{', '.join(labels)}]"
    ),
)
ROWS = st.one_of(
    NUMBERS,
    st.sampled_from(
        ["10", "20", "[10, 99]", "10:20", ":", "mask", "'x'", "'s'", "[0, 2]"]
    ),
)
COLUMN_CALLS = st.one_of(
    st.sampled_from(
        [
            "head()",
            "copy()",
            "reset_index()",
            "dropna()",
            "fillna(0)",
            "sort_index()",
            "T",
            "describe()",
        ]
    ),
    st.tuples(
        st.sampled_from(
            [
                "groupby({})",
                "sort_values({})",
                "set_index({})",
                "drop(columns={})",
                "drop({}, axis=1)",
                "drop({})",
                "dropna(subset={})",
                "drop_duplicates({})",
                "pop({})",
                "duplicated(subset={})",
                "drop({}, errors='ignore')",
                "merge(frame, on={})",
                "rename(columns={{{}: 'n'}})",
                "astype({{{}: str}})",
                "assign(n=1).drop(columns={})",
            ]
        ),
        LABELS,
    ).map(lambda pair: pair[0].format(pair[1])),
)
ATTRIBUTES = st.sampled_from(
    [
        "a",
        "z",
        "row",
        "shape",
        "columns",
        "index",
        "values",
        "str",
        "dt",
        "cat",
        "append",
        "lower",
        "mean",
        "n",
        "s",
    ]
)
STEPS = st.one_of(
    KEYS.map(lambda key: f"[{key}]"),
    ROWS.map(lambda row: f".loc[{row}]"),
    st.tuples(ROWS, KEYS).map(lambda pair: f".loc[{pair[0]}, {pair[1]}]"),
    ROWS.map(lambda row: f".iloc[{row}]"),
    st.tuples(NUMBERS, NUMBERS).map(
        lambda pair: f".iloc[{pair[0]}, {pair[1]}]"
    ),
    st.tuples(NUMBERS, NUMBERS).map(lambda pair: f"[{pair[0]}, {pair[1]}]"),
    COLUMN_CALLS.map(lambda call: f".{call}"),
    ATTRIBUTES.map(lambda name: f".{name}"),
)
NAMES = st.sampled_from(
    [
        "frame",
        "wide",
        "named",
        "series",
        "months",
        "groups",
        "array",
        "rows",
        "table",
        "number",
    ]
)
EXPRESSIONS = st.tuples(NAMES, st.lists(STEPS, min_size=1, max_size=3)).map(
    lambda pair: pair[0] + "".join(pair[1])
)


@examples(300)
@given(expression=EXPRESSIONS)
def test_what_is_said_to_lack_raises(expression: str) -> None:
    state = looked(namespace(), expression)
    assert state["unavailable"] == {}
    if all_lacks(state):
        assert raises(expression), all_lacks(state)


@pytest.mark.parametrize(
    ("expression", "group", "fact"),
    [
        (
            "frame['z']",
            "columns",
            {"of": "frame", "column": "z", "n_columns": 5},
        ),
        ("frame['A']", "columns", {"column": "A", "similar": ["a"]}),
        (
            "frame['row']",
            "columns",
            {"column": "row", "is_name_of_index_level": True},
        ),
        ("frame[['a', 'z']]", "columns", {"column": "z"}),
        ("frame.loc[:, 'z']", "columns", {"of": "frame", "column": "z"}),
        ("frame.loc[99]", "keys", {"label": 99, "in": "index"}),
        ("frame.loc[[10, 99]]", "keys", {"label": 99}),
        ("frame.drop(99)", "keys", {"label": 99}),
        ("frame.drop(columns=['z'])", "columns", {"column": "z"}),
        ("frame.iloc[3]", "keys", {"index": 3, "length": 3, "in": "rows"}),
        (
            "frame.iloc[0, 5]",
            "keys",
            {"index": 5, "length": 5, "in": "columns"},
        ),
        ("frame.groupby('z').mean()", "columns", {"column": "z"}),
        (
            "frame.groupby('a')['z'].mean()",
            "columns",
            {"of": "frame.groupby(…)", "column": "z"},
        ),
        ("frame.groupby('a').agg({'z': 'mean'})", "columns", {"column": "z"}),
        ("groups['z']", "columns", {"of": "groups", "column": "z"}),
        ("frame.sort_values(by='z')", "columns", {"column": "z"}),
        (
            "frame.merge(named, on='z')",
            "columns",
            {"of": "frame", "column": "z"},
        ),
        ("pd.merge(frame, named, on='b')", None, {}),
        (
            "pd.merge(frame, named, on='d f')",
            "columns",
            {"of": "named", "column": "d f"},
        ),
        ("frame.query('a > 1 and z < @number')", "columns", {"column": "z"}),
        ("frame.plot(x='z', y='a')", "columns", {"column": "z"}),
        (
            "frame.pivot(index='a', columns='b', values='z')",
            "columns",
            {"column": "z"},
        ),
        (
            "frame.append(frame)",
            "attributes",
            {"type": "pandas.DataFrame", "attribute": "append"},
        ),
        (
            "frame.a.z",
            "attributes",
            {"type": "pandas.Series", "attribute": "z"},
        ),
        (
            "frame.b.dt.year",
            "attributes",
            {"attribute": "dt", "why": ".dt needs datetimelike values"},
        ),
        (
            "frame.a.str.lower()",
            "attributes",
            {"attribute": "str", "dtype": "int64"},
        ),
        ("frame.b.cat.codes", "attributes", {"attribute": "cat"}),
        ("named.loc['w']", "keys", {"label": "w"}),
        ("series['w']", "keys", {"label": "w"}),
        ("series.iloc[2]", "keys", {"index": 2}),
        ("frame.drop(columns='a')['a']", None, {}),
        ("frame.head().columns.str.upper()", None, {}),
        ("frame.a.where(frame.a > 1, 'x').str.upper()", None, {}),
        ("frame.mask(frame.a > 1, 'x').a.str.upper()", None, {}),
        ("named.reset_index(names='q')['q']", None, {}),
        ("months.loc['2020']", None, {}),
        ("months['2020-02']", None, {}),
        (
            "frame.columns[9]",
            "keys",
            {"of": "frame.columns", "index": 9, "length": 5},
        ),
        (
            "frame.shape[2]",
            "keys",
            {"of": "frame.shape", "index": 2, "length": 2},
        ),
        ("frame()", "attributes", {"attribute": "__call__"}),
        (
            "array[3]",
            "keys",
            {"index": 3, "shape": [3, 4], "why": "out of bounds"},
        ),
        ("array[0, 4]", "keys", {"index": [0, 4]}),
        ("array[1][7]", "keys", {"of": "array[1]", "index": 7, "shape": [4]}),
        ("array[0, 0, 0]", "keys", {"why": "too many indices"}),
        ("array['k']", "keys", {"index": "k"}),
        (
            "array.append(1)",
            "attributes",
            {"type": "numpy.ndarray", "attribute": "append"},
        ),
        (
            "np.float",
            "attributes",
            {"of": "np", "attribute": "float", "module": "numpy"},
        ),
        ("np.no_such_thing", "attributes", {"attribute": "no_such_thing"}),
        (
            "np.linalg.inverse",
            "attributes",
            {"of": "np.linalg", "attribute": "inverse"},
        ),
        ("rows[3]", "keys", {"index": 3, "length": 3, "type": "list"}),
        (
            "rows[1]['k'][2]",
            "keys",
            {"of": "rows[1]['k']", "index": 2, "length": 2},
        ),
        ("rows['k']", "keys", {"index": "k"}),
        ("table['M']", "keys", {"key": "M", "similar": ["m"], "type": "dict"}),
        ("table.keys", None, {}),
        ("number.foo", "attributes", {"type": "int", "attribute": "foo"}),
        (
            "number[0]",
            "attributes",
            {"type": "int", "attribute": "__getitem__"},
        ),
        ("number(3)", "attributes", {"type": "int", "attribute": "__call__"}),
    ],
)
def test_a_lack_is_told_where_it_is(
    expression: str, group: str | None, fact: State
) -> None:
    state = looked(namespace(), expression)
    if group is None:
        assert all_lacks(state) == []
    else:
        told = state["absent"][group]
        assert any(fact.items() <= found.items() for found in told), told
        assert len(all_lacks(state)) == len(told)
        assert raises(expression)


@pytest.mark.parametrize(
    "target",
    [
        "frame['z'] = 1\nframe['z']",
        "frame.columns = list('vwxyz')\nframe['v']",
        "frame.insert(0, 'z', 1)\nframe['z']",
        "frame.rename(columns={'a': 'z'}, inplace=True)\nframe['z']",
        "frame = frame.rename(columns={'a': 'z'})\nframe['z']",
        "b = frame.copy()\nb['z'] = 1\nb['z']",
        "b = frame.assign(z=1)\nb['z']",
        "b = frame.reset_index()\nb['row']",
        "table['z'] = 1\ntable['z']",
        "table.setdefault('z', 1)\ntable['z']",
        "rows.append(4)\nrows[3]",
        "del table['k']\ntable['m']",
        "frame[mask]['a']",
        "frame[frame['a'] > 1].loc[20]",
        "frame.loc[99] = 1",
        "frame.loc[99, 'z'] = 1\nframe.loc[99]",
        "frame.groupby('row').mean(numeric_only=True)",
        "series.s",
        "frame.a",
        "wide['p']['q']",
        "wide['p', 'q']",
        "frame.T[10]",
        "frame[['a']].agg('mean')",
        "for name in frame.columns:\n    frame[name]",
        "number = {'k': 1}\nnumber['k']",
        "array = array.T\narray[3]",
        "rows[-3]",
        "pd.DataFrame({'x': [1]})['x']",
        "np.random.default_rng(0)",
        "frame.plot",
        "frame.values[2]",
        "frame.index[2]",
    ],
)
def test_what_works_is_not_said_to_lack(target: str) -> None:
    assert not raises(target)
    assert all_lacks(looked(namespace(), target)) == []


ESTIMATOR = "from sklearn.linear_model import LinearRegression\nX = [[1.0], [2.0]]\nm = LinearRegression()"
FORMULA = """
import pandas as pd, numpy as np, statsmodels.formula.api as smf
local = [1, 2]
d = pd.DataFrame({"y": [1, 2], "x": [1, 2]})
"""
PIPELINE = """
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
pipe = Pipeline([("scale", StandardScaler()), ("svc", SVC())])
svc = SVC(probability=False)
"""
LAZY = "class Lazy:\n    def __getattr__(self, name):\n        raise SystemExit\nlazy = Lazy()"


@pytest.mark.parametrize(
    ("code", "target", "member", "told"),
    [
        (
            "from collections import Counter, defaultdict\nd, c, e = defaultdict(list), Counter(), defaultdict(None)",
            "d['x'], c['x'], e['x']",
            "of",
            ["e"],
        ),
        (ESTIMATOR, "m.coef_", "attribute", ["coef_"]),
        # A call may make the attribute, also one in a function that is handed the object.
        (ESTIMATOR, "m.fit(X, [1, 2])\nm.coef_", "attribute", []),
        (
            ESTIMATOR,
            "def train(model):\n    model.fit(X, [1, 2])\ntrain(m)\nm.coef_",
            "attribute",
            [],
        ),
        (LAZY, "lazy.thing", "attribute", []),
        (
            PIPELINE,
            "pipe.named_steps['scaler'], pipe['svc'].gamma, pipe.transform, svc.fit",
            "attribute",
            ["transform", None],
        ),
        (
            PIPELINE,
            "pipe.named_steps['scaler'], pipe['svc'].gamma",
            "key",
            ["scaler"],
        ),
        (
            FORMULA,
            "smf.ols('y ~ x + C(z) + np.log(x) + local', data=d)",
            "column",
            ["z"],
        ),
        (
            "from sklearn.svm import SVC",
            "SVC(kernal='rbf')",
            "argument",
            ["kernal"],
        ),
        (
            "from sklearn.svm import SVC",
            "SVC(kernal='rbf')",
            "similar",
            [["kernel"]],
        ),
    ],
)
def test_of_several_things_those_that_lack_are_told(
    code: str, target: str, member: str, told: list[Any]
) -> None:
    assert [fact.get(member) for fact in all_lacks(after(code, target))] == told


def test_an_attribute_answered_by_code_says_so() -> None:
    entry = after(LAZY, "lazy.thing")["accesses"]["lazy.thing"]
    assert entry == {"type": "not stored; only running code would tell"}


def test_features_a_model_was_fitted_with() -> None:
    code = """
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
fit = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]})
new = fit.rename(columns={"b": "c"})
model = LinearRegression().fit(fit, [1, 2])
chain = make_pipeline(StandardScaler(), LinearRegression()).fit(fit, [1, 2])
"""
    for name in ("model", "chain"):
        columns = lacks(
            after(code, f"{name}.predict(new)"), "columns", "of", "column"
        )
        assert columns == [("new", "b"), ("the features of the model", "c")]
        assert all_lacks(after(code, f"{name}.predict(fit)")) == []


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        ("chain.predict(new)", []),
        pytest.param(
            "sns.pairplot(fit, vars=['a', 'b'])", ["b"], marks=needs("seaborn")
        ),
        ("chain.predict(other)", ["a"]),
        ("prepare.transform(new)", []),
        ("vote.predict(new)", []),
        ("dummy.predict(new)", []),
        (
            "chain.named_steps.keys(), chain.named_steps.get('x'), chain.named_steps.columntransformer",
            [],
        ),
    ],
)
def test_columns_that_no_transformer_takes_may_be_others(
    target: str, missing: list[str]
) -> None:
    code = """
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
fit = pd.DataFrame({"a": [1.0, 2.0], "target": [0, 1]})
new, other = fit.rename(columns={"target": "b"}), fit[["target"]]
prepare = make_column_transformer((StandardScaler(), ["a"]), ("drop", ["target"])).fit(fit)
chain = make_pipeline(make_column_transformer((StandardScaler(), ["a"])), LogisticRegression()).fit(fit, [0, 1])
vote = VotingClassifier([("chain", chain)]).fit(fit, [0, 1])
dummy = DummyClassifier().fit(fit, [0, 1])
"""
    imports = "import seaborn as sns\n" if "sns." in target else ""
    state = after(imports + code, target)
    assert lacks(state, "columns", "column") == missing
    assert state["absent"]["keys"] == state["absent"]["attributes"] == []


FUNCTIONS = """
import functools
def f(a, b=1, *, c):
    return a
def free(*args, **kwargs):
    return args
class K:
    def __init__(self, n):
        self.n = n
    def m(self, x, y=2):
        return x
    @staticmethod
    def s(q):
        return q
    @classmethod
    def c(cls, q):
        return q
def old_names(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        kwargs.pop("old", None)
        return function(*args, **kwargs)
    return inner
@old_names
def wrapped(a):
    return a
k, args, named = K(1), [1], {"c": 2}
class Odd(type):
    def __call__(cls, *args, **kwargs):
        return 1
class Made(metaclass=Odd):
    def __init__(self, n):
        pass
class New:
    def __new__(cls, *args):
        return object.__new__(cls)
"""


@pytest.mark.parametrize(
    ("target", "misfits"),
    [
        ("f(1, 2, 3, c=4)", [(None, "too many arguments by position")]),
        ("f(1)", [("c", "needed and not given")]),
        ("f(1, c=2, d=3)", [("d", "no such argument")]),
        ("f(1, a=2, c=1)", [("a", "given twice")]),
        ("K()", [("n", "needed and not given")]),
        ("K(m=1)", [("m", "no such argument"), ("n", "needed and not given")]),
        ("k.m(1, 2, 3)", [(None, "too many arguments by position")]),
        ("K.s(1, 2)", [(None, "too many arguments by position")]),
        ("K.c()", [("q", "needed and not given")]),
        ("K.m(k, 1)", []),
        ("f(*args, c=1)", []),
        ("f(1, **named)", []),
        ("free(1, x=2)", []),
        ("wrapped(1, old=2)", []),
        ("Made()", []),
        ("New(1, 2)", []),
        ("k.m(1, y=3)", []),
    ],
)
def test_arguments_that_do_not_fit(
    target: str, misfits: list[tuple[str, str]]
) -> None:
    state = after(FUNCTIONS, target)
    assert lacks(state, "arguments", "argument", "why") == misfits
    namespace: State = {}
    exec(FUNCTIONS, namespace)
    with pytest.raises(TypeError) if misfits else nullcontext():
        exec(target, namespace)


FRAME = "import pandas as pd, numpy as np\nname = 'lost.csv'\nframe = pd.DataFrame()"


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        (
            "pd.read_csv('data.csv'); pd.read_csv('datta.csv')",
            [("datta.csv", True, ["data.csv"])],
        ),
        ("pd.read_csv(name)", [("lost.csv", True, [])]),
        ("open('no.txt').read()", [("no.txt", True, [])]),
        ("open('new.txt', 'w'); open('more.txt', mode='a')", []),
        ("frame.to_csv('made.csv')\npd.read_csv('made.csv')", []),
        ("!wget x\npd.read_csv('x')", [("x", False, [])]),
        (
            "pd.read_csv('https://example.org/a.csv'); pd.read_csv(path + 'a')",
            [],
        ),
    ],
)
def test_files_that_are_not_there(
    target: str,
    missing: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a\n1\n")
    state = after(FRAME, target)
    assert lacks(state, "files", "file", "certain", "similar") == missing


READERS = """
import io, os, shelve, zipfile
import numpy as np
from pathlib import Path
path = Path("notes.txt")
archive = zipfile.ZipFile("all.zip", "w")
archive.writestr("inner/a.txt", "")
mode = "w"
class Store:
    def open(self, name): return self
    def read_csv(self, name): return name
store = Store()
def load(name): return name
"""


@pytest.mark.parametrize(
    ("target", "asked"),
    [
        (
            "path.open('r'); Path('notes.txt').open('r')",
            ["path.open(\u2026)", "Path(\u2026).open(\u2026)"],
        ),
        (
            "path.open('w'); path.open(mode); path.exists(); Path(name).open()",
            [],
        ),
        (
            "archive.open('inner/a.txt', 'r'); zipfile.ZipFile('all.zip').open('inner/a.txt')",
            [],
        ),
        ("store.open('a').read_csv('b'); store.read_csv('c'); load('d')", []),
        ("shelve.open('shelf'); os.open('new', os.O_CREAT)", []),
        ("open('new.txt', mode); np.memmap('new', 'u1', 'w+', shape=2)", []),
        (
            "io.open('lost.txt'); np.memmap('lost')",
            ["io.open(\u2026)", "np.memmap(\u2026)"],
        ),
    ],
)
def test_only_functions_that_read_a_file_ask_for_one(
    target: str,
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lacks(after(READERS, target), "files", "of") == asked
