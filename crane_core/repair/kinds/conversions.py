"""A value of another type than is taken: a number joined to text, a quotient as an index, columns of text in a mean."""

import ast
import re
from collections.abc import Iterator

from crane_core.repair.crash_site import CrashSite
from crane_core.repair.fix import Fix, SourceEdit

_JOINS_TEXT = re.compile(
    r"can only concatenate str \(not \"(?:int|float|bool)\"\) to str"
    r"|unsupported operand type\(s\) for \+: '(?:int|float)' and 'str'"
)
_WANTS_INTEGER = re.compile(
    r"'float' object cannot be interpreted as an integer"
    r"|(?:list|tuple|string|range) indices must be integers or slices, not float"
    r"|slice indices must be integers"
)
_OF_TEXT = re.compile(
    r"could not convert string to float|[Cc]ould not convert .* to numeric|agg function failed"
    r"|Cannot perform reduction '\w+' with string dtype|dtype 'str' does not support (?:reduction|operation)"
)
_NUMERIC_ONLY = (
    "mean",
    "median",
    "std",
    "var",
    "sem",
    "skew",
    "corr",
    "cov",
    "quantile",
)
"""Methods that left out columns of text until pandas 2.0 made `numeric_only` False."""
_TABLES = ("DataFrame", "GroupBy")


def propose(site: CrashSite) -> Iterator[Fix]:
    """At a type that is not taken: as text, as an integer, or the numeric columns alone."""
    if _JOINS_TEXT.match(site.message):
        yield from _as_text(site)
    elif _WANTS_INTEGER.match(site.message):
        yield from _as_integer(site)
    elif site.exception in ("ValueError", "TypeError") and _OF_TEXT.search(
        site.message
    ):
        yield from _numeric_only(site)


def _as_text(site: CrashSite) -> Iterator[Fix]:
    """`'n = ' + n` with a text that is written there, and one operand that is not a text."""
    operands = _added(site)
    others = [node for node in operands if not _is_text(node)]
    if len(others) == 1 < len(operands):
        [node] = others
        yield site.fix(
            f"Make {site.text(node)} a text: str(...).",
            site.replaced(node, f"str({site.text(node)})"),
        )


def _added(site: CrashSite) -> list[ast.expr]:
    """What the sums of the statement add."""
    sums = [
        node for node in site.here(ast.BinOp) if isinstance(node.op, ast.Add)
    ]
    sides: list[ast.expr] = []
    for node in sums:
        sides += (node.left, node.right)
    return [side for side in sides if not isinstance(side, ast.BinOp)]


def _is_text(node: ast.expr) -> bool:
    # Of `n + '3'` the sum may be wanted.
    is_literal = (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and not node.value.strip().isdecimal()
    )
    is_made = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "str"
    )
    return is_literal or is_made or isinstance(node, ast.JoinedStr)


def _as_integer(site: CrashSite) -> Iterator[Fix]:
    """`len(rows) / 2` as an index: Python 2 had integers there."""
    divisions = [
        node for node in site.here(ast.BinOp) if isinstance(node.op, ast.Div)
    ]
    if len(divisions) != 1:
        return
    [node] = divisions
    _, left_end = site.span(node.left)
    start, _ = site.span(node.right)
    between = site.source[left_end:start]
    if between.count("/") == 1 and "#" not in between:
        edit = SourceEdit(left_end, start, between.replace("/", "//"))
        yield site.fix("Divide to an integer: //.", edit)


def _numeric_only(site: CrashSite) -> Iterator[Fix]:
    calls = [
        call
        for call in site.calls(*_NUMERIC_ONLY)
        if isinstance(call.func, ast.Attribute)
        and _is_of_table(site, call.func.value)
    ]
    if len(calls) != 1:
        return
    [call] = calls
    if all(keyword.arg != "numeric_only" for keyword in call.keywords):
        yield site.fix(
            "Leave out the columns of text, as pandas did before 2.0: numeric_only=True.",
            site.with_argument(call, "numeric_only=True"),
        )


def _is_of_table(site: CrashSite, node: ast.expr) -> bool:
    """A table itself, or its groups: of one column `numeric_only` would not help."""
    match node:
        case ast.Call(func=ast.Attribute(attr="groupby", value=table)):
            return _is_of_table(site, table)
    variable = site.variable(node)
    return variable is not None and variable.type.endswith(_TABLES)
