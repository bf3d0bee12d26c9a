"""scikit-learn wants a table and got a row of numbers: reshape it, select it as a table, or exchange the arguments."""

import ast
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite, facts_of
from crane_core.repair.fix import Fix

_MESSAGES = (
    "Expected 2D array, got 1D array instead",
    "Expected a 2-dimensional container",
)
_FITS = ("fit", "fit_transform", "fit_predict", "partial_fit", "score")
_TAKES = (*_FITS, "predict", "predict_proba", "transform", "inverse_transform")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a ValueError that wants a table: its arguments exchanged, the column as a table, or reshaped."""
    wants_table = site.message.startswith(_MESSAGES)
    if site.exception != "ValueError" or not wants_table:
        return
    calls = site.here(ast.Call)
    match [call for call in calls if _method(call) in _TAKES]:
        case [ast.Call(args=[first, second, *_])] if (
            _n_axes(site, first) == 1 and _n_axes(site, second) == 2
        ):
            yield site.fix(
                "Exchange the arguments: the table comes first, then the values to predict.",
                site.replaced(first, site.text(second)),
                site.replaced(second, site.text(first)),
            )
        case [ast.Call(args=[first, *_]) as call]:
            yield from _as_table(site, call, first)


def _method(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return ""


def _n_axes(site: CrashSite, node: ast.expr) -> int | None:
    """The number of axes of a variable; None if it is not known."""
    variable = site.variable(node)
    if variable is None:
        return None
    if variable.type == "pandas.Series":
        return 1
    return next((len(shape) for shape in facts_of(variable, "shape")), None)


def _as_table(site: CrashSite, call: ast.Call, node: ast.expr) -> Iterator[Fix]:
    if isinstance(node, ast.Subscript) and _is_column(site, node):
        label = site.text(node.slice)
        yield site.fix(
            f"Select the column as a table: [[{label}]].",
            site.replaced(node.slice, f"[{label}]"),
        )
        return
    variable = site.variable(node)
    if variable is not None and variable.type == "pandas.Series":
        yield site.fix(
            "Make a table of the column: .to_frame().",
            site.after(node, ".to_frame()"),
        )
        return
    if not isinstance(
        node, ast.Name | ast.Attribute | ast.Call | ast.Subscript
    ):
        return
    one_column = "Make it a table with one column: .reshape(-1, 1)."
    yield site.fix(one_column, site.after(node, ".reshape(-1, 1)"))
    # A model that was fitted on several features can only have been given one sample of them.
    if _method(call) not in _FITS:
        one_row = "Make it a table with one row: .reshape(1, -1)."
        yield site.fix(one_row, site.after(node, ".reshape(1, -1)"))


def _is_column(site: CrashSite, node: ast.Subscript) -> bool:
    if not isinstance(node.slice, ast.Constant):
        return False
    table = site.variable(node.value)
    return table is not None and table.type == "pandas.DataFrame"
