"""From cells and kernel state to the exact text that a detector is shown.

    render(cells, state, setting, template) -> Prompt

Knows the order of the parts and how a state is written: a captured one as one JSON object, a line for each name and
each of its categories, sorted and reproducibly; a published one byte for byte as upstream printed it (pprint at width
80 with sorted keys). What a setting shows and the words around it are in their own files. Refuses to know where cells
and state come from.
"""

import hashlib
import json
import pprint
import re
from collections.abc import Mapping, Sequence
from typing import IO, Any, ClassVar

from crane_core.domain import (
    Cell,
    CellRole,
    JsonObject,
    KernelState,
    Prompt,
    Setting,
    VariableState,
)
from crane_core.errors import PromptError
from crane_core.prompts import tagged_json
from crane_core.prompts.categories import REPRESENTATION, STRUCTURE, VALUES
from crane_core.prompts.published import InputText, join_input
from crane_core.prompts.secrets import redacted, scrubbed
from crane_core.prompts.shown import CAPTURED, shown
from crane_core.prompts.template import Template, template_for

MAX_CELL = 60_000
"""Characters of a cell; of a longer one, such as data pasted into code, beginning and end are shown."""

MAX_BODY = 2_000_000
_WIDE = "per_column_max_20"
Places = Mapping[int, int]
"""Index of a code cell in the notebook (from 0) to its number among the executed cells (from 1)."""
_PLACE = {"cell", "line"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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


def render(
    cells: Sequence[Cell],
    state: KernelState | None,
    setting: Setting,
    template: Template | None = None,
) -> Prompt:
    """The prompt of one instance. `cells` are of one origin, the target among them; `state` may be None for `code`.

    Raises PromptError if there is no target cell, where the state does not hold what the setting shows, and where
    the text is longer than MAX_BODY.
    """
    return prompt_around(
        body(cells, state, setting),
        cells[0],
        setting,
        template or template_for(setting),
    )


def prompt_around(
    inside: str, first: Cell, setting: Setting, words: Template
) -> Prompt:
    """The prompt whose body is `inside`; `first` is any of its cells."""
    text = words.around(inside)
    return Prompt(
        benchmark=first.benchmark,
        instance_id=first.instance_id,
        setting=setting,
        origin=f"{first.origin} in {words.name}",
        sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
        text=text,
    )


def body(
    cells: Sequence[Cell], state: KernelState | None, setting: Setting
) -> str:
    """Executed cells, runtime information and target: what the published input files hold, in their layout."""
    # By position, which is the order of execution; the order in the file may differ.
    ordered = sorted(cells, key=lambda cell: cell.position)
    executed = [cell for cell in ordered if cell.role is CellRole.EXECUTED]
    targets = [cell for cell in ordered if cell.role is CellRole.TARGET]
    if len(targets) != 1:
        raise PromptError(
            f"There are {len(targets)} target cells but exactly one is expected.",
            remedy="Choose the target: --target N.",
        )
    parts = InputText(
        executed=tuple(_presentable(cell.code) for cell in executed),
        block=_block(executed, state, setting),
        target=_presentable(targets[0].code),
    )
    text = join_input(parts)
    if len(text) > MAX_BODY:
        raise PromptError(
            f"The input has {len(text):,} characters; the limit is {MAX_BODY:,}.",
            remedy="Move data from the code cells into files.",
        )
    return text


def _block(
    executed: Sequence[Cell], state: KernelState | None, setting: Setting
) -> str | None:
    if setting is Setting.CODE:
        return None
    if state is None:
        raise PromptError(
            f"The setting {setting} needs runtime state, but none is available.",
            remedy="Pass the path of the notebook, which is then run up to the target to capture the state.",
        )
    visible = shown(state, setting)
    # Published states keep upstream's form byte for byte, so that a prompt of today equals the one of the
    # study.
    if state.schema_version < CAPTURED:
        return print_block(visible.variables, visible.accesses)
    # The prompt counts executed cells from 1; a state names cells by their index in the notebook.
    numbers = {
        cell.notebook_index: number
        for number, cell in enumerate(executed, start=1)
    }
    return captured_block(
        visible,
        {
            index: number
            for index, number in numbers.items()
            if index is not None
        },
    )


def _presentable(code: str) -> str:
    """The code without secrets, within MAX_CELL; texts that UTF-8 cannot say are escaped."""
    text = redacted(code).encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= MAX_CELL:
        return text
    half = MAX_CELL // 2
    return f"{text[:half]}\n# ... {len(text) - 2 * half:,} characters of this cell are not shown ...\n{text[-half:]}"


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


def captured_block(state: KernelState, places: Places) -> str:
    """The block's text without a newline at its end; "{}" where the state holds nothing."""
    tables = {
        "variables": {
            name: _captured_entry(name, entry, places)
            for name, entry in state.variables.items()
        },
        "accesses": {
            name: _captured_entry(name, VariableState.from_json(entry), places)
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


def _captured_entry(name: str, entry: VariableState, places: Places) -> str:
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
