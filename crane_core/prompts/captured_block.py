"""The runtime block of a captured state: one JSON object, a line for each name and each of its categories.

Knows how to write it briefly, sorted and reproducibly. Refuses to choose what is shown (see shown.py).
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from crane_core.domain import JsonObject, KernelState, VariableState
from crane_core.prompts.categories import REPRESENTATION, STRUCTURE, VALUES
from crane_core.prompts.secrets import scrubbed

Places = Mapping[int, int]
"""Index of a code cell in the notebook (from 0) to its number among the executed cells (from 1)."""

_PLACE = {"cell", "line"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def captured_block(state: KernelState, places: Places) -> str:
    """The block's text without a newline at its end; "{}" where the state holds nothing."""
    tables = {
        "variables": {
            name: _entry(name, entry, places)
            for name, entry in state.variables.items()
        },
        "accesses": {
            name: _entry(name, VariableState.from_json(entry), places)
            for name, entry in state.accesses.items()
        },
    }
    members = [
        f"{_json(title)}: {_table(entries)}"
        for title, entries in tables.items()
        if entries
    ]
    # What is beyond the paper's facts stands behind them, and is left out where there is none.
    members += [
        f"{_json(title)}: {_json(_in_numbers(facts, places))}"
        for title, facts in _beyond(state).items()
    ]
    return "{" + ",\n".join(members) + "}"


def _beyond(state: KernelState) -> JsonObject:
    """What the target needs and is absent, and what could not be examined."""
    unavailable = {
        name: why
        for name, why in state.unavailable.items()
        # A name of which a part could be examined says so in its own entry.
        if name not in state.variables
    }
    absent = {kind: items for kind, items in state.absent.items() if items}
    facts = {
        "absent": absent,
        "unavailable": unavailable,
        "syntax_error": state.syntax_error,
    }
    return {title: scrubbed(fact) for title, fact in facts.items() if fact}


def _table(entries: Mapping[str, str]) -> str:
    return (
        "{\n"
        + ",\n".join(
            f"{_json(name)}: {entries[name]}" for name in sorted(entries)
        )
        + "}"
    )


def _entry(name: str, entry: VariableState, places: Places) -> str:
    """`{"type": ..., "assigned": ...,` and a line for each category, without those that are empty."""
    head = {
        "type": entry.type,
        "assigned": _place(entry.assigned, places) if entry.assigned else None,
        "used by": ", ".join(entry.via),
    }
    first = ", ".join(
        f"{_json(key)}: {_json(value)}" for key, value in head.items() if value
    )
    groups = {
        STRUCTURE: entry.structure,
        REPRESENTATION: entry.representation,
        VALUES: entry.values,
        "docs": entry.docs,
        "unavailable": entry.unavailable,
    }
    lines = [
        # A variable called `password` has its value hidden, but its shape and type are not secret.
        f"{_json(key)}: {_json(scrubbed(facts, name if key == VALUES else ''))}"
        for key, facts in groups.items()
        if facts
    ]
    return "{" + ",\n ".join([first, *lines] if first else lines) + "}"


def _place(place: Mapping[str, Any], places: Places) -> str:
    """A place of the notebook in the numbers that the prompt shows."""
    number = places.get(place["cell"])
    return (
        f"cell {number}, line {place['line']}"
        if number
        else f"a cell that did not run, line {place['line']}"
    )


def _in_numbers(facts: Any, places: Places) -> Any:
    """The facts with their places as words."""
    if isinstance(facts, dict) and facts.keys() == _PLACE:
        return _place(facts, places)
    if isinstance(facts, dict):
        return {key: _in_numbers(item, places) for key, item in facts.items()}
    return (
        [_in_numbers(item, places) for item in facts]
        if isinstance(facts, list)
        else facts
    )


def _json(value: Any) -> str:
    # Sorted keys and no NaN: the text has to be the same in every process, because its sha256 is its address.
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, allow_nan=False
    )
    # Half of a surrogate pair, which a repr may have been cut to, cannot be encoded as UTF-8.
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
