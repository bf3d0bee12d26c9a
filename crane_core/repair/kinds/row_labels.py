"""A number that a filter took from the labels of the rows: the row at that position.

Knows filtered tables, whose rows keep the numbers that they had. Refuses indexes that mean something: with a name, of
another type, or set by the notebook.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from crane_core.repair.crash_site import CrashSite, facts_of
from crane_core.repair.fix import Fix, SourceEdit

_NUMBER = re.compile(r"\d+")
_SETS_INDEX = (
    "set_index",
    "groupby",
    "value_counts",
    "pivot",
    "pivot_table",
    "index",
    "index_col",
    "sort_values",
    "sort_index",
    "sample",
    "train_test_split",
)
"""What leads to rows with other labels or another order: there a label and a position are two questions."""


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a KeyError of a number that a filter took away: the row at that position."""
    is_number = _NUMBER.fullmatch(site.message)
    if site.exception != "KeyError" or not is_number:
        return
    row = int(site.message)
    found = [
        node
        for node in site.here(ast.Subscript)
        if _is_read(node) and _was_filtered(site, node, row)
    ]
    if len(found) != 1:
        return
    [node] = found
    if isinstance(node.slice, ast.Tuple):
        yield site.fix(
            "Number the rows that are left again: reset_index(drop=True).",
            _inserted(site, node.value, ".reset_index(drop=True)"),
        )
    else:
        yield _by_position(site, node, row)


def _is_read(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load)


def _table(node: ast.Subscript) -> ast.Name | None:
    """The variable of `table.loc[row]`, `table.loc[row, column]` or `column[row]`."""
    match node.value:
        case ast.Attribute(value=ast.Name() as name, attr="loc" | "at"):
            return name
        case ast.Name() as name:
            return name
    return None


def _was_filtered(site: CrashSite, place: ast.Subscript, row: int) -> bool:
    """Whether the rows are some of a table that was numbered from 0, and there are as many."""
    name = _table(place)
    variable = None if name is None else site.variable(name)
    if variable is None or not variable.type.startswith("pandas."):
        return False
    index = next(facts_of(variable, "index"), None)
    if index is None or not _is_numbered(index):
        return False
    n_rows = int(index.get("length", 0))
    return row < n_rows and not _is_labelled(site)


def _is_numbered(index: Mapping[str, Any]) -> bool:
    """Whether the labels are integers in order, without a name."""
    if index.get("type") not in ("Index", "RangeIndex"):
        return False
    if "name" in index or "names" in index:
        return False
    # pandas 3 keeps neighbouring rows as a range, from the number of the first.
    first = index.get("first")
    if not first:
        first = index.get("range", [None])[:1]
    if any(type(each) is not int for each in first):
        return False
    return bool(first == sorted(first))


def _is_labelled(site: CrashSite) -> bool:
    """Whether a cell that ran sets labels or an order of rows."""
    code = "\n".join(cell.source for cell in site.ran)
    return any(word in code for word in _SETS_INDEX)


def _inserted(site: CrashSite, node: ast.AST, text: str) -> SourceEdit:
    """Behind the table's name."""
    table = node.value if isinstance(node, ast.Attribute) else node
    return site.after(table, text)


def _by_position(site: CrashSite, node: ast.Subscript, row: int) -> Fix:
    sentence = (
        f"Select by position, not by label: .iloc[{site.text(node.slice)}]."
    )
    if isinstance(node.value, ast.Attribute):
        _, end = site.span(node.value)
        start = end - len(node.value.attr)
        edit = SourceEdit(start, end, "iloc")
    else:
        edit = site.after(node.value, ".iloc")
    return site.fix(sentence, edit)
