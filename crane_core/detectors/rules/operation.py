"""One step of the evaluation as a rule sees it: its kind, what is known of its parts, the versions of libraries."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, Signature
from typing import Any, NoReturn

from crane_core.detectors.rules.abstract_value import AbstractValue
from crane_core.detectors.rules.answer import Crash, RefusedParameter

CallValue = Callable[
    [AbstractValue, Sequence[AbstractValue], Mapping[str, AbstractValue]],
    AbstractValue,
]
AbstractValues = Callable[[], Iterable[AbstractValue]]
OfCells = Callable[[str], bool]
# A release candidate has the changes of its release: 2.0.0rc1 counts as 2.0.
_MAJOR_AND_MINOR = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call. `is_complete` is False if a `*` or `**` adds unknown ones."""

    positional: tuple[AbstractValue, ...] = ()
    keywords: Mapping[str, AbstractValue] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def values(self) -> list[AbstractValue]:
        """All values that are handed over, first those by position."""
        return [*self.positional, *self.keywords.values()]

    def bound(self, parameters: str) -> dict[str, AbstractValue] | None:
        """What each parameter gets; those that get nothing are left out. None if it is unknown.

        `parameters` are written as in a def, without annotations: "a, axis=0, *, dtype=None"; / * and ** have their
        usual meaning. None too where the arguments do not fit, or one without a default is not given: that is another
        rule's matter.
        """
        signature = _signature(parameters)
        try:
            bound = signature.bind(*self.positional, **self.keywords).arguments
        except TypeError:
            return None
        for parameter in signature.parameters.values():
            if parameter.kind in (
                Parameter.VAR_POSITIONAL,
                Parameter.VAR_KEYWORD,
            ):
                others = bound.pop(parameter.name, None)
                bound |= others if isinstance(others, dict) else {}
        # A `**more` of unknown keys may fill any parameter that looks free.
        return bound if self.is_complete else None


@cache
def _signature(parameters: str) -> Signature:
    [definition] = ast.parse(f"def f({parameters}): pass").body
    return signature_of(definition.args)  # type: ignore[attr-defined]


def signature_of(spec: ast.arguments) -> Signature:
    """The parameters of a definition; the default of one is its expression."""
    ordered = [*spec.posonlyargs, *spec.args]
    defaults: dict[ast.arg, ast.expr | None] = dict(
        # From the end, as only the last parameters have defaults.
        zip(reversed(ordered), reversed(spec.defaults), strict=False)
    )
    defaults |= zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    kinds: dict[Any, Sequence[ast.arg | None]] = {
        Parameter.POSITIONAL_ONLY: spec.posonlyargs,
        Parameter.POSITIONAL_OR_KEYWORD: spec.args,
        Parameter.VAR_POSITIONAL: [spec.vararg],
        Parameter.KEYWORD_ONLY: spec.kwonlyargs,
        Parameter.VAR_KEYWORD: [spec.kwarg],
    }
    found = [
        (part, kind)
        for kind, parts in kinds.items()
        for part in parts
        if part is not None
    ]
    # A keyword-only parameter without a default has None among kw_defaults.
    return Signature(
        [
            Parameter(
                part.arg, kind, default=defaults.get(part) or Parameter.empty
            )
            for part, kind in found
        ]
    )


@dataclass(frozen=True, slots=True)
class Operation:
    """One step. `name` is the attribute, method or function name, or the operator as it is written ("+", "@", "<=").

    `receiver` is the object of an attribute, method, item or iteration, and the left side of an operator; of a call
    the function. `arguments` holds those of a call; of an item the one index; of a stored item index and value; of a
    stored attribute the value; of an operator the right side. `call` evaluates a call of a value with arguments, as the
    target itself would (functions of the notebook are followed), and raises Crash where that is certain to raise.
    `packages` maps packages to versions as the state states them ("sklearn": "1.9.1"); `variables` everything that a
    name refers to at this step: what a state tells apart may be one object (a step of a pipeline is also a variable).
    `is_told_apart` says of two values that they certainly are two objects: both have names, and the state tells which
    names share one object. `mentions` tells whether a text is in a cell that ran or in the target,
    `may_bind` whether the cells may give this name a value, `may_give_attribute` whether they may put an attribute of
    this name on some object or class, in whatever manner (`it.coef_ = 3`, setattr, `__dict__`). `is_as_found` says
    whether nothing that a loader of the state may use was changed by the target. `element` is the first element of a
    value, None if there may be nothing; `elements` is all elements, None where not even their number is known, and
    takes them from an iterator. Both raise Crash. `refused_parameter` asks scikit-learn about plain values of
    parameters; `left` asks the library what the receiver is after the step, None if it is unknown.
    `absent` is, for a step "missing", the fact of the state about what is needed here and is not there.
    """

    node: ast.AST
    text: str
    name: str = ""
    receiver: AbstractValue = field(default_factory=AbstractValue)
    arguments: Arguments = field(default_factory=Arguments)
    call: CallValue = lambda value, positional, keywords: AbstractValue()
    absent: Mapping[str, Any] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    variables: AbstractValues = tuple
    is_told_apart: Callable[[AbstractValue, AbstractValue], bool] = (
        lambda left, right: False
    )
    # Without the cells anything may be done, so a rule stays silent.
    mentions: OfCells = lambda text: True
    may_bind: OfCells = lambda name: True
    may_give_attribute: OfCells = lambda name: True
    is_as_found: Callable[[], bool] = lambda: True
    element: Callable[[AbstractValue], AbstractValue | None] = lambda value: (
        None
    )
    elements: Callable[[AbstractValue], Sequence[AbstractValue] | None] = (
        lambda value: None
    )
    left: Callable[[], AbstractValue | None] = lambda: None
    refused_parameter: Callable[
        [str, str, Mapping[str, Any]], RefusedParameter | None
    ] = lambda path, step, given: None

    @property
    def function_name(self) -> str:
        """The last part of the public path of the function that is called."""
        return self.receiver.path.rpartition(".")[2]

    @property
    def result_words(self) -> str:
        """The name of the step's result in evidence."""
        return f"the result of {self.text[:60]}"

    @property
    def first(self) -> AbstractValue:
        """The first positional argument: the index of an item, the right side of an operator; unknown without one."""
        return (
            self.arguments.positional[0]
            if self.arguments.positional
            else AbstractValue()
        )

    def crash(
        self, exception: str, why: str, *, fact: str, remedy: str
    ) -> NoReturn:
        """Say that this step raises, whatever is not known about it."""
        raise Crash(exception, why, fact=fact, remedy=remedy)


def version_of(operation: Operation, package: str) -> tuple[int, ...] | None:
    """Major and minor version of a library in the kernel; None if the state does not state it."""
    return numbers(operation.packages.get(package, ""))


def numbers(version: str) -> tuple[int, ...] | None:
    """Major and minor version, those of a release candidate too."""
    found = _MAJOR_AND_MINOR.match(version)
    return tuple(map(int, found.groups())) if found else None


def is_at_least(operation: Operation, package: str, *version: int) -> bool:
    """Whether the library is known to be of this version or a later one."""
    found = version_of(operation, package)
    return found is not None and found >= version


def is_before(operation: Operation, package: str, *version: int) -> bool:
    """Whether the library is known to be of an earlier version."""
    found = version_of(operation, package)
    return found is not None and found < version
