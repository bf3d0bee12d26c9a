"""What a cell may do next with a value, and that this value does not allow: a wrong label, index, shape, attribute.

Knows types of values. Whether the second statement really raises is seen by running it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

NAME = "t"
_TABLES = (
    '{n}["zz"]',
    '{n}[["zz", {a}]]',
    "{n}.zz",
    '{n}.loc[:, "zz"]',
    "{n}.iloc[:, 99]",
    "{n}.iloc[99999]",
    '{n}.drop(columns="zz")',
    '{n}.groupby("zz")',
    '{n}.set_index("zz")',
    '{n}.sort_values("zz")',
    '{n}.columns = ["u"] * 40',
    '{n}["q"] = list(range(10007))',
    "if {n}: pass",
    '{n}.merge({n}, on="zz")',
    "{n}.append({n})",
    "{n} = {n}.drop(columns={a})\n{n}[{a}]",
    "{n}.rename(columns={{{a}: 'zz2'}})[{a}]",
    "del {n}[{a}]\n{n}[{a}]",
    "{n}[{a}].foo",
    "{n}.pop({a})\n{n}.pop({a})",
    "{n}['new'] = 1\n{n}.drop(columns='new')['new']",
    "q, r, s = {n}.shape",
    "{n}.copy().reset_index(drop=True)['zz']",
)
_COLUMNS = (
    "{n}.zz",
    "{n}.iloc[99999]",
    "if {n}: pass",
    "{n}.str.upper()",
    "{n}.dt.year",
    "{n}.cat.codes",
    "{n}.reshape(-1, 1)",
    "{n}.append({n})",
    "{n} + {{}}",
    "{n}.to_frame()['zz']",
    "q, r = {n}.shape",
    "{n}.astype('int33')",
    "{n}.columns",
)
_ARRAYS = (
    "{n}[" + "0, " * 20 + "]",
    "{n}.reshape(7, 1009)",
    "{n}[10007]",
    "{n}.append(1)",
    "{n}.zz",
    "{n}.sum(axis=9)",
    "{n}.T.reshape(1009, 3)",
    "{n}[..., 10007]",
)
_NUMPY = (
    *_ARRAYS,
    "import numpy as np\n{n} + np.zeros(1009)",
    "import numpy as np\nnp.concatenate([{n}, np.zeros((1,) * ({d} + 1))])",
    "import numpy as np\n{n} @ np.zeros((1009, 2))",
    "import numpy as np\nnp.dot({n}, np.zeros((1009, 2)))",
    "if {n}: pass",
    "{n} + 'a'",
    "{n}.unsqueeze(0)",
)
_TORCH = (
    *_ARRAYS,
    "import torch\n{n} + torch.zeros(1009)",
    "import torch\ntorch.cat([{n}, torch.zeros((1,) * ({d} + 1))])",
    "import torch\n{n} @ torch.zeros(1009, 2)",
    "import torch\ntorch.nn.Linear(1009, 2)({n})",
    "{n}.view(7, 1009)",
    "if {n}: pass",
    "{n}.squeeze(9)",
    "{n}.astype(float)",
)
_LISTS = (
    "{n}[10007]",
    '{n}["a"]',
    "{n}.shape",
    "{n} + 1",
    "{n}()",
    "{n}.add(1)",
    "q, *r, s = {n}[:1]",
)
_TUPLES = (
    "{n}[10007]",
    '{n}["a"]',
    "{n}.append(1)",
    "{n}[0] = 1",
    "{n}.shape",
    "{n} + [1]",
)
_DICTS = (
    '{n}["zz-"]',
    "{n}.zz",
    "{n}()",
    "{n}.append(1)",
    "del {n}['zz-']",
    "{n}.pop('zz-')",
)
_SETS = ("{n}[0]", "{n}.append(1)", "{n} + {n}")
_TEXTS = (
    "{n} + 1",
    "{n}[10007]",
    "{n}.zz",
    "{n}.append('a')",
    "{n}['a']",
    "int({n} + 'x')",
)
_NUMBERS = (
    "{n}[0]",
    "len({n})",
    "{n}()",
    "for i in {n}: pass",
    "{n} + 'a'",
    "{n}.zz",
    "[1, 2]['a']",
)
_NOTHING = (
    "{n}.zz",
    "{n}[0]",
    "len({n})",
    "for i in {n}: pass",
    "{n} + 1",
    "{n}()",
)
_ESTIMATORS = (
    "{n}.zz",
    "{n}.predict([[1.0]], 1, 2, 3, 4)",
    "{n}.predict()",
    "{n}[0]",
    "len({n})",
    "{n}.set_params(zz=1)",
    "{n}.fit([[1.0, 2.0]] * 3, [1, 0])",
    "{n}.fits([[1.0]])",
    "import numpy as np\n{n}.fit(np.zeros((5, 2)), np.zeros(3))",
    "import numpy as np\n{n}.predict(np.zeros((3, 99)))",
    "import numpy as np\n{n}.transform(np.zeros((3, 99)))",
)
_OBJECTS = (
    "{n}.zz",
    "{n}[0]",
    "len({n})",
    "for i in {n}: pass",
    "{n}()",
    "{n} + 1",
    "{n}.zz()",
    "{n}[10007]",
)
_PLAIN: dict[type, Sequence[str]] = {
    list: _LISTS,
    tuple: _TUPLES,
    dict: _DICTS,
    set: _SETS,
    str: _TEXTS,
    int: _NUMBERS,
    float: _NUMBERS,
    bool: _NUMBERS,
    type(None): _NOTHING,
}


def follow_ups(value: Any, seed: int, most: int = 3) -> Iterator[str]:
    """Some second statements on a value of the name `t`, the same for the same seed."""
    forms = list(_forms(value))
    random.Random(seed).shuffle(forms)
    label, n_dimensions = _label(value), getattr(value, "ndim", 0)
    chosen = [form for form in forms if label is not None or "{a}" not in form]
    for form in chosen[:most]:
        yield form.format(n=NAME, a=repr(label), d=n_dimensions)


def _forms(value: Any) -> Sequence[str]:
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    if kind in ("pandas.DataFrame", "pandas.Series"):
        return _TABLES if kind.endswith("Frame") else _COLUMNS
    if kind == "numpy.ndarray":
        return _NUMPY
    if kind in ("torch.Tensor", "torch.Parameter"):
        return _TORCH
    return (
        _ESTIMATORS
        if kind.startswith("sklearn.")
        else _PLAIN.get(type(value), _OBJECTS)
    )


def _label(value: Any) -> Any:
    """The first column of a table, where it is a text or an integer."""
    columns = (
        getattr(value, "columns", ())
        if type(value).__name__ == "DataFrame"
        else ()
    )
    first = next(iter(columns), None)
    return first if type(first) in (str, int) else None
