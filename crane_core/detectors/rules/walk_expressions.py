"""How expressions are evaluated: names, displays, attributes, items, operators, conditions, texts.

Knows the order in which Python evaluates them. What a step gives is asked of the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.heap import Scope, either
from crane_core.detectors.rules.paths import public_path
from crane_core.detectors.rules.site import Arguments
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing, literal
from crane_core.detectors.rules.walk import EndError, Walk, expression
from crane_core.detectors.rules.walk_unpacking import iterate

OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.USub: "-x",
    ast.UAdd: "+x",
    ast.Invert: "~x",
}
_LARGEST_LITERAL = 10_000


@expression(ast.Constant)
def _constant(walk: Walk, node: ast.Constant) -> Thing:
    if isinstance(node.value, (str, bytes)) and len(node.value) > _LARGEST_LITERAL:
        return Thing(type(node.value).__name__)
    return Thing(type(node.value).__name__, literal=node.value)


@expression(ast.Name)
def _name(walk: Walk, node: ast.Name) -> Thing:
    return walk.name(node.id, node)


@expression(ast.Tuple, ast.List)
def _display(walk: Walk, node: ast.Tuple | ast.List) -> Thing:
    return Thing(type(node).__name__.lower(), items=elements(walk, node.elts))


@expression(ast.Set)
def _set(walk: Walk, node: ast.Set) -> Thing:
    items = elements(walk, node.elts)
    for item in items or ():
        walk.ask("key", item, "", node, receiver=item)
    values = [item.literal for item in items or ()]
    is_plain = items is not None and all(isinstance(value, (str, int, float, type(None))) for value in values)
    return Thing("set", literal=set(values) if is_plain else NOT_KNOWN)


def elements(walk: Walk, nodes: Iterable[ast.expr]) -> list[Thing] | None:
    """The values of a display's elements, None if a star gives nobody knows how many."""
    items: list[Thing] = []
    is_whole = True
    for node in nodes:
        if isinstance(node, ast.Starred):
            every = iterate(walk, walk.value(node.value), node).every
            is_whole = is_whole and every is not None
            items += every or ()
        else:
            items.append(walk.value(node))
    return items if is_whole else None


@expression(ast.Dict)
def _dict(walk: Walk, node: ast.Dict) -> Thing:
    members: dict[object, Thing] | None = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = walk.value(value)
            members = {**members, **inner.members} if members is not None and inner.members is not None else None
            continue
        known, held = walk.value(key), walk.value(value)
        walk.ask("key", known, "", key, receiver=known)
        if members is not None:
            members = {**members, known.literal: held} if is_key(known) else None
    return Thing("dict", members=members)


def is_key(thing: Thing) -> bool:
    """Whether a value is known exactly and may be a key of a dict that is told."""
    value = thing.literal
    if isinstance(value, tuple):
        return all(isinstance(part, (str, int, float, bool, type(None))) for part in value)
    return isinstance(value, (str, int, float, bool, type(None)))


@expression(ast.Attribute)
def _attribute(walk: Walk, node: ast.Attribute) -> Thing:
    receiver = walk.value(node.value)
    return attribute(walk, receiver, node.attr, node)


def attribute(walk: Walk, receiver: Thing, name: str, node: ast.AST) -> Thing:
    """What reading an attribute gives."""
    told = walk.ask("attribute", receiver, name, node, receiver=receiver)
    if told is not None and (told.type or told.path or told.facts or told.is_literal):
        return told
    if name in receiver.attributes:
        return receiver.attributes[name]
    if receiver.path and receiver.definition is None:
        return of_path(f"{receiver.path}.{name}")
    from crane_core.detectors.rules.walk_classes import member, refuse_absent

    refuse_absent(walk, receiver, name, node)
    found = member(walk, receiver, name)
    if found is not None:
        return found if found.type or found.definition is not None else part_of(receiver)
    read = Thing(bound_to=receiver, words=_said(receiver, name))
    read.is_foreign = receiver.is_foreign
    return read


def part_of(whole: Thing, words: str = "") -> Thing:
    """Something that nobody knows, taken from a thing: who changes it may change the whole."""
    is_plain = whole.path or whole.type in harmless.IMMUTABLE or harmless.may_share_memory(whole)
    part = Thing(words=words) if is_plain else Thing("", {"part_of": whole}, words=words)
    part.is_foreign = whole.is_foreign
    return part


def _said(receiver: Thing, name: str) -> str:
    return f"{receiver.words}.{name}" if receiver.words else ""


_CONSTANTS = {
    "numpy.nan": float("nan"),
    "numpy.inf": float("inf"),
    "numpy.pi": 3.141592653589793,
    "numpy.e": 2.718281828459045,
    "math.nan": float("nan"),
    "math.inf": float("inf"),
    "math.pi": 3.141592653589793,
    "math.e": 2.718281828459045,
    "numpy.newaxis": None,
}


def of_path(path: str) -> Thing:
    """What a public name stands for: a constant, or something that only its path says."""
    public = public_path(path)
    if public in _CONSTANTS:
        return literal(_CONSTANTS[public], public)
    return Thing(path=public, words=public)


@expression(ast.Subscript)
def _subscript(walk: Walk, node: ast.Subscript) -> Thing:
    receiver = walk.value(node.value)
    index = walk.value(node.slice)
    return item(walk, receiver, index, node)


def item(walk: Walk, receiver: Thing, index: Thing, node: ast.AST) -> Thing:
    told = walk.ask("item", receiver, "", node, receiver=receiver, arguments=Arguments((index,)))
    if told is None and receiver.package == "__main__":
        walk.forget([receiver])
    return told if told is not None else part_of(receiver)


@expression(ast.Slice)
def _slice(walk: Walk, node: ast.Slice) -> Thing:
    return Thing("slice", items=[walk.value(part) for part in (node.lower, node.upper, node.step)])


@expression(ast.UnaryOp)
def _unary(walk: Walk, node: ast.UnaryOp) -> Thing:
    operand = walk.value(node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(walk, operand, node)
        return Thing("bool") if known is None else literal(not known)
    return operation(walk, OPERATORS[type(node.op)], [operand], node)


@expression(ast.BinOp)
def _binary(walk: Walk, node: ast.BinOp) -> Thing:
    left, right = walk.value(node.left), walk.value(node.right)
    return operation(walk, OPERATORS[type(node.op)], [left, right], node)


def operation(walk: Walk, symbol: str, operands: list[Thing], node: ast.AST) -> Thing:
    """An operator on one or two operands, as the rules of either type know it."""
    receiver, *others = operands
    arguments = Arguments(tuple(others))
    told: Thing | None = None
    for owner in _owners(operands):
        answer = walk.ask("operator", owner, symbol, node, receiver=receiver, arguments=arguments)
        told = told if told is not None else answer
    if told is None and any(operand.package == "__main__" for operand in operands):
        walk.forget(operands)
    return told if told is not None else Thing()


def _owners(operands: list[Thing]) -> list[Thing]:
    """One operand of each type: a rule is asked once."""
    kinds = {(operand.package, operand.class_name): operand for operand in reversed(operands)}
    return [operand for operand in operands if kinds[(operand.package, operand.class_name)] is operand]


@expression(ast.Compare)
def _compare(walk: Walk, node: ast.Compare) -> Thing:
    left = walk.value(node.left)
    right = walk.value(node.comparators[0])
    found = comparison(walk, node.ops[0], left, right, node)
    rest = list(zip(node.ops[1:], node.comparators[1:], strict=True))
    return found if not rest else _chained(walk, found, right, rest, node)


def _chained(walk: Walk, found: Thing, left: Thing, rest: list[tuple[ast.cmpop, ast.expr]], node: ast.Compare) -> Thing:
    known = truth(walk, found, node)
    if known is False:
        return found
    if known is None:
        walk.perhaps(lambda: walk.value(rest[0][1]))
        return Thing()
    right = walk.value(rest[0][1])
    found = comparison(walk, rest[0][0], left, right, node)
    return found if len(rest) == 1 else _chained(walk, found, right, rest[1:], node)


def comparison(walk: Walk, operator: ast.cmpop, left: Thing, right: Thing, node: ast.AST) -> Thing:
    if isinstance(operator, (ast.Is, ast.IsNot)):
        same = _is_same(left, right)
        return Thing("bool") if same is None else literal(same is isinstance(operator, ast.Is))
    return operation(walk, OPERATORS[type(operator)], [left, right], node)


def _is_same(left: Thing, right: Thing) -> bool | None:
    """`is`, where one side is None, True or False and the other is known."""
    if left is right:
        return True
    for one, other in ((left, right), (right, left)):
        if one.type in ("NoneType", "bool") and one.is_literal:
            if other.type and other.type != one.type or other.path or other.definition is not None:
                return False
            if other.type == one.type and other.is_literal:
                return bool(one.literal is other.literal)
    return None


def truth(walk: Walk, thing: Thing, node: ast.AST) -> bool | None:
    """The truth value of a thing, None if it is not known. Raises Crash where asking raises."""
    told = walk.ask("truth", thing, "", node, receiver=thing)
    if told is not None and told.is_literal:
        return bool(told.literal)
    if thing.is_literal:
        return bool(thing.literal)
    if thing.items is not None and thing.type in ("list", "tuple"):
        return bool(thing.items)
    if thing.members is not None and thing.type == "dict":
        return bool(thing.members)
    return True if thing.type in ("function", "module", "type") else None


@expression(ast.BoolOp)
def _logical(walk: Walk, node: ast.BoolOp) -> Thing:
    return _short_circuit(walk, node.values, node, is_and=isinstance(node.op, ast.And))


def _short_circuit(walk: Walk, parts: list[ast.expr], node: ast.BoolOp, *, is_and: bool) -> Thing:
    first = walk.value(parts[0])
    if len(parts) == 1:
        return first
    known = truth(walk, first, node)
    if known is not None:
        return _short_circuit(walk, parts[1:], node, is_and=is_and) if known is is_and else first
    ends = walk.ways([lambda: first, lambda: _short_circuit(walk, parts[1:], node, is_and=is_and)])
    return either(ends)


@expression(ast.IfExp)
def _ternary(walk: Walk, node: ast.IfExp) -> Thing:
    known = truth(walk, walk.value(node.test), node.test)
    if known is not None:
        return walk.value(node.body if known else node.orelse)
    return either(walk.ways([lambda: walk.value(node.body), lambda: walk.value(node.orelse)]))


@expression(ast.NamedExpr)
def _walrus(walk: Walk, node: ast.NamedExpr) -> Thing:
    thing = walk.value(node.value)
    walk.bind(node.target.id, thing)
    return thing


@expression(ast.Lambda)
def _lambda(walk: Walk, node: ast.Lambda) -> Thing:
    defaults = [walk.value(default) for default in [*node.args.defaults, *node.args.kw_defaults] if default]
    return Thing("function", {"defaults": defaults}, definition=node, scope=_seen_from(walk))


def _seen_from(walk: Walk) -> Scope | None:
    return None if walk.scope is walk.module else walk.scope


@expression(ast.JoinedStr)
def _text(walk: Walk, node: ast.JoinedStr) -> Thing:
    parts = [_text_part(walk, part) for part in node.values]
    if any(not isinstance(part, str) for part in parts):
        return Thing("str")
    return literal("".join(str(part) for part in parts))


def _text_part(walk: Walk, node: ast.expr) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, ast.FormattedValue):
        raise EndError
    thing = walk.value(node.value)
    spec = walk.value(node.format_spec) if node.format_spec is not None else literal("")
    formatted = walk.ask("format", thing, "", node.value, receiver=thing, arguments=Arguments((spec,)))
    if node.conversion == -1 and formatted is not None and formatted.is_literal:
        return formatted.literal
    return None


@expression(ast.Starred)
def _starred(walk: Walk, node: ast.Starred) -> Thing:
    walk.value(node.value)
    return Thing()


@expression(ast.Await)
def _await(walk: Walk, node: ast.Await) -> Thing:
    walk.forget([walk.value(node.value)])
    return Thing()


@expression(ast.Yield, ast.YieldFrom)
def _yield(walk: Walk, node: ast.Yield | ast.YieldFrom) -> Thing:
    raise EndError


def changes(thing: Thing) -> bool:
    """Whether a value can be changed at all."""
    return thing.type not in harmless.IMMUTABLE and not thing.path
