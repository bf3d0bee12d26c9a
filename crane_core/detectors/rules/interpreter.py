"""The evaluation of the target over abstract values: what is shared by all statements and expressions.

Knows names, steps and their rules, what a step may change, and branches of the code of which only some are taken.
Crash means here that every path from this place on raises. How each statement and expression is evaluated is in
interpret_*.py, each registered for its kind of syntax tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer
from crane_core.detectors.rules.answers import LibraryAnswer
from crane_core.detectors.rules.asking import Asker, StepQuestion
from crane_core.detectors.rules.bindings import local_names
from crane_core.detectors.rules.family import Registered, rules_for
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import (
    BranchWatch,
    Scope,
    Snapshot,
    ValueFields,
    fields_of,
    is_unchanged,
    join,
    reachable,
    restore,
    snapshot,
)
from crane_core.detectors.rules.initial_state import EmptyKernel, InitialState
from crane_core.detectors.rules.operation import Arguments, Operation
from crane_core.detectors.rules.paths import public_path
from crane_core.detectors.rules.prefix import builtin, is_builtin

# Three nested loops of 50 turns are 125,000 steps, and a person waits for the verdict.
MOST_STEPS = 20_000
# Without this, forgetting among many values would take long without ever counting as a step.
VISITS_PER_STEP = 500
"""So many values looked at in forgetting take about as long as a step."""
# A sum of 3,000 terms nests as deep, and Python's own recursion limit would end the search.
DEEPEST = 180
_IN_PLACE = ("+=", "-=", "*=", "|=", "&=", "^=")
_RUNS_BACK = ("call", "method", "element", "elements")
"""Steps in which libraries may run functions and generators that they are given."""
_MAY_CHANGE = ("call", "method", "set_item", "set_attribute")
_WORD = re.compile(r"[A-Za-z_]\w*")
_FUNCTIONS, _CLASSES = ("function", "method", ""), ("type", "abc.ABCMeta", "")
_RUN_LATER = ("function", "method", "generator", "coroutine")
RETURN, BREAK, CONTINUE = "return", "break", "continue"
_K = TypeVar("_K")
_T = TypeVar("_T")


class ControlFlowExitError(Exception):
    """The code leaves a loop or function here, with the value that a function returns."""

    def __init__(self, kind: str, value: AbstractValue) -> None:
        super().__init__(kind)
        self.kind = kind
        self.value = value


class GiveUpError(Exception):
    """From here on nothing is certain: the cell may have ended, or it is too long to be followed."""


class RuleError(NamedTuple):
    """A rule that failed to judge a step."""

    family: str
    rule: str
    error: str


@dataclass(slots=True, eq=False)
class Context:
    """A loop or a call. `left` holds what was known where branches left it, by kind, and what a function returned."""

    kinds: tuple[str, ...]
    left: list[tuple[str, Snapshot, AbstractValue]] = field(default_factory=list)

    def ends_by(self, kind: str) -> list[Snapshot]:
        """What was known where paths left by this kind of exit."""
        return [known for each, known, _ in self.left if each == kind]


class Callee(StrEnum):
    """What is called: the part before the parentheses."""

    BOUND_METHOD = "bound method"
    CLASS = "class of the notebook"
    FUNCTION = "function of the notebook"
    LIBRARY = "function or class of a library"
    OWN_OBJECT = "object of a class of the notebook"
    OBJECT = "object"


class Elements(NamedTuple):
    """The elements: all of them where they are known, and the first where there certainly is one."""

    every: list[AbstractValue] | None
    first: AbstractValue | None


Evaluate = Callable[["Interpreter", Any], AbstractValue]
Perform = Callable[["Interpreter", Any], None]
Call = Callable[["Interpreter", AbstractValue, Arguments, ast.AST], AbstractValue]
Iterate = Callable[["Interpreter", AbstractValue, ast.AST], Elements]
EXPRESSIONS: dict[type, Evaluate] = {}
STATEMENTS: dict[type, Perform] = {}
CALLS: dict[Callee, Call] = {}
ITERATIONS: dict[str, Iterate] = {}
"""By type of what is iterated; "" for all others."""


def _registering(table: dict[_K, _T]) -> Callable[..., Callable[[_T], _T]]:
    """A decorator, by which a function is registered for keys of a table."""

    def registering(*keys: _K) -> Callable[[_T], _T]:
        def registered(function: _T) -> _T:
            table.update(dict.fromkeys(keys, function))
            return function

        return registered

    return registering


expression = _registering(EXPRESSIONS)
statement = _registering(STATEMENTS)
call_of = _registering(CALLS)
iteration = _registering(ITERATIONS)
_ARRAY: Final = "numpy.ndarray"


def callee_of(function: AbstractValue) -> Callee:
    """How a call of this is evaluated."""
    if function.definition is None:
        if function.bound_to is not None and not function.path:
            return Callee.BOUND_METHOD
    elif isinstance(function.definition, ast.ClassDef):
        if function.type in _CLASSES:
            return Callee.CLASS
    elif function.type in _FUNCTIONS:
        return Callee.FUNCTION
    if function.path and function.type != "module":
        return Callee.LIBRARY
    return Callee.OWN_OBJECT if function.package == "__main__" else Callee.OBJECT


class Interpreter:
    """One evaluation of a target. `errors` are rules that failed; they said nothing."""

    def __init__(
        self, initial: InitialState | EmptyKernel, most_steps: int = MOST_STEPS
    ) -> None:
        self.initial = initial
        self.most_steps = most_steps
        self.asker = Asker(
            initial.packages, initial.mentions, may_be_extended=initial.may_be_extended
        )
        self.module = Scope()
        self.scope = self.module
        self.scopes = [self.module]
        self.contexts: list[Context] = []
        self.calls: list[ast.AST] = []
        self.errors: list[RuleError] = []
        self.n_steps = 0
        self.n_visits = 0
        self.depth = 0
        self.possible: set[str] = set()
        """Classes that a branch raises: where it is the right one, nothing behind it does."""
        self.is_unsure_of_names = False
        self.results: dict[ast.AST, Mapping[str, Any]] = {}
        """By call of the code: how the worker makes what the call gave when it was last evaluated."""
        self.running: list[ast.AST] = []
        self.watches: list[BranchWatch] = []
        self.loaded: dict[str, tuple[AbstractValue, ValueFields]] = {}
        self.loaded_parts: dict[str, list[tuple[AbstractValue, ValueFields]]] = {}
        """What objects led to when they were loaded, of those of which the state says that a part lacks something."""
        self.within_loaders: list[tuple[AbstractValue, ValueFields]] = []
        self.escaped: dict[AbstractValue, None] = {}
        """Objects that unknown code may hold: to be forgotten whenever such code runs."""
        self.made: dict[int, AbstractValue] = {}
        """Objects of the notebook's classes that were made since the start."""
        self.is_restless = initial.is_restless
        """Other code acts beside the target: what changes is not known for longer than to the next call."""
        self.is_as_begun = True
        """Nothing has run that could install a module."""
        # Loaded before any branch: a name first met inside of one would be unknown after it, as in
        # `for name in os.environ: seen.add(net.training)` before `net(x)`.
        known = (
            initial.fixed
            if self.is_restless
            else (*initial.held, *initial.past, *initial.fixed)
        )
        for name in dict.fromkeys(known):
            if self.is_restless or initial.missing(name) is None:
                self._load(name)
        self.is_unsure_of_names = self.is_restless

    def know(self, names: Iterable[str]) -> None:
        """Those of the names that are Python's own stand for that on every path from here on."""
        for name in names:
            if (
                name not in self.module.names
                and self.initial.of_python(name) is not None
            ):
                self._load(name)

    # Statements and expressions

    def body(self, statements: Iterable[ast.stmt]) -> None:
        """Run statements in order. Raises Crash, ControlFlowExitError and GiveUpError as `run` does."""
        for each in statements:
            self.run(each)

    def run(self, node: ast.stmt) -> None:
        """Run one statement.

        Raises Crash where every path raises, ControlFlowExitError where no path continues behind it, and
        GiveUpError where nothing is certain any more.
        """
        self._count()
        perform = STATEMENTS.get(type(node))
        if perform is None:
            raise GiveUpError
        absent = self._absent_at(node)
        # What the head of a loop or `if` needs is needed before anything in its body.
        if hasattr(node, "body") or hasattr(node, "cases"):
            self._ask_absent(node, absent)
            absent = []
        try:
            perform(self, node)
        except Crash as crash:
            # Python reads a statement from left to right: what is missing on the left raises first.
            self._ask_absent(
                node,
                [
                    (group, fact)
                    for group, fact in absent
                    if _is_met_before(node, fact, crash.place)
                ],
            )
            raise
        self._ask_absent(node, absent)
        for watch in self.watches:
            watch.look(self.scopes)

    def _absent_at(self, node: ast.stmt) -> list[tuple[str, Mapping[str, Any]]]:
        """What the state says the target needs at this statement and will not find, in objects that are as they were.

        Checked before the statement runs, which may change the object after it has needed it.
        """
        # The state counts lines of the target, a function of another cell has its own.
        if (
            self.calls
            or self.is_unsure_of_names
            and not (self.is_restless and self.is_as_begun)
        ):
            return []
        told = self.initial.absent_at(node)
        return [
            (group, fact)
            for group, fact in told
            if self._may_last(group) and self._is_as_stated(fact)
        ]

    def _may_last(self, group: str) -> bool:
        """Whether no other code may provide what is missing; modules are not installed by a thread."""
        if group == "files" and self.initial.session.are_files_changing:
            return False
        return group == "modules" or not self.is_restless

    def _is_as_stated(self, fact: Mapping[str, Any]) -> bool:
        of = str(fact.get("of", ""))
        # A part is as stated only while its whole is: `df` of `df.groupby('a').iplot`.
        names = [
            *_WORD.findall(of)[:1],
            *_WORD.findall(str(fact.get("asked_by", "")))[:1],
        ]
        if not all(map(self.is_untouched, names)) or any(
            map(self.initial.unseen.touches, names)
        ):
            return False
        if of.isidentifier():
            return True
        # What a part was taken from says the same of itself after the part was changed, by whatever name.
        if not all(map(self.is_untouched, self.initial.held)):
            return False
        return all(
            self._are_parts_as_found(name) for name in names if name in self.loaded
        )

    def _are_parts_as_found(self, name: str) -> bool:
        """Whether all parts of an object that was met are known, and say what they said; modules keep theirs."""
        parts = self.loaded_parts.get(name, [])
        is_known = (
            bool(parts)
            and all(part.type for part, _ in parts)
            or bool(self.loaded[name][0].path)
        )
        return is_known and all(is_unchanged(part, fields) for part, fields in parts)

    def _ask_absent(
        self, node: ast.stmt, facts: Iterable[tuple[str, Mapping[str, Any]]]
    ) -> None:
        for group, fact in facts:
            self.missing(
                group,
                node,
                fact
                if group != "files"
                else dict(fact, function=self._reader(node, fact)),
            )

    def _reader(self, node: ast.stmt, fact: Mapping[str, Any]) -> str:
        """The path of the function to which a statement passes the name of a file."""
        for call in ast.walk(node):
            given = (
                [*call.args, *(each.value for each in call.keywords)]
                if isinstance(call, ast.Call)
                else []
            )
            if any(
                isinstance(part, ast.Constant) and part.value == fact.get("file")
                for part in given
            ):
                known = (
                    self.known_name(call.func) if isinstance(call, ast.Call) else None
                )
                return known.path if known is not None else ""
        return ""

    def value(self, node: ast.AST | None) -> AbstractValue:
        """The value of an expression."""
        if node is None:
            return AbstractValue("NoneType", literal=None)
        self._count()
        evaluate = EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise GiveUpError
        self.depth += 1
        try:
            if self.depth > DEEPEST:
                raise GiveUpError
            return evaluate(self, node)
        finally:
            self.depth -= 1

    def _count(self) -> None:
        self.n_steps += 1
        if self.n_steps > self.most_steps:
            raise GiveUpError

    # Names

    def name(self, name: str, node: ast.AST) -> AbstractValue:
        """What a name refers to. Raises Crash where it certainly refers to nothing."""
        for scope in self._visible():
            if name in scope.names:
                # `log.warning('dry'); seen[0]`: a handler of the notebook fills `seen`.
                if scope is self.module and self.initial.unseen.touches(name):
                    return self._as_changed(name, scope.names[name])
                value = scope.names[name]
                return (
                    value
                    if value is not None
                    else self._unset(name, node, is_local=scope is not self.module)
                )
        if name in self.initial.unseen.names:
            return AbstractValue(words=name)
        # Code that was not followed may have assigned the name: `exec('x = 1'); x`.
        if (
            not self.is_unsure_of_names
            and (fact := self.initial.missing(name)) is not None
        ):
            self.missing("names", node, fact, name)
        value = self._load(name)
        return (
            self._as_changed(name, value)
            if self.initial.unseen.touches(name)
            else value
        )

    def _as_changed(self, name: str, value: AbstractValue | None) -> AbstractValue:
        """What a name refers to that code out of sight may give another value, or whose object it may change."""
        if value is None or name in self.initial.unseen.names:
            return AbstractValue(words=name)
        if value.type not in harmless.IMMUTABLE and not value.path:
            value.forget()
        return value

    def _load(self, name: str) -> AbstractValue:
        value = (
            self.initial.value(name)
            if not self.is_unsure_of_names
            else AbstractValue(words=name)
        )
        if (
            value.class_name in self.initial.unseen.classes
            and value.package == "__main__"
        ):
            value.forget()
        fields = fields_of(value)
        # Names of one object share one value: after `same['new'] = 1`, `df['new']` is there.
        for other in self.initial.same(name) if not self.is_unsure_of_names else ():
            if other in self.loaded:
                value, fields = self.loaded[other]
        if self.initial.held and name not in self.initial.past:
            self._share(name, value)
            if self.initial.unseen.classes and name in self.initial.held:
                value.forget()
        self.module.names[name] = value
        self.loaded[name] = (value, fields)
        if name in self.initial.names_absent:
            self.loaded_parts[name] = [
                (part, fields_of(part))
                for part in reachable([value])
                if part is not value
            ]
        # The look drew a first batch, which `labelled.rows = [...]` makes out of date.
        if value.is_a("torch", "DataLoader"):
            self.within_loaders += [
                (part, fields_of(part)) for part in reachable([value])
            ]
        return value

    def _share(self, name: str, value: AbstractValue) -> None:
        """What other objects hold may be changed through them: of parts that may be such an object nothing is known."""
        if name in self.initial.held:
            self.escaped[value] = None
        kinds = {self.initial.type_of(other) for other in self.initial.held}
        for part in reachable([value]):
            if part is not value and part.type in kinds:
                part.forget()
                part.type = ""

    def is_untouched(self, name: str) -> bool:
        """True while a global name refers to the same as before the target, not changed."""
        value = self.module.names.get(name)
        if name not in self.loaded:
            same = [other for other in self.initial.same(name) if other in self.loaded]
            return name not in self.module.names and all(map(self.is_untouched, same))
        return value is self.loaded[name][0] and is_unchanged(
            value, self.loaded[name][1]
        )

    def is_as_found(self) -> bool:
        """Whether what the state tells of objects that run code of others still holds: nothing they use was changed.

        Models and optimizers count as not used: training changes them all the time.
        """
        used = [
            (value, fields)
            for value, fields in self.loaded.values()
            if not _is_trained(value, fields)
        ]
        return all(
            is_unchanged(value, fields)
            for value, fields in (*used, *self.within_loaders)
        )

    def known_name(self, node: ast.AST) -> AbstractValue | None:
        """What a name or dotted name refers to, without any effect; None for other expressions."""
        if isinstance(node, ast.Name):
            found = [
                scope.names[node.id]
                for scope in self._visible()
                if node.id in scope.names
            ]
            return found[0] if found else self.initial.value(node.id)
        if isinstance(node, ast.Attribute):
            holder = self.known_name(node.value)
            path = holder.path if holder is not None else ""
            return (
                AbstractValue(path=public_path(f"{path}.{node.attr}")) if path else None
            )
        return None

    def _visible(self) -> Iterator[Scope]:
        """The scopes in which a name is looked for: a class body is seen by its own statements alone."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope is self.scope or not scope.is_class:
                yield scope
            scope = scope.outer
        yield self.module

    def _unset(self, name: str, node: ast.AST, *, is_local: bool) -> AbstractValue:
        # After `list = [1]; del list` the name is Python's own again.
        if not is_local and is_builtin(name):
            return builtin(name)
        self.missing("unset", node, {"name": name, "is_local": is_local}, name)
        return AbstractValue()

    def bind(self, name: str, value: AbstractValue) -> None:
        """Let a name stand for a value, in the scope where the code here assigns it."""
        if not value.words:
            value.words = name
        self._owner(name).names[name] = value

    def unbind(self, name: str) -> None:
        """Let a name certainly have no value, as `del` does."""
        self._owner(name).names[name] = None

    def _owner(self, name: str) -> Scope:
        declared = self.scope.elsewhere.get(name, self.scope)
        return declared if declared is not None else self.module

    # Steps

    def ask(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        node: ast.AST,
        *,
        receiver: AbstractValue | None = None,
        arguments: Arguments = Arguments(),  # noqa: B008 - a frozen record
        absent: Mapping[str, Any] | None = None,
    ) -> AbstractValue | None:
        """What the rules, or the library, say of a step: its result, None if it is unknown. Raises Crash."""
        if (
            step == "method"
            and name == "__call__"
            and self.initial.is_assigned("forward")
        ):
            return None  # a layer that does what the notebook put into it
        receiver = (
            of if receiver is None and isinstance(of, AbstractValue) else receiver
        )
        operands = [
            *([receiver] if receiver is not None else []),
            *arguments.positional,
            *arguments.keywords.values(),
        ]
        before = harmless.array_facts(operands) if step in _MAY_CHANGE else []
        held = (
            fields_of(receiver).held
            if receiver is not None and harmless.is_container(receiver)
            else ()
        )
        question = self._question(
            step, of, name, node, receiver, arguments
        )  # before a rule changes an operand
        known: AbstractValue | None = None
        if rules := rules_for(step, of, name):
            operation = self._operation(
                name, node, receiver, arguments, absent or {}, question
            )
            # Every rule runs, as one behind the first answer may know that the step raises.
            answers = [
                self._asked(registered, operation, question) for registered in rules
            ]
            first = next((answer for answer in answers if answer is not UNKNOWN), None)
            known = AbstractValue() if first is UNCHANGED else first
        said = self._library_answer(question, node)
        if receiver is not None and (
            step in _MAY_CHANGE or step == "del_item" or name in _IN_PLACE
        ):
            self._link_changed(receiver, name, [*held, *operands])
        if known is not None and all(known is not each for each in (*operands, *held)):
            self._link_given(known, receiver, operands)
        self._invalidate_changed(before)
        self.run_back(operands if step in _RUNS_BACK else ())
        if step in ("call", "method", "item"):
            self.results[node] = (
                question.result if question is not None else {}
            )  # last, as rules may call too
        if said is None:
            return known
        if (
            said.gives.type == "method" and receiver is not None
        ):  # who calls it may change the receiver
            said.gives.bound_to, said.gives.is_foreign = receiver, receiver.is_foreign
        return _both(known, said.gives, operands)

    def _link_changed(
        self, receiver: AbstractValue, name: str, parts: Iterable[AbstractValue]
    ) -> None:
        """A container of unknown parts may be the one that a name refers to, and gets these."""
        if harmless.may_hold_any(receiver) and name not in harmless.READING:
            if linked := receiver.fact("part_of"):
                self.forget(linked)
            harmless.link(receiver, parts)

    def _link_given(
        self,
        known: AbstractValue,
        receiver: AbstractValue | None,
        operands: list[AbstractValue],
    ) -> None:
        """A container of unknown parts may hold what it was made of, and what is taken from one may be a part."""
        is_part = (
            not known.type and receiver is not None and harmless.is_container(receiver)
        )
        if is_part or harmless.may_hold_any(known):
            harmless.link(known, operands)

    def _operation(
        self,
        name: str,
        node: ast.AST,
        receiver: AbstractValue | None,
        arguments: Arguments,
        absent: Mapping[str, Any],
        question: StepQuestion | None,
    ) -> Operation:
        return Operation(
            node,
            ast.unparse(node),
            name,
            receiver if receiver is not None else AbstractValue(),
            arguments,
            call=lambda value, given, named: self.call(
                value, Arguments(tuple(given), dict(named)), node
            ),
            absent=absent,
            packages=self.initial.packages,
            variables=self.everything,
            is_told_apart=self.is_told_apart,
            mentions=self.initial.mentions,
            is_as_found=self.is_as_found,
            element=lambda value: self.ask("element", value, "", node),
            elements=lambda value: self.iterate(value, node).every,
            left=lambda: (
                said.left
                if (said := self._library_answer(question, node)) is not None
                else None
            ),
            refused_parameter=self.asker.refused_parameter,
        )

    def _question(
        self,
        step: str,
        of: AbstractValue | str,
        name: str,
        node: ast.AST,
        receiver: AbstractValue | None,
        arguments: Arguments,
    ) -> StepQuestion | None:
        """The question about a step to the library; None where the notebook may have replaced what it names."""
        own = of.rpartition(".")[2] if isinstance(of, str) else name
        # `np.percentile = lambda *given: 1` leaves no function of NumPy to ask about.
        if step in ("call", "method", "attribute") and self.initial.may_replace(own):
            return None
        before = _just_called(node)
        made = self.results.get(before, {}) if before is not None else {}
        return self._unless_it_fails(
            lambda: self.asker.question(step, of, name, receiver, arguments, made)
        )

    def _unless_it_fails(self, asked: Callable[[], _T | None]) -> _T | None:
        """The answer of a question; a mistake in it says nothing, and is counted as one of a rule."""
        try:
            return asked()
        except Exception as error:  # noqa: BLE001
            self.errors.append(
                RuleError("libraries", "asked", f"{type(error).__name__}: {error}")
            )
            return None

    def _library_answer(
        self, question: StepQuestion | None, node: ast.AST, but: str = ""
    ) -> LibraryAnswer | None:
        """What the library itself says, if it does. Raises Crash where it refuses, unless it is of the class `but`."""
        said = (
            None
            if question is None
            else self._unless_it_fails(lambda: self.asker.about(question))
        )
        if said is not None and said.crash is not None and said.crash.exception != but:
            said.crash.place = self.place(node)
            raise said.crash
        return said

    def _asked(
        self,
        registered: Registered,
        operation: Operation,
        question: StepQuestion | None,
    ) -> Answer:
        try:
            return registered.rule(operation)
        except Crash as crash:
            # A rule may be of an older release: NumPy raises AxisError today where it once raised
            # another class, and the library's own class is the one that comes.
            if crash.place is None:
                self._library_answer(question, operation.node, but=crash.exception)
            crash.family = crash.family or registered.family
            crash.place = crash.place or self.place(operation.node)
            raise
        except (GiveUpError, ControlFlowExitError):
            raise
        except Exception as error:  # noqa: BLE001 - a rule that fails says nothing, and is counted
            rule = getattr(registered.rule, "__name__", "rule")
            self.errors.append(
                RuleError(registered.family, rule, f"{type(error).__name__}: {error}")
            )
            return UNKNOWN

    def crash(
        self, node: ast.AST, exception: str, why: str, *, fact: str, remedy: str
    ) -> None:
        """Say without a rule that a piece of the code raises."""
        crash = Crash(exception, why, fact=fact, remedy=remedy)
        crash.family, crash.place = "python", self.place(node)
        raise crash

    def place(self, node: ast.AST) -> ast.AST:
        """The piece of the target that leads to a node: in a function of another cell, its call."""
        return self.calls[0] if self.calls else node

    def missing(
        self, group: str, node: ast.AST, fact: Mapping[str, Any], name: str = ""
    ) -> None:
        """Ask what follows from something that is known not to be there. Raises Crash."""
        self.ask(
            "missing", group, "*", node, absent=dict(fact, name=name) if name else fact
        )

    def call(
        self, function: AbstractValue, arguments: Arguments, node: ast.AST
    ) -> AbstractValue:
        """A call of whatever is before the parentheses. Raises Crash."""
        return CALLS[callee_of(function)](self, function, arguments, node)

    def iterate(self, value: AbstractValue, node: ast.AST) -> Elements:
        """The elements of a value. Raises Crash where it cannot be iterated."""
        return ITERATIONS.get(value.type, ITERATIONS[""])(self, value, node)

    # Changes

    def is_told_apart(self, left: AbstractValue, right: AbstractValue) -> bool:
        """Whether two values certainly are two objects: named ones, of which the state says that none holds them."""
        if not self.initial.tells_identity:
            return False
        named = [
            (name, value)
            for scope in self.scopes
            for name, value in scope.names.items()
        ]
        sides = [
            {name for name, value in named if value is side} for side in (left, right)
        ]
        return all(sides) and not any(names & set(self.initial.held) for names in sides)

    def everything(self) -> list[AbstractValue]:
        """Every value that a name leads to."""
        return reachable(
            value for scope in self.scopes for value in scope.names.values()
        )

    def forget(self, values: Iterable[AbstractValue]) -> None:
        """Unknown code received these: they and what they hold may change, now and whenever such code runs."""
        found = reachable([*values, *self.escaped])
        steps, self.n_visits = divmod(self.n_visits + len(found), VISITS_PER_STEP)
        self.n_steps += steps
        for value in found:
            if not value.path and value.type not in harmless.IMMUTABLE:
                value.forget()
                self.escaped[value] = None
            elif isinstance(value.definition, ast.ClassDef):
                value.attributes = {}
        # An unknown object may be a view: `turned = np.rot90(X); turned[:] = 0` changes X.
        if any(
            not value.type or harmless.may_share_memory(value) for value in self.escaped
        ):
            self._invalidate_aliases()

    def _invalidate_aliases(self, changed: AbstractValue | None = None) -> None:
        """Values of arrays may have been changed through another name: their value facts are no longer known."""
        for value in self.everything():
            if value is not changed and harmless.may_share_memory(value):
                value.drop(harmless.VALUE_FACTS)

    def _invalidate_changed(
        self, before: Iterable[tuple[AbstractValue, dict[str, Any]]]
    ) -> None:
        """What a step has changed in place may be seen through other names; attributes stated before are out of date.

        `before` are arrays with their facts before the step.
        """
        for value, facts in before:
            if value.facts != facts:
                value.attributes = {}
                self._invalidate_aliases(value)

    def havoc(self) -> None:
        """Code that cannot be followed ran: nothing is known but what cannot change."""
        self.forget(self.everything())
        for scope in self.scopes:
            for name, value in scope.names.items():
                if scope is self.module and not self._is_fixed(name, value):
                    scope.names[name] = AbstractValue(words=name)
        self.is_unsure_of_names = True
        self.is_as_begun = False

    def let_others_act(self) -> None:
        """A call or an await takes time: who acts beside the target may have changed anything meanwhile."""
        if self.is_restless:
            self.havoc()

    def _is_fixed(self, name: str, value: AbstractValue | None) -> bool:
        """Whether a global name refers to a module, function or class still; a star may bring another `sum`."""
        if value is None or not value.path and value.definition is None:
            return False
        return (
            not value.path.startswith("builtins.")
            or self.initial.of_python(name) is not None
        )

    def run_back(self, values: Iterable[AbstractValue]) -> None:
        """Functions and generators of the notebook, these or those in them, may run unseen."""
        for value in values:
            for part in (value, *(value.items or ()), *(value.members or {}).values()):
                if part.type in _RUN_LATER and part.definition is not None:
                    self.forget([part])
                    self._forget_mentioned([part.definition])
                self.run_unseen(part, is_handed=True)

    def run_unseen(self, value: AbstractValue, *, is_handed: bool = False) -> None:
        """Methods of the notebook's class of an object may run that Python itself calls; any, where it is handed on."""
        parts = [part for kind in self._own_classes(value) for part in kind.body]
        methods = [
            (part, part.name) for part in parts if isinstance(part, ast.FunctionDef)
        ]
        hidden = {
            name
            for part, name in methods
            # `sorted([loud, loud])` calls `__lt__`, and `louder.prop` runs the code of a property.
            if part.decorator_list or name[:2] == "__" and name != "__init__"
        }
        self._forget_mentioned(
            [part for part, name in methods if is_handed or name in hidden]
        )

    def _own_classes(self, value: AbstractValue) -> list[ast.ClassDef]:
        """The notebook's classes of which an object or class is."""
        kinds = [value.definition] if isinstance(value.definition, ast.ClassDef) else []
        for kind in kinds:
            bases = [
                base.definition
                for base in filter(None, map(self.known_name, kind.bases))
            ]
            kinds += [
                base
                for base in bases
                if isinstance(base, ast.ClassDef) and base not in kinds
            ]
        return kinds

    def _forget_mentioned(self, waiting: list[Any]) -> None:
        """What code mentions may change, and what the functions and classes do that it mentions."""
        met: set[str] = set()
        while waiting:
            code = waiting.pop()
            own = local_names(code) if isinstance(code, ast.FunctionDef) else ()
            for node in ast.walk(code):
                # `list(map(lambda _: fill(), [1]))` assigns `rows` if `fill` says `global rows`.
                if isinstance(node, (ast.Global, ast.Nonlocal)):
                    self.havoc()
                    return
                if (
                    isinstance(node, ast.Name)
                    and node.id not in met
                    and node.id not in own
                ):
                    met.add(node.id)
                    if (
                        node.id not in self.module.names
                        and self.initial.missing(node.id) is None
                    ):
                        self._load(node.id)
                    known = self.known_name(node)
                    if known is not None and isinstance(known.definition, ast.AST):
                        waiting.append(known.definition)
        found = [
            value
            for scope in self.scopes
            for name in met
            if (value := scope.names.get(name)) is not None
        ]
        if any(not value.path for value in found):
            self.forget(found)

    # Branches

    def branches(self, branches: Sequence[Callable[[], _T]]) -> list[_T]:
        """Interpret several branches, one of which is the right one; the result of each that comes to its end.

        What is known afterwards is what all those know that come to their ends. Raises Crash where every branch raises,
        ControlFlowExitError where no branch comes to its end.
        """
        start = snapshot(self.scopes)
        ends: list[Snapshot] = []
        values: list[_T] = []
        crashes: list[Crash] = []
        leaves: list[tuple[ControlFlowExitError, Snapshot]] = []
        for branch in branches:
            restore(start)
            try:
                value = branch()
            except Crash as crash:
                crashes.append(crash)
            except ControlFlowExitError as leave:
                leaves.append((leave, snapshot(self.scopes)))
            else:
                values.append(value)
                ends.append(snapshot(self.scopes))
        self._after_branches(ends, crashes, leaves)
        return values

    def _after_branches(
        self,
        ends: list[Snapshot],
        crashes: list[Crash],
        leaves: list[tuple[ControlFlowExitError, Snapshot]],
    ) -> None:
        # Where the branches raise several classes, no finding is made: either may come first.
        self.possible.update(crash.exception for crash in crashes)
        if not ends and not leaves:
            raise crashes[0]
        if not ends:
            last, known = leaves.pop()
            self.note_left(leaves)
            restore(known)
            raise last
        self.note_left(leaves)
        join(ends)

    def note_left(self, leaves: list[tuple[ControlFlowExitError, Snapshot]]) -> None:
        """Keep for the loop or call that paths have left what was known there. Raises GiveUpError outside of any."""
        for leave, known in leaves:
            context = next(
                (each for each in reversed(self.contexts) if leave.kind in each.kinds),
                None,
            )
            if context is None:
                raise GiveUpError
            context.left.append((leave.kind, known, leave.value))

    def maybe_run(self, branch: Callable[[], object]) -> None:
        """Something that may or may not happen."""
        self.branches([lambda: None, lambda: (branch(), None)[1]])

    @contextmanager
    def inside(self, context: Context) -> Iterator[Context]:
        """Evaluate inside of a loop or call, which keeps the paths that leave it."""
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


def _both(
    known: AbstractValue | None, given: AbstractValue, operands: Sequence[AbstractValue]
) -> AbstractValue:
    """What rules and library say together of the result of a step."""
    if (
        of_memory := next((each for each in operands if each.type == _ARRAY), None)
    ) is not None:
        for part in filter(_is_array, (given, *(given.items or ()))):
            part.facts["view_of"] = of_memory  # or a copy: nobody asks which
    if known is None or _is_blank(known):
        return given
    if known.type == given.type and all(known is not each for each in operands):
        shape = known.shape if None in (given.shape or ()) else given.shape
        known.facts = (
            known.facts | given.facts | ({"shape": shape} if shape is not None else {})
        )
    return known


def _is_array(value: AbstractValue) -> bool:
    return value.type == _ARRAY


def _just_called(node: ast.AST) -> ast.AST | None:
    """The step on whose result a step is, with nothing between: that of `f(...).a`, or of `f(...)[a].b(...)`."""
    holder = node.func if isinstance(node, ast.Call) else node
    before = (
        holder.value if isinstance(holder, (ast.Attribute, ast.Subscript)) else None
    )
    return before if isinstance(before, (ast.Call, ast.Subscript)) else None


def _is_blank(known: AbstractValue | None) -> bool:
    """Whether the rules say nothing of the result of a step."""
    return known is None or not (
        known.type or known.path or known.facts or known.is_literal
    )


def _is_met_before(
    node: ast.stmt, fact: Mapping[str, Any], place: ast.AST | None
) -> bool:
    """Whether a dotted name of which the state knows a part to be missing is read before a place in its statement."""
    wanted = f"{fact.get('of')}.{fact.get('attribute')}"
    met = [
        part
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)
    ]
    return any(
        ast.unparse(part) == wanted and _position(part) < _position(place)
        for part in met
    )


def _position(node: ast.AST | None) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_trained(value: AbstractValue, fields: ValueFields) -> bool:
    """Modules and optimizers, and objects of the notebook's classes that hold layers."""
    parts = (fields.attributes or {}).values()
    return (
        value.type.startswith(("torch.nn.", "torch.optim."))
        or "training" in fields.facts
        or any(part.type.startswith("torch.nn.") for part in parts)
    )
