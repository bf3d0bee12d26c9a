"""What the names of a piece of code stand for while it is read in the order of evaluation.

Knows three kinds of name: local to a function or comprehension, given a value by the target before, and of the
kernel. A local name may be another word for an object of the kernel, a known value, or a function.
"""

from __future__ import annotations

import ast
from typing import Any, Iterable, Iterator, NamedTuple

from ..anatomy import MISSING
from .asked import Steps

NOTHING_KNOWN: Any = MISSING
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
HAS_ITS_OWN_NAMES = (*DEFINITIONS, ast.Lambda)


class Alias(NamedTuple):
    """Another word for what a chain of the kernel leads to.

    `copy` is 0 for the kernel's own object. What a call gave, as in `b = a.copy()`, may be changed without it: each
    such value has its own number.
    """

    name: str
    steps: Steps = ()
    copy: int = 0

    @property
    def owner(self) -> tuple[str, int]:
        """What is changed when this object is changed."""
        return self.name, self.copy


class Literal(NamedTuple):
    """A known value."""

    value: Any


class Closure(NamedTuple):
    """A function or class that the code itself defines, with the scopes it was defined in."""

    node: Any
    scopes: tuple[dict[str, Any], ...]


class Scopes:
    """Which names stand for what, now."""

    def __init__(self) -> None:
        self.target: dict[str, Any] = {}
        """Names that the target has given a value, with what is known of it."""
        self.locals: tuple[dict[str, Any], ...] = ()
        """Local scopes, the innermost last."""
        self.perhaps: set[str] = set()
        """Names that the target assigns on some ways, not on all."""
        self.made: set[tuple[tuple[str, int], str]] = set()
        """Items and attributes of kernel objects that the target has set."""
        self.changed: set[tuple[str, int]] = set()
        """Kernel objects whose items the target may have changed."""
        self.called: set[tuple[str, int]] = set()
        """Kernel objects of which the target has called a method, or which it has handed to a function."""

    def meaning(self, name: str) -> Any:
        """What a name that is not the kernel's refers to; an Alias to itself for a name of the kernel."""
        for scope in reversed(self.locals):
            if name in scope:
                return scope[name]
        # A name that nothing binds is the kernel's, or missing.
        return self.target.get(name, Alias(name))

    def bind(self, name: str, meaning: Any = NOTHING_KNOWN) -> None:
        """Binds the name in the scope to which it belongs."""
        for scope in reversed(self.locals):
            if name in scope:
                scope[name] = meaning
                return
        self.target[name] = meaning

    def unbind(self, name: str) -> None:
        """The target deletes the name: it is the kernel's again, as far as is known."""
        self.target.pop(name, None)

    def snapshot(self) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
        """Copies of the target's names and of the local scopes, to be restored."""
        # Copies: a branch is read into the same dicts and must be taken back.
        return dict(self.target), tuple(dict(scope) for scope in self.locals)

    def restore(
        self, taken: tuple[dict[str, Any], tuple[dict[str, Any], ...]]
    ) -> None:
        """Put back what `snapshot` returned."""
        self.target = dict(taken[0])
        for scope, names in zip(self.locals, taken[1]):
            scope.clear()
            scope.update(names)

    def join(
        self, ends: list[tuple[dict[str, Any], tuple[dict[str, Any], ...]]]
    ) -> None:
        """After branches: a name is the target's own only where each branch assigns it."""
        some = set().union(*(end[0] for end in ends))
        self.target = _joined([end[0] for end in ends])
        # Bound on some ways: neither the kernel's for certain nor the target's.
        self.perhaps |= some - set(self.target)
        for at, scope in enumerate(self.locals):
            joined = _joined([end[1][at] for end in ends])
            # A local name stays local on every way, whatever it holds.
            scope.update(
                {name: joined.get(name, NOTHING_KNOWN) for name in scope}
            )


def _joined(ends: list[dict[str, Any]]) -> dict[str, Any]:
    first = ends[0]
    shared = [name for name in first if all(name in end for end in ends)]
    return {
        # By identity: two branches that bind equal values are rare, and comparing may run code.
        name: first[name]
        if all(end[name] is first[name] for end in ends)
        else NOTHING_KNOWN
        for name in shared
    }


def name_of_import(alias: ast.alias) -> str:
    """The name that an import binds: `import a.b` binds `a`."""
    return alias.asname or alias.name.partition(".")[0]


def by_position(node: Any) -> list[Any]:
    """The parameters that may be given by position; Python 3.7 wrote no trees of those that must be."""
    return [*getattr(node.args, "posonlyargs", []), *node.args.args]


def parameters(node: Any) -> tuple[str, ...]:
    """The names of a function's parameters, in order; those that take the rest last."""
    arguments = node.args
    named = [*by_position(node), *arguments.kwonlyargs]
    rest = [arguments.vararg, arguments.kwarg]
    return tuple(
        argument.arg for argument in [*named, *rest] if argument is not None
    )


def local_names(node: Any) -> dict[str, Any]:
    """The scope of a function: parameters and the names that its body assigns, nothing known of any."""
    body = node.body if isinstance(node.body, list) else [node.body]
    return dict(
        dict.fromkeys(parameters(node), NOTHING_KNOWN), **given_names(body)
    )


def given_names(body: Iterable[ast.AST]) -> dict[str, Any]:
    """The names that statements give values in their own scope, but for those they declare as of another."""
    found = [given for statement in body for given in _given(statement)]
    outer = {name for name, is_outer in found if is_outer}
    # `global x` in a function binds the name of the module.
    return {name: NOTHING_KNOWN for name, _ in found if name not in outer}


def _given(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Names that a statement assigns; True with those that it declares global or nonlocal."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from ((name, True) for name in node.names)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((name_of_import(alias), False) for alias in node.names)
    name = _own_name(node)
    if name is not None:
        yield name, False
    if isinstance(node, HAS_ITS_OWN_NAMES):
        return
    for child in ast.iter_child_nodes(node):
        # A comprehension's names are its own, except those of `:=`.
        if not _is_comprehension(node) or isinstance(child, ast.NamedExpr):
            yield from _given(child)


def _own_name(node: ast.AST) -> str | None:
    if isinstance(node, DEFINITIONS):
        return node.name
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.ExceptHandler):
        return node.name
    # Names in patterns of `match` (Python 3.10) are texts, not Name nodes.
    name = (
        getattr(node, "name", None)
        if type(node).__name__ in ("MatchAs", "MatchStar")
        else None
    )
    return name if isinstance(name, str) else None


def _is_comprehension(node: ast.AST) -> bool:
    return isinstance(
        node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    )
