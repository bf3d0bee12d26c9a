"""What must be known of the kernel to predict the crashes of minibench, and whether a state tells it.

Knows the entries `decisive` of data/minibench/sources and plain nested data of variables, however they are laid out.
Refuses to know who made a state. The format is described in data/minibench/README.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crane_core.pipeline.places import CHECKOUT

SOURCES = CHECKOUT / "data" / "minibench" / "sources"
PLACES = ("assigned", "via", "execution_cell_source")
"""Where a variable comes from: numbers of cells and lines, which say nothing of what it holds."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One decisive fact: what holds in the kernel, and the ways in which a state may tell it."""

    text: str
    variable: str | None
    expression: str | None
    value: Any
    shows: tuple[Any, ...]
    absent: tuple[str, Any] | None


def case_ids() -> list[str]:
    return sorted(path.stem for path in SOURCES.glob("*.toml"))


def facts_of(case_id: str) -> list[Fact]:
    """The facts of a case; all of them together make its crash certain."""
    source = tomllib.loads((SOURCES / f"{case_id}.toml").read_text("utf-8"))
    return [_fact(entry) for entry in source.get("decisive", [])]


def _fact(entry: Mapping[str, Any]) -> Fact:
    absent = next(iter(entry["absent"].items())) if "absent" in entry else None
    shows = entry.get("shows", [entry["value"]] if "value" in entry else [])
    return Fact(
        entry["text"],
        entry.get("variable"),
        entry.get("expression"),
        entry.get("value"),
        tuple(shows),
        absent,
    )


def is_told(fact: Fact, state: Mapping[str, Any]) -> bool:
    """Whether a state, {"variables": {...}, "accesses": {...}, "absent": {...}}, tells a fact in one of its ways."""
    if fact.absent and _states_absence(fact, state):
        return True
    told = list(_about(fact.variable, state)) if fact.variable else []
    return any(_is_shown(wanted, told) for wanted in fact.shows)


def missing(case_id: str, state: Mapping[str, Any]) -> list[Fact]:
    """The facts of a case that a state does not tell."""
    return [fact for fact in facts_of(case_id) if not is_told(fact, state)]


def _states_absence(fact: Fact, state: Mapping[str, Any]) -> bool:
    """An entry of the group that names the thing and, where it lacks in a variable, that variable."""
    group, name = fact.absent or ("", None)
    for entry in state.get("absent", {}).get(group, []):
        stated = list(entry.values()) if isinstance(entry, Mapping) else [entry]
        if name in stated and (
            fact.variable is None
            or any(_is_part_of(fact.variable, text) for text in stated)
        ):
            return True
    return False


def _is_part_of(variable: str, text: Any) -> bool:
    """`history` and `history.history["loss"]` are parts of `history`, `history_2` is none."""
    return (
        isinstance(text, str)
        and re.match(rf"{re.escape(variable)}(?!\w)", text) is not None
    )


def _about(
    variable: str, state: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What is said of a variable and of what is taken from it."""
    for group in ("variables", "accesses"):
        for name, entry in state.get(group, {}).items():
            if _is_part_of(variable, name):
                yield name, _without_places(entry)


def _without_places(entry: Any) -> Any:
    return (
        {key: part for key, part in entry.items() if key not in PLACES}
        if isinstance(entry, Mapping)
        else entry
    )


def _is_shown(wanted: Any, told: Sequence[tuple[str, Any]]) -> bool:
    match wanted:
        case {"all": every}:
            return all(_is_shown(each, told) for each in every)
        case {}:
            return all(
                any(_holds(key, value, entry) for entry in told)
                for key, value in wanted.items()
            )
        case [*words] if all(isinstance(each, str) for each in words):
            return all(_is_shown(each, told) for each in words)
    pattern = re.compile(_pattern(wanted))
    return any(pattern.search(repr(entry)) for _, entry in told)


def _pattern(wanted: Any) -> str:
    """How a number, a text or a sequence stands in the printed data: not as a part of a longer number or word."""
    if isinstance(wanted, list):
        return r"[\s,()\[\]'\"]+".join(_pattern(each) for each in wanted)
    if isinstance(wanted, str):
        return rf"(?<!\w){re.escape(wanted)}(?!\w)"
    return rf"(?<![\w.-]){re.escape(repr(wanted))}(?![\w]|\.\d)"


def _holds(key: str, value: Any, entry: tuple[str, Any]) -> bool:
    """Whether a leaf under the keys `a.b`, others between them or not, holds the value."""
    wanted = key.split(".")
    return any(
        leaf == value and type(leaf) is type(value) and _in_order(wanted, path)
        for path, leaf in _leaves(entry)
    )


def _in_order(wanted: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the last key is the path's last, and the others stand before it in this order."""
    rest = iter(path[:-1])
    return path[-1:] == (wanted[-1],) and all(
        key in rest for key in wanted[:-1]
    )


def _leaves(entry: tuple[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Paths and values of what is neither a mapping nor a sequence; a record of a list goes by its `name` as well."""
    name, value = entry
    if isinstance(value, Mapping):
        own = (
            (name, value["name"])
            if isinstance(value.get("name"), str)
            else (name,)
        )
        for key, part in value.items():
            yield from (
                ((*own, *path), leaf)
                for path, leaf in _leaves((str(key), part))
            )
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _leaves((name, part))
    else:
        yield (name,), value
