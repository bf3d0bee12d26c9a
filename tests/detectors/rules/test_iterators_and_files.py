"""Iterators that are over, what is none, closed files, values that are called: what Python itself says of each."""

from __future__ import annotations

import pytest

from .conftest import Predict

SETUP = """
import json
import numpy as np
import pandas as pd

def batches(n):
    for i in range(n):
        yield i

used = batches(2)
for _ in used:
    pass
fresh = batches(2)
left = iter((1, 2))
over = iter((1, 2))
list(over)
grown = []
at_end = iter(grown)
with open("/dev/null") as closed:
    pass
opened = open("/dev/null")
rows = [1, 2, 3]
values = np.arange(3.0)
frame = pd.DataFrame({"a": [1, 2]})
score = values.mean()
count = values.astype(int)[0]
flag = values[0] > 1
"""


@pytest.mark.parametrize(
    ("target", "raised"),
    [
        ("next(used)", "StopIteration"),
        ("first = next(over)", "StopIteration"),
        ("next(iter([]))", "StopIteration"),
        ("next(rows)", "TypeError"),
        ("for at, row in enumerate(rows, 1):\n    rows[at]", "IndexError"),
        ("next(values)", "TypeError"),
        ("next(frame)", "TypeError"),
        ("fresh.next()", "AttributeError"),
        ("it = iter(rows)\nit.next()", "AttributeError"),
        ("pairs = zip(rows, rows)\na, b, c = next(pairs)", "ValueError"),
        ("x = next(iter(rows))\nx.shape", "AttributeError"),
        ("for line in closed:\n    print(line)", "ValueError"),
        ("text = closed.read()", "ValueError"),
        ("with closed as f:\n    print(f)", "ValueError"),
        ("score([1], [2])", "TypeError"),
        ("count()", "TypeError"),
        ("flag(1)", "TypeError"),
        ("values(0)", "TypeError"),
        ("frame('a')", "TypeError"),
        ("s = frame['a']\ns(0)", "TypeError"),
        ("best = values.max()\nbest(1)", "TypeError"),
    ],
)
def test_crashes(check: Predict, target: str, raised: str) -> None:
    assert check(SETUP, target).raised == raised


@pytest.mark.parametrize(
    "target",
    [
        "for at, row in enumerate(rows, 1):\n    {1: 0, 2: 0, 3: 0}[at]",
        "next(used, None)",
        "list(used)\nsum(used)",
        "try:\n    next(used)\nexcept StopIteration:\n    pass",
        "next(fresh)\nnext(fresh)",
        "next(left) + 1",
        "next(iter(rows)) + 1",
        "next(iter(frame['a']))",
        "grown.append(1)\nnext(at_end)",
        "used = batches(1)\nnext(used)",
        "closed.closed\nclosed.close()\nclosed.name",
        "closed = open('/dev/null')\nclosed.read()",
        "opened.read()\nfor line in opened:\n    print(line)",
        "pairs = zip(rows, rows)\na, b = next(pairs)\nc, d = next(pairs)",
        "it = iter(rows)\nnext(it)\nnext(it)\nfor x in it:\n    print(x)",
        "score = max\nscore([1], [2])",
        "score.round(2)\nvalues.sum()",
        "next((r for r in rows if r > 1), None)",
        "next(r for r in rows if r > 1)",
        "it = iter(rows)\nprint(next(it), next(it, 0))",
        "next(iter({1: 2}.values()))",
        "next(iter(frame.itertuples()))",
    ],
)
def test_what_runs(check: Predict, target: str) -> None:
    assert check(SETUP, target).raised is None
