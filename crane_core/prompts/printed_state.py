"""A published runtime block printed again from its state, byte for byte as upstream printed it.

Knows upstream's printer: pprint at width 80 with sorted keys. Refuses to choose what is shown.
"""

from __future__ import annotations

import pprint
from collections.abc import Mapping
from typing import IO, Any, ClassVar

from crane_core.domain import VariableState
from crane_core.prompts.tagged_json import PrintedDefaultDict, PrintedSet, decode


def print_block(variables: Mapping[str, VariableState], accesses: Mapping[str, Any]) -> str:
    """The block's text, without a newline at its end. `accesses` hold entries in the form of VariableState.to_json."""
    entries = {name: _entry(variable.to_json()) for name, variable in variables.items()}
    entries |= {name: _entry(access) for name, access in accesses.items()}
    return _Printer(width=80).pformat(entries)


def _entry(state: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": state["type"]} if state["type"] else {}
    for group in ("structure", "representation", "values"):
        entry |= {key: decode(value) for key, value in state[group].items()}
    if "assigned" in state:
        entry["execution_cell_source"] = {"cellno": state["assigned"]["cell"], "lineno": state["assigned"]["line"]}
    return entry


class _Printer(pprint.PrettyPrinter):
    """pprint with the two containers whose print it could not repeat: sets in their printed order, defaultdicts."""

    _dispatch: ClassVar[dict[Any, Any]] = dict(pprint.PrettyPrinter._dispatch)  # type: ignore[attr-defined]

    def _print_set(self, value: PrintedSet, stream: IO[str], indent: int, room: int, seen: Any, level: int) -> None:
        stream.write("{")
        self._format_items(list(value.items), stream, indent, room + 1, seen, level)
        stream.write("}")

    def _print_defaultdict(
        self, value: PrintedDefaultDict, stream: IO[str], indent: int, room: int, seen: Any, level: int
    ) -> None:
        indent += len("defaultdict") + 1
        stream.write(f"defaultdict({value.factory},\n{' ' * indent}")
        self._format(value.entries, stream, indent, room + 1, seen, level)
        stream.write(")")

    _dispatch[PrintedSet.__repr__] = _print_set
    _dispatch[PrintedDefaultDict.__repr__] = _print_defaultdict
