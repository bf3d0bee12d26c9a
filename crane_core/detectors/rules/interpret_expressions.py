"""How expressions are evaluated: names, displays, attributes, items, operators, conditions, texts.

Knows the order in which Python evaluates them. The rules answer what the result of a step is.
"""

import ast
from collections.abc import Iterable

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import (
    NOT_KNOWN,
    AbstractValue,
    literal,
)
from crane_core.detectors.rules.heap import Scope, join_values
from crane_core.detectors.rules.interpret_classes import member, refuse_absent
from crane_core.detectors.rules.interpreter import (
    GiveUpError,
    Interpreter,
    expression,
)
from crane_core.detectors.rules.operation import Arguments
from crane_core.detectors.rules.paths import public_path

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
def _constant(interpreter: Interpreter, node: ast.Constant) -> AbstractValue:
    if (
        isinstance(node.value, (str, bytes))
        and len(node.value) > _LARGEST_LITERAL
    ):
        return AbstractValue(type(node.value).__name__)
    return AbstractValue(type(node.value).__name__, literal=node.value)


@expression(ast.Name)
def _name(interpreter: Interpreter, node: ast.Name) -> AbstractValue:
    value = interpreter.name(node.id, node)
    # Python calls `__len__`, `__iter__`, `__lt__` without their names: `len(loud)` fills `calls`.
    for part in (value, *(value.items or ())):
        if part.package == "__main__":
            interpreter.memory.run_unseen(part)
    return value


@expression(ast.Tuple, ast.List)
def _display(
    interpreter: Interpreter, node: ast.Tuple | ast.List
) -> AbstractValue:
    items, is_whole = known_elements(interpreter, node.elts)
    made = AbstractValue(
        type(node).__name__.lower(), items=items if is_whole else None
    )
    # `made = [*some(), rows]; made[-1].append(3)` changes `rows`, wherever it is in the list.
    harmless.link(made, () if is_whole else items)
    return made


@expression(ast.Set)
def _set(interpreter: Interpreter, node: ast.Set) -> AbstractValue:
    items, is_whole = known_elements(interpreter, node.elts)
    for item in items if is_whole else ():
        interpreter.ask("key", item, "", node)
    values = [item.literal for item in items]
    is_plain = is_whole and all(
        isinstance(value, (str, int, float, type(None))) for value in values
    )
    return AbstractValue("set", literal=set(values) if is_plain else NOT_KNOWN)


def known_elements(
    interpreter: Interpreter, nodes: Iterable[ast.expr]
) -> tuple[list[AbstractValue], bool]:
    """The values of elements, and whether these are all.

    The last represents all from a star of unknown length on.
    """
    items: list[AbstractValue] = []
    rest: list[AbstractValue] = []
    for node in nodes:
        value = interpreter.value(
            node.value if isinstance(node, ast.Starred) else node
        )
        found = (
            interpreter.iterate(value, node).every
            if isinstance(node, ast.Starred)
            else [value]
        )
        # Behind a star of unknown length no position is certain: `grow(*some(), rows)`.
        if found is None or rest:
            rest.append(value)
        else:
            items += found
    if rest:
        items.append(AbstractValue())
        harmless.link(items[-1], rest)
    return items, not rest


@expression(ast.Dict)
def _dict(interpreter: Interpreter, node: ast.Dict) -> AbstractValue:
    members: dict[object, AbstractValue] | None = {}
    met: list[AbstractValue] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            inner = interpreter.value(value)
            met.append(inner)
            members = (
                {**members, **inner.members}
                if members is not None and inner.members is not None
                else None
            )
            continue
        known, held = interpreter.value(key), interpreter.value(value)
        met.append(held)
        interpreter.ask("key", known, "", key)
        if members is not None:
            members = (
                {**members, known.literal: held} if is_key(known) else None
            )
    made = AbstractValue("dict", members=members)
    # With one unknown key, `made['a']` may still be the list that is also called `rows`.
    harmless.link(made, met if members is None else ())
    return made


def is_key(abstract: AbstractValue) -> bool:
    """Whether a value is known exactly and may be a key of a dict that is known."""
    value = abstract.literal
    if isinstance(value, tuple):
        return all(
            isinstance(part, (str, int, float, bool, type(None)))
            for part in value
        )
    return isinstance(value, (str, int, float, bool, type(None)))


@expression(ast.Attribute)
def _attribute(interpreter: Interpreter, node: ast.Attribute) -> AbstractValue:
    receiver = interpreter.value(node.value)
    return attribute(interpreter, receiver, node.attr, node)


def attribute(
    interpreter: Interpreter,
    receiver: AbstractValue,
    name: str,
    node: ast.AST,
) -> AbstractValue:
    """The value of an attribute."""
    known = interpreter.ask("attribute", receiver, name, node)
    if known is not None and (
        known.type or known.path or known.facts or known.is_literal
    ):
        return known
    if name in receiver.attributes:
        return receiver.attributes[name]
    if receiver.path and receiver.definition is None:
        return of_path(f"{receiver.path}.{name}")
    refuse_absent(interpreter, receiver, name, node)
    return _attribute_of_object(interpreter, receiver, name)


def _attribute_of_object(
    interpreter: Interpreter, receiver: AbstractValue, name: str
) -> AbstractValue:
    found = member(interpreter, receiver, name)
    if found is not None and not found.type:  # a property may change its object
        interpreter.memory.forget([receiver])
        return part_of(receiver)
    if found is not None:
        return found
    # The object stays with the method: `p = lst.append; p(4)` changes the list.
    read = AbstractValue(bound_to=receiver, words=_said(receiver, name))
    read.is_foreign = receiver.is_foreign
    return read


def part_of(whole: AbstractValue, words: str = "") -> AbstractValue:
    """An unknown part of a value: who changes it may change the whole."""
    part = AbstractValue(words=words)
    harmless.link(part, [whole])
    part.is_foreign = whole.is_foreign
    return part


def _said(receiver: AbstractValue, name: str) -> str:
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


def of_path(path: str) -> AbstractValue:
    """What a public name refers to: a constant, or something that only its path says."""
    public = public_path(path)
    if public in _CONSTANTS:
        return literal(_CONSTANTS[public], public)
    return AbstractValue(path=public, words=public)


@expression(ast.Subscript)
def _subscript(interpreter: Interpreter, node: ast.Subscript) -> AbstractValue:
    receiver = interpreter.value(node.value)
    index = interpreter.value(node.slice)
    return item(interpreter, receiver, index, node)


def item(
    interpreter: Interpreter,
    receiver: AbstractValue,
    index: AbstractValue,
    node: ast.AST,
) -> AbstractValue:
    """The value of `receiver[index]`; an unknown part where no rule knows it. Raises Crash."""
    known = interpreter.ask(
        "item", receiver, "", node, arguments=Arguments((index,))
    )
    # A `__getitem__` of the notebook may note each index in a list, as `Loud` does in the tests.
    if known is None and receiver.package == "__main__":
        interpreter.memory.forget([receiver])
    return known if known is not None else part_of(receiver)


@expression(ast.Slice)
def _slice(interpreter: Interpreter, node: ast.Slice) -> AbstractValue:
    return AbstractValue(
        "slice",
        items=[
            interpreter.value(part)
            for part in (node.lower, node.upper, node.step)
        ],
    )


@expression(ast.UnaryOp)
def _unary(interpreter: Interpreter, node: ast.UnaryOp) -> AbstractValue:
    operand = interpreter.value(node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(interpreter, operand, node)
        return AbstractValue("bool") if known is None else literal(not known)
    return evaluate_operator(
        interpreter, OPERATORS[type(node.op)], [operand], node
    )


@expression(ast.BinOp)
def _binary(interpreter: Interpreter, node: ast.BinOp) -> AbstractValue:
    left, right = interpreter.value(node.left), interpreter.value(node.right)
    return evaluate_operator(
        interpreter, OPERATORS[type(node.op)], [left, right], node
    )


def evaluate_operator(
    interpreter: Interpreter,
    symbol: str,
    operands: list[AbstractValue],
    node: ast.AST,
) -> AbstractValue:
    """An operator on one or two operands, as the rules of either type know it."""
    receiver, *others = operands
    arguments = Arguments(tuple(others))
    known: AbstractValue | None = None
    # Both types: in `1 + text` or `3 * array` the right operand may decide what happens.
    for owner in _owners(operands):
        answer = interpreter.ask(
            "operator",
            owner,
            symbol,
            node,
            receiver=receiver,
            arguments=arguments,
        )
        known = known if known is not None else answer
    # `__add__` and `__iadd__` of the notebook's classes may change their operands.
    if known is None and any(
        operand.package == "__main__" for operand in operands
    ):
        interpreter.memory.forget(operands)
    if known is None:
        known = AbstractValue()
        # `made = [rows] + some()` holds the very list `rows`, so a change of `made[0]` changes it.
        harmless.link(known, filter(harmless.is_container, operands))
    return known


def _owners(
    operands: list[AbstractValue],
) -> list[AbstractValue]:
    """One operand of each type: a rule is tried once."""
    kinds = {
        (operand.package, operand.class_name): operand
        for operand in reversed(operands)
    }
    return [
        operand
        for operand in operands
        if kinds[(operand.package, operand.class_name)] is operand
    ]


@expression(ast.Compare)
def _compare(interpreter: Interpreter, node: ast.Compare) -> AbstractValue:
    left = interpreter.value(node.left)
    right = interpreter.value(node.comparators[0])
    found = comparison(interpreter, node.ops[0], left, right, node)
    rest = list(zip(node.ops[1:], node.comparators[1:], strict=True))
    return (
        found if not rest else _chained(interpreter, found, right, rest, node)
    )


def _chained(
    interpreter: Interpreter,
    found: AbstractValue,
    left: AbstractValue,
    rest: list[tuple[ast.cmpop, ast.expr]],
    node: ast.Compare,
) -> AbstractValue:
    known = truth(interpreter, found, node)
    if known is False:
        return found
    if known is None:
        # `low < x < limit()` calls limit only where low < x.
        interpreter.maybe_run(lambda: interpreter.value(rest[0][1]))
        return AbstractValue()
    right = interpreter.value(rest[0][1])
    found = comparison(interpreter, rest[0][0], left, right, node)
    return (
        found
        if len(rest) == 1
        else _chained(interpreter, found, right, rest[1:], node)
    )


def comparison(
    interpreter: Interpreter,
    operator: ast.cmpop,
    left: AbstractValue,
    right: AbstractValue,
    node: ast.AST,
) -> AbstractValue:
    """The result of one comparison of two values. Raises Crash."""
    # `is` compares objects: it runs no code of theirs, and never raises.
    if isinstance(operator, (ast.Is, ast.IsNot)):
        same = _is_same(left, right)
        return (
            AbstractValue("bool")
            if same is None
            else literal(same is isinstance(operator, ast.Is))
        )
    return evaluate_operator(
        interpreter, OPERATORS[type(operator)], [left, right], node
    )


def _is_same(left: AbstractValue, right: AbstractValue) -> bool | None:
    """`is`, where one side is None, True or False and the other is known."""
    if left is right:
        return True
    # Only None, True and False are one object everywhere: `x is 300` depends on the interpreter.
    for one, other in ((left, right), (right, left)):
        if one.type not in ("NoneType", "bool") or not one.is_literal:
            continue
        if _is_of_another_type(other, one.type):
            return False
        if other.type == one.type and other.is_literal:
            return bool(one.literal is other.literal)
    return None


def _is_of_another_type(value: AbstractValue, name: str) -> bool:
    """Whether a value certainly is not of a built-in type: what has a path or a definition is code."""
    is_code = bool(value.path) or value.definition is not None
    return is_code or value.type not in ("", name)


def truth(
    interpreter: Interpreter, value: AbstractValue, node: ast.AST
) -> bool | None:
    """The truth of a value, None if it is not known. Raises Crash where asking raises."""
    # The rules come first because asking may raise: the truth of an array, a table or a tensor.
    known = interpreter.ask("truth", value, "", node)
    if known is not None and known.is_literal:
        return bool(known.literal)
    if value.is_literal:
        return bool(value.literal)
    if value.items is not None and value.type in ("list", "tuple"):
        return bool(value.items)
    if value.members is not None and value.type == "dict":
        return bool(value.members)
    return True if value.type in ("function", "module", "type") else None


def condition(interpreter: Interpreter, test: ast.expr) -> bool | None:
    """Whether a test holds, None if it is not known. Raises Crash."""
    return truth(interpreter, interpreter.value(test), test)


@expression(ast.BoolOp)
def _logical(interpreter: Interpreter, node: ast.BoolOp) -> AbstractValue:
    return _short_circuit(
        interpreter, node.values, node, is_and=isinstance(node.op, ast.And)
    )


def _short_circuit(
    interpreter: Interpreter,
    parts: list[ast.expr],
    node: ast.BoolOp,
    *,
    is_and: bool,
) -> AbstractValue:
    first = interpreter.value(parts[0])
    if len(parts) == 1:
        return first
    known = truth(interpreter, first, node)
    if known is not None:
        return (
            _short_circuit(interpreter, parts[1:], node, is_and=is_and)
            if known is is_and
            else first
        )
    # `text.startswith('one') or absent` may end with its first part.
    ends = interpreter.branches(
        [
            lambda: first,
            lambda: _short_circuit(interpreter, parts[1:], node, is_and=is_and),
        ]
    )
    # `made = some() and rows` may be the very list rows.
    return join_values(ends)


@expression(ast.IfExp)
def _ternary(interpreter: Interpreter, node: ast.IfExp) -> AbstractValue:
    known = condition(interpreter, node.test)
    if known is not None:
        return interpreter.value(node.body if known else node.orelse)
    return join_values(
        interpreter.branches(
            [
                lambda: interpreter.value(node.body),
                lambda: interpreter.value(node.orelse),
            ]
        )
    )


@expression(ast.NamedExpr)
def _walrus(interpreter: Interpreter, node: ast.NamedExpr) -> AbstractValue:
    value = interpreter.value(node.value)
    interpreter.memory.bind(node.target.id, value)
    return value


@expression(ast.Lambda)
def _lambda(interpreter: Interpreter, node: ast.Lambda) -> AbstractValue:
    defaults = [
        interpreter.value(default)
        # Evaluated where the lambda is made, its body only by a call: `lambda: absent` runs.
        for default in [*node.args.defaults, *node.args.kw_defaults]
        if default
    ]
    return AbstractValue(
        "function",
        {"defaults": defaults},
        definition=node,
        scope=seen_from(interpreter),
    )


def seen_from(interpreter: Interpreter) -> Scope | None:
    """The scope around the code here; None of the module, which all code sees."""
    return (
        None
        if interpreter.memory.scope is interpreter.memory.module
        else interpreter.memory.scope
    )


@expression(ast.JoinedStr)
def _text(interpreter: Interpreter, node: ast.JoinedStr) -> AbstractValue:
    parts = [_text_part(interpreter, part) for part in node.values]
    if any(not isinstance(part, str) for part in parts):
        return AbstractValue("str")
    return literal("".join(str(part) for part in parts))


def _text_part(interpreter: Interpreter, node: ast.expr) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if not isinstance(node, ast.FormattedValue):
        raise GiveUpError
    value = interpreter.value(node.value)
    spec = (
        interpreter.value(node.format_spec)
        if node.format_spec is not None
        else literal("")
    )
    if node.conversion != -1:  # !r, !s and !a: what has the format is a text
        # So `f'{none!r:>10}'` runs, while `f'{none:>10}'` would be refused by NoneType.
        value = AbstractValue("str", words=value.words)
    formatted = interpreter.ask(
        "format", value, "", node.value, arguments=Arguments((spec,))
    )
    return (
        formatted.literal
        if formatted is not None and formatted.is_literal
        else None
    )


@expression(ast.Starred)
def _starred(interpreter: Interpreter, node: ast.Starred) -> AbstractValue:
    interpreter.value(node.value)
    return AbstractValue()


@expression(ast.Await)
def _await(interpreter: Interpreter, node: ast.Await) -> AbstractValue:
    awaited = interpreter.value(node.value)
    # Awaiting hands over to code that fills what it holds: `await task; out['a']`.
    interpreter.memory.forget([awaited])
    interpreter.memory.run_back([awaited])
    interpreter.memory.let_others_act()
    return AbstractValue()


@expression(ast.Yield, ast.YieldFrom)
def _yield(
    interpreter: Interpreter, node: ast.Yield | ast.YieldFrom
) -> AbstractValue:
    raise GiveUpError


def changes(value: AbstractValue) -> bool:
    """Whether a value can be changed at all."""
    return value.type not in harmless.IMMUTABLE and not value.path
