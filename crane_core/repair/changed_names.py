"""What a cell does to a name: assigns it, or changes the value that it has. Reads code, runs none."""

import ast

from crane_core.detectors.rules.cell_code import read_cell
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names


def assigned_names(source: str) -> list[str]:
    """Public names that the top level of the cell assigns, the last one last."""
    found = dict.fromkeys(bound_names(read_cell(source).tree))
    return [name for name in found if not name.startswith("_")]


def assigns(source: str, name: str) -> bool:
    """Whether a statement of the cell's top level assigns the name."""
    # The text is searched first, which is quicker than parsing every cell for every name.
    return name in source and name in bound_names(read_cell(source).tree)


def makes(source: str, name: str) -> bool:
    """Whether the cell assigns the name that does not come from the value that it had."""
    if name not in source:
        return False
    for statement in read_cell(source).tree.body:
        parts = ast.walk(statement)
        if any(_reads(part, name) for part in parts):
            return False
        if name in bound_names(statement):
            return True
    return False


def _reads(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found, ctx=ast.Load()):
            return found == name
    return False


def changes(source: str, name: str) -> bool:
    """Whether the cell stores into or deletes from the value, or calls a method of it for its effect."""
    if name not in source:
        return False
    nodes = ast.walk(read_cell(source).tree)
    return any(_is_change(node, name) for node in nodes)


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
    if isinstance(node, ast.Name):
        return node.id
    return ""
