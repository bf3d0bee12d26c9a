"""What a fix must not be: one that hides the exception, skips what crashed, removes statements, or drops rows.

Compares two sources and runs neither. Strict on purpose: a fix that is refused costs a suggestion, one that drops data
costs a result. It cannot see what a new function does inside.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from crane_core.detectors.rules.cell_code import read_cell
from crane_core.repair.fix import Fix
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

_LIKENESS = 0.5
"""The part of the names of a changed stretch that it must keep: with less it is other code, not a fix."""
_HIDE = (ast.Try, ast.TryStar)
_SKIP = (
    ast.If,
    ast.IfExp,
    ast.While,
    ast.For,
    ast.AsyncFor,
    ast.Match,
    ast.BoolOp,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.comprehension,
    ast.Return,
    ast.Break,
    ast.Continue,
)
"""Under any of these the line that crashed may not run at all."""
_HIDING = ("suppress", "seterr", "errstate", "excepthook", "set_custom_exc")
_ENDING = (
    "exit",
    "quit",
    "_exit",
    "skip",
    "exec",
    "eval",
    "run_cell",
    "compile",
)
_DROPPING_WORDS = (
    "dropna drop drop_duplicates head tail sample query truncate nlargest nsmallest nan_to_num fillna isna notna "
    "isnan isfinite notnull isnull isin where mask clip filter pop remove clear delete compress"
)
_DROPPING = frozenset(_DROPPING_WORDS.split())
_DROPPING_ARGUMENTS = (
    "errors",
    "on_bad_lines",
    "error_bad_lines",
    "nrows",
    "skiprows",
    "na_values",
    "usecols",
    "handle_unknown",
)
"""With these a function leaves out what it cannot use."""


def refusal(before: str, fix: Fix) -> str:
    """Why the fix of a target is refused; empty if it may be tried."""
    read = read_cell(fix.source)
    old = read_cell(before)
    if read.error:
        return "the fixed cell cannot be parsed"
    if not list(_statements(read.tree)):
        return "it empties the cell"
    # A cell that could not be parsed has no statements to compare: its lines have to stay.
    if old.error:
        return _of_lines(before, fix.source)
    return (
        _of_magics(before, fix.source)
        or _of_nodes(old.tree, read.tree)
        or _of_names(old.tree, read.tree)
        or _of_statements(old.tree, read.tree)
    )


def _of_lines(before: str, after: str) -> str:
    if before.count("\n") == after.count("\n"):
        return ""
    return "it removes or adds lines"


def _of_magics(before: str, after: str) -> str:
    """Lines for IPython or a shell may do anything, and `%%` decides what runs the cell."""
    if _magics(before) == _magics(after):
        return ""
    return "it changes a magic or shell line"


def _magics(source: str) -> list[str]:
    lines = source.split("\n")
    return [line for line in lines if line.lstrip().startswith(("%", "!"))]


def _of_nodes(old: ast.Module, new: ast.Module) -> str:
    added = _count(new) - _count(old)
    if any(added[kind.__name__] for kind in _HIDE):
        return "it hides the exception"
    if any(added[kind.__name__] for kind in _SKIP):
        return "the line that crashed may not run"
    if added["Slice"] or added["mask"]:
        return "it drops rows"
    return ""


def _count(tree: ast.Module) -> Counter[str]:
    nodes = list(ast.walk(tree))
    n = Counter(type(node).__name__ for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Subscript):
            parts = ast.walk(node.slice)
            n["mask"] += any(isinstance(part, ast.Compare) for part in parts)
    return n


def _of_names(old: ast.Module, new: ast.Module) -> str:
    words = _added(_words(old), _words(new))
    arguments = _added(_arguments(old), _arguments(new))
    if not words.isdisjoint(_HIDING):
        return "it hides the exception"
    if not words.isdisjoint(_ENDING):
        return "the line that crashed may not run"
    is_whole = words.isdisjoint(_DROPPING)
    if not (is_whole and arguments.isdisjoint(_DROPPING_ARGUMENTS)):
        return "it drops rows"
    lost = sorted({*bound_names(*old.body)} - {*bound_names(*new.body)})
    return f"it no longer assigns {lost[0]}" if lost else ""


def _added(old: Iterator[str], new: Iterator[str]) -> set[str]:
    """What is more often in the new code than in the old."""
    more = Counter(new) - Counter(old)
    return set(more)


def _words(tree: ast.Module) -> Iterator[str]:
    """Names and attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                yield word


def _arguments(tree: ast.Module) -> Iterator[str]:
    """Names of arguments, apart from the rest: `drop=True` of reset_index drops an index, not rows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg


def _of_statements(old: ast.Module, new: ast.Module) -> str:
    ours = list(_statements(old))
    theirs = list(_statements(new))
    matcher = SequenceMatcher(
        None,
        [_head(node) for node in ours],
        [_head(node) for node in theirs],
        autojunk=False,
    )
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        gone = ours[i1:i2]
        come = theirs[j1:j2]
        if len(gone) > len(come):
            return "it removes statements"
        if tag == "replace" and not _is_kept(gone, come):
            return "it replaces the code that crashed"
    return ""


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement that does something, outer ones first."""
    for node in ast.walk(tree):
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.stmt():
                yield node


def _head(node: ast.stmt) -> str:
    """The statement's text without its body, whose statements are compared on their own."""
    text = ast.unparse(node)
    if not hasattr(node, "body"):
        return text
    head, _, _ = text.partition("\n")
    return head


def _is_kept(old: list[ast.stmt], new: list[ast.stmt]) -> bool:
    """Whether most names of the changed statements are in what replaces them."""
    before = set(_words(ast.Module(old, [])))
    if not before:
        return True
    after = set(_words(ast.Module(new, [])))
    n_kept = len(before & after)
    return n_kept > 0 and n_kept >= _LIKENESS * len(before)
