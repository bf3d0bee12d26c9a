"""What the executed cells leave behind: they are walked in their order, by the rules of the target, before it.

Knows that they ran without an exception: a crash predicted in them contradicts what happened, and what was known until
then is given up. Of names that the state tells too, the state is right: where both speak of the same and do not
agree, nothing is taken from the cells at all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from crane_core.detectors.rules import harmless
from crane_core.detectors.rules.bindings import bound_names, global_names
from crane_core.detectors.rules.finding import Crash
from crane_core.detectors.rules.heap import Copy
from crane_core.detectors.rules.kept import Kept
from crane_core.detectors.rules.prefix import Prefix, spelled
from crane_core.detectors.rules.thing import Thing
from crane_core.detectors.rules.walk import EndError, LeaveError, RuleError, Walk
from crane_core.detectors.rules.world import Beginning, World

MOST_STEPS = 30_000
_MOST_CONTRADICTIONS = 1
_STEPS_BETWEEN = 500
"""After so many steps a walk is kept, so that a target further up has no more of them to go."""
_MOST_KEPT = 128


class Contradiction(NamedTuple):
    """What was predicted of the cells that ran, or known by them, and is not so."""

    cell: int
    """Position among the executed cells, -1 where the state contradicts what is known after all of them."""
    what: str


@dataclass(frozen=True, slots=True)
class Past:
    """What names stand for after the executed cells, and what went wrong in finding it out."""

    names: dict[str, Thing]
    contradictions: tuple[Contradiction, ...] = ()
    errors: tuple[RuleError, ...] = ()
    n_steps: int = 0


class Run:
    """The cells that ran, walked one after the other."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self.beginning = Beginning(packages)
        self.walk = Walk(self.beginning, MOST_STEPS)
        self.found: list[Contradiction] = []

    def advance(self, prefix: Prefix) -> None:
        """The next cell: the last of the prefix."""
        code = prefix.codes[-1]
        self.beginning.prefix = prefix
        self.walk.know(sorted(spelled(code.tree).names))
        if code.error:
            self.walk.lose()
        for statement in code.tree.body:
            _run(self.walk, statement, len(prefix.codes) - 1, self.found)

    def copied(self) -> Run:
        """A separate run that has come as far."""
        other, walk, copy = Run(self.beginning.packages), self.walk, Copy()
        other.beginning.prefix = self.beginning.prefix
        other.found = list(self.found)
        other.walk.module = other.walk.scope = copy.scope(walk.module)
        other.walk.scopes = [other.walk.module]
        other.walk.errors = list(walk.errors)
        other.walk.n_steps, other.walk.n_visits = walk.n_steps, walk.n_visits
        other.walk.made = {id(made): made for made in map(copy.thing, walk.made.values())}
        other.walk.escaped = {copy.thing(thing): None for thing in walk.escaped if not walk.is_forgotten(thing)}
        gone = [thing for thing in walk.escaped if not copy.has(thing)]
        other.walk.escaped |= {copy.thing(thing): None for thing in walk.escaped if copy.has(thing)}
        other.walk.n_gone = walk.n_gone + len(gone)
        other.walk.has_gone_array = walk.has_gone_array or not walk.escaped_arrays.isdisjoint(gone)
        return other


_KEPT: Kept[Run] = Kept(_MOST_KEPT)


def past_of(world: World) -> Past:
    """Walks the executed cells of a world, from the last of them at which a walk of the same cells was kept."""
    prefix, packages = world.prefix, dict(world.packages)
    run = _run_of(prefix, packages)
    found = list(run.found)
    known = _known(run.copied().walk) if len(found) <= _MOST_CONTRADICTIONS else {}
    return Past(_compared(known, world, found), tuple(found), tuple(run.walk.errors), run.walk.n_steps)


def _run_of(prefix: Prefix, packages: Mapping[str, str]) -> Run:
    """The run of these cells, which is not to be changed: others get it too."""
    about = tuple(sorted(packages.items()))
    n_known, kept = _KEPT.longest(prefix.texts, about)
    if kept is not None and n_known == len(prefix.texts):
        return kept
    run = Run(packages) if kept is None else kept.copied()
    n_steps = run.walk.n_steps
    for grown in prefix.since(n_known):
        run.advance(grown)
        if run.walk.n_steps - n_steps > _STEPS_BETWEEN:
            _KEPT.keep(grown.texts, run.copied(), about)
            n_steps = run.walk.n_steps
    _KEPT.keep(prefix.texts, run, about)
    return run


def _run(walk: Walk, statement: ast.stmt, position: int, found: list[Contradiction]) -> None:
    """One statement that ran to its end; where it cannot be followed, nothing is known after it."""
    try:
        walk.run(statement)
    except Crash as crash:
        place = ast.unparse(crash.place) if isinstance(crash.place, ast.AST) else ""
        found.append(Contradiction(position, f"{crash.exception} at {place}: {crash.why}"))
        _lose(walk, statement)
    except (EndError, LeaveError, RecursionError):
        _lose(walk, statement)
    walk.is_unsure_of_names = False


def _lose(walk: Walk, statement: ast.stmt) -> None:
    walk.lose()
    for name in {*bound_names(statement), *global_names(statement)}:
        walk.module.names[name] = Thing(words=name)


def _known(walk: Walk) -> dict[str, Thing]:
    return {name: thing for name, thing in walk.module.names.items() if thing is not None}


# Beside the state


def _compared(names: dict[str, Thing], world: World, found: list[Contradiction]) -> dict[str, Thing]:
    """The names, with what the state tells of them put into their Things; none if the state contradicts one."""
    told = {name: world.told(name) for name in names}
    before = len(found)
    found += [Contradiction(-1, what) for name in names for what in _differences(name, names[name], told[name])]
    if len(found) > before:
        return {}
    for name, thing in names.items():
        _take(thing, told[name])
    return names


def _differences(name: str, walked: Thing, told: Thing) -> Iterator[str]:
    """Where cells and state speak of the same and do not agree."""
    if walked.type and told.type and (walked.package, walked.class_name) != (told.package, told.class_name):
        yield f"{name} is a {told.type}, not a {walked.type}"
        return
    if walked.is_literal and told.is_literal and not _is_same(walked.literal, told.literal):
        yield f"{name} is {told.literal!r}, not {walked.literal!r}"
    for fact in ("shape", "length", "dtype", "columns", "column_labels"):
        if fact in walked.facts and fact in told.facts and not _agree(walked.facts[fact], told.facts[fact]):
            yield f"{fact} of {name} is {told.facts[fact]!r}, not {walked.facts[fact]!r}"
    yield from _lengths(name, walked, told)


def _lengths(name: str, walked: Thing, told: Thing) -> Iterator[str]:
    held = walked.items if walked.items is not None else walked.members
    length = told.fact("length")
    if held is not None and walked.type in ("list", "tuple", "dict") and type(length) is int and length != len(held):
        yield f"{name} holds {length}, not {len(held)}"
    shape, columns = told.fact("shape"), walked.fact("columns")
    if isinstance(columns, tuple) and isinstance(shape, tuple) and len(shape) == 2 and shape[1] != len(columns):
        yield f"{name} has {shape[1]} columns, not {len(columns)}"


def _is_same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right) or bool(left == right)


def _agree(left: Any, right: Any) -> bool:
    """Whether two values of a fact may be of one object; a length that is not known agrees with any."""
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)):
        return len(left) == len(right) and all(_agree(one, other) for one, other in zip(left, right, strict=True))
    return left is None or right is None or left == right or left == "str" and str(right).startswith("<U")


def _take(walked: Thing, told: Thing) -> None:
    """Put into a Thing what the state tells of it; of what both know, the state's stays."""
    if not told.type and not told.path and told.definition is None:
        return
    if told.facts:
        _drop_values(walked)
    walked.type = told.type or walked.type
    walked.path = walked.path or told.path
    walked.definition = walked.definition or told.definition
    if told.facts.keys() & walked.facts.keys() and not harmless.may_share_memory(walked):
        walked.facts = dict(told.facts)
    walked.facts |= told.facts
    if told.items is not None and walked.items is None:
        walked.items = told.items
    if told.members is not None and walked.members is None:
        walked.members = told.members
    if told.is_literal and walked.items is None and walked.members is None:
        walked.literal = told.literal
    walked.attributes = {**walked.attributes, **told.attributes}


def _drop_values(thing: Thing) -> None:
    if harmless.may_share_memory(thing):
        thing.drop(harmless.VALUE_FACTS)


__all__ = ["MOST_STEPS", "Contradiction", "Past", "past_of"]
