"""A published runtime block printed again from its state, byte for byte as upstream printed it.

Knows upstream's printer: pprint at width 80 with sorted keys. Refuses to choose what is shown.
"""

import pprint
import re
from collections.abc import Mapping
from typing import IO, Any, ClassVar

from crane_core.domain import JsonObject, VariableState
from crane_core.prompts import tagged_json

_WIDE = "per_column_max_20"


def print_block(
    variables: Mapping[str, VariableState], accesses: Mapping[str, Any]
) -> str:
    """The block's text, without a newline at its end. `accesses` hold entries in the form of VariableState.to_json."""
    entries = {
        name: _entry(variable.to_json()) for name, variable in variables.items()
    }
    entries |= {name: _entry(access) for name, access in accesses.items()}
    counted = {name: _with_count(entry) for name, entry in entries.items()}
    text = _Printer(width=80).pformat(counted)
    return (
        text
        if counted == entries
        # The later release took the number out only after printing; so do we, to have its indentation.
        else re.sub(rf"'{_WIDE}_\d+': ", f"'{_WIDE}': ", text)
    )


def _with_count(entry: JsonObject) -> JsonObject:
    """The entry with the number of columns in the key of a wide frame's table.

    The later release printed it so and took the number out of the text afterwards: the lines below are indented for the
    longer key. Where the shape is withheld, the number is not known and the indentation is the usual one.
    """
    shape = entry.get("shape")
    if _WIDE not in entry or not isinstance(shape, tuple) or len(shape) != 2:
        return entry
    return {
        f"{_WIDE}_{shape[1]}" if key == _WIDE else key: value
        for key, value in entry.items()
    }


def _entry(state: JsonObject) -> JsonObject:
    entry: JsonObject = {"type": state["type"]} if state["type"] else {}
    for group in ("structure", "representation", "values"):
        entry |= {
            key: tagged_json.decode(value)
            for key, value in state[group].items()
        }
    if "assigned" in state:
        entry["execution_cell_source"] = {
            "cellno": state["assigned"]["cell"],
            "lineno": state["assigned"]["line"],
        }
    return entry


class _Printer(pprint.PrettyPrinter):
    """pprint with the two containers whose print it could not repeat: sets in their printed order, defaultdicts."""

    _dispatch: ClassVar[dict[Any, Any]] = dict(pprint.PrettyPrinter._dispatch)  # type: ignore[attr-defined]

    def _print_set(
        self,
        value: tagged_json.PrintedSet,
        stream: IO[str],
        indent: int,
        room: int,
        seen: Any,
        level: int,
    ) -> None:
        stream.write("{")
        self._format_items(
            list(value.items), stream, indent, room + 1, seen, level
        )
        stream.write("}")

    def _print_defaultdict(
        self,
        value: tagged_json.PrintedDefaultDict,
        stream: IO[str],
        indent: int,
        room: int,
        seen: Any,
        level: int,
    ) -> None:
        # As pprint does it for a defaultdict that does not fit the line: it breaks behind the factory.
        indent += len("defaultdict") + 1
        stream.write(f"defaultdict({value.factory},\n{' ' * indent}")
        self._format(value.entries, stream, indent, room + 1, seen, level)
        stream.write(")")

    _dispatch[tagged_json.PrintedSet.__repr__] = _print_set
    _dispatch[tagged_json.PrintedDefaultDict.__repr__] = _print_defaultdict
