"""The evaluation of the target over Things: what is shared by all statements and expressions.

Knows names, steps and their rules, what a step may change, and ways through the code of which only some are taken.
Crash means here that every way from this place on raises. How each statement and expression is evaluated stands in
walk_*.py, each registered for its kind of syntax tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.family import Registered, rules_for
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import (
    Content,
    Moment,
    Scope,
    Watch,
    content_of,
    every,
    is_unchanged,
    join,
    moment,
    reachable,
    restore,
)
from crane_core.detectors.rules.paths import public_path
from crane_core.detectors.rules.prefix import Reach, builtin, is_builtin
from crane_core.detectors.rules.site import Arguments, Site
from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.world import Beginning, World

MOST_STEPS = 20_000
VISITS_PER_STEP = 500
"""So many Things looked at in forgetting take about as long as a step."""
DEEPEST = 60
_WORD = re.compile(r"[A-Za-z_]\w*")
RETURN, BREAK, CONTINUE = "return", "break", "continue"
_T = TypeVar("_T")


class LeaveError(Exception):
    """The walk leaves a loop or function here, with the value that a function returns."""

    def __init__(self, kind: str, value: Thing) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


class EndError(Exception):
    """From here on nothing is certain: the cell may have ended, or it is too long to be followed."""


class RuleError(NamedTuple):
    """A rule that failed to judge a step."""

    family: str
    rule: str
    error: str


@dataclass(slots=True, eq=False)
class Context:
    """A loop or a call. `left` holds what was known where some ways left it, by kind, and what a function returned."""

    kinds: tuple[str, ...]
    left: list[tuple[str, Moment, Thing]] = field(default_factory=list)


Evaluate = Callable[["Walk", Any], Thing]
Perform = Callable[["Walk", Any], None]
EXPRESSIONS: dict[type, Evaluate] = {}
STATEMENTS: dict[type, Perform] = {}


def expression(*kinds: type) -> Callable[[Evaluate], Evaluate]:
    """Registers how expressions of these kinds are evaluated."""

    def registered(evaluate: Evaluate) -> Evaluate:
        EXPRESSIONS.update(dict.fromkeys(kinds, evaluate))
        return evaluate

    return registered


def statement(*kinds: type) -> Callable[[Perform], Perform]:
    """Registers how statements of these kinds are run."""

    def registered(perform: Perform) -> Perform:
        STATEMENTS.update(dict.fromkeys(kinds, perform))
        return perform

    return registered


class Walk:
    """One evaluation of a target. `errors` are rules that failed; they said nothing."""

    def __init__(self, world: World | Beginning, most_steps: int = MOST_STEPS) -> None:
        self.world = world
        self.most_steps = most_steps
        self.module = Scope()
        self.scope = self.module
        self.scopes = [self.module]
        self.contexts: list[Context] = []
        self.calls: list[ast.AST] = []
        self.errors: list[RuleError] = []
        self.n_steps = 0
        self.n_visits = 0
        self.depth = 0
        self.is_unsure_of_names = False
        self.running: list[ast.AST] = []
        self.watches: list[Watch] = []
        self.handled: list[Crash | None] = []
        self.loaded: dict[str, tuple[Thing, Content]] = {}
        self.within_loaders: list[tuple[Thing, Content]] = []
        self.escaped: dict[Thing, Content | None] = {}
        """Objects that code nobody knows may hold, with what they said when they were forgotten: nothing.

        None if that has to be looked at again.
        """
        self.escaped_arrays: set[Thing] = set()
        """Those that may share memory, of the escaped ones."""
        self.n_gone = 0
        self.has_gone_array = False
        """Escaped objects that say nothing and that nothing leads to: how many, and whether one may share memory."""
        self.made: dict[int, Thing] = {}
        """Objects of the notebook's classes that were made on the way."""
        for name in dict.fromkeys((*world.held, *world.past, *world.fixed)):
            if world.missing(name) is None:
                self._load(name)

    def know(self, names: Iterable[str]) -> None:
        """Those of the names that are Python's own stand for that on every way from here on."""
        for name in names:
            if name not in self.module.names and self.world.of_python(name) is not None:
                self._load(name)

    # Statements and expressions

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for each in statements:
            self.run(each)

    def run(self, node: ast.stmt) -> None:
        self._count()
        perform = STATEMENTS.get(type(node))
        if perform is None:
            raise EndError
        absent = self._absent_at(node)
        if hasattr(node, "body") or hasattr(node, "cases"):
            self._ask_absent(node, absent)
            absent = []
        try:
            perform(self, node)
        except Crash as crash:
            self._ask_absent(node, [(group, fact) for group, fact in absent if _is_met_before(node, fact, crash.place)])
            raise
        self._ask_absent(node, absent)
        for watch in self.watches:
            watch.look(self.scopes)

    def _absent_at(self, node: ast.stmt) -> list[tuple[str, Mapping[str, Any]]]:
        """What the state says the target needs at this statement and will not find, in objects that are as they were.

        Asked before the statement runs, which may change the object after it has needed it.
        """
        if self.calls or self.is_unsure_of_names:
            return []
        return [(group, fact) for group, fact in self.world.absent_at(node) if self._is_as_told(fact)]

    def _is_as_told(self, fact: Mapping[str, Any]) -> bool:
        names = [*_WORD.findall(str(fact.get("of", "")))[:1], *_WORD.findall(str(fact.get("asked_by", "")))[:1]]
        return all(self.is_untouched(name) for name in names)

    def _ask_absent(self, node: ast.stmt, facts: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        for group, fact in facts:
            self.missing(group, node, fact if group != "files" else dict(fact, function=self._reader(node, fact)))

    def _reader(self, node: ast.stmt, fact: Mapping[str, Any]) -> str:
        """The path of the function to which a statement gives the name of a file."""
        for call in ast.walk(node):
            given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
            if any(isinstance(part, ast.Constant) and part.value == fact.get("file") for part in given):
                known = self.known_name(call.func) if isinstance(call, ast.Call) else None
                return known.path if known is not None else ""
        return ""

    def value(self, node: ast.AST | None) -> Thing:
        """What an expression gives."""
        if node is None:
            return Thing("NoneType", literal=None)
        self._count()
        evaluate = EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise EndError
        self.depth += 1
        try:
            if self.depth > DEEPEST * 3:
                raise EndError
            return evaluate(self, node)
        finally:
            self.depth -= 1

    def _count(self) -> None:
        self.n_steps += 1
        if self.n_steps > self.most_steps:
            raise EndError

    # Names

    def name(self, name: str, node: ast.AST) -> Thing:
        """What a name stands for. Raises Crash where it certainly stands for nothing."""
        for scope in self._visible():
            if name in scope.names:
                thing = scope.names[name]
                return thing if thing is not None else self._unset(name, node, is_local=scope is not self.module)
        if not self.is_unsure_of_names and (fact := self.world.missing(name)) is not None:
            self.missing("names", node, fact, name)
        return self._load(name)

    def _load(self, name: str) -> Thing:
        thing = self.world.thing(name) if not self.is_unsure_of_names else Thing(words=name)
        content = content_of(thing)
        for other in self.world.same(name) if not self.is_unsure_of_names else ():
            if other in self.loaded:
                thing, content = self.loaded[other]
        if self.world.held and name not in self.world.past:
            self._share(name, thing)
        self.module.names[name] = thing
        self.loaded[name] = (thing, content)
        if thing.is_a("torch", "DataLoader"):
            self.within_loaders += [(part, content_of(part)) for part in reachable([thing])]
        return thing

    def _share(self, name: str, thing: Thing) -> None:
        """What other objects hold may be changed through them: of parts that may be such an object nothing is known."""
        if name in self.world.held:
            self.escaped[thing] = None
        kinds = {self.world.type_of(other) for other in self.world.held}
        for part in list(reachable([thing])):
            if part is not thing and part.type in kinds:
                part.forget()
                part.type = ""

    def is_untouched(self, name: str) -> bool:
        """True while a global name stands for what it stood for before the target, not changed."""
        thing = self.module.names.get(name)
        if name not in self.loaded:
            same = [other for other in self.world.same(name) if other in self.loaded]
            return name not in self.module.names and all(map(self.is_untouched, same))
        return thing is self.loaded[name][0] and is_unchanged(thing, self.loaded[name][1])

    def is_as_found(self) -> bool:
        """Whether what the state tells of objects that run code of others still holds: nothing they use was changed.

        Models and optimizers count as not used: training changes them all the time.
        """
        used = [
            (thing, content)
            for name, (thing, content) in self.loaded.items()
            if self.world.may_be_used_unseen(name) and not _is_trained(thing, content)
        ]
        return all(is_unchanged(thing, content) for thing, content in (*used, *self.within_loaders))

    def known_name(self, node: ast.AST) -> Thing | None:
        """What a name or dotted name stands for, without any effect; None for other expressions."""
        if isinstance(node, ast.Name):
            found = [scope.names[node.id] for scope in self._visible() if node.id in scope.names]
            return found[0] if found else self.world.thing(node.id)
        if isinstance(node, ast.Attribute):
            holder = self.known_name(node.value)
            return None if holder is None or not holder.path else Thing(path=public_path(f"{holder.path}.{node.attr}"))
        return None

    def _visible(self) -> Iterator[Scope]:
        """The scopes in which a name is looked for: a class body is seen by its own statements alone."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope is self.scope or not scope.is_class:
                yield scope
            scope = scope.outer
        yield self.module

    def _unset(self, name: str, node: ast.AST, *, is_local: bool) -> Thing:
        if not is_local and is_builtin(name):
            return builtin(name)
        self.missing("unset", node, {"name": name, "is_local": is_local}, name)
        return Thing()

    def bind(self, name: str, thing: Thing) -> None:
        if not thing.words:
            thing.words = name
        self._owner(name).names[name] = thing

    def unbind(self, name: str) -> None:
        self._owner(name).names[name] = None

    def _owner(self, name: str) -> Scope:
        declared = self.scope.elsewhere.get(name, self.scope)
        return declared if declared is not None else self.module

    # Steps

    def ask(
        self,
        step: str,
        of: Thing | str,
        name: str,
        node: ast.AST,
        *,
        receiver: Thing | None = None,
        arguments: Arguments = Arguments(),  # noqa: B008 - a frozen record
        absent: Mapping[str, Any] | None = None,
    ) -> Thing | None:
        """What the rules say of a step: what it gives, None if they do not know it. Raises Crash."""
        rules = rules_for(step, of, name)
        if not rules:
            return None
        site = Site(
            node,
            ast.unparse(node),
            name,
            receiver,
            arguments,
            call=self._call_for(node),
            absent=absent or {},
            packages=self.world.packages,
            variables=self.everything,
            is_told_apart=self.is_told_apart,
            mentions=self.world.mentions,
            is_as_found=self.is_as_found,
            element=lambda thing: self.ask("element", thing, "", node, receiver=thing),
            elements=self._elements_for(node),
        )
        known: Thing | None = None
        for registered in rules:
            answer = self._asked(registered, site)
            known = known if known is not None else answer
        return known

    def _asked(self, registered: Registered, site: Site) -> Thing | None:
        try:
            return registered.rule(site)
        except Crash as crash:
            crash.family = crash.family or registered.family
            crash.place = crash.place or self.place(site.node)
            raise
        except (EndError, LeaveError):
            raise
        except Exception as error:  # noqa: BLE001 - a rule that fails says nothing, and is counted
            rule = getattr(registered.rule, "__name__", "rule")
            self.errors.append(RuleError(registered.family, rule, f"{type(error).__name__}: {error}"))
            return None

    def crash(self, node: ast.AST, exception: str, why: str, *, fact: str, remedy: str) -> None:
        """Say from the walk itself that a piece of the code raises."""
        crash = Crash(exception, why, fact=fact, remedy=remedy)
        crash.family, crash.place = "python", self.place(node)
        raise crash

    def place(self, node: ast.AST) -> ast.AST:
        """The piece of the target that leads to a node: in a function of another cell, its call."""
        return self.calls[0] if self.calls else node

    def missing(self, group: str, node: ast.AST, fact: Mapping[str, Any], name: str = "") -> None:
        """Ask what follows from something that is known not to be there. Raises Crash."""
        self.ask("missing", group, "*", node, absent=dict(fact, name=name) if name else fact)

    def _call_for(self, node: ast.AST) -> Callable[[Thing, Sequence[Thing], Mapping[str, Thing]], Thing]:
        def call(thing: Thing, positional: Sequence[Thing], keywords: Mapping[str, Thing]) -> Thing:
            from crane_core.detectors.rules.walk_calls import call_thing

            return call_thing(self, thing, Arguments(tuple(positional), dict(keywords)), node)

        return call

    def _elements_for(self, node: ast.AST) -> Callable[[Thing], Sequence[Thing] | None]:
        def elements(thing: Thing) -> Sequence[Thing] | None:
            from crane_core.detectors.rules.walk_unpacking import iterate

            return iterate(self, thing, node).every

        return elements

    # Changes

    def is_told_apart(self, left: Thing, right: Thing) -> bool:
        """Whether two Things certainly are two objects: named ones, of which the state says that none holds them."""
        if not self.world.tells_identity:
            return False
        named = [(name, thing) for scope in self.scopes for name, thing in scope.names.items()]
        sides = [{name for name, thing in named if thing is side} for side in (left, right)]
        return all(sides) and not any(names & set(self.world.held) for names in sides)

    def everything(self) -> list[Thing]:
        """Every Thing that a name leads to."""
        return every(thing for scope in self.scopes for thing in scope.names.values())

    def forget(self, things: Iterable[Thing]) -> None:
        """Code that nobody knows got these: they and what they hold may change, now and whenever such code runs."""
        changed = [thing for thing, known in self.escaped.items() if known is None or thing.content is not known]
        found = every([*things, *changed])
        n_found = self.n_gone + len(self.escaped) + sum(thing not in self.escaped for thing in found)
        steps, self.n_visits = divmod(self.n_visits + n_found, VISITS_PER_STEP)
        self.n_steps += steps
        for thing in found:
            if not thing.path and thing.type not in harmless.IMMUTABLE:
                self._forget(thing)
                continue
            self.escaped_arrays.discard(thing)
            if isinstance(thing.definition, ast.ClassDef):
                thing.attributes = {}
        if self.escaped_arrays or self.has_gone_array:
            self.shake()

    def _forget(self, thing: Thing) -> None:
        """It has escaped: it is to be forgotten whenever code runs that nobody knows, if anything is known of it."""
        thing.forget()
        is_whole = thing.bound_to is None and thing.scope is None
        self.escaped[thing] = content_of(thing) if is_whole else None
        if not thing.type or harmless.may_share_memory(thing):
            self.escaped_arrays.add(thing)
        else:
            self.escaped_arrays.discard(thing)

    def is_forgotten(self, thing: Thing) -> bool:
        """Whether an object that has escaped says nothing since, and leads to nothing."""
        known = self.escaped[thing]
        return known is not None and thing.content is known

    def shake(self, changed: Thing | None = None) -> None:
        """Values of arrays may have been changed through another name: their value facts are no longer known."""
        if changed is not None and changed.type and not harmless.may_share_memory(changed):
            return
        for thing, content in moment(self.scopes).things.items():
            has_values = content.facts and not harmless.VALUE_FACTS.isdisjoint(content.facts)
            if has_values and thing is not changed and harmless.may_share_memory(thing):
                thing.drop(harmless.VALUE_FACTS)

    def havoc(self) -> None:
        """Code of the notebook that cannot be followed ran: nothing is known but what cannot change."""
        if (seen := self.world.reach) is not None:
            self._forget_reached(seen)
        else:
            self.lose()

    def lose(self) -> None:
        """Anything may have happened: nothing is known but what cannot change."""
        self.forget(self.everything())
        for scope in self.scopes:
            for name, thing in scope.names.items():
                if scope is self.module and not self._is_fixed(name, thing):
                    scope.names[name] = Thing(words=name)
        self.is_unsure_of_names = True

    def _is_fixed(self, name: str, thing: Thing | None) -> bool:
        """Whether a global name stands for a module, function or class still; a star may bring another `sum`."""
        if thing is None or not thing.path and thing.definition is None:
            return False
        return not thing.path.startswith("builtins.") or self.world.of_python(name) is not None

    def _forget_reached(self, reach: Reach) -> None:
        """All code of the notebook is seen: it can change what it mentions, its own objects, and what it was given."""
        held = [
            thing
            for scope in self.scopes
            for name, thing in scope.names.items()
            if scope is not self.module or name in reach.mentioned
        ]
        self.forget([*(thing for thing in held if thing is not None), *self._objects_of_the_notebook()])
        for scope in self.scopes:
            for name in reach.rebound & scope.names.keys():
                scope.names[name] = Thing(words=name)

    def forget_mentioned(self, definition: ast.AST) -> None:
        """A function of the notebook may have run: what it mentions, and what the functions that it mentions do."""
        met: set[str] = set()
        waiting = [definition]
        while waiting:
            for node in ast.walk(waiting.pop()):
                if isinstance(node, (ast.Global, ast.Nonlocal)):
                    self.havoc()
                    return
                if isinstance(node, ast.Name) and node.id not in met:
                    met.add(node.id)
                    known = self.known_name(node)
                    if known is not None and isinstance(known.definition, ast.AST):
                        waiting.append(known.definition)
        self.forget(thing for scope in self.scopes for name in met if (thing := scope.names.get(name)) is not None)

    def _objects_of_the_notebook(self) -> list[Thing]:
        return [thing for thing in self.everything() if thing.package == "__main__" or thing.scope is not None]

    # Ways

    def ways(self, ways: Sequence[Callable[[], _T]]) -> list[_T]:
        """Take several ways, one of which is the right one; what each gives that comes to its end.

        What is known afterwards is what all those know that come to their ends. Raises Crash where every way raises,
        LeaveError where no way comes to its end.
        """
        start = moment(self.scopes)
        ends: list[Moment] = []
        values: list[_T] = []
        crashes: list[Crash] = []
        leaves: list[tuple[LeaveError, Moment]] = []
        for way in ways:
            restore(start)
            try:
                value = way()
            except Crash as crash:
                crashes.append(crash)
            except LeaveError as leave:
                leaves.append((leave, moment(self.scopes)))
            else:
                values.append(value)
                ends.append(moment(self.scopes))
        self._after_ways(ends, crashes, leaves)
        return values

    def _after_ways(self, ends: list[Moment], crashes: list[Crash], leaves: list[tuple[LeaveError, Moment]]) -> None:
        if not ends and not leaves:
            raise crashes[0]
        if not ends:
            last, known = leaves.pop()
            self.note_left(leaves)
            restore(known)
            raise last
        self.note_left(leaves)
        join(ends)

    def note_left(self, leaves: list[tuple[LeaveError, Moment]]) -> None:
        for leave, known in leaves:
            context = next((each for each in reversed(self.contexts) if leave.kind in each.kinds), None)
            if context is None:
                raise EndError
            context.left.append((leave.kind, known, leave.value))

    def perhaps(self, way: Callable[[], object]) -> None:
        """Something that may or may not happen."""
        self.ways([lambda: None, lambda: (way(), None)[1]])

    @contextmanager
    def inside(self, context: Context) -> Iterator[Context]:
        self.contexts.append(context)
        try:
            yield context
        finally:
            self.contexts.pop()

    @contextmanager
    def within(self, scope: Scope) -> Iterator[Scope]:
        """Evaluate in another scope."""
        outer, self.scope = self.scope, scope
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scope = outer
            self.scopes.pop()


def _is_met_before(node: ast.stmt, fact: Mapping[str, Any], place: ast.AST | None) -> bool:
    """Whether a dotted name of which the state knows a part to be missing is read before a place in its statement."""
    wanted = f"{fact.get('of')}.{fact.get('attribute')}"
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and ast.unparse(part) == wanted:
            return _is_dotted(part) and _position(part) < _position(place)
    return False


def _is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or isinstance(node, ast.Attribute) and _is_dotted(node.value)


def _position(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_trained(thing: Thing, content: Content) -> bool:
    """Modules and optimizers, and objects of the notebook's classes that hold layers."""
    parts = (content.attributes or {}).values()
    return (
        thing.type.startswith(("torch.nn.", "torch.optim."))
        or "training" in content.facts
        or any(part.type.startswith("torch.nn.") for part in parts)
    )
