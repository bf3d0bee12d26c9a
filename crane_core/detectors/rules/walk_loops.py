"""How loops and comprehensions are run: the first turn where there certainly is one, all turns where all are known.

Knows for, while and the four comprehensions. After a loop of which not every turn was followed, what its body changes
is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import partial

from crane_core.detectors.rules.bindings import bound_names
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import Moment, Scope, Watch, blur, join, moment
from crane_core.detectors.rules.thing import NOT_KNOWN, Thing
from crane_core.detectors.rules.walk import (
    BREAK,
    CONTINUE,
    Context,
    EndError,
    LeaveError,
    Walk,
    expression,
    statement,
)
from crane_core.detectors.rules.walk_expressions import is_key, truth
from crane_core.detectors.rules.walk_statements import assign
from crane_core.detectors.rules.walk_unpacking import iterate

MOST_TURNS = 50


def turns_of(walk: Walk, iterable: Thing, node: ast.AST) -> tuple[list[Thing] | None, Thing | None]:
    """All elements where they are known and few, and the first where there certainly is one. Raises Crash."""
    every, first = iterate(walk, iterable, node)
    return (every if every is not None and len(every) <= MOST_TURNS else None), first


@statement(ast.For, ast.AsyncFor)
def _for(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    if isinstance(node, ast.AsyncFor):
        raise EndError
    iterable = walk.value(node.iter)
    every, first = turns_of(walk, iterable, node.iter)
    with walk.inside(Context((BREAK, CONTINUE))) as context:
        goes_on = True
        for thing in every if every is not None else [first] if first is not None else []:
            goes_on = _turn(walk, context, partial(_for_body, walk, node, thing))
            if not goes_on:
                break
        if every is None and goes_on:
            _more_turns(walk, context, node, lambda: _for_body(walk, node, Thing()))
    _after(walk, context, node.orelse, goes_on=goes_on)


def _for_body(walk: Walk, node: ast.For | ast.AsyncFor, thing: Thing) -> None:
    assign(walk, node.target, thing)
    walk.body(node.body)


@statement(ast.While)
def _while(walk: Walk, node: ast.While) -> None:
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    with walk.inside(Context((BREAK, CONTINUE))) as context:
        goes_on, known = True, truth(walk, walk.value(node.test), node.test)
        n_turns = 0
        while known and goes_on and n_turns < MOST_TURNS and not (is_endless and n_turns):
            goes_on = _turn(walk, context, lambda: walk.body(node.body))
            n_turns += 1
            known = truth(walk, walk.value(node.test), node.test) if goes_on else False
        if goes_on and known is not False:
            _more_turns(walk, context, node, lambda: _while_body(walk, node))
            goes_on = not is_endless
    _after(walk, context, node.orelse, goes_on=goes_on)


def _while_body(walk: Walk, node: ast.While) -> None:
    walk.value(node.test)
    walk.body(node.body)


def _turn(walk: Walk, context: Context, body: Callable[[], object]) -> bool:
    """One turn that certainly comes; False when no way leads on to the next one. Raises Crash."""
    ends: list[Moment] = []
    try:
        body()
        ends.append(moment(walk.scopes))
    except LeaveError as leave:
        if leave.kind == CONTINUE:
            ends.append(moment(walk.scopes))
        elif leave.kind == BREAK:
            context.left.append((BREAK, moment(walk.scopes), Thing()))
        elif context.left:
            walk.note_left([(leave, moment(walk.scopes))])
        else:
            raise
    except Crash:
        if not context.left:
            raise
    ends += [known for kind, known, _ in context.left if kind == CONTINUE]
    context.left = [left for left in context.left if left[0] != CONTINUE]
    if ends:
        join(ends)
    return bool(ends)


def _more_turns(walk: Walk, context: Context, node: ast.stmt, body: Callable[[], object]) -> None:
    """Turns of which nobody knows how many there are."""
    names = [name for part in ast.iter_child_nodes(node) for name in bound_names(part)]
    for _ in range(2):
        watch = Watch(walk.scopes)
        for name in names:
            walk.bind(name, Thing())
        walk.watches.append(watch)
        try:
            walk.perhaps(lambda: _turn(walk, context, body))
        except LeaveError:
            raise EndError from None
        finally:
            walk.watches.pop()
        watch.look(walk.scopes)
        blur(watch, (), walk.scope)
        for name in names:
            walk.bind(name, Thing())


def _after(walk: Walk, context: Context, orelse: list[ast.stmt], *, goes_on: bool) -> None:
    """After the loop: what is known on the ways that left it and on the one that came to its end."""
    breaks = [known for kind, known, _ in context.left if kind == BREAK]
    if goes_on:
        try:
            walk.body(orelse)
            breaks.append(moment(walk.scopes))
        except LeaveError as leave:
            if not breaks:
                raise
            walk.note_left([(leave, moment(walk.scopes))])
        except Crash:
            if not breaks:
                raise
    if not breaks:
        raise EndError
    join(breaks)


@expression(ast.ListComp, ast.SetComp, ast.DictComp)
def _comprehension(walk: Walk, node: ast.ListComp | ast.SetComp | ast.DictComp) -> Thing:
    return comprehended(walk, node)


@expression(ast.GeneratorExp)
def _generator(walk: Walk, node: ast.GeneratorExp) -> Thing:
    """Only its first iterable is evaluated; the rest runs when somebody asks for elements."""
    iterable = walk.value(node.generators[0].iter)
    walk.ask("element", iterable, "", node.generators[0].iter, receiver=iterable)
    return Thing("generator")


def comprehended(walk: Walk, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Thing:
    """All elements of a comprehension, or of a generator that is asked for all of them."""
    outermost = walk.value(node.generators[0].iter)
    names = {name for generator in node.generators for name in bound_names(generator.target)}
    outer = walk.scope if walk.scope is not walk.module else None
    made: list[tuple[Thing, Thing]] = []
    with walk.within(Scope(dict.fromkeys(names), outer=outer)):
        is_whole = _generate(walk, node, 0, outermost, made)
    if isinstance(node, ast.DictComp):
        is_told = is_whole and all(is_key(key) for key, _ in made)
        return Thing("dict", members={key.literal: value for key, value in made} if is_told else None)
    items = [thing for thing, _ in made]
    if isinstance(node, ast.SetComp):
        is_told = is_whole and all(is_key(item) for item in items)
        return Thing("set", literal={item.literal for item in items} if is_told else NOT_KNOWN)
    thing = Thing("list", items=items if is_whole else None)
    if not is_whole and made:
        thing.facts["first_items"] = items[:1]
    return thing


def _generate(walk: Walk, node: ast.AST, at: int, iterable: Thing, made: list[tuple[Thing, Thing]]) -> bool:
    """Runs one `for` of a comprehension; True when everything that it makes is in `made`."""
    generator = node.generators[at]  # type: ignore[attr-defined]
    every, first = turns_of(walk, iterable, generator.iter)
    is_whole = every is not None
    for thing in every if every is not None else [first] if first is not None else []:
        assign(walk, generator.target, thing)
        is_whole = _filtered(walk, node, at, generator.ifs, made) and is_whole
    if every is None:
        unknown: list[tuple[Thing, Thing]] = []
        walk.perhaps(lambda: _any_turn(walk, node, at, unknown))
    return is_whole


def _any_turn(walk: Walk, node: ast.AST, at: int, made: list[tuple[Thing, Thing]]) -> None:
    generator = node.generators[at]  # type: ignore[attr-defined]
    assign(walk, generator.target, Thing())
    _filtered(walk, node, at, generator.ifs, made)


def _filtered(
    walk: Walk, node: ast.AST, at: int, conditions: Iterable[ast.expr], made: list[tuple[Thing, Thing]]
) -> bool:
    conditions = list(conditions)
    if not conditions:
        return _inner(walk, node, at, made)
    known = truth(walk, walk.value(conditions[0]), conditions[0])
    if known is False:
        return True
    if known is None:
        unknown: list[tuple[Thing, Thing]] = []
        walk.perhaps(lambda: _filtered(walk, node, at, conditions[1:], unknown))
        return False
    return _filtered(walk, node, at, conditions[1:], made)


def _inner(walk: Walk, node: ast.AST, at: int, made: list[tuple[Thing, Thing]]) -> bool:
    generators = node.generators  # type: ignore[attr-defined]
    if at + 1 < len(generators):
        return _generate(walk, node, at + 1, walk.value(generators[at + 1].iter), made)
    if isinstance(node, ast.DictComp):
        key = walk.value(node.key)
        walk.ask("key", key, "", node.key, receiver=key)
        made.append((key, walk.value(node.value)))
    else:
        thing = walk.value(node.elt)  # type: ignore[attr-defined]
        made.append((thing, thing))
    return True
