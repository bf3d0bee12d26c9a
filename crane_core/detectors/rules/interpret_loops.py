"""How loops and comprehensions are run: the first turn where there certainly is one, all turns where all are known.

Knows for, while and the four comprehensions. After a loop of which not every turn was followed, what its body changes
is not known.
"""

import ast
from collections.abc import Callable, Iterable
from functools import partial

from crane_core.detectors.rules import harmless, heap, interpret_expressions
from crane_core.detectors.rules.abstract_value import NOT_KNOWN, AbstractValue
from crane_core.detectors.rules.answer import Crash
from crane_core.detectors.rules.interpret_statements import assign
from crane_core.detectors.rules.interpreter import (
    BREAK,
    CONTINUE,
    Context,
    ControlFlowExitError,
    GiveUpError,
    Interpreter,
    expression,
    statement,
)
from crane_core.detectors.rules.operation import numbers
from crane_core.runtime.kernel_side.crane_probe.syntax.names import bound_names

MOST_TURNS = 50


def turns_of(
    interpreter: Interpreter, iterable: AbstractValue, node: ast.AST
) -> tuple[list[AbstractValue] | None, AbstractValue | None]:
    """All elements where they are known and few, and the first where there certainly is one. Raises Crash."""
    every, first = interpreter.iterate(iterable, node)
    return (
        every if every is not None and len(every) <= MOST_TURNS else None
    ), first


@statement(ast.For, ast.AsyncFor)
def _for(interpreter: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    # What an asynchronous iterator gives depends on the event loop.
    if isinstance(node, ast.AsyncFor):
        raise GiveUpError
    iterable = interpreter.value(node.iter)
    every, first = turns_of(interpreter, iterable, node.iter)
    with interpreter.inside(Context((BREAK, CONTINUE))) as context:
        goes_on = True
        for value in (
            every if every is not None else [first] if first is not None else []
        ):
            goes_on = _turn(
                interpreter,
                context,
                partial(_for_body, interpreter, node, value),
            )
            if not goes_on:
                break
        # What one turn changes may have changed any number of times.
        if every is None and goes_on:
            _more_turns(
                interpreter,
                context,
                node,
                lambda: _for_body(
                    interpreter, node, interpret_expressions.part_of(iterable)
                ),
            )
    _after(interpreter, context, node.orelse, goes_on=goes_on)


def _for_body(
    interpreter: Interpreter, node: ast.For | ast.AsyncFor, value: AbstractValue
) -> None:
    assign(interpreter, node.target, value)
    interpreter.body(node.body)


@statement(ast.While)
def _while(interpreter: Interpreter, node: ast.While) -> None:
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    with interpreter.inside(Context((BREAK, CONTINUE))) as context:
        known = interpret_expressions.condition(interpreter, node.test)
        goes_on, n_turns = True, 0
        # Of `while True` only the first turn is certain. Its other turns depend on what breaks it.
        while (
            known
            and goes_on
            and n_turns < MOST_TURNS
            and not (is_endless and n_turns)
        ):
            goes_on = _turn(
                interpreter, context, lambda: interpreter.body(node.body)
            )
            n_turns += 1
            known = (
                interpret_expressions.condition(interpreter, node.test)
                if goes_on
                else False
            )
        if goes_on and known is not False:
            _more_turns(
                interpreter,
                context,
                node,
                lambda: _while_body(interpreter, node),
            )
            # `while True` ends by `break` alone, so what follows needs a path that breaks.
            goes_on = not is_endless
    _after(interpreter, context, node.orelse, goes_on=goes_on)


def _while_body(interpreter: Interpreter, node: ast.While) -> None:
    interpreter.value(node.test)
    interpreter.body(node.body)


def _turn(
    interpreter: Interpreter, context: Context, body: Callable[[], object]
) -> bool:
    """One turn that certainly comes; False when no path leads on to the next one. Raises Crash."""
    ends: list[heap.Snapshot] = []
    try:
        body()
        ends.append(heap.snapshot(interpreter.memory.scopes))
    except ControlFlowExitError as leave:
        if leave.kind not in context.kinds and not context.left:
            raise
        interpreter.note_left(
            [(leave, heap.snapshot(interpreter.memory.scopes))]
        )
    except Crash:
        # Another path may have left the loop before: `if i == 3: break` above `numbers[i]`.
        if not context.left:
            raise
    ends += context.ends_by(CONTINUE)
    context.left = [left for left in context.left if left[0] != CONTINUE]
    if ends:
        heap.join(ends)
    return bool(ends)


def _more_turns(
    interpreter: Interpreter,
    context: Context,
    node: ast.stmt,
    body: Callable[[], object],
) -> None:
    """Turns whose number is unknown."""
    names = list(bound_names(*ast.iter_child_nodes(node)))
    # Twice, as the first run may leave values that the second one meets: `x = str(x)`.
    for _ in range(2):
        watch = heap.BranchWatch(interpreter.memory.scopes)
        for name in names:
            interpreter.memory.bind(name, AbstractValue())
        interpreter.watches.append(watch)
        try:
            interpreter.maybe_run(lambda: _turn(interpreter, context, body))
        # Whether the function has returned by now depends on turns that may not have come.
        except ControlFlowExitError:
            raise GiveUpError from None
        finally:
            interpreter.watches.pop()
        watch.look(interpreter.memory.scopes)
        heap.widen(watch, (), interpreter.memory.scope)
        for name in names:
            interpreter.memory.bind(name, AbstractValue())


def _after(
    interpreter: Interpreter,
    context: Context,
    orelse: list[ast.stmt],
    *,
    goes_on: bool,
) -> None:
    """After the loop: what is known on the paths that left it and on the one that came to its end."""
    breaks = context.ends_by(BREAK)
    if goes_on:
        try:
            interpreter.body(orelse)
            breaks.append(heap.snapshot(interpreter.memory.scopes))
        except ControlFlowExitError as leave:
            if not breaks:
                raise
            interpreter.note_left(
                [(leave, heap.snapshot(interpreter.memory.scopes))]
            )
        except Crash:
            if not breaks:
                raise
    # An endless loop without `break`: the code behind it is never reached.
    if not breaks:
        raise GiveUpError
    heap.join(breaks)


@expression(ast.ListComp, ast.SetComp, ast.DictComp)
def _comprehension(
    interpreter: Interpreter, node: ast.ListComp | ast.SetComp | ast.DictComp
) -> AbstractValue:
    return comprehended(interpreter, node)


@expression(ast.GeneratorExp)
def _generator(
    interpreter: Interpreter, node: ast.GeneratorExp
) -> AbstractValue:
    """Only its first iterable is evaluated; the rest runs when elements are taken."""
    iterable = interpreter.value(node.generators[0].iter)
    # Python takes the first iterator when the generator is made: `(x for x in 5)` raises. Of
    # later releases that is not certain: pre-releases of 3.14 took it with the first element.
    if (numbers(interpreter.initial.packages.get("python", "")) or (3, 0)) < (
        3,
        14,
    ):
        interpreter.ask("element", iterable, "", node.generators[0].iter)
    _unbind_given(interpreter, node)
    return AbstractValue("generator", definition=node)


def _unbind_given(interpreter: Interpreter, node: ast.expr) -> None:
    """A name that := assigns in a comprehension is also bound outside of it."""
    for name in bound_names(node):
        interpreter.memory.bind(name, AbstractValue())


def comprehended(
    interpreter: Interpreter,
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
) -> AbstractValue:
    """All elements of a comprehension, or of a generator of which all are taken."""
    outermost = interpreter.value(node.generators[0].iter)
    names = bound_names(*(each.target for each in node.generators))
    made: list[tuple[AbstractValue, AbstractValue]] = []
    with interpreter.memory.within(
        # After `[x for x in rows]` an x outside is what it was.
        heap.Scope(
            dict.fromkeys(names),
            outer=interpret_expressions.seen_from(interpreter),
        )
    ):
        is_whole = _generate(interpreter, node, 0, outermost, made)
    _unbind_given(interpreter, node)
    items = [item for item, _ in made]
    if isinstance(node, (ast.DictComp, ast.SetComp)):
        collected = _keyed(node, made if is_whole else None)
    else:
        facts, known = (
            ({}, items) if is_whole else ({"first_items": items[:1]}, None)
        )
        collected = AbstractValue("list", facts, items=known)
    # `made = [rows for _ in some()]; made[0].append(3)` changes `rows`.
    if harmless.may_hold_any(collected):
        met = [
            interpreter.memory.known_name(part)
            for part in ast.walk(node)
            if isinstance(part, ast.Name)
        ]
        harmless.link(collected, filter(None, met))
    return collected


def _keyed(
    node: ast.DictComp | ast.SetComp,
    made: list[tuple[AbstractValue, AbstractValue]] | None,
) -> AbstractValue:
    """The dict or set of these pairs; None if they are not all known."""
    if made is not None and not all(
        interpret_expressions.is_key(key) for key, _ in made
    ):
        made = None
    if isinstance(node, ast.SetComp):
        return AbstractValue(
            "set",
            literal=NOT_KNOWN
            if made is None
            else {item.literal for item, _ in made},
        )
    return AbstractValue(
        "dict",
        members=None
        if made is None
        else {key.literal: held for key, held in made},
    )


def _generate(
    interpreter: Interpreter,
    node: ast.AST,
    at: int,
    iterable: AbstractValue,
    made: list[tuple[AbstractValue, AbstractValue]],
) -> bool:
    """Runs one `for` of a comprehension; True when everything that it makes is in `made`."""
    generator = node.generators[at]  # type: ignore[attr-defined]
    every, first = turns_of(interpreter, iterable, generator.iter)
    is_whole = every is not None
    for value in (
        every if every is not None else [first] if first is not None else []
    ):
        assign(interpreter, generator.target, value)
        is_whole = (
            _filtered(interpreter, node, at, generator.ifs, made) and is_whole
        )
    # Turns that may not come may still change things: `[table.pop('a') for table in tables]`.
    if every is None:
        interpreter.maybe_run(
            lambda: _any_turn(interpreter, node, at, iterable)
        )
    return is_whole


def _any_turn(
    interpreter: Interpreter, node: ast.AST, at: int, iterable: AbstractValue
) -> None:
    generator = node.generators[at]  # type: ignore[attr-defined]
    assign(
        interpreter, generator.target, interpret_expressions.part_of(iterable)
    )
    _filtered(interpreter, node, at, generator.ifs, [])


def _filtered(
    interpreter: Interpreter,
    node: ast.AST,
    at: int,
    conditions: Iterable[ast.expr],
    made: list[tuple[AbstractValue, AbstractValue]],
) -> bool:
    conditions = list(conditions)
    if not conditions:
        return _inner(interpreter, node, at, made)
    known = interpret_expressions.condition(interpreter, conditions[0])
    if known is False:
        return True
    # The element may be left out: how many there are is open then.
    if known is None:
        interpreter.maybe_run(
            lambda: _filtered(interpreter, node, at, conditions[1:], [])
        )
        return False
    return _filtered(interpreter, node, at, conditions[1:], made)


def _inner(
    interpreter: Interpreter,
    node: ast.AST,
    at: int,
    made: list[tuple[AbstractValue, AbstractValue]],
) -> bool:
    generators = node.generators  # type: ignore[attr-defined]
    if at + 1 < len(generators):
        return _generate(
            interpreter,
            node,
            at + 1,
            interpreter.value(generators[at + 1].iter),
            made,
        )
    if isinstance(node, ast.DictComp):
        key = interpreter.value(node.key)
        interpreter.ask("key", key, "", node.key)
        made.append((key, interpreter.value(node.value)))
    else:
        value = interpreter.value(node.elt)  # type: ignore[attr-defined]
        made.append((value, value))
    return True
