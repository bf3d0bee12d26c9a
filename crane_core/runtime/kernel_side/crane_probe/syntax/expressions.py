"""Expressions read in the order of evaluation: each chain that begins with a name of the kernel is noted once.

Knows Python's expressions and their scopes. Refuses to evaluate any.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional

from ..anatomy import MISSING, package_of
from ..kinds import ROWS
from .asked import ATTRIBUTE, CALL, ITEM, Chain, ChainStep, Steps, Unknown
from .literals import LoopValues, known
from .names import (
    FUNCTIONS,
    arguments_of,
    bound_names,
    by_position,
    called_name,
    is_generator,
    local_names,
)
from .scopes import NOTHING_KNOWN, Alias, Closure, Literal, Scopes

# A loop over more values is told as one with unknown ones, to bound the number of chains.
_LARGEST_PRODUCT = 64
_CHANGES = {
    # `sort_values` and the rest give new objects: only these change the frame itself.
    "pandas": {"insert", "pop", "update"},
    "numpy": {"fill", "sort", "resize", "itemset", "put", "partition"},
    "": {
        *(
            "append",
            "extend",
            "insert",
            "remove",
            "pop",
            "popitem",
            "clear",
            "sort",
            "reverse",
            "update",
            "setdefault",
        ),
        *(
            "add",
            "discard",
            "appendleft",
            "popleft",
            "load_state_dict",
            "add_module",
            "register_buffer",
        ),
    },
}
"""Methods that change the items of the object on which they are called, by package; "" for any other."""
PASSES_ERRORS_ON = {
    *(
        "no_grad",
        "inference_mode",
        "enable_grad",
        "set_grad_enabled",
        "autocast",
        "GradientTape",
    ),
    *("open", "device", "catch_warnings", "staticmethod", "classmethod"),
}
"""Decorators and contexts, by the last part of their names, that raise what is raised in them."""
_CONSUMES = (
    "list",
    "tuple",
    "set",
    "frozenset",
    "dict",
    "sorted",
    "sum",
    "min",
    "max",
    "any",
    "all",
    "join",
)
"""Functions that ask a generator for its first element at least."""
_HARMLESS = {
    *(
        "print",
        "display",
        "len",
        "type",
        "isinstance",
        "str",
        "repr",
        "int",
        "float",
        "list",
        "tuple",
        "set",
        "dict",
    ),
    *(
        "sorted",
        "min",
        "max",
        "sum",
        "abs",
        "round",
        "any",
        "all",
        "enumerate",
        "zip",
        "range",
        "id",
        "hash",
        "format",
    ),
}
"""Built-in functions that set no attribute of what they are given."""


class CalledFunction(NamedTuple):
    """A function of the notebook that a call runs.

    `n_given` counts the first parameters that the call does not spell (self). `n_held` is the number of steps that
    lead to the object that becomes the first of them; None if it is a new object. `others` are functions that
    may run later: the methods of a class of which an object is made. `closed` are names that it closes over.
    `certain` is False where the class may make its objects without it.
    """

    node: Any
    name: str
    n_given: int = 0
    n_held: int | None = None
    others: tuple[Any, ...] = ()
    closed: tuple[str, ...] = ()
    certain: bool = True


Kernel = Callable[[str], Any]
"""Returns the kernel's value of a name, MISSING if there is none."""
FindCallee = Callable[[str, Steps], Optional[CalledFunction]]
"""Returns the notebook's function that a chain of the kernel, ending before the call, leads to."""


class _Certainty:
    """Whether what is read is certain to run, for a while: `with reading.certain_if(...)`."""

    def __init__(self, reading: Expressions, is_certain: bool) -> None:  # noqa: FBT001 - of this file alone
        self._reading = reading
        self._is_certain = is_certain

    def __enter__(self) -> None:
        self._was = self._reading.is_certain
        self._reading.is_certain = self._was and self._is_certain

    def __exit__(self, *_: object) -> None:
        self._reading.is_certain = self._was


class Expressions:
    """The state of a reading, and how each kind of expression is read."""

    def __init__(
        self, kernel: Kernel, find_callee: FindCallee, follow: int
    ) -> None:
        self.chains: list[Chain] = []
        self.scopes = Scopes()
        self._kernel = kernel
        self._find_callee = find_callee
        self._follows_left = follow
        # Functions that are being read: recursion would not end.
        self._following: tuple[Any, ...] = ()
        self.is_certain = True
        self._via: tuple[str, ...] = ()
        self._line = 0
        # What a call gives is another object each time.
        self._n_copies = 0

    def expression(self, node: ast.AST | None) -> None:
        """Reads an expression and what is inside it."""
        if node is None:
            return
        reader = getattr(self, "_read_" + type(node).__name__.lower(), None)
        if reader is not None:
            reader(node)
        else:
            for child in ast.iter_child_nodes(node):
                self.expression(child)

    def perhaps(self, *nodes: ast.AST | None) -> None:
        """Reads expressions that may or may not be evaluated."""
        with self.certain_if(False):
            for node in nodes:
                # `x and (y := z)`: whether y is bound is not known afterwards.
                before = self.scopes.snapshot() if _binds(node) else None
                self.expression(node)
                if before is not None:
                    self.scopes.join([before, self.scopes.snapshot()])

    def certain_if(self, is_certain: bool) -> _Certainty:  # noqa: FBT001 - a condition, as after `if`
        """A context in which nothing is certain to run unless it is so before and on this condition."""
        return _Certainty(self, is_certain)

    # Chains

    def _read_name(self, node: ast.Name) -> None:
        self._chain(node)

    def _read_attribute(self, node: ast.Attribute) -> None:
        self._chain(node)

    def _read_subscript(self, node: ast.Subscript) -> None:
        self._chain(node)

    def _read_call(self, node: ast.Call) -> None:
        self._chain(node)

    def _chain(self, node: Any) -> None:
        base, links = _links(node)
        self._note_line(base)
        if isinstance(base, ast.Name):
            self._note(base.id, tuple(self._step(link) for link in links))
        else:
            self.expression(base)
        # Python evaluates the object, then each subscript and argument from left to right.
        for link in links:
            self._inner_expressions(link)
        if isinstance(base, ast.Name):
            # After the chain is noted, because a call changes the object only once it was reached.
            self._after(base.id, links)
            self._mark_handed(base.id, links)

    def _mark_handed(self, name: str, links: list[Any]) -> None:
        """Remembers which objects the calls of a chain were given: a function may set attributes of them."""
        # A function of the target that has the name of a built-in may do anything.
        if name in _HARMLESS and name not in self.scopes.target:
            return
        for call in (link for link in links if isinstance(link, ast.Call)):
            for argument in arguments_of(call):
                alias = self._alias_named(argument)
                if alias is not None:
                    self.scopes.called.add(alias.owner)

    def _alias_named(self, node: Any) -> Alias | None:
        """The object of the kernel that a bare name means, itself or by another word."""
        if not isinstance(node, ast.Name):
            return None
        meaning = self.scopes.meaning(node.id)
        return meaning if type(meaning) is Alias else None

    def _is_unchanged(self, alias: Alias | None) -> bool:
        """Whether it is the kernel's own object, none of its parts, as far as the target has left it alone."""
        if alias is None or alias.steps:
            return False
        return alias.owner not in self.scopes.changed

    def _inner_expressions(self, link: ast.AST) -> None:
        if isinstance(link, ast.Subscript):
            self.expression(link.slice)
        elif isinstance(link, ast.Call):
            for argument in arguments_of(link):
                # any(... for ...) asks for the first element, while a bare generator may never run.
                if (
                    isinstance(argument, ast.GeneratorExp)
                    and called_name(link) in _CONSUMES
                ):
                    self._comprehension(argument, [argument.elt])
                else:
                    self.expression(argument)
                # `map(f, xs)`: the function is called by another one, with arguments that are not
                # known.
                self._follow_loosely(argument)

    def _step(self, link: Any) -> ChainStep:
        if isinstance(link, ast.Attribute):
            return ChainStep(ATTRIBUTE, link.attr)
        if isinstance(link, ast.Subscript):
            return ChainStep(ITEM, known(link.slice, self.value_of))
        positional = tuple(self._argument(argument) for argument in link.args)
        named = tuple(
            (keyword.arg or "**", self._argument(keyword.value))
            for keyword in link.keywords
        )
        return ChainStep(CALL, (positional, named))

    def _argument(self, node: ast.expr) -> Any:
        """The value of an argument; what is not known, with the kernel's name of it where it has one."""
        value = known(node, self.value_of)
        if type(value) is not Unknown or not isinstance(node, ast.Name):
            return value
        alias = self._alias_named(node)
        # An item or attribute as an argument has no name in the kernel.
        if alias is None or not self._is_unchanged(alias):
            return value
        # An element that the target has set makes the object another than the kernel's.
        is_made = any(owner == (alias.name, 0) for owner, _ in self.scopes.made)
        return value if is_made else value._replace(name=alias.name)

    def value_of(self, name: str) -> Any:
        """The value of a name as far as it is known: a literal of the target, or what the kernel holds unchanged."""
        meaning = self.scopes.meaning(name)
        if type(meaning) is Literal:
            return meaning.value
        if type(meaning) is Alias and self._is_unchanged(meaning):
            return self._kernel(meaning.name)
        return MISSING

    def _note(self, name: str, steps: Steps, *, stored: bool = False) -> None:
        """Notes the chain where its name is, or refers to, one of the kernel's."""
        meaning = self.scopes.meaning(name)
        # A name that is bound to something of the target has no chain in the kernel.
        if type(meaning) is Alias:
            for chosen in _expanded((*meaning.steps, *steps)):
                self._add(meaning, chosen, stored=stored)

    def _add(self, meaning: Alias, steps: Steps, *, stored: bool) -> None:
        # Setting `a.b` makes `a.b.c` unknown as well, so all beginnings count.
        prefixes = (
            (meaning.owner, repr(steps[:length]))
            for length in range(1, len(steps) + 1)
        )
        is_made = stored or any(
            prefix in self.scopes.made for prefix in prefixes
        )
        self.chains.append(
            Chain(
                name=meaning.name,
                steps=steps,
                line=self._line,
                # A name that the target binds on some ways may be the target's by then.
                certain=self.is_certain
                and meaning.name not in self.scopes.perhaps,
                via=self._via,
                stored=is_made,
                changed=meaning.owner in self.scopes.changed,
                called=meaning.owner in self.scopes.called,
            )
        )

    def _note_line(self, node: Any) -> None:
        # Inside a function that is followed, the line stays that of the call in the target.
        if not self._via:
            self._line = getattr(node, "lineno", self._line)

    # Calls

    def _after(self, name: str, links: list[Any]) -> None:
        """What a call does: changes the object, runs a function of the notebook."""
        # Only the first call: what a second one is made on is not in the kernel.
        at = next(
            (
                number
                for number, link in enumerate(links)
                if isinstance(link, ast.Call)
            ),
            None,
        )
        if at is None:
            return
        call, steps = links[at], tuple(self._step(link) for link in links[:at])
        meaning = self.scopes.meaning(name)
        # super().f() may set attributes of the object whose method is being read.
        if name == "super":
            self._mark_change_by_base()
        elif type(meaning) is Alias:
            self._mark_change(meaning, steps, call)
            whole = (*meaning.steps, *steps)
            # An item may have been replaced by the target: then the kernel's function is not the
            # one called.
            if not self._may_be_other(meaning, whole):
                self._follow(
                    self._find_callee(meaning.name, whole), call, meaning, steps
                )
        elif type(meaning) is Closure and not steps:
            self._follow_closure(meaning, call, name)

    def _mark_change_by_base(self) -> None:
        """A method of a base class, which is not read, may change the object of the method that calls it."""
        for parameter in (
            self._following[-1].args.args[:1] if self._following else ()
        ):
            meaning = self.scopes.meaning(parameter.arg)
            if type(meaning) is Alias:
                self.scopes.changed.add(meaning.owner)

    def _may_be_other(self, meaning: Alias, steps: Steps) -> bool:
        """Whether an item on the way may have been put there by the target, so that the kernel's does not tell."""
        if all(step.kind == ATTRIBUTE for step in steps):
            return False
        made = any(
            (meaning.owner, repr(steps[:length])) in self.scopes.made
            for length in range(1, len(steps))
        )
        return made or meaning.owner in self.scopes.changed

    def _mark_change(
        self, meaning: Alias, steps: Steps, call: ast.Call
    ) -> None:
        method = (
            steps[-1].value if steps and steps[-1].kind == ATTRIBUTE else ""
        )
        # `inplace=False` counts as well, as its value may not be known.
        in_place = any(keyword.arg == "inplace" for keyword in call.keywords)
        package = package_of(type(self._kernel(meaning.name)))
        # Any method may set attributes; whether items change depends on its name.
        self.scopes.called.add(meaning.owner)
        if method in _CHANGES.get(package, _CHANGES[""]) or in_place:
            self.scopes.changed.add(meaning.owner)

    def _follow(
        self,
        callee: CalledFunction | None,
        call: ast.Call | None,
        owner: Alias,
        steps: Steps,
    ) -> None:
        if callee is None:
            return
        given = self._given(callee.node, call, skip=callee.n_given)
        if callee.n_held is not None and callee.node.args.args:
            # `self` is the object on which the method was found.
            held = (*owner.steps, *steps)[: callee.n_held]
            given[callee.node.args.args[0].arg] = owner._replace(steps=held)
        # Variables of an outer function are known to that function alone.
        around = dict.fromkeys(callee.closed, NOTHING_KNOWN)
        with self.certain_if(callee.certain):
            self._enter(callee.node, callee.name, (around,), given)
        # A class's other methods may be called later, at an unknown time.
        self._may_enter(callee.others, callee.name, ())

    def _follow_closure(
        self, closure: Closure, call: ast.Call | None, name: str
    ) -> None:
        node, scopes = closure
        if not isinstance(node, ast.ClassDef):
            self._enter(node, name, scopes, self._given(node, call, skip=0))
            return
        first, others = methods_of(node)
        if first is not None:
            # __new__, a metaclass or a decorator may make objects without __init__.
            with self.certain_if(_makes_plainly(node)):
                self._enter(
                    first, name, scopes, self._given(first, call, skip=1)
                )
        self._may_enter(others, name, scopes)

    def _may_enter(
        self, nodes: Iterable[Any], name: str, scopes: tuple[Any, ...]
    ) -> None:
        with self.certain_if(False):
            for node in nodes:
                self._enter(node, f"{name}.{node.name}", scopes, {})

    def _enter(
        self,
        node: Any,
        name: str,
        scopes: tuple[Any, ...],
        given: dict[str, Any],
    ) -> None:
        """Reads the body of a function at the place of its call; each one once on the way down."""
        if (
            any(node is outer for outer in self._following)
            or self._follows_left <= 0
        ):
            return
        self._follows_left -= 1
        outer_scopes, outer_via = self.scopes.locals, self._via
        self._following += (node,)
        scope = dict.fromkeys(local_names(node), NOTHING_KNOWN)
        scope.update({name: given[name] for name in given if name in scope})
        self.scopes.locals, self._via = (*scopes, scope), (*self._via, name)
        # A lambda's body is an expression.
        body = (
            node.body if isinstance(node.body, list) else [ast.Expr(node.body)]
        )
        with self.certain_if(_runs_when_called(node)):
            self.body(body)
        self.scopes.locals, self._via = outer_scopes, outer_via
        self._following = self._following[:-1]

    def body(self, statements: Iterable[Any]) -> bool:
        """Reads statements; what they are is known to Evaluation."""
        raise NotImplementedError

    def _given(
        self, node: Any, call: ast.Call | None, *, skip: int
    ) -> dict[str, Any]:
        """What the parameters of a function stand for in this call; nothing is known of one that is not seen."""
        # *args shifts positions by an unknown number.
        if call is None or any(
            isinstance(each, ast.Starred) for each in call.args
        ):
            return {}
        positional = [argument.arg for argument in by_position(node)][skip:]
        pairs = [
            *zip(positional, call.args),
            *((keyword.arg or "", keyword.value) for keyword in call.keywords),
        ]
        return {
            name: self.meaning_of(argument) for name, argument in pairs if name
        }

    def meaning_of(self, node: ast.AST | None) -> Any:
        """What a name refers to that is given the value of this expression."""
        value = known(node, self.value_of)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            base, links = _links(node)
            meaning = (
                self.scopes.meaning(base.id)
                if isinstance(base, ast.Name)
                else None
            )
            if type(meaning) is Alias and (type(value) is Unknown or not links):
                return self._alias(meaning, links)
            if type(meaning) is Closure and not links:
                return meaning
        return NOTHING_KNOWN if type(value) is Unknown else Literal(value)

    def _alias(self, meaning: Alias, links: list[Any]) -> Alias:
        steps = tuple(self._step(link) for link in links)
        copy = meaning.copy
        # A call or an item may give a copy: changes of one are then not changes of the other.
        if any(isinstance(link, (ast.Call, ast.Subscript)) for link in links):
            self._n_copies += 1
            copy = self._n_copies
            self._inherit_changes(meaning.owner, (meaning.name, copy))
        return Alias(meaning.name, (*meaning.steps, *steps), copy)

    def _inherit_changes(
        self, owner: tuple[str, int], copy: tuple[str, int]
    ) -> None:
        # What was changed before stays changed in the copy.
        if owner in self.scopes.changed or any(
            made == owner for made, _ in self.scopes.made
        ):
            self.scopes.changed.add(copy)

    def _follow_loosely(self, argument: ast.AST) -> None:
        """A function of the notebook that is handed to another function: it may be called, with what is not known."""
        if not isinstance(argument, ast.Name):
            return
        meaning = self.scopes.meaning(argument.id)
        with self.certain_if(False):
            if type(meaning) is Alias:
                callee = self._find_callee(meaning.name, meaning.steps)
                self._follow(callee, None, meaning, ())
            elif type(meaning) is Closure and not isinstance(
                meaning.node, ast.ClassDef
            ):
                self._follow_closure(meaning, None, argument.id)

    # Scopes within expressions

    def _read_lambda(self, node: ast.Lambda) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            self.expression(default)
        outer = self.scopes.locals
        # A lambda may never be called.
        own = dict.fromkeys(local_names(node), NOTHING_KNOWN)
        self.scopes.locals = (*outer, own)
        self.perhaps(node.body)
        self.scopes.locals = outer

    def _read_listcomp(self, node: Any) -> None:
        self._comprehension(node, [node.elt])

    _read_setcomp = _read_listcomp

    def _read_generatorexp(self, node: ast.GeneratorExp) -> None:
        """Only the first iterable is sure to be evaluated; the rest is when elements are taken."""
        self._comprehension(node, [node.elt], is_lazy=True)

    def _read_dictcomp(self, node: ast.DictComp) -> None:
        self._comprehension(node, [node.key, node.value])

    def _comprehension(
        self, node: Any, results: list[ast.expr], *, is_lazy: bool = False
    ) -> None:
        outer, was_certain = self.scopes.locals, self.is_certain
        names = bound_names(*(part.target for part in node.generators))
        # Python evaluates the first iterable outside the comprehension's own scope.
        self.expression(node.generators[0].iter)
        self.is_certain = self.is_certain and not is_lazy
        self.scopes.locals = (*outer, dict.fromkeys(names, NOTHING_KNOWN))
        for number, generator in enumerate(node.generators):
            if number:
                self.expression(generator.iter)
            self.is_certain = self.is_certain and self.is_filled(generator.iter)
            # Bound per generator, in order: a later one may use the names of an earlier one.
            self.bind_loop(generator.target, generator.iter)
            for condition in generator.ifs:
                self.expression(condition)
                # After a condition no element is certain.
                self.is_certain = False
        for result in results:
            self.expression(result)
        self.scopes.locals, self.is_certain = outer, was_certain

    def is_filled(self, iterated: ast.AST) -> bool:
        """True for what is known to give at least one value."""
        values = self.loop_values(iterated)
        return values is not None and len(values) > 0

    def bind_loop(self, target: ast.AST, iterated: ast.AST) -> None:
        """Binds the names of a loop to what is known of the values that they take."""
        values = self.loop_values(iterated)
        self.bind_target(target, NOTHING_KNOWN)
        if values and isinstance(target, ast.Name):
            # One value after the other, so that `frame[column]` is looked up for each.
            self.scopes.bind(target.id, Literal(LoopValues(values)))
        elif values and isinstance(target, (ast.Tuple, ast.List)):
            self._bind_columns(target.elts, values)

    def _bind_columns(self, targets: list[Any], rows: tuple[Any, ...]) -> None:
        if not all(
            type(row) is tuple and len(row) == len(targets) for row in rows
        ):
            return
        for target, column in zip(targets, zip(*rows)):
            if isinstance(target, ast.Name) and all(
                type(value) is not Unknown for value in column
            ):
                self.scopes.bind(target.id, Literal(LoopValues(column)))

    def loop_values(self, iterated: Any) -> tuple[Any, ...] | None:
        """The values over which a loop goes, where they are known and not too many."""
        if isinstance(iterated, ast.Call) and isinstance(
            iterated.func, ast.Name
        ):
            return self._values_of_call(iterated)
        value = known(iterated, self.value_of)
        if type(value) not in ROWS or any(
            type(item) is Unknown for item in value
        ):
            return None
        # Cut: beyond, only the first values are told.
        return tuple(value[:_LARGEST_PRODUCT])

    def _values_of_call(self, call: Any) -> tuple[Any, ...] | None:
        name = call.func.id
        # A name of the notebook may hide range, zip or enumerate.
        if call.keywords or self.value_of(name) is not MISSING or not call.args:
            return None
        if name == "range":
            return _range(
                [known(argument, self.value_of) for argument in call.args]
            )
        parts = [self.loop_values(argument) for argument in call.args]
        known_parts = [part for part in parts if part is not None]
        if len(known_parts) < len(parts):
            return None
        if name == "enumerate" and len(parts) == 1:
            return tuple(enumerate(known_parts[0]))
        return (
            tuple(zip(*known_parts))
            if name == "zip" and len(parts) > 1
            else None
        )

    def _read_ifexp(self, node: ast.IfExp) -> None:
        self.expression(node.test)
        self.perhaps(node.body, node.orelse)

    def _read_boolop(self, node: ast.BoolOp) -> None:
        self.expression(node.values[0])
        self.perhaps(*node.values[1:])

    def _read_namedexpr(self, node: ast.NamedExpr) -> None:
        self.expression(node.value)
        self.bind_target(node.target, self.meaning_of(node.value))

    # Targets

    def bind_target(self, target: Any, meaning: Any = NOTHING_KNOWN) -> None:
        """Reads what is assigned to: names are bound, items and attributes are noted as set by the target."""
        if isinstance(target, ast.Name):
            self.scopes.bind(target.id, meaning)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.bind_target(element)
        elif isinstance(target, ast.Starred):
            self.bind_target(target.value)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            self._store(target)

    def _store(self, target: Any) -> None:
        base, links = _links(target)
        self._note_line(base)
        if not isinstance(base, ast.Name):
            self.expression(base)
        steps = tuple(self._step(link) for link in links)
        if isinstance(base, ast.Name):
            self._note(base.id, steps, stored=True)
        # Subscripts of what is set are evaluated: `frame[missing] = 1` loads `missing`.
        for link in links:
            self._inner_expressions(link)
        alias = self._alias_named(base)
        if alias is not None:
            self._mark_stored(alias, steps)

    def _mark_stored(self, meaning: Alias, steps: Steps) -> None:
        for chosen in _expanded((*meaning.steps, *steps)):
            self.scopes.made.add((meaning.owner, repr(chosen)))
        last = steps[-1]
        # Setting one known item leaves the others as they are; anything else may change them.
        if (
            last.kind == ATTRIBUTE
            or type(last.value) is Unknown
            or len(steps) > 1
        ):
            self.scopes.changed.add(meaning.owner)

    def mark_changed(self, target: ast.AST) -> None:
        """Remembers that the target takes something away from the object."""
        alias = self._alias_named(_links(target)[0])
        if alias is not None:
            self.scopes.changed.add(alias.owner)


def methods_of(node: ast.ClassDef) -> tuple[Any, tuple[Any, ...]]:
    """The initializer of a class, where it has one, and its other methods."""
    functions = [part for part in node.body if isinstance(part, FUNCTIONS)]
    # `__init__` runs for certain when an object is made; the others may.
    first = next((part for part in functions if part.name == "__init__"), None)
    return first, tuple(part for part in functions if part is not first)


def _makes_plainly(node: ast.ClassDef) -> bool:
    """Whether a call of the class runs its initializer, as far as its own code says."""
    is_new = any(getattr(part, "name", "") == "__new__" for part in node.body)
    return not (node.decorator_list or node.keywords or is_new)


def _runs_when_called(node: Any) -> bool:
    """Whether a call runs the body, and what it raises comes out: no generator, nor behind a decorator not known."""
    # A generator's body runs when it is asked for values, a coroutine's when it is awaited.
    if isinstance(node, ast.AsyncFunctionDef) or is_generator(node):
        return False
    # A decorator that is not known may call the function never, or catch what it raises.
    return all(
        called_name(part) in PASSES_ERRORS_ON
        for part in getattr(node, "decorator_list", ())
    )


def _binds(node: ast.AST | None) -> bool:
    return node is not None and any(
        isinstance(part, ast.NamedExpr) for part in ast.walk(node)
    )


def _links(node: Any) -> tuple[Any, list[Any]]:
    """The innermost base of a chain and its links in the order of evaluation."""
    links: list[Any] = []
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        links.append(node)
        node = node.func if isinstance(node, ast.Call) else node.value
    return node, links[::-1]


def _expanded(steps: Steps) -> Iterator[Steps]:
    """One chain for each value of a loop's name; a chain with too many is one with what is not known."""
    first = next(
        (at for at, step in enumerate(steps) if _loop_of(step) is not None),
        None,
    )
    if first is None:
        yield steps
        return
    step = steps[first]
    loop = _loop_of(step)
    # Only the first loop is spread out: the product of several would be too many.
    for value in loop.values[:_LARGEST_PRODUCT] if loop is not None else ():
        others = tuple(map(_settled, steps[first + 1 :]))
        chosen = [value] if type(step.value) is list else value
        yield (*steps[:first], ChainStep(step.kind, chosen), *others)


def _loop_of(step: ChainStep) -> LoopValues | None:
    """The loop whose name is the subscript, by itself or alone in a list."""
    value = step.value
    if type(value) is list and len(value) == 1:
        value = value[0]
    return value if type(value) is LoopValues else None


def _settled(step: ChainStep) -> ChainStep:
    if _loop_of(step) is None:
        return step
    return ChainStep(step.kind, Unknown("a loop's name"))


def _range(bounds: list[Any]) -> tuple[Any, ...] | None:
    """The numbers of a range; of a long one the first and the last."""
    if (
        not 1 <= len(bounds) <= 3
        or any(type(bound) is not int for bound in bounds)
        # range(..., 0) raises, which is not a question of names.
        or 0 in bounds[2:]
    ):
        return None
    numbers = range(*bounds)
    # First and last tell whether all are inside a length.
    return (
        tuple(numbers)
        if len(numbers) <= _LARGEST_PRODUCT
        else (numbers[0], numbers[-1])
    )
