"""No module is loaded by looking: values of the libraries in real kernels, with what had been imported before the look.

What a library loads late, as numpy its masked arrays, it must load only for the notebook.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core.runtime.capture import capture
from tests.optional import LIBRARIES, needs

NUMPY = """
import numpy as np
decimals, numbers, truths, texts = np.arange(5.0), np.arange(10), np.arange(3) > 1, np.array(["a", "b"])
objects, times, long = np.array([1, "a", None], dtype=object), np.array(["2020"], dtype="M8[D]"), np.arange(100_000.0)
few, few_decimals, holed = np.array([1, 9000, 3] * 30_000), np.array([1.5, 2.5] * 50_000), np.array([1.0, np.nan])
grid, strided, records = np.zeros((100, 200)), np.zeros((8, 8))[:, ::2], np.zeros(3, dtype=[("x", "i4")])
scalar, half, none, draws, random = np.float64(3), np.zeros(5, "f2"), np.zeros(0), np.random.rand(5), np.random
matrix, generator, polynomial = np.matrix([[1, 2]]), np.random.default_rng(0), np.polynomial.Polynomial([1, 2])
"""
PANDAS = """
import pandas as pd, numpy as np
frame = pd.DataFrame({
    "i": [1, 2, 3], "f": [1.0, None, 3], "s": ["a", "b", None], "d": pd.to_datetime(["2020", "2021", "2022"]),
    "z": pd.to_datetime(["2020", "2021", "2022"]).tz_localize("UTC"), "c": pd.Categorical(["a", "b", "a"]),
    "I": pd.array([1, None, 2], dtype="Int64"), "B": pd.array([True, None, False], dtype="boolean"),
    "S": pd.array(["a", "b", None], dtype="string"), "t": pd.to_timedelta([1, 2, 3], unit="s"),
    "p": pd.period_range("2020", periods=3, freq="M"), "v": pd.interval_range(0, 3), "o": [[1], {}, 3],
    "n": pd.arrays.SparseArray([0, 0, 1]), "x": [1j, 2, 3], "F": pd.array([1.0, None, 2], dtype="Float64"),
})
series, index, groups, moment = frame["f"], frame.index, frame.groupby("i"), pd.Timestamp("2020")
zoned = pd.Series(range(100), index=pd.date_range("2020", periods=100, tz="Europe/Berlin"))
wide = pd.DataFrame(np.zeros((2, 2)), columns=pd.MultiIndex.from_product([["p"], ["q", "r"]]))
"""
PYTHON = """
import collections, datetime, decimal, enum, fractions, functools, pathlib, re, types, uuid
now, day, span, zone = datetime.datetime.now(), datetime.date.today(), datetime.timedelta(1), datetime.timezone.utc
exact, part, key, pattern = decimal.Decimal(1), fractions.Fraction(1, 2), uuid.uuid4(), re.compile("x")
path, match = pathlib.Path(), pattern.match("x")
ordered, waiting, counts = collections.OrderedDict(a=1), collections.defaultdict(list), collections.Counter("abc")
queue, bound, space = collections.deque([1]), functools.partial(print, 1), types.SimpleNamespace(a=1)
given, pairs, mixed, some = (x for x in [1]), zip([1], [2]), [1, "a", None, [1]], {1, 2}
class Kept:
    def __init__(self): self.held = 1
    def fit(self, x): return x
kept = Kept()
@functools.lru_cache()
def cached(x): return x
class Colour(enum.Enum):
    red = 1
colour = Colour.red
"""
SKLEARN = """
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import Bunch
X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
model, forest = LogisticRegression().fit(X, y), RandomForestClassifier(2).fit(X, y)
pipe, columns = make_pipeline(StandardScaler(), LogisticRegression()), make_column_transformer((StandardScaler(), [0]))
sparse, bunch = OneHotEncoder().fit_transform([["a"], ["b"]]), Bunch(data=[1], target=[1])
"""
TORCH = """
import torch
zeros, numbers, net = torch.zeros(3, 4), torch.arange(4), torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
optimizer, loss = torch.optim.SGD(net.parameters(), lr=0.1), torch.nn.CrossEntropyLoss()
pairs = torch.utils.data.TensorDataset(zeros, torch.zeros(3))
loader, half = torch.utils.data.DataLoader(pairs, batch_size=2), zeros.half()
class Own(torch.utils.data.Dataset):
    def __len__(self): return 3
    def __getitem__(self, at): return at, 1.0
own = torch.utils.data.DataLoader(Own())
"""
MATPLOTLIB = """
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
figure, axes = plt.subplots(2, 2)
lines, image = axes[0, 0].plot([1, 2]), axes[0, 1].imshow([[1, 2]])
"""
PILLOW = "from PIL import Image\npicture = Image.new('RGB', (4, 4))"
SCIPY = "import scipy.sparse\nmatrix, array = scipy.sparse.csr_matrix([[1, 0]]), scipy.sparse.coo_array([[1]])"
VALUES = {
    "numpy": NUMPY,
    "pandas": PANDAS,
    "python": PYTHON,
    "sklearn": SKLEARN,
    "torch": TORCH,
    "matplotlib": MATPLOTLIB,
    "PIL": PILLOW,
    "scipy": SCIPY,
}
ASK = """
{0}
{0}.nowhere, {0}["k"], {0}[0], {0}.shape, {0}.mean(axis=0), {0}.fit(1), {0}(), {0}.loc["q"], {0}.dt.year
for each in {0}: print(each + {0})
"""
MODULES = "import no_such_module\nfrom math import nothing\npd.read_csv('x.csv'), open('y')"


QUICK = ("numpy", "pandas", "python")
"""Of the others test_capture_own_files looks at fewer values, in one kernel."""


def marks(library: str) -> list[pytest.MarkDecorator]:
    if library in LIBRARIES:
        return needs(library)
    return [] if library in QUICK else [pytest.mark.slow]


@pytest.mark.slow
@pytest.mark.parametrize(
    "library",
    [pytest.param(library, marks=marks(library)) for library in sorted(VALUES)],
)
def test_looking_loads_no_module(
    notebook: Callable[..., Path], library: str
) -> None:
    code = VALUES[library]
    targets = [
        part
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign)
        for part in node.targets
    ]
    names = [
        node.id
        for part in targets
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    ]
    target = "\n".join(ASK.format(name) for name in names) + MODULES
    path = notebook(
        library, code, "import sys\nloaded_before = sorted(sys.modules)", target
    )
    captured = capture(
        path, probes=["sorted(set(sys.modules) ^ set(loaded_before))"]
    )
    assert set(captured.result.state["variables"]) >= set(names)
    assert [probe["after"] for probe in captured.to_json()["probes"]] == ["[]"]
