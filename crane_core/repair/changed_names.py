"""What a cell does to a name: assigns it, or changes the value that it has. Reads code, runs none."""

import ast

from crane_core.detectors.rules.bindings import bound_names
from crane_core.detectors.rules.cell_code import read_cell


def assigned_names(source: str) -> list[str]:
    """Public names that the top level of the cell assigns, the last one last."""
    tree = read_cell(source).tree
    found = [name for node in tree.body for name in bound_names(node)]
    return [name for name in dict.fromkeys(found) if name[:1] != "_"]


def assigns(source: str, name: str) -> bool:
    """Whether a statement of the cell's top level assigns the name."""
    # The text is searched first, which is quicker than parsing every cell for every name.
    return name in source and any(
        name in bound_names(node) for node in read_cell(source).tree.body
    )


def makes(source: str, name: str) -> bool:
    """Whether the cell assigns the name that does not come from the value that it had."""
    for node in read_cell(source).tree.body if name in source else ():
        if any(_reads(part, name) for part in ast.walk(node)):
            return False
        if name in bound_names(node):
            return True
    return False


def _reads(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
    )


def changes(source: str, name: str) -> bool:
    """Whether the cell stores into or deletes from the value, or calls a method of it for its effect."""
    return name in source and any(
        _is_change(node, name) for node in ast.walk(read_cell(source).tree)
    )


def _is_change(node: ast.AST, name: str) -> bool:
    match node:
        case (
            ast.Subscript(ctx=ast.Store() | ast.Del())
            | ast.Attribute(ctx=ast.Store() | ast.Del())
        ):
            return _root(node) == name
        case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
            return _root(method) == name
    return False


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
