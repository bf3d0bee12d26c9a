"""How a family of rules says which steps it knows.

A rule is a function of an Operation. It may raise operation.crash(...): the step raises, for certain. It may return
an AbstractValue: the result of the step; with that it also says that the step changed nothing but what the rule itself
changed (`forget`, or new facts of a value). UNCHANGED says: nothing was changed, and the result is unknown.
It returns UNKNOWN if it does not know the step: then receiver and arguments count as changed. A rule that raises
anything else is counted and ignored.

All rules for a step are tried, and the first value counts.
"""

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from crane_core.detectors.rules import families
from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Answer
from crane_core.detectors.rules.operation import Operation

Rule = Callable[[Operation], Answer]
ANY = "*"
EVERY_NAME = "every name"
"""No name of an attribute and no operator; "*" is one."""


class Key(NamedTuple):
    """What a rule is for: the kind of step, a type or path ("pandas.DataFrame", "torch.*", "numpy.stack"), a name."""

    step: str
    of: str
    name: str


class Family:
    """The rules of one file. Types are written package.Class, wherever in the package the class is defined.

    "package.*" is every class of a package, "*" every type that is known; Python's own are "builtins.list" and so on.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: dict[Key, list[Rule]] = defaultdict(list)

    def function(self, *paths: str) -> Callable[[Rule], Rule]:
        """Calls of functions and classes by their public dotted names, also those that others re-export."""
        return self._register([Key("call", path, "") for path in paths])

    def method(self, of: str, *names: str) -> Callable[[Rule], Rule]:
        """Calls of methods; "__call__" is a call of the object itself; no name: every method."""
        return self._register(
            [Key("method", of, name) for name in names or (EVERY_NAME,)]
        )

    def attribute(self, of: str, *names: str) -> Callable[[Rule], Rule]:
        """Reading attributes; no name: every attribute."""
        return self._register(
            [Key("attribute", of, name) for name in names or (EVERY_NAME,)]
        )

    def set_attribute(self, of: str) -> Callable[[Rule], Rule]:
        """x.name = value, of any name; the value is the one argument."""
        return self._register([Key("set_attribute", of, EVERY_NAME)])

    def item(self, of: str) -> Callable[[Rule], Rule]:
        """Reading x[index]; a slice is an AbstractValue of type "slice" with items start, stop, step."""
        return self._register([Key("item", of, EVERY_NAME)])

    def set_item(self, of: str) -> Callable[[Rule], Rule]:
        """x[index] = value; it returns UNCHANGED when it knows the step."""
        return self._register([Key("set_item", of, EVERY_NAME)])

    def operator(self, of: str, *symbols: str) -> Callable[[Rule], Rule]:
        """Operators with the type on either side: "+", "@", "<", "in"; the unary "-x" and "~x" have no argument."""
        return self._register(
            [Key("operator", of, symbol) for symbol in symbols or (EVERY_NAME,)]
        )

    def element(self, of: str) -> Callable[[Rule], Rule]:
        """The first element: a value only where there certainly is an element."""
        return self._register([Key("element", of, EVERY_NAME)])

    def truth(self, of: str) -> Callable[[Rule], Rule]:
        """The boolean that `if`, `and`, `not` get from an object: a literal of True or False, or a crash."""
        return self._register([Key("truth", of, EVERY_NAME)])

    def other(
        self, step: str, of: str = ANY, *names: str
    ) -> Callable[[Rule], Rule]:
        """Steps that few types know.

        "del_item" (x[index] is deleted), "key" (of a dict or set), "format" (its text by a format), "length",
        "elements" (an AbstractValue with all elements, as items).
        """
        return self._register(
            [Key(step, of, name) for name in names or (EVERY_NAME,)]
        )

    def missing(self, *groups: str) -> Callable[[Rule], Rule]:
        """What the state says to be absent, checked where the target needs it: `absent`, by group of the state."""
        return self._register([Key("missing", group, ANY) for group in groups])

    def _register(self, keys: list[Key]) -> Callable[[Rule], Rule]:
        def registered(rule: Rule) -> Rule:
            for key in keys:
                self.rules[key].append(rule)
            return rule

        return registered


class Registered(NamedTuple):
    """A rule with the name of its family, which findings and failures mention."""

    family: str
    rule: Rule


@cache
def all_rules() -> dict[Key, tuple[Registered, ...]]:
    """The rules of every file in `families`, by key, in the order of the files' names."""
    found: dict[Key, list[Registered]] = defaultdict(list)
    for family in _families():
        for key, rules in family.rules.items():
            found[key] += [Registered(family.name, rule) for rule in rules]
    return {key: tuple(rules) for key, rules in found.items()}


def _families() -> Iterator[Family]:
    # The first value counts, so the order of families must not depend on the file system.
    for module in sorted(
        pkgutil.iter_modules(families.__path__), key=lambda module: module.name
    ):
        loaded = importlib.import_module(f"{families.__name__}.{module.name}")
        # Files that only describe values, such as pandas_frames.py, have no
        # rules.
        if isinstance(family := getattr(loaded, "RULES", None), Family):
            yield family


def rules_for(
    step: str, of: AbstractValue | str, name: str = ""
) -> tuple[Registered, ...]:
    """The rules for a step on an object, or for a call of a path; the more exact type first."""
    if isinstance(of, str):
        every = f"{of.partition('.')[0]}.{ANY}"
        return all_rules().get(Key(step, of, name), ()) + all_rules().get(
            Key(step, every, name), ()
        )
    # Of an unknown type nothing is certain, not even by the rules for every type.
    types = (
        [f"{of.package}.{of.class_name}", f"{of.package}.{ANY}", ANY]
        if of.type
        else []
    )
    # The first answer counts, so a rule for the exact type has to come first.
    keys = [
        Key(step, known, wanted)
        for known in types
        for wanted in dict.fromkeys((name, EVERY_NAME))
    ]
    return tuple(rule for key in keys for rule in all_rules().get(key, ()))
