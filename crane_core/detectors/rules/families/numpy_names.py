"""Names that arrays and the module of NumPy do not have: methods of lists and frames, aliases that were removed."""

from __future__ import annotations

from typing import Final

import numpy as np

from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.families.numpy_arrays import ARRAY, describe
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("numpy: names")
_FRAME: Final = (
    *("iloc", "loc", "head", "tail", "columns", "index", "values", "value_counts", "isnull", "isna", "notnull"),
    *("dropna", "fillna", "unique", "nunique", "map", "apply", "describe", "groupby", "sort_values", "to_numpy"),
    *("to_frame", "reset_index", "drop", "merge", "iterrows", "str", "dt", "plot", "hist", "sample", "corr", "median"),
    *("mode", "to_csv", "info", "dtypes", "rename", "isin", "rolling", "shift", "abs", "concat"),
)
_TENSOR: Final = (
    *("numpy", "detach", "cpu", "cuda", "to", "unsqueeze", "view_as", "permute", "dim", "float", "long", "backward"),
    *("requires_grad", "double"),
)
_TEXT: Final = ("keys", "items", "get", "update", "lower", "upper", "split", "strip", "replace", "join", "format")
_AXES: Final = (
    *("scatter", "bar", "barh", "imshow", "set_title", "set_xlabel", "set_ylabel", "legend", "boxplot", "pie", "grid"),
    *("set_xlim", "set_ylim", "set_xticks", "axhline", "axvline", "axis", "fill_between", "set_xticklabels"),
)
_OF_OTHERS: Final = {
    **dict.fromkeys(_AXES, "it is an array of Axes: select one by its index"),
    **dict.fromkeys(_FRAME, "convert it to a DataFrame or Series: pandas.DataFrame(x), or use the NumPy function"),
    **dict.fromkeys(_TENSOR, "it is not a tensor: remove the call, or convert it with torch.from_numpy(x)"),
    **dict.fromkeys(_TEXT, "it is neither a dict nor a string"),
    **dict.fromkeys(("append", "extend", "insert", "pop", "remove"), "an array has a fixed length: use numpy.append"),
    **dict.fromkeys(("count", "reverse"), "use (x == value).sum(), x[::-1]"),
    **dict.fromkeys(("shapes", "lenght", "length", "len", "dimension", "rows", "cols"), "use .shape, .size or .ndim"),
}
"""Names that arrays had in no version of NumPy, and what to do instead."""


def _is_no_name(name: str) -> bool:
    return name in _OF_OTHERS and not hasattr(np.ndarray, name)


@RULES.attribute(ARRAY)
@RULES.method(ARRAY)
def missing(operation: Operation) -> Answer:
    receiver = operation.receiver
    if not _is_no_name(operation.name) or operation.name in receiver.attributes:
        return UNKNOWN
    return operation.crash(
        "AttributeError",
        f"'numpy.ndarray' object has no attribute {operation.name!r}",
        fact=describe(receiver) if describe(receiver) != receiver.words else f"{receiver.words} is a numpy.ndarray",
        remedy=_OF_OTHERS[operation.name],
    )
