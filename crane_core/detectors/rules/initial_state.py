"""The kernel before the target: what each global name refers to, by its state and by the cells that ran.

Knows names. Refuses to say that a name is missing unless the state, or every statement that ran, says so.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from crane_core import domain
from crane_core.detectors.rules import from_state, harmless, prefix
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.asking import assumed_packages
from crane_core.detectors.rules.bindings import may_define_any
from crane_core.detectors.rules.cell_code import CellCode, as_magic, read_cell
from crane_core.detectors.rules.extending import imports_of, may_extend
from crane_core.detectors.rules.paths import path_of_class
from crane_core.detectors.rules.session_facts import session_facts
from crane_core.detectors.rules.unseen_code import UnseenEffects, unseen_effects
from crane_core.runtime.kernel_side.crane_surrogates import operations

# IPython itself gives every notebook these names.
_OF_IPYTHON_WORDS = (
    "In Out _ __ ___ _i _ii _iii _dh _oh get_ipython exit quit display open"
)
_OF_IPYTHON = frozenset(_OF_IPYTHON_WORDS.split())
_OF_MODULES_WORDS = "__name__ __doc__ __package__ __loader__ __spec__ __builtins__ __builtin__ __file__"
_OF_MODULES = frozenset(_OF_MODULES_WORDS.split())
_RUNNING = ("%run", "exec(", "runpy")
_IMPORTING = ("import_module", "__import__")
"""What runs the code of a file, and what imports a module by a text."""
_OF_CODE = ("", "function", "type", "abc.ABCMeta")
"""Types of which a name may stand for what a `def` or `class` of that name made."""
# `pd.options.display.max_rows = 50` in a first cell would leave no question about pandas in all later ones. An option
# without its group (`set_option("max_rows", 50)`) is one of display.
_OF_DISPLAY = (
    r"(?:display\.|max_|precision\b|float_format\b|mode\.chained_assignment\b)"
)
_SHOWS_TABLES = re.compile(
    rf"\.options\.{_OF_DISPLAY}[\w.]*\s*=(?!=)|"
    rf"\b(?:set_option|option_context)\(\s*['\"]{_OF_DISPLAY}(?:(?!['\"](?:mode|future|compute|io)\.)[^()])*\)"
)
# Published states have schema 1, and tell nothing of what is missing.
CAPTURED = 2


class InitialState:
    """Cells and state of one instance. `target` is the code to be judged, `past` what the cells that ran left."""

    def __init__(
        self, cells: Sequence[domain.Cell], state: domain.KernelState | None
    ) -> None:
        self.state = state
        self.is_captured = (
            state is not None and state.schema_version >= CAPTURED
        )
        executed = _codes(
            sorted(cells, key=_position), domain.CellRole.EXECUTED
        )
        targets = _codes(cells, domain.CellRole.TARGET)
        self.target_text = targets[0] if targets else ""
        self.prefix: prefix.Prefix = prefix.prefix_of(executed)
        self.bindings = self.prefix.bindings
        self.target = self._target()
        self.session = session_facts(
            state if self.is_captured else None, self.target_text
        )
        self._spelled = prefix.spelled(self.target.tree)
        self.may_define_any = self.prefix.may_define_any or may_define_any(
            self.target.tree
        )
        # `builtins.later = ...` gives every cell a name that no statement assigns.
        self.may_define_any |= self.session.are_builtins_own
        self.unseen = UnseenEffects()
        # Without such a state the cells themselves are interpreted, and forget by their own steps.
        if self._tells_absences:
            self.unseen = unseen_effects(
                [code.tree for code in self.prefix.codes], self.target.tree
            )
        self.past: dict[str, AbstractValue] = {}

    def _target(self) -> CellCode:
        """The target as it is read now: a word that is the name of a magic may be that of a variable, too."""
        read = read_cell(self.target_text)
        known = self.state.variables if self.state is not None else {}
        # `reset -f` deletes all names, unless the notebook has a variable `reset` to subtract from.
        is_variable = (
            read.automagic in self.bindings.bound or read.automagic in known
        )
        return (
            as_magic(self.target_text)
            if read.automagic and not is_variable
            else read
        )

    @cached_property
    def python_names(self) -> list[str]:
        """Names of Python's own that cells mention. Known from the start, they are known on every path."""
        met = self.prefix.spelled.names | self._spelled.names
        return sorted(
            name
            for name in met - self._variables.keys()
            if self.of_python(name) is not None
        )

    @property
    def fixed(self) -> list[str]:
        """Names that stand for the same on every path through the target, until it assigns something else."""
        return [*self.python_names, *sorted(self.bindings.paths)]

    @property
    def _captured(self) -> Mapping[str, Any]:
        return self.state.captured if self.state is not None else {}

    @property
    def _variables(self) -> Mapping[str, domain.VariableState]:
        return self.state.variables if self.state is not None else {}

    @property
    def packages(self) -> Mapping[str, str]:
        """Versions of libraries, and of Python, as the kernel has them."""
        versions = dict(self._captured.get("packages") or {})
        told = versions | (
            {"python": self._captured["python"]}
            if "python" in self._captured
            else {}
        )
        return told or assumed_packages()

    @property
    def tells_identity(self) -> bool:
        """Whether the state says which names share an object, and which of them others hold."""
        return self._tells_absences

    def same(self, name: str) -> Sequence[str]:
        """Other names of the same object, as the state tells them."""
        groups = [
            group for group in self._captured.get("same", ()) if name in group
        ]
        return [other for group in groups for other in group if other != name]

    @property
    def held(self) -> Sequence[str]:
        """Names of objects that others hold, through which they may be changed."""
        return tuple(self._captured.get("held", ()))

    def doubled(self, name: str) -> Sequence[str]:
        """Types of what the object of a name leads to in two ways, or the object of another name does; "*" for any."""
        known = self._captured.get("doubled", {})
        return tuple(known.get(name, ())) if isinstance(known, dict) else ()

    def type_of(self, name: str) -> str:
        """The type of a variable as the state has it, "" where it has none."""
        variable = self._variables.get(name)
        return from_state.type_of(variable.type) if variable is not None else ""

    @property
    def absent(self) -> Mapping[str, Any]:
        """What the state says that the target needs and will not find, by group; empty without a state."""
        return self.state.absent if self.state is not None else {}

    def value(self, name: str) -> AbstractValue:
        """What is known of a global name or builtin; AbstractValue() of a name of which nothing is."""
        if self.is_restless:
            return self._lasting(name)
        value = self.past[name] if name in self.past else self.stated(name)
        # A child process may write an array that it shares with the notebook.
        if self.session.are_files_changing and harmless.may_share_memory(value):
            value.drop(
                harmless.VALUE_FACTS
            )  # other programs may write memory that they share
        return value

    @property
    def is_restless(self) -> bool:
        """Whether names may change at any moment, so that nothing is known of them."""
        return self.session.is_restless or self.unseen.is_any

    @property
    def unsure(self) -> tuple[str, ...]:
        """Why less is known of the kernel than its state tells, in sentences."""
        return (
            *self.session.unsure,
            *([_ANY_NAME] if self.unseen.is_any else []),
        )

    def _lasting(self, name: str) -> AbstractValue:
        """What stays true of a name while others act beside the target: Python's own, and what an import names."""
        if (known := self.of_python(name)) is not None:
            return known
        variable = self._variables.get(name)
        is_module = variable is not None and variable.type == "module"
        return AbstractValue(
            "module" if is_module else "",
            path=self.bindings.paths.get(name, ""),
            words=name,
        )

    def stated(self, name: str) -> AbstractValue:
        """The same, without what the cells that ran left."""
        variable = self._variables.get(name)
        if variable is not None:
            value = from_state.value_from_state(
                name, variable, is_captured=self.is_captured
            )
            # A kernel has a function `open` among its names. Without this, missing files would be
            # predicted from code alone, and not from a state.
            if (
                _is_open_of_ipython(name, value)
                and (builtin_open := self.of_python(name)) is not None
            ):
                return builtin_open
        elif (known := self.of_python(name)) is not None:
            return known
        else:
            value = AbstractValue(words=name)
        return self._with_code(name, value)

    def mentions(self, text: str) -> bool:
        """Whether a text is in a cell that ran or in the target."""
        return text in self.target_text or self.prefix.mentions(text)

    def mentions_setting(self, text: str) -> bool:
        """The same, without what only sets how pandas shows tables."""
        texts = (self.target_text, *self.prefix.texts)
        return any(text in _without_display(each) for each in texts)

    def may_give_attribute(self, name: str) -> bool:
        """Whether code of the notebook may put an attribute of this name on some object, in whatever manner."""
        # `setattr(made, 'sca' + 'le', 3)` sets an attribute whose name no text spells.
        return (
            self.may_define_any
            or self.is_assigned(name)
            or any(map(self.mentions, _BY_ANY_NAME))
        )

    def may_bind(self, name: str) -> bool:
        """Whether code of the notebook may give this name a value, in whatever scope."""
        return (
            self.may_define_any
            or name in self.prefix.spelled.bound | self._spelled.bound
        )

    def may_replace(self, name: str) -> bool:
        """Whether it may put another value where a library has this name; torch registers only what is not there."""
        # Modules that register buffers are common in PyTorch. Asking nothing about them was a gap.
        return (
            self.may_define_any
            or self.is_assigned(name)
            or any(map(self.mentions, _REPLACING))
        )

    @cached_property
    def may_be_extended(self) -> bool:
        """Whether classes and modules of libraries may have names that other packages gave them."""
        return may_extend(
            [*self.bindings.modules, *imports_of(self.target.tree)]
        )

    @cached_property
    def changed(self) -> frozenset[str]:
        """Libraries that may not do what they usually do: they were set or patched, or a module may have done that.

        What such a module did before the target, a captured session tells; of code alone only its name is known.
        """
        begun = self.bindings.modules
        target = [
            module
            for module in imports_of(self.target.tree)
            if module not in begun
        ]
        # A published state tells no session, either. It belongs to a closed set, of which no fixed notebook is called
        # a crash; counting imports as changes there would lose tensorflow_12, which imports a file of its author.
        unseen = [*begun, *target] if self.state is None else target
        may_be = may_extend(unseen) or self._runs_files
        return self.session.changed | (operations.BOUND if may_be else set())

    @property
    def _runs_files(self) -> bool:
        """Whether the target, or a cell before it, may run a file that is not imported by its name."""
        # What was imported by a text is a module like others, which the session tells.
        by_text = any(text in self.target_text for text in _IMPORTING)
        is_published = self.state is not None and not self.is_captured
        told = self.target_text.__contains__ if is_published else self.mentions
        return by_text or any(map(told, _RUNNING))

    def is_assigned(self, attribute: str) -> bool:
        """Whether code of the notebook spells that it puts an attribute of this name on some object."""
        return (
            attribute
            in self.prefix.spelled.given_attributes
            | self._spelled.given_attributes
        )

    @cached_property
    def names_absent(self) -> frozenset[str]:
        """Names of the objects of which, or of whose parts, the state says that they lack something."""
        facts = [fact for group in self.absent.values() for fact in group]
        return frozenset(
            re.split(r"\W", str(fact.get(key, "")), maxsplit=1)[0]
            for fact in facts
            for key in _TOLD_OF
        )

    def absent_at(
        self, node: ast.stmt
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What the state says a statement needs, certainly, and will not find, names left out."""
        first, last = _own_lines(node)
        lines = [
            line
            for line in range(first, last + 1)
            if self._last_on_line.get(line, node) is node
        ]
        for group, facts in self.absent.items():
            for fact in facts if group != "names" else ():
                if (
                    # A capture is not certain of what `exec` or `%run` may
                    # define.
                    fact.get("certain") is True
                    and fact.get("line") in lines
                    and not self._may_give(group, fact)
                ):
                    yield group, fact

    def _may_give(self, group: str, fact: Mapping[str, Any]) -> bool:
        """Whether the target may give a class of a library the attribute that its object lacks before."""
        if group != "attributes" or "." not in str(fact.get("type", "")):
            return False
        # `df.iplot` is missing until `import plots` runs, a file that extends DataFrame.
        name, kind = fact.get("attribute"), str(fact["type"])
        return (
            name in self._stored
            or self._extends_others
            and not kind.startswith("__main__.")
        )

    @cached_property
    def _stored(self) -> frozenset[str]:
        parts = [
            node
            for node in ast.walk(self.target.tree)
            if isinstance(node, ast.Attribute)
        ]
        return frozenset(
            node.attr for node in parts if isinstance(node.ctx, ast.Store)
        )

    @cached_property
    def _extends_others(self) -> bool:
        """Whether the target imports or names a package that may give classes of others attributes."""
        named = [
            path
            for name in self._spelled.names
            if (path := self.bindings.paths.get(name))
        ]
        return may_extend(
            [*imports_of(self.target.tree), *named], self.target_text
        )

    @cached_property
    def _last_on_line(self) -> dict[int, ast.stmt]:
        # `df["month"] = 1; df.groupby("month")` is one line, whose second part has the column.
        """A state tells lines alone: of several statements on one, the last needs what is missing for certain."""
        statements = [
            node
            for node in ast.walk(self.target.tree)
            if isinstance(node, ast.stmt)
        ]
        in_order = sorted(
            statements, key=lambda node: (node.lineno, node.col_offset)
        )
        return {
            line: node
            for node in in_order
            for line in range(_own_lines(node)[0], _own_lines(node)[1] + 1)
        }

    def of_python(self, name: str) -> AbstractValue | None:
        """A name of Python's own, or what IPython adds to them, where no cell rebinds it."""
        return None if self.may_define_any else self.prefix.of_python(name)

    def _with_code(self, name: str, value: AbstractValue) -> AbstractValue:
        """With its public path, its definition, and the attributes that the state tells of it."""
        definitions = self.bindings.definitions
        value.path = self.bindings.paths.get(name, value.path)
        if name in definitions and value.type in _OF_CODE:
            value.definition = definitions[name]
            is_class = isinstance(value.definition, ast.ClassDef)
            value.type = value.type or ("type" if is_class else "function")
        elif value.type.startswith("__main__."):
            value.definition = _class_or_none(definitions.get(value.class_name))
        elif not value.path and value.type in ("type", "abc.ABCMeta"):
            value.path = path_of_class(str(value.fact("name", "")))
        if self.is_captured and self.state is not None:
            _add_accesses(value, name, self.state.accesses)
        # `for bed in beds: bed.water()` follows the method of the objects in a list.
        for part in _parts_of(value):
            if part.type.startswith("__main__."):
                part.definition = _class_or_none(
                    definitions.get(part.class_name)
                )
        return value

    def missing(self, name: str) -> Mapping[str, Any] | None:
        """The facts about a name that is certainly not defined, None if it may be."""
        if (
            prefix.is_builtin(name)
            or name in _OF_IPYTHON
            or name in _OF_MODULES
        ):
            return None
        if self.state is not None and (
            # A variable that the capture could not describe is there all the
            # same.
            name in self.state.variables or name in self.state.unavailable
        ):
            return None
        if self._tells_absences:
            return next(
                (
                    fact
                    for fact in self.absent.get("names", ())
                    if fact.get("name") == name
                ),
                None,
            )
        return self._missing_by_code(name)

    @property
    def _tells_absences(self) -> bool:
        return (
            self.is_captured
            and self.state is not None
            and self.state.setting is domain.Setting.RUNTIME_PLUS
        )

    def _missing_by_code(self, name: str) -> Mapping[str, Any] | None:
        """Where no state tells absences: no statement that ran assigns the name, or the last one deleted it."""
        # IPython assigns `_`, `_1` and `_i3` by itself.
        if self.may_define_any or name.startswith("_"):
            return None
        if name in self.bindings.deleted:
            return {
                "name": name,
                "deleted_in": {"cell": self.bindings.deleted[name]},
            }
        return None if name in self.bindings.bound else {"name": name}


def _parts_of(value: AbstractValue) -> Iterator[AbstractValue]:
    """What a state tells of the inside of an object, through all that is in it; a state has no cycles."""
    first = value.fact("first_items")
    for part in (
        *(value.items or first or ()),
        *(value.members or {}).values(),
        *value.attributes.values(),
    ):
        yield part
        yield from _parts_of(part)


@lru_cache(maxsize=512)
def _without_display(text: str) -> str:
    return _SHOWS_TABLES.sub("", text)


def _class_or_none(definition: ast.AST | None) -> ast.ClassDef | None:
    return definition if isinstance(definition, ast.ClassDef) else None


def _codes(cells: Iterable[domain.Cell], role: domain.CellRole) -> list[str]:
    return [cell.code for cell in cells if cell.role is role]


_ANY_NAME = "the notebook reaches its own variables by globals(), exec, __main__ or IPython, so any may change"
_TOLD_OF = ("of", "asked_by")
# Each of these reaches an attribute without naming it: `made.__dict__.update(scale=3)`.
_REPLACING = (
    "__dict__",
    "setattr",
    "vars(",
    "__setstate__",
    "importlib",
    "%run",
)
_BY_ANY_NAME = (*_REPLACING, "add_module", "register_")
"""What adds attributes to objects whose names stand nowhere in the code."""


class EmptyKernel(InitialState):
    """The kernel before its first cell, with which the cells that ran begin: of a name only Python's own are known.

    `prefix` are the cells up to the one that runs. What they needed was there.
    """

    packages: Mapping[str, str] = {}
    may_be_extended = True

    def __init__(self, packages: Mapping[str, str]) -> None:
        super().__init__((), None)
        self.packages = packages

    def of_python(self, name: str) -> AbstractValue | None:
        """A name of Python's own, where no cell up to the one that runs rebinds it."""
        return self.prefix.of_python(name)

    def value(self, name: str) -> AbstractValue:
        """The value of a name that no cell has assigned yet, unknown if it is not one of Python's own."""
        return self.of_python(name) or AbstractValue(words=name)

    def missing(self, name: str) -> None:
        # What a cell needed was there, as it ran to its end.
        return None

    def may_give_attribute(self, name: str) -> bool:
        """True of any attribute, so that none is called missing in a cell that ran."""
        return True

    def may_replace(self, name: str) -> bool:
        """Whether code of the cells may replace what a library has by this name."""
        return self.is_assigned(name)


def _is_open_of_ipython(name: str, value: AbstractValue) -> bool:
    """IPython puts its own `open` among the notebook's names: Python's, but for the handles of its own terminal."""
    return (
        name == "open"
        and value.type == "function"
        and value.fact("module") in ("io", "_io")
    )


def _own_lines(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement, of one that holds others those before them."""
    inner = getattr(node, "body", None) or getattr(node, "cases", None)
    last = node.end_lineno or node.lineno
    if isinstance(inner, list) and inner:
        begin = inner[0] if isinstance(inner[0], ast.stmt) else inner[0].body[0]
        last = max(node.lineno, begin.lineno - 1)
    return node.lineno, last


def _position(cell: domain.Cell) -> int:
    return cell.position


def _add_accesses(
    value: AbstractValue, name: str, accesses: Mapping[str, Any]
) -> None:
    """`model.coef_` in the state is an attribute of `model`."""
    # Shorter ones first: `model.encoder` is there before `model.encoder.weight` is added to it.
    for text in sorted(accesses, key=len):
        head, *steps = text.split(".")
        entry = accesses[text]
        if (
            head == name
            and steps
            and all(map(str.isidentifier, steps))
            and isinstance(entry, dict)
        ):
            _add_access(value, steps, text, entry)


def _add_access(
    value: AbstractValue,
    steps: Sequence[str],
    text: str,
    entry: Mapping[str, Any],
) -> None:
    holder: AbstractValue | None = value
    for step in steps[:-1]:
        holder = holder.attributes.get(step) if holder is not None else None
    if (
        holder is not None
        and holder.path == ""
        and entry.get("type") not in ("method", "")
    ):
        held = holder.attributes.get(steps[-1])
        made = from_state.value_from_entry(text, entry, is_captured=True)
        if held is None or not held.type:
            holder.attributes[steps[-1]] = made
