"""Files of the notebook's folder that are called as Python's own modules are neither run nor left behind by a look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crane_core.runtime.capture import capture

WriteNotebook = Callable[..., Path]
NAMES = (
    "ast",
    "difflib",
    "dis",
    "inspect",
    "json",
    "linecache",
    "platform",
    "resource",
    "select",
    "signal",
    "stat",
)
MODULES = "sorted(__import__('sys').modules)"


OTHER_ENTRIES = (
    "'.'",
    "__import__('os').getcwd()",
    "__import__('os').getcwd() + '/.'",
)


@pytest.mark.parametrize(
    "entry",
    [
        "''",
        *(
            pytest.param(entry, marks=pytest.mark.slow)
            for entry in OTHER_ENTRIES
        ),
    ],
)
def test_they_are_not_run(
    notebook: WriteNotebook, tmp_path: Path, entry: str
) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(
            "open('was_run', 'a').write(__name__)\nraise SystemExit\n"
        )
    setup = f"import sys, collections\nsys.path.insert(0, {entry})\nsys.modules.pop('difflib', None)\nvalues = [1]"
    seen = capture(
        notebook("own", setup, "values.apend(1); collections.Countr; missing"),
        probes=[MODULES],
    ).result
    attributes = seen.state["absent"]["attributes"]
    assert [fact["similar"] for fact in attributes] == [["append"], ["Counter"]]
    assert not (tmp_path / "was_run").exists()
    assert seen.probes[0]["before"] == seen.probes[0]["after"]


@pytest.mark.slow
def test_one_that_the_notebook_imported_is_not_asked(
    notebook: WriteNotebook, tmp_path: Path
) -> None:
    (tmp_path / "difflib.py").write_text(
        "def get_close_matches(*_):\n    raise SystemExit\n"
    )
    setup = "import sys\nsys.path.insert(0, '')\nsys.modules.pop('difflib', None)\nimport difflib\nvalues = [1]"
    seen = capture(
        notebook("own", setup, "difflib.ndiff; values.apend(1)"),
        probes=["difflib.__file__", MODULES],
    ).result
    lacks = [
        (fact["attribute"], fact["similar"])
        for fact in seen.state["absent"]["attributes"]
    ]
    assert lacks == [("ndiff", []), ("apend", ["append"])]
    assert [probe["before"] for probe in seen.probes] == [
        probe["after"] for probe in seen.probes
    ]


@pytest.mark.slow
def test_looking_at_much_loads_no_module(notebook: WriteNotebook) -> None:
    setup = """
import collections, datetime, decimal, functools, pathlib, random, re, uuid
import numpy as np, pandas as pd, scipy.sparse as sp, matplotlib.pyplot as plt
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "t": pd.to_datetime(["2020-01-01", None])})
many = [collections.Counter("ab"), datetime.date.today(), decimal.Decimal(1), re.compile("a"), uuid.uuid4(), open]
matrix, image, model = sp.eye(3).tocsr(), Image.new("L", (2, 2)), make_pipeline(LogisticRegression())
figure, axes = plt.subplots(1, 2)
def read(path, *, columns=("a",)):
    return frame[list(columns)]
"""
    target = "read(pathlib.Path('x')); frame.colums; many, matrix, image, model.fit(1), figure, axes, np.zeros, pd.cut"
    seen = capture(notebook("much", setup, target), probes=[MODULES]).result
    assert seen.probes[0]["before"] == seen.probes[0]["after"]
    assert seen.state["unavailable"] == {}
