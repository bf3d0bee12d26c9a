"""What is known at one place of the code: names, the values that they lead to, and what code out of sight may change.

Knows scopes and changes, and nothing of rules: the interpreter finds out what a step means. Where code may have run
that is not followed, it forgets, and so nothing is claimed that such code may have made untrue.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crane_core.detectors.rules import harmless, heap
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.initial_state import EmptyKernel, InitialState
from crane_core.detectors.rules.paths import public_path
from crane_core.runtime.kernel_side.crane_probe.syntax.names import local_names

_RUN_LATER = ("function", "method", "generator", "coroutine")


class Memory:
    """Names and values of one evaluation. `scope` is where the code runs now, `scopes` are all that are open.

    `n_visits` counts values that were looked at in forgetting, as among many that takes long.
    """

    def __init__(self, initial: InitialState | EmptyKernel) -> None:
        self.initial = initial
        self.module = heap.Scope()
        self.scope = self.module
        self.scopes = [self.module]
        self.n_visits = 0
        self.loaded: dict[str, tuple[AbstractValue, heap.ValueFields]] = {}
        self.loaded_parts: dict[
            str, list[tuple[AbstractValue, heap.ValueFields]]
        ] = {}
        """What objects led to when they were loaded, of those of which the state says that a part lacks something."""
        self._within_loaders: list[tuple[AbstractValue, heap.ValueFields]] = []
        self._escaped: dict[AbstractValue, None] = {}
        """Objects that unknown code may hold: to be forgotten whenever such code runs."""
        self.is_restless = initial.is_restless
        """Other code acts beside the target: what changes is not known for longer than to the next call."""
        self.is_as_begun = True
        """Nothing has run that could install a module."""
        self.is_unsure_of_names = False
        # Loaded before any branch: a name first met inside of one would be unknown after it, as in
        # `for name in os.environ: seen.add(net.training)` before `net(x)`.
        known = (
            initial.fixed
            if self.is_restless
            else (*initial.held, *initial.past, *initial.fixed)
        )
        for name in dict.fromkeys(known):
            if self.is_restless or initial.missing(name) is None:
                self.load(name)
        # Only now: names that are loaded while this is set are unknown.
        self.is_unsure_of_names = self.is_restless

    def know(self, names: Iterable[str]) -> None:
        """Those of the names that are Python's own stand for that on every path from here on."""
        for name in names:
            if (
                name not in self.module.names
                and self.initial.of_python(name) is not None
            ):
                self.load(name)

    def load(self, name: str) -> AbstractValue:
        """Meet a global name: what the kernel has for it before the target."""
        value = self._at_start(name)
        fields = heap.fields_of(value)
        # Names of one object share one value: after `same['new'] = 1`, `df['new']` is there.
        for other in () if self.is_unsure_of_names else self.initial.same(name):
            if other in self.loaded:
                value, fields = self.loaded[other]
        if self.initial.held and name not in self.initial.past:
            self._share(name, value)
            if self.initial.unseen.classes and name in self.initial.held:
                value.forget()
        self._forget_doubled(value, self.initial.doubled(name))
        self.module.names[name] = value
        self.loaded[name] = (value, fields)
        self._keep_parts(name, value)
        return value

    @staticmethod
    def _forget_doubled(value: AbstractValue, types: Sequence[str]) -> None:
        """One object inside that is reached in two ways has two values here, and a change of one misses the other."""
        for part in heap.reachable([value]) if types else ():
            if part is not value and (part.type in types or "*" in types):
                part.forget()

    def _at_start(self, name: str) -> AbstractValue:
        if self.is_unsure_of_names:
            return AbstractValue(words=name)
        value = self.initial.value(name)
        is_own = value.package == "__main__"
        # Code that a library calls changes objects of such a class: a handler fills `self.rows`.
        if is_own and value.class_name in self.initial.unseen.classes:
            value.forget()
        return value

    def _keep_parts(self, name: str, value: AbstractValue) -> None:
        """What an object leads to now, to see later whether that was changed."""
        absent = self.initial.names_absent
        if name in absent or absent and name in self.initial.held:
            self.loaded_parts[name] = [
                (part, heap.fields_of(part))
                for part in heap.reachable([value])
                if part is not value
            ]
        # The look drew a first batch, which `labelled.rows = [...]` makes out of date.
        if value.is_a("torch", "DataLoader"):
            self._within_loaders += [
                (part, heap.fields_of(part)) for part in heap.reachable([value])
            ]

    def _share(self, name: str, value: AbstractValue) -> None:
        """What other objects hold may be changed through them: of parts that may be such an object nothing is known."""
        if name in self.initial.held:
            self._escaped[value] = None
        # A state names the objects that others hold, and not who holds them.
        kinds = {self.initial.type_of(other) for other in self.initial.held}
        for part in heap.reachable([value]):
            if part is not value and part.type in kinds:
                part.forget()
                part.type = ""

    def as_changed(
        self, name: str, value: AbstractValue | None
    ) -> AbstractValue:
        """What a name refers to that code out of sight may give another value, or whose object it may change."""
        if value is None or name in self.initial.unseen.names:
            return AbstractValue(words=name)
        if value.type not in harmless.IMMUTABLE and not value.path:
            value.forget()
        return value

    def is_untouched(self, name: str) -> bool:
        """True while a global name refers to the same as before the target, not changed."""
        value = self.module.names.get(name)
        if name not in self.loaded:
            same = [
                other
                for other in self.initial.same(name)
                if other in self.loaded
            ]
            return name not in self.module.names and all(
                map(self.is_untouched, same)
            )
        return value is self.loaded[name][0] and heap.is_unchanged(
            value, self.loaded[name][1]
        )

    def is_wholly_untouched(self, name: str) -> bool:
        """The same of all that the object leads to, none of which may be unknown."""
        has_parts = bool(self.loaded_parts.get(name))
        return self.is_untouched(name) and (
            not has_parts or self.are_parts_as_found(name)
        )

    def are_parts_as_found(self, name: str) -> bool:
        """Whether all parts of an object that was met are known, and say what they said; modules keep theirs."""
        parts = self.loaded_parts.get(name, [])
        is_known = (
            bool(parts)
            and all(part.type for part, _ in parts)
            or bool(self.loaded[name][0].path)
        )
        return is_known and all(
            heap.is_unchanged(part, fields) for part, fields in parts
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
            heap.is_unchanged(value, fields)
            for value, fields in (*used, *self._within_loaders)
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
                AbstractValue(path=public_path(f"{path}.{node.attr}"))
                if path
                else None
            )
        return None

    def scope_of(self, name: str) -> heap.Scope | None:
        """The scope in which a name is found here; None if no scope has it yet."""
        return next(
            (each for each in self._visible() if name in each.names), None
        )

    def _visible(self) -> Iterator[heap.Scope]:
        """The scopes in which a name is looked for: a class body is seen by its own statements alone."""
        scope: heap.Scope | None = self.scope
        while scope is not None:
            if scope is self.scope or not scope.is_class:
                yield scope
            scope = scope.outer
        yield self.module

    def bind(self, name: str, value: AbstractValue) -> None:
        """Let a name stand for a value, in the scope where the code here assigns it."""
        if not value.words:
            value.words = name
        self._owner(name).names[name] = value

    def unbind(self, name: str) -> None:
        """Let a name certainly have no value, as `del` does."""
        self._owner(name).names[name] = None

    def _owner(self, name: str) -> heap.Scope:
        declared = self.scope.elsewhere.get(name, self.scope)
        return declared if declared is not None else self.module

    @contextmanager
    def within(self, scope: heap.Scope) -> Iterator[heap.Scope]:
        """Evaluate in another scope."""
        outer, self.scope = self.scope, scope
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scope = outer
            self.scopes.pop()

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
            {name for name, value in named if value is side}
            for side in (left, right)
        ]
        return all(sides) and not any(
            names & set(self.initial.held) for names in sides
        )

    def everything(self) -> list[AbstractValue]:
        """Every value that a name leads to."""
        return heap.reachable(
            value for scope in self.scopes for value in scope.names.values()
        )

    def forget(self, values: Iterable[AbstractValue]) -> None:
        """Unknown code received these: they and what they hold may change, now and whenever such code runs."""
        found = heap.reachable([*values, *self._escaped])
        self.n_visits += len(found)
        for value in found:
            if not value.path and value.type not in harmless.IMMUTABLE:
                value.forget()
                self._escaped[value] = None
            # A class stays the same class, but code out of sight may set its
            # attributes.
            elif isinstance(value.definition, ast.ClassDef):
                value.attributes = {}
        # An unknown object may be a view: `turned = np.rot90(X); turned[:] = 0` changes X.
        if any(
            not value.type or harmless.may_share_memory(value)
            for value in self._escaped
        ):
            self._invalidate_aliases()

    def _invalidate_aliases(self, changed: AbstractValue | None = None) -> None:
        """Values of arrays may have been changed through another name: their value facts are no longer known."""
        for value in self.everything():
            if value is not changed and harmless.may_share_memory(value):
                value.drop(harmless.VALUE_FACTS)

    def invalidate_changed(
        self, before: Iterable[tuple[AbstractValue, dict[str, Any]]]
    ) -> None:
        """What a step has changed in place may be seen through other names; attributes stated before are out of date.

        `before` are arrays with their facts before the step.
        """
        for value, facts in before:
            if value.facts != facts:
                value.attributes = {}
                self._invalidate_aliases(value)

    def havoc(self, given: Iterable[AbstractValue] = ()) -> None:
        """Code that cannot be followed ran, with these: nothing is known but what cannot change."""
        # `%run other.ipynb` may do anything.
        self.forget([*self.everything(), *given])
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
            for part in (
                value,
                *(value.items or ()),
                *(value.members or {}).values(),
            ):
                if part.type in _RUN_LATER and part.definition is not None:
                    self.forget([part])
                    self._forget_mentioned([part.definition])
                self.run_unseen(part, is_handed=True)

    def run_unseen(
        self, value: AbstractValue, *, is_handed: bool = False
    ) -> None:
        """Methods of the notebook's class of an object may run that Python itself calls; any, where it is handed on."""
        # A list that grows in a loop is looked through at every turn: a million parts took 2 s.
        if value.definition is None:
            return
        methods = [
            part
            for kind in self._own_classes(value)
            for part in kind.body
            if isinstance(part, ast.FunctionDef)
        ]
        hidden = {part.name for part in methods if _is_called_unnamed(part)}
        self._forget_mentioned(
            [part for part in methods if is_handed or part.name in hidden]
        )

    def _own_classes(self, value: AbstractValue) -> list[ast.ClassDef]:
        """The notebook's classes of which an object or class is."""
        kinds = (
            [value.definition]
            if isinstance(value.definition, ast.ClassDef)
            else []
        )
        # `class Bed(Bed)` leads to its own new definition, so each is looked at
        # once.
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
            # `list(map(lambda _: fill(), [1]))` assigns `rows` if `fill` says `global rows`.
            if _assigns_outside(code):
                self.havoc()
                return
            for node in _names_from_outside(code):
                if node.id not in met:
                    met.add(node.id)
                    waiting += self._definition_of(node)
        found = self._named(met)
        if any(not value.path for value in found):
            self.forget(found)

    def _named(self, names: Iterable[str]) -> list[AbstractValue]:
        """What names stand for in any scope that is open."""
        found = [
            scope.names.get(name) for name in names for scope in self.scopes
        ]
        return [value for value in found if value is not None]

    def _definition_of(self, node: ast.Name) -> list[ast.AST]:
        """The code that a name refers to, which is loaded if the target has not met it."""
        if (
            node.id not in self.module.names
            and self.initial.missing(node.id) is None
        ):
            self.load(node.id)
        known = self.known_name(node)
        if known is None or not isinstance(known.definition, ast.AST):
            return []
        return [known.definition]


def _is_called_unnamed(method: ast.FunctionDef) -> bool:
    """Whether a method may run without its name at the place: `sorted([loud, loud])` calls `__lt__`."""
    # A decorator may make a property, and `louder.prop` runs its code.
    is_pythons = method.name.startswith("__") and method.name != "__init__"
    return bool(method.decorator_list) or is_pythons


def _assigns_outside(code: ast.AST) -> bool:
    return any(
        isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(code)
    )


def _names_from_outside(code: ast.AST) -> Iterator[ast.Name]:
    """The names that a piece of code mentions and does not give values itself."""
    own = local_names(code) if isinstance(code, ast.FunctionDef) else ()
    for node in ast.walk(code):
        if isinstance(node, ast.Name) and node.id not in own:
            yield node


def _is_trained(value: AbstractValue, fields: heap.ValueFields) -> bool:
    """Modules and optimizers, and objects of the notebook's classes that hold layers."""
    parts = (fields.attributes or {}).values()
    return (
        value.type.startswith(("torch.nn.", "torch.optim."))
        or "training" in fields.facts
        or any(part.type.startswith("torch.nn.") for part in parts)
    )
