"""The evaluation of the target over abstract values: what is shared by all statements and expressions.

Knows steps and their rules, and branches of the code of which only some are taken. Crash means here that every path
from this place on raises. Names and what a step may change are in memory.py, what branches know in heap.py; how each
statement and expression is evaluated is in interpret_*.py, each registered for its kind of syntax tree.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from crane_core.detectors.rules import harmless, heap, stated_absences
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import UNCHANGED, UNKNOWN, Answer, Crash
from crane_core.detectors.rules.answers import LibraryAnswer
from crane_core.detectors.rules.asking import Asker, StepQuestion
from crane_core.detectors.rules.family import Registered, rules_for
from crane_core.detectors.rules.initial_state import EmptyKernel, InitialState
from crane_core.detectors.rules.memory import Memory
from crane_core.detectors.rules.operation import Arguments, Operation
from crane_core.detectors.rules.prefix import builtin, is_builtin

# Three nested loops of 50 turns are 125,000 steps, and a person waits for the verdict.
MOST_STEPS = 20_000
# Without this, forgetting among many values would take long without ever counting as a step.
VISITS_PER_STEP = 500
"""So many values looked at in forgetting take about as long as a step."""
# A sum of 3,000 terms nests as deep, and Python's own recursion limit would end the search.
DEEPEST = 180
_IN_PLACE = ("+=", "-=", "*=", "|=", "&=", "^=")
_MADE_AGAIN = ("call", "method", "item")
"""Steps whose result the worker can make once more for a question about it."""
_RUNS_BACK = ("call", "method", "element", "elements")
"""Steps in which libraries may run functions and generators that they are given."""
_MAY_CHANGE = ("call", "method", "set_item", "set_attribute")
_FUNCTIONS, _CLASSES = ("function", "method", ""), ("type", "abc.ABCMeta", "")
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
    left: list[tuple[str, heap.Snapshot, AbstractValue]] = field(
        default_factory=list
    )

    def ends_by(self, kind: str) -> list[heap.Snapshot]:
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
Call = Callable[
    ["Interpreter", AbstractValue, Arguments, ast.AST], AbstractValue
]
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
    return (
        Callee.OWN_OBJECT if function.package == "__main__" else Callee.OBJECT
    )


class Interpreter:
    """One evaluation of a target. `errors` are rules that failed; they said nothing."""

    def __init__(
        self, initial: InitialState | EmptyKernel, most_steps: int = MOST_STEPS
    ) -> None:
        self.initial = initial
        self.memory = Memory(initial)
        self.asker = Asker(
            initial.packages,
            initial.mentions_setting,
            may_be_extended=initial.may_be_extended,
            changed=initial.changed,
        )
        self.contexts: list[Context] = []
        self.calls: list[ast.AST] = []
        self.errors: list[RuleError] = []
        self.possible: set[str] = set()
        """Classes that a branch raises: where it is the right one, nothing behind it does."""
        self.results: dict[ast.AST, Mapping[str, Any]] = {}
        """By call of the code: how the worker makes what the call gave when it was last evaluated."""
        self.running: list[ast.AST] = []
        self.watches: list[heap.BranchWatch] = []
        self.made: dict[int, AbstractValue] = {}
        """Objects of the notebook's classes that were made since the start."""
        self._most_steps = most_steps
        self._n_evaluated = 0
        self._depth = 0

    @property
    def n_steps(self) -> int:
        """Statements and expressions so far, and what forgetting took of time beside them."""
        return self._n_evaluated + self.memory.n_visits // VISITS_PER_STEP

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
        # `type Bed = list` of Python 3.12 has no entry.
        if perform is None:
            raise GiveUpError
        # The state counts lines of the target, a function of another cell has its own.
        absent = (
            [] if self.calls else stated_absences.absences_at(self.memory, node)
        )
        # What the head of a loop or `if` needs is needed before anything in its body.
        if hasattr(node, "body") or hasattr(node, "cases"):
            self._ask_absent(node, absent)
            absent = []
        try:
            perform(self, node)
        except Crash as crash:
            # Python reads a statement from left to right: what is missing on the left raises first.
            read_before = [
                (group, fact)
                for group, fact in absent
                if stated_absences.is_met_before(node, fact, crash.place)
            ]
            self._ask_absent(node, read_before)
            raise
        self._ask_absent(node, absent)
        for watch in self.watches:
            watch.look(self.memory.scopes)

    def _ask_absent(
        self, node: ast.stmt, absences: Iterable[stated_absences.StatedAbsence]
    ) -> None:
        for group, fact in absences:
            if group == "files":
                reader = stated_absences.path_of_reader(self.memory, node, fact)
                fact = dict(fact, function=reader)
            self.missing(group, node, fact)

    def value(self, node: ast.AST | None) -> AbstractValue:
        """The value of an expression."""
        if node is None:
            return AbstractValue("NoneType", literal=None)
        self._count()
        evaluate = EXPRESSIONS.get(type(node))
        if evaluate is None:
            raise GiveUpError
        self._depth += 1
        try:
            # `1 + 1 + ...` of 3,000 terms is nested as deep.
            if self._depth > DEEPEST:
                raise GiveUpError
            return evaluate(self, node)
        finally:
            self._depth -= 1

    def _count(self) -> None:
        self._n_evaluated += 1
        if self.n_steps > self._most_steps:
            raise GiveUpError

    # Names

    def name(self, name: str, node: ast.AST) -> AbstractValue:
        """What a name refers to. Raises Crash where it certainly refers to nothing."""
        memory, unseen = self.memory, self.initial.unseen
        scope = memory.scope_of(name)
        if scope is not None:
            value = scope.names[name]
            # `log.warning('dry'); seen[0]`: a handler of the notebook fills `seen`.
            if scope is memory.module and unseen.touches(name):
                return memory.as_changed(name, value)
            if value is not None:
                return value
            return self._unset(name, node, is_local=scope is not memory.module)
        if name in unseen.names:
            return AbstractValue(words=name)
        # Code that was not followed may have assigned the name: `exec('x = 1'); x`.
        if not memory.is_unsure_of_names:
            fact = self.initial.missing(name)
            if fact is not None:
                self.missing("names", node, fact, name)
        loaded = memory.load(name)
        return (
            memory.as_changed(name, loaded) if unseen.touches(name) else loaded
        )

    def _unset(
        self, name: str, node: ast.AST, *, is_local: bool
    ) -> AbstractValue:
        # After `list = [1]; del list` the name is Python's own again.
        if not is_local and is_builtin(name):
            return builtin(name)
        self.missing("unset", node, {"name": name, "is_local": is_local}, name)
        return AbstractValue()

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
        # A layer does what the notebook put into it: `layer.forward = lambda x: 0`.
        is_call = (step, name) == ("method", "__call__")
        if is_call and self.initial.is_assigned("forward"):
            return None
        if receiver is None and isinstance(of, AbstractValue):
            receiver = of
        operands = _operands(receiver, arguments)
        before = harmless.array_facts(operands) if step in _MAY_CHANGE else []
        held = _held_by(receiver)
        # Put together before the rules, which may change an operand.
        question = self._question(step, of, name, node, receiver, arguments)
        known = self._answer_of(
            () if self._is_changed(of) else rules_for(step, of, name),
            question,
            name=name,
            node=node,
            receiver=receiver,
            arguments=arguments,
            absent=absent or {},
        )
        said = self._library_answer(question, node)
        if receiver is not None and _is_change(step, name):
            self._link_changed(receiver, name, [*held, *operands])
        self._link_given(known, receiver, operands, held)
        self.memory.invalidate_changed(before)
        if step in _RUNS_BACK:
            self.memory.run_back(operands)
        self._note_result(step, node, question)
        return (
            known
            if said is None
            else _both(known, said.gives, receiver, operands)
        )

    def _is_changed(self, of: AbstractValue | str) -> bool:
        """Whether it is of a library of which a setting was changed: what it does then, no rule knows."""
        changed = self.initial.changed
        package = of if isinstance(of, str) else of.package
        return bool(changed) and package.partition(".")[0] in changed

    def _note_result(
        self, step: str, node: ast.AST, question: StepQuestion | None
    ) -> None:
        # At the end of a step, as rules may call functions of the notebook too.
        if step in _MADE_AGAIN:
            self.results[node] = question.result if question is not None else {}

    def _answer_of(
        self,
        rules: Sequence[Registered],
        question: StepQuestion | None,
        *,
        name: str,
        node: ast.AST,
        receiver: AbstractValue | None,
        arguments: Arguments,
        absent: Mapping[str, Any],
    ) -> AbstractValue | None:
        """What the first rule says that knows the step. Raises Crash where one says so."""
        if not rules:
            return None
        operation = self._operation(
            name, node, receiver, arguments, absent, question
        )
        # Every rule runs, as one behind the first answer may know that the step raises.
        answers = [self._asked(each, operation, question) for each in rules]
        first = next(
            (answer for answer in answers if answer is not UNKNOWN), None
        )
        return AbstractValue() if first is UNCHANGED else first

    def _link_changed(
        self, receiver: AbstractValue, name: str, parts: Iterable[AbstractValue]
    ) -> None:
        """A container of unknown parts may be the one that a name refers to, and gets these."""
        if harmless.may_hold_any(receiver) and name not in harmless.READING:
            if linked := receiver.fact("part_of"):
                self.memory.forget(linked)
            harmless.link(receiver, parts)

    def _link_given(
        self,
        known: AbstractValue | None,
        receiver: AbstractValue | None,
        operands: list[AbstractValue],
        held: Iterable[AbstractValue],
    ) -> None:
        """A container of unknown parts may hold what it was made of, and what is taken from one may be a part."""
        if known is None or _is_among(known, (*operands, *held)):
            return
        is_part = (
            not known.type
            and receiver is not None
            and harmless.is_container(receiver)
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
            variables=self.memory.everything,
            is_told_apart=self.memory.is_told_apart,
            mentions=self.initial.mentions,
            may_bind=self.initial.may_bind,
            may_give_attribute=self.initial.may_give_attribute,
            is_as_found=self.memory.is_as_found,
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
        if step in ("call", "method", "attribute") and self.initial.may_replace(
            own
        ):
            return None
        before = _just_called(node)
        made = self.results.get(before, {}) if before is not None else {}
        return self._unless_it_fails(
            lambda: self.asker.question(
                step, of, name, receiver, arguments, made
            )
        )

    def _unless_it_fails(self, asked: Callable[[], _T | None]) -> _T | None:
        """The answer of a question; a mistake in it says nothing, and is counted as one of a rule."""
        try:
            return asked()
        except Exception as error:  # noqa: BLE001
            self.errors.append(
                RuleError(
                    "libraries", "asked", f"{type(error).__name__}: {error}"
                )
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
        if (
            said is not None
            and said.crash is not None
            and said.crash.exception != but
        ):
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
                self._library_answer(
                    question, operation.node, but=crash.exception
                )
            crash.family = crash.family or registered.family
            crash.place = crash.place or self.place(operation.node)
            raise
        except (GiveUpError, ControlFlowExitError):
            raise
        except Exception as error:  # noqa: BLE001 - a rule that fails says nothing, and is counted
            rule = getattr(registered.rule, "__name__", "rule")
            self.errors.append(
                RuleError(
                    registered.family, rule, f"{type(error).__name__}: {error}"
                )
            )
            return UNKNOWN

    def crash(
        self, node: ast.AST, exception: str, why: str, *, fact: str, remedy: str
    ) -> NoReturn:
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
            "missing",
            group,
            "*",
            node,
            absent=dict(fact, name=name) if name else fact,
        )

    def call(
        self, function: AbstractValue, arguments: Arguments, node: ast.AST
    ) -> AbstractValue:
        """A call of whatever is before the parentheses. Raises Crash."""
        return CALLS[callee_of(function)](self, function, arguments, node)

    def iterate(self, value: AbstractValue, node: ast.AST) -> Elements:
        """The elements of a value. Raises Crash where it cannot be iterated."""
        return ITERATIONS.get(value.type, ITERATIONS[""])(self, value, node)

    # Branches

    def branches(self, branches: Sequence[Callable[[], _T]]) -> list[_T]:
        """Interpret several branches, one of which is the right one; the result of each that comes to its end.

        What is known afterwards is what all those know that come to their ends. Raises Crash where every branch raises,
        ControlFlowExitError where no branch comes to its end.
        """
        start = heap.snapshot(self.memory.scopes)
        ends: list[heap.Snapshot] = []
        values: list[_T] = []
        crashes: list[Crash] = []
        leaves: list[tuple[ControlFlowExitError, heap.Snapshot]] = []
        # Each begins with what was known before the first.
        for branch in branches:
            heap.restore(start)
            try:
                value = branch()
            except Crash as crash:
                crashes.append(crash)
            except ControlFlowExitError as leave:
                leaves.append((leave, heap.snapshot(self.memory.scopes)))
            else:
                values.append(value)
                ends.append(heap.snapshot(self.memory.scopes))
        self._after_branches(ends, crashes, leaves)
        return values

    def _after_branches(
        self,
        ends: list[heap.Snapshot],
        crashes: list[Crash],
        leaves: list[tuple[ControlFlowExitError, heap.Snapshot]],
    ) -> None:
        # Where the branches raise several classes, no finding is made: either may come first.
        self.possible.update(crash.exception for crash in crashes)
        if not ends and not leaves:
            raise crashes[0]
        if not ends:
            last, known = leaves.pop()
            self.note_left(leaves)
            heap.restore(known)
            raise last
        self.note_left(leaves)
        heap.join(ends)

    def note_left(
        self, leaves: list[tuple[ControlFlowExitError, heap.Snapshot]]
    ) -> None:
        """Keep for the loop or call that paths have left what was known there. Raises GiveUpError outside of any."""
        for leave, known in leaves:
            context = next(
                (
                    each
                    for each in reversed(self.contexts)
                    if leave.kind in each.kinds
                ),
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


def _operands(
    receiver: AbstractValue | None, arguments: Arguments
) -> list[AbstractValue]:
    return [*([] if receiver is None else [receiver]), *arguments.values]


def _is_among(value: AbstractValue, others: Iterable[AbstractValue]) -> bool:
    return any(value is each for each in others)


def _is_change(step: str, name: str) -> bool:
    """Whether a step may put something into its receiver, or take it out."""
    return step in _MAY_CHANGE or step == "del_item" or name in _IN_PLACE


def _held_by(receiver: AbstractValue | None) -> tuple[AbstractValue, ...]:
    """What a container holds, before a step that may change it."""
    if receiver is None or not harmless.is_container(receiver):
        return ()
    return heap.fields_of(receiver).held


def _both(
    known: AbstractValue | None,
    given: AbstractValue,
    receiver: AbstractValue | None,
    operands: Sequence[AbstractValue],
) -> AbstractValue:
    """What rules and library say together of the result of a step."""
    # Who calls a method later may change the object that it was read from.
    if given.type == "method" and receiver is not None:
        given.bound_to, given.is_foreign = receiver, receiver.is_foreign
    _note_memory(given, operands)
    if known is None or _is_blank(known):
        return given
    if known.type == given.type and not _is_among(known, operands):
        shape = known.shape if None in (given.shape or ()) else given.shape
        known.facts = known.facts | given.facts
        if shape is not None:
            known.facts["shape"] = shape
    return known


def _note_memory(
    given: AbstractValue, operands: Sequence[AbstractValue]
) -> None:
    """An array that comes from an array may be a view of it, or a copy: which of them no library tells."""
    arrays = [each for each in operands if each.type == _ARRAY]
    if not arrays:
        return
    for part in (given, *(given.items or ())):
        if part.type == _ARRAY:
            part.facts["view_of"] = arrays[0]


def _just_called(node: ast.AST) -> ast.AST | None:
    """The step on whose result a step is, with nothing between: that of `f(...).a`, or of `f(...)[a].b(...)`."""
    holder = node.func if isinstance(node, ast.Call) else node
    before = (
        holder.value
        if isinstance(holder, (ast.Attribute, ast.Subscript))
        else None
    )
    return before if isinstance(before, (ast.Call, ast.Subscript)) else None


def _is_blank(known: AbstractValue | None) -> bool:
    """Whether the rules say nothing of the result of a step."""
    return known is None or not (
        known.type or known.path or known.facts or known.is_literal
    )
