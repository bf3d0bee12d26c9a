"""Arguments that a method of pandas does not take, where the pandas here is the kernel's: its own signature is asked.

Methods that pandas wraps are bound as what they wrap, which takes by position what is deprecated there. Methods that a
notebook gave pandas itself are not judged.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Final

from crane_core.detectors.rules.answer import UNKNOWN, Answer
from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.operation import Operation

RULES = Family("pandas: arguments")
_CLASSES: Final = {
    "pandas.DataFrame": ("pandas", "DataFrame"),
    "pandas.Series": ("pandas", "Series"),
    "pandas.DataFrameGroupBy": ("pandas.api.typing", "DataFrameGroupBy"),
    "pandas.SeriesGroupBy": ("pandas.api.typing", "SeriesGroupBy"),
}
_INSTEAD: Final = {
    ("fillna", "method"): "call .ffill() or .bfill()",
    ("fillna", "downcast"): "remove it, and call .infer_objects() or .astype() afterwards",
    ("replace", "method"): "call .ffill() or .bfill() after .replace(...)",
    ("groupby", "axis"): "group the transposed frame: .T.groupby(...)",
    ("drop", "column"): "write columns=",
    ("drop_duplicates", "column"): "write subset=",
    ("to_csv", "line_terminator"): "write lineterminator=",
    ("sort_values", "column"): "write by=",
    ("sort_values", "columns"): "write by=",
    ("rename", "column"): "write columns=",
    ("resample", "how"): "call .mean(), .sum() or .agg() on the result",
}


@RULES.method("pandas.DataFrame")
@RULES.method("pandas.Series")
@RULES.method("pandas.DataFrameGroupBy")
@RULES.method("pandas.SeriesGroupBy")
def fitting(operation: Operation) -> Answer:
    """Too many by position, names that it has not, or something that it needs is left out."""
    receiver = operation.receiver
    if not operation.arguments.is_complete or _is_given_by_notebook(operation):
        return UNKNOWN
    signature = _signature(
        f"{receiver.package}.{receiver.class_name}", operation.name, operation.packages.get("pandas", "")
    )
    if signature is None:
        return UNKNOWN
    try:
        signature.bind(receiver, *operation.arguments.positional, **operation.arguments.keywords)
    except TypeError as error:
        unknown = next((name for name in operation.arguments.keywords if name not in signature.parameters), "")
        names = [name for name in signature.parameters if name != "self"]
        operation.crash(
            "TypeError",
            f"{receiver.class_name}.{operation.name}(): {error}",
            fact=f"in pandas {operation.packages['pandas']} it takes {', '.join(names) or 'no arguments'}",
            remedy=_INSTEAD.get((operation.name, unknown), "pass only these arguments"),
        )
    return UNKNOWN


def _is_given_by_notebook(operation: Operation) -> bool:
    """Whether a cell may have put a method of this name into the class."""
    return any(
        operation.mentions(text)
        for text in (f".{operation.name} =", f".{operation.name}=", f"'{operation.name}'", f'"{operation.name}"')
    )


@cache
def _signature(type_name: str, method: str, version: str) -> inspect.Signature | None:
    """Of the method as it is called on an object; None if it is not of this pandas, or takes whatever is given."""
    import pandas

    if pandas.__version__ != version:
        return None
    module, name = _CLASSES[type_name]
    function = inspect.getattr_static(getattr(importlib.import_module(module), name), method, None)
    if not inspect.isfunction(function) or not function.__module__.startswith("pandas."):
        return None
    inner = inspect.unwrap(function)
    if inner is not function and "__signature__" not in vars(function):
        return None
    return inspect.Signature.from_callable(inner) if inspect.isfunction(inner) else None
