"""Statements read in the order of evaluation: which names a piece of code loads before it assigns them.

Knows Python's statements: what is certain to run, what may run, and what is defined afterwards on every way.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Iterable, NamedTuple

from .expressions import PASSES_ERRORS_ON, Expressions
from .names import (
    bound_names,
    by_position,
    called_name,
    local_names,
    name_of_import,
    nodes_in_scope,
    parts_in_scope,
)
from .scopes import NOTHING_KNOWN, Closure

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Import(NamedTuple):
    """A module, or names of a module, that the target imports."""

    module: str
    names: tuple[str, ...]
    line: int
    certain: bool


class Evaluation(Expressions):
    """Reads statements; what was found is in `chains` and `imports`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.imports: list[Import] = []

    def body(self, statements: Iterable[Any]) -> bool:
        """Reads statements in order; True when none of the ways through them comes to the end."""
        was_certain = self.is_certain
        for statement in statements:
            if self._statement(statement):
                self.is_certain = was_certain
                return True
            # After an `if ...: return` the rest may not run.
            if _may_leave(statement):
                self.is_certain = False
        self.is_certain = was_certain
        return False

    def _statement(self, node: Any) -> bool:
        self._note_line(node)
        reader: Callable[[Any], bool | None] | None = getattr(
            self, "_read_" + type(node).__name__.lower(), None
        )
        if reader is not None:
            return bool(reader(node))
        # A statement without a reader of its own has only expressions.
        for child in ast.iter_child_nodes(node):
            self.expression(child)
        return isinstance(node, _LEAVES)

    # Assignments

    def _read_assign(self, node: ast.Assign) -> None:
        self.expression(node.value)
        # Read before the target is bound: `x = x + 1` loads the x of the kernel.
        meaning = self.meaning_of(node.value)
        for target in node.targets:
            self._unpack(target, node.value, meaning)

    def _unpack(self, target: Any, value: Any, meaning: Any) -> None:
        both_spelled = isinstance(target, (ast.Tuple, ast.List)) and isinstance(
            value, (ast.Tuple, ast.List)
        )
        # `a, b = 1, 2` binds each to its own value; any other right side is unknown in its parts.
        if both_spelled and len(target.elts) == len(value.elts):
            for part, meant in zip(
                target.elts,
                [self.meaning_of(element) for element in value.elts],
            ):
                self.bind_target(part, meant)
        else:
            self.bind_target(target, meaning)

    def _read_annassign(self, node: ast.AnnAssign) -> None:
        self.expression(node.value)
        # Annotations of local variables are never evaluated.
        if not self.scopes.locals:
            self.expression(node.annotation)
        if node.value is not None:
            self.bind_target(node.target, self.meaning_of(node.value))

    def _read_augassign(self, node: ast.AugAssign) -> None:
        # `x += 1` loads first, so that a missing name is missed here.
        self.expression(_as_load(node.target))
        self.expression(node.value)
        self.bind_target(node.target)

    def _read_assert(self, node: ast.Assert) -> None:
        """The message is evaluated only where the test fails."""
        self.expression(node.test)
        with self.certain_if(False):
            self.expression(node.msg)

    def _read_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            # `del frame["a"]` raises where the column is missing.
            self.expression(_as_load(target))
            if isinstance(target, ast.Name):
                self.scopes.unbind(target.id)
            else:
                self.mark_changed(target)

    def _read_import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imports.append(
                Import(alias.name, (), node.lineno, self.is_certain)
            )
            self.scopes.bind(name_of_import(alias))

    def _read_importfrom(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        # `from . import x` has no meaning in a notebook that is not a package.
        if not node.level and node.module:
            self.imports.append(
                Import(node.module, names, node.lineno, self.is_certain)
            )
        for alias in node.names:
            self.scopes.bind(alias.asname or alias.name)

    # Definitions

    def _read_functiondef(self, node: Any) -> None:
        arguments = node.args
        for part in parts_in_scope(node):
            self.expression(part)
        named = [*by_position(node), *arguments.kwonlyargs]
        for argument in [*named, arguments.vararg, arguments.kwarg]:
            self.expression(argument.annotation if argument else None)
        self.expression(node.returns)
        # The body is read where the function is called, with what is known there.
        self.scopes.bind(node.name, Closure(node, self.scopes.locals))

    _read_asyncfunctiondef = _read_functiondef

    def _read_classdef(self, node: ast.ClassDef) -> None:
        for part in parts_in_scope(node):
            self.expression(part)
        outer = self.scopes.locals
        # A class's body has its own names, and runs at once.
        own = dict.fromkeys(local_names(node), NOTHING_KNOWN)
        self.scopes.locals = (*outer, own)
        self.body(node.body)
        self.scopes.locals = outer
        self.scopes.bind(node.name, Closure(node, outer))

    # Ways

    def _read_if(self, node: ast.If) -> bool:
        self.expression(node.test)
        return self._ways([node.body, node.orelse])

    def _ways(self, blocks: list[list[Any]]) -> bool:
        """Reads blocks, one of which runs; True when none comes to its end."""
        start, ends = self.scopes.snapshot(), []
        # One of the blocks runs, so nothing in any of them is certain.
        with self.certain_if(False):
            for block in blocks:
                self.scopes.restore(start)
                if not self.body(block):
                    ends.append(self.scopes.snapshot())
        # Where no block comes to its end, what follows is not reached.
        self.scopes.join(ends or [self.scopes.snapshot()])
        return not ends

    def _read_for(self, node: Any) -> None:
        self.expression(node.iter)
        # The body runs at least once only over what is known to hold something.
        with self.certain_if(self.is_filled(node.iter)):
            self.bind_loop(node.target, node.iter)
            self.body(node.body)
        self.body(node.orelse)

    _read_asyncfor = _read_for

    def _read_while(self, node: ast.While) -> None:
        self.expression(node.test)
        # `while True` runs its body at least once.
        with self.certain_if(
            isinstance(node.test, ast.Constant) and bool(node.test.value)
        ):
            self.body(node.body)
        self.body(node.orelse)

    def _read_try(self, node: Any) -> bool:
        before = self.scopes.snapshot()
        # Without handlers (`try ... finally`) an exception in the body still ends the cell.
        with self.certain_if(not node.handlers):
            leaves = self.body([*node.body, *node.orelse])
        # What the body has bound may be unbound where a handler continues.
        self.scopes.perhaps |= set(self.scopes.target) - set(before.target)
        ends = [] if leaves else [self.scopes.snapshot()]
        with self.certain_if(False):
            for handler in node.handlers:
                self.scopes.restore(before)
                if not self._handler(handler):
                    ends.append(self.scopes.snapshot())
        self.scopes.join(ends or [self.scopes.snapshot()])
        # `finally` runs on every way.
        return self.body(node.finalbody) or not ends

    _read_trystar = _read_try

    def _handler(self, handler: ast.ExceptHandler) -> bool:
        self.expression(handler.type)
        if handler.name:
            self.scopes.bind(handler.name)
        return self.body(handler.body)

    def _read_with(self, node: Any) -> bool:
        for item in node.items:
            self.expression(item.context_expr)
            if item.optional_vars is not None:
                self.bind_target(item.optional_vars)
        # What a `with` of the target itself does with exceptions is known to the rules.
        # A context of a library may swallow what is raised in it.
        contexts = [called_name(item.context_expr) for item in node.items]
        with self.certain_if(
            not self._via or PASSES_ERRORS_ON.issuperset(contexts)
        ):
            return self.body(node.body)

    _read_asyncwith = _read_with

    def _read_match(self, node: Any) -> bool:
        self.expression(node.subject)
        for case in node.cases:
            # Guards are evaluated only for cases that come so far.
            self.perhaps(case.guard)
            for name in bound_names(case.pattern):
                self.scopes.bind(name)
        # No case need match.
        self._ways([*(case.body for case in node.cases), []])
        return False

    def _read_global(self, node: ast.Global) -> None:
        """Declares; loads nothing."""

    _read_nonlocal = _read_global


def _as_load(node: Any) -> Any:
    """The same place, loaded instead of assigned to."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    return node


def _may_leave(node: ast.AST) -> bool:
    """True when the statement holds a return, raise, break or continue outside its own functions."""
    # return, break and continue of an inner function leave only that function.
    return any(isinstance(part, _LEAVES) for part in nodes_in_scope(node))
