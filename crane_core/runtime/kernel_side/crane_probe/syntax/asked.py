"""What a piece of code asks of one name: the chains of attributes, subscripts and calls that begin with it.

Plain records between chains/relevance.py, which finds them, and the summarizers, which look there first.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Tuple

ATTRIBUTE, ITEM, CALL = "attribute", "item", "call"


class Unknown(NamedTuple):
    """A subscript or argument that is neither a literal nor a plain value of the kernel.

    `text` is its source. `name` is the kernel's name of an argument that is one, unchanged by the target.
    """

    text: str
    name: str = ""


class ChainStep(NamedTuple):
    """One link of a chain.

    `value` is the attribute's name, the subscript's value (slices are `slice`, several indices a tuple, what is not
    known an Unknown), or for a call a pair: the positional arguments, and the keyword arguments as pairs.
    """

    kind: str
    value: Any


Steps = Tuple[ChainStep, ...]


class Chain(NamedTuple):
    """`frame["a"].str.lower()` is the name `frame` with four steps.

    `line` counts from 1 in the target; `certain` is True when the target evaluates it whatever happens before it,
    short of an exception; `via` names the functions through which it was reached, the outermost first. `stored` is
    True when the target itself sets the value of a step, here or before; `changed` when the target may have changed
    the object's items before, `called` when it has called a method of the object or handed it to a function before.
    """

    name: str
    steps: Steps
    line: int
    certain: bool = True
    via: tuple[str, ...] = ()
    stored: bool = False
    changed: bool = False
    called: bool = False

    @property
    def first_call(self) -> int | None:
        """The place of the first call among the steps; None without one."""
        places = (at for at, step in enumerate(self.steps) if step.kind == CALL)
        return next(places, None)

    @property
    def n_attributes(self) -> int:
        """How many attributes are taken one after the other before any other step."""
        others = (
            at for at, step in enumerate(self.steps) if step.kind != ATTRIBUTE
        )
        return next(others, len(self.steps))

    @property
    def attributes(self) -> list[Any]:
        """The names of all attributes that are taken."""
        return [step.value for step in self.steps if step.kind == ATTRIBUTE]

    @property
    def given(self) -> list[Any]:
        """What all calls are given, by position and by name."""
        calls = [step.value for step in self.steps if step.kind == CALL]
        return [
            value
            for positional, named in calls
            for value in (*positional, *(value for _, value in named))
        ]


MethodCall = Tuple[str, Tuple[Any, ...], Tuple[Tuple[str, Any], ...]]
"""A method's name with the arguments by position, and those by name as pairs."""


class AskedName(NamedTuple):
    """All that the target asks of one name, in the order of evaluation."""

    name: str = ""
    chains: tuple[Chain, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of attributes and methods taken from the object itself."""
        return _unique(
            chain.steps[0].value
            for chain in self.chains
            if chain.steps and chain.steps[0].kind == ATTRIBUTE
        )

    @property
    def items(self) -> tuple[Any, ...]:
        """Subscripts of the object itself whose value is known: keys, columns, indices, slices, lists of them."""
        return _unique(
            chain.steps[0].value
            for chain in self.chains
            if chain.steps
            and chain.steps[0].kind == ITEM
            # An unknown subscript may be any key: it says nothing about what the target wants.
            and type(chain.steps[0].value) is not Unknown
        )

    @property
    def calls(self) -> tuple[MethodCall, ...]:
        """Methods called on the object with their arguments; the method "" is a call of the object itself."""
        return tuple(
            call for chain in self.chains for call in _first_call(chain)
        )


def _first_call(chain: Chain) -> Iterator[MethodCall]:
    steps = chain.steps
    if steps and steps[0].kind == CALL:
        yield ("", *steps[0].value)
    # Only the method's first call: later ones are made on what it gives.
    if len(steps) > 1 and steps[0].kind == ATTRIBUTE and steps[1].kind == CALL:
        yield (steps[0].value, *steps[1].value)


def _unique(values: Iterator[Any]) -> tuple[Any, ...]:
    """In order, without those met before; distinguished by their text, as 1 and True are equal."""
    met = {repr(value): value for value in values}
    return tuple(met.values())
