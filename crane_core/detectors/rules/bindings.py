"""Which names the executed cells have given what: public paths by import, definitions by def and class.

Knows the statements of cells in the order in which they ran. Refuses to follow what they compute; a name that is given
something else later, or perhaps, is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from crane_core.detectors.rules.paths import public_path
from crane_core.runtime.kernel_side.crane_probe.syntax.names import (
    DEFINITIONS,
    bound_names,
)

UNKNOWN_EFFECT = "__crane_anything__"
"""The name that represents a line with unknown effects on the namespace."""
UNKNOWN_VALUE = "__crane_value__"
"""The name that represents an unknown value: what a shell command has printed."""

# Each may assign a global whose name stands nowhere: `vars()['x'] = 1`, `ip.run_cell(text)`.
_MAY_DEFINE = (
    "exec",
    "eval",
    "globals",
    "locals",
    "vars",
    "setattr",
    "get_ipython",
    "run_cell",
    "__import__",
)


@dataclass(slots=True)
class Bindings:
    """What names stand for after the executed cells, as far as statements alone tell."""

    paths: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, ast.AST] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    """Names that a cell has certainly deleted last, with the position of the cell."""
    bound: set[str] = field(default_factory=set)
    """Every name that any statement assigns, in functions too where it declares it global."""
    may_define_any: bool = False
    modules: set[str] = field(default_factory=set)
    """Modules that were imported, by their real dotted names."""

    def copied(self) -> Bindings:
        """To be changed on its own; the definitions are the same."""
        return replace(
            self,
            paths=dict(self.paths),
            definitions=dict(self.definitions),
            deleted=dict(self.deleted),
            bound=set(self.bound),
            modules=set(self.modules),
        )


def bindings_of(
    trees: Iterable[ast.Module],
    before: Bindings | None = None,
    n_before: int = 0,
) -> Bindings:
    """The bindings after cells with these trees have run, after those of which `before` tells."""
    found = Bindings() if before is None else before.copied()
    for position, tree in enumerate(trees, start=n_before):
        for statement in tree.body:
            _read(statement, position, found)
    return found


def _read(statement: ast.stmt, position: int, found: Bindings) -> None:
    # A `global later` in a function counts too, whether or not the function was called.
    names = set(bound_names(statement))
    found.bound |= names | set(global_names(statement))
    found.may_define_any |= may_define_any(statement)
    # Also imports in functions and branches: they may have run, and may extend classes of others.
    imports = [
        node
        for node in ast.walk(statement)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    found.modules.update(*map(imported_modules, imports))
    # Also names that a branch or loop assigns: after `for ...: say = len`, `say` is either of two.
    for name in names | set(global_names(statement)):
        found.paths.pop(name, None)
        found.definitions.pop(name, None)
        found.deleted.pop(name, None)
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        found.paths.update(import_paths(statement))
    elif isinstance(statement, DEFINITIONS):
        found.definitions[statement.name] = statement
    elif isinstance(statement, ast.Assign):
        _read_lambda(statement, found)
    # Only a `del` at the top level is certain to have run.
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                found.deleted[target.id] = position


def _read_lambda(statement: ast.Assign, found: Bindings) -> None:
    """`f = lambda x: ...`."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Lambda() as definition):
            found.definitions[name] = definition


def import_paths(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, each with its public path. A star binds none."""
    return {
        name: public_path(path) for name, path in written_paths(node).items()
    }


def written_paths(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that an import binds, each with its path as the import spells it. A star binds none."""
    if isinstance(node, ast.Import):
        return dict(map(_written_path, node.names))
    # `from . import beds` leads to a file beside the notebook, not to a
    # library.
    if node.level or not node.module:
        return {}
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for alias in node.names
        if alias.name != "*"
    }


def _written_path(alias: ast.alias) -> tuple[str, str]:
    """`import a.b` binds a, and `import a.b as c` binds c to a.b."""
    top = alias.name.partition(".")[0]
    return (alias.asname, alias.name) if alias.asname else (top, top)


def imported_modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The dotted names that an import may load: modules, and names that may be submodules; a relative one has none."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def global_names(node: ast.AST) -> Iterator[str]:
    """The names that functions inside a statement declare as global."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            yield from inner.names


def may_define_any(node: ast.AST) -> bool:
    """True for code that may give names a value without spelling them."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in (
            *_MAY_DEFINE,
            UNKNOWN_EFFECT,
        ):
            return True
        # By the name of the method, as any name may lead to the shell: `ip = get_ipython()`.
        if isinstance(inner, ast.Attribute) and inner.attr in (
            "run_line_magic",
            "run_cell",
            "run_cell_magic",
            "ex",
        ):
            return True
        # `from garden import *` brings names that the cell does not spell.
        if isinstance(inner, ast.ImportFrom) and any(
            alias.name == "*" for alias in inner.names
        ):
            return True
    return False
