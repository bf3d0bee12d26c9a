"""Taking a published input text apart, and putting one together: executed cells, runtime block, target cell.

Knows the layout of the texts that upstream showed to detectors. Refuses to know where they are stored.
"""

import re
from dataclasses import dataclass
from typing import Any

from crane_core.domain import JsonObject, VariableState
from crane_core.prompts import categories
from crane_core.prompts.printed_values import read_printed_dict
from crane_core.prompts.tagged_json import encode

EXECUTED_HEADER = "# Executed Cells:\n"
NOTHING_EXECUTED = "No cell has been executed\n"
RUNTIME_HEADER = "# Current relevent runtime information:\n"
"""Spelled as published, also in our own inputs: compared inputs should differ only in the state."""

TARGET_HEADER = "# Target Cell:\n"
ACCESS_PREFIX = "__method__"
_CELL_HEADER = re.compile(r"^## Cell (\d+):\n", re.MULTILINE)
_RUNTIME_AT_LINE_START = re.compile(
    "^" + re.escape(RUNTIME_HEADER), re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class InputText:
    """A published input. `block` is the printed runtime dict, None in a text without runtime information."""

    executed: tuple[str, ...]
    block: str | None
    target: str


@dataclass(frozen=True, slots=True)
class RuntimeBlock:
    """A runtime block as variables and accesses. `is_literal` is False where Python itself cannot evaluate it."""

    variables: dict[str, VariableState]
    accesses: JsonObject
    is_literal: bool


def split_input(text: str) -> InputText:
    """Take a published input text apart. Raises ValueError with the missing or misplaced part."""
    # A byte-order mark and Windows line ends come from editors, not from upstream, whose files have neither.
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith(EXECUTED_HEADER):
        raise ValueError(
            "the text does not begin with the header of the executed cells"
        )
    # From the end, because an executed cell may quote the marker in a string.
    before, marker, target = text.rpartition("\n" + TARGET_HEADER)
    if not marker:
        raise ValueError("the target cell is missing")
    before += "\n"
    # Only at the start of a line, for the same reason.
    runtime = _RUNTIME_AT_LINE_START.search(before)
    block = before[runtime.end() : -1] if runtime else None
    cells = before[
        len(EXECUTED_HEADER) : runtime.start() if runtime else len(before)
    ]
    return InputText(executed=_split_cells(cells), block=block, target=target)


def join_input(parts: InputText) -> str:
    """The text that `split_input` takes apart into these parts."""
    cells = "".join(
        f"## Cell {number}:\n{code}\n\n"
        for number, code in enumerate(parts.executed, start=1)
    )
    block = "" if parts.block is None else f"{RUNTIME_HEADER}{parts.block}\n"
    return (
        EXECUTED_HEADER
        + (cells or NOTHING_EXECUTED)
        + block
        + TARGET_HEADER
        + parts.target
    )


def _split_cells(text: str) -> tuple[str, ...]:
    if text == NOTHING_EXECUTED:
        return ()
    headers = list(_CELL_HEADER.finditer(text))
    if not headers or headers[0].start() != 0:
        raise ValueError(
            "the executed cells do not begin with the header of a cell"
        )
    numbers = [int(header[1]) for header in headers]
    # Upstream numbers cells without gaps; anything else means that a line of code looks like a header.
    if numbers != list(range(1, len(headers) + 1)):
        raise ValueError(
            f"the executed cells are numbered {numbers}, not from 1 upwards"
        )
    ends = [header.start() for header in headers[1:]] + [len(text)]
    return tuple(
        _cell(text[header.end() : end], header[1])
        for header, end in zip(headers, ends, strict=True)
    )


def _cell(text: str, number: str) -> str:
    if not text.endswith("\n\n"):
        raise ValueError(f"no empty line follows cell {number}")
    return text[:-2]


def parse_block(text: str) -> RuntimeBlock:
    """Read a printed runtime dict. Raises ValueError if it is not one, naming the entry where it can."""
    entries, is_literal = read_printed_dict(text)
    variables: dict[str, VariableState] = {}
    accesses: JsonObject = {}
    for name, entry in entries.items():
        if not isinstance(name, str) or not isinstance(entry, dict):
            raise ValueError(f"the entry {name!r} is not a name with its facts")
        state = _variable(name, entry)
        # The key of an access joins names by underscores, which names contain too: it is never taken apart.
        if name.startswith(ACCESS_PREFIX):
            accesses[name] = state.to_json()
        else:
            variables[name] = state
    return RuntimeBlock(variables, accesses, is_literal)


def _variable(name: str, entry: dict[Any, Any]) -> VariableState:
    """`type` is "" where an ablation left it out."""
    groups: dict[str, JsonObject] = {
        categories.STRUCTURE: {},
        categories.REPRESENTATION: {},
        categories.VALUES: {},
    }
    kind, assigned = entry.get("type", ""), entry.get("execution_cell_source")
    if not isinstance(kind, str):
        raise ValueError(f"the type of {name!r} is not text")
    for key, value in entry.items():
        if not isinstance(key, str):
            raise ValueError(
                f"the entry {name!r} has the key {key!r}, which is not text"
            )
        # VariableState has a member for each of these two.
        if key not in ("type", "execution_cell_source"):
            groups[categories.group_of(key)][key] = encode(value)
    return VariableState(
        kind,
        groups[categories.STRUCTURE],
        groups[categories.REPRESENTATION],
        groups[categories.VALUES],
        _place(name, assigned),
    )


def _place(name: str, assigned: Any) -> JsonObject | None:
    """The cell (code cells of the notebook, from 0) and line (from 1, comments counted) of the last assignment."""
    if assigned is None:
        return None
    if not isinstance(assigned, dict) or set(assigned) != {"cellno", "lineno"}:
        raise ValueError(
            f"the place where {name!r} was assigned cannot be read"
        )
    return {
        "cell": encode(assigned["cellno"]),
        "line": encode(assigned["lineno"]),
    }
