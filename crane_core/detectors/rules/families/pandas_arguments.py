"""Arguments that a method of pandas does not take, where the pandas here is the kernel's: its own signature is asked.

Methods that pandas wraps are bound as what they wrap, which takes by position what is deprecated there. Methods that a
notebook gave pandas itself are not judged.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Final

from crane_core.detectors.rules.family import Family
from crane_core.detectors.rules.site import Site
from crane_core.detectors.rules.thing import Thing

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
def fitting(site: Site) -> Thing | None:
    """Too many by position, names that it has not, or something that it needs is left out."""
    receiver = site.receiver
    if receiver is None or not site.arguments.is_complete or _is_given_by_notebook(site):
        return None
    signature = _signature(f"{receiver.package}.{receiver.class_name}", site.name, site.packages.get("pandas", ""))
    if signature is None:
        return None
    try:
        signature.bind(receiver, *site.arguments.positional, **site.arguments.keywords)
    except TypeError as error:
        unknown = next((name for name in site.arguments.keywords if name not in signature.parameters), "")
        names = [name for name in signature.parameters if name != "self"]
        site.crash(
            "TypeError",
            f"{receiver.class_name}.{site.name}(): {error}",
            fact=f"in pandas {site.packages['pandas']} it takes {', '.join(names) or 'no arguments'}",
            remedy=_INSTEAD.get((site.name, unknown), "pass only these arguments"),
        )
    return None


def _is_given_by_notebook(site: Site) -> bool:
    """Whether a cell may have put a method of this name into the class."""
    return any(
        site.mentions(text) for text in (f".{site.name} =", f".{site.name}=", f"'{site.name}'", f'"{site.name}"')
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
