"""One code cell's source replaced in a notebook file, with every other byte as it was.

Knows where a value lies in a JSON text. Refuses a file that changed since it was read, and notebooks of format 3.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from crane_core.errors import NotebookError
from crane_core.given_path import read_given
from crane_core.notebooks import read_code_cells
from crane_core.pipeline.own_notebooks.check import CheckedNotebook
from crane_core.runtime.plan import MOST_BYTES

_BLANKS = " \t\r\n"
_AGAIN = "Check it again, then write the fix."
_FORMAT = "Put the fix in yourself: only .ipynb files of format 4 are written."


class JsonSpan(NamedTuple):
    """A value's first character in a text, and the one after the last."""

    start: int
    end: int


def digest(path: Path) -> str:
    """By which a change of the file is noticed. Raises OSError or ValueError as `read_given`."""
    return hashlib.sha256(read_given(path, MOST_BYTES)).hexdigest()


def write_first_fix(checked: CheckedNotebook) -> str:
    """Write the first fix that edits the target to the notebook's file; what was done, in a sentence.

    Raises NotebookError, also where the file cannot be written.
    """
    target = checked.plan.target
    shown = checked.repair.shown if checked.repair is not None else ()
    edits = [tried.fix for tried in shown if tried.fix.source != target.source]
    if not edits:
        return f"{checked.path.name} was not changed: no fix edits the cell."
    [first, *_] = edits
    # A fix that also needs other cells is an edit and an instruction.
    after = "; ".join(f"run {cell.called} first" for cell in first.first)
    try:
        write_source(
            checked.path,
            target.index,
            target.source,
            first.source,
            checked.file_digest,
        )
    except OSError as error:
        raise NotebookError(
            f"{checked.path.name} cannot be written: {error.strerror}.",
            remedy="Check the rights of the file and its folder.",
        ) from error
    done = f"The fix was written to code cell {target.index} of {checked.path.name}"
    return f"{done}; {after}." if after else f"{done}."


def write_source(
    path: Path, index: int, before: str, after: str, known: str
) -> None:
    """Replace the source of code cell `index` (from 0), at once or not at all; `known` is the digest of the file read.

    Raises NotebookError, and OSError if the file cannot be written.
    """
    data = read_given(path, MOST_BYTES)
    if hashlib.sha256(data).hexdigest() != known:
        raise NotebookError(
            f"{path.name} has changed since it was read.", remedy=_AGAIN
        )
    _put(path, with_source(data, index, before, after))


def with_source(data: bytes, index: int, before: str, after: str) -> bytes:
    """The notebook's bytes with the source of code cell `index` replaced. Raises NotebookError."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        text = data[len(mark) :].decode("utf-8")
        place = _source_of(text, index)
    # `check` reads scripts and texts with cells too: those are not JSON.
    except (ValueError, IndexError, RecursionError):
        text, place = "", None
    if place is None or _value(text, place) != before:
        raise NotebookError(
            "The cell cannot be found in the file as it was read.",
            remedy=_FORMAT,
        )
    written = _written(text, place, after)
    changed = text[: place.start] + written + text[place.end :]
    new = mark + changed.encode("utf-8")
    # Read again before it is kept: a wrong byte here would cost its user the notebook.
    if read_code_cells(new)[index].source != after:
        raise NotebookError("The fix cannot be written.", remedy=_FORMAT)
    return new


def _source_of(text: str, index: int) -> JsonSpan | None:
    """Where the source of a code cell lies; None if the file has no such cell."""
    cells = dict(_members(text, _skipped(text, 0))).get("cells")
    if cells is None or text[cells.start] != "[":
        return None
    code = [
        members
        for cell in _items(text, cells.start)
        if text[cell.start] == "{"
        and _text_at(
            text, (members := dict(_members(text, cell.start))).get("cell_type")
        )
        == "code"
    ]
    return code[index].get("source") if index < len(code) else None


def _text_at(text: str, place: JsonSpan | None) -> object:
    return None if place is None else json.loads(text[place.start : place.end])


def _value(text: str, place: JsonSpan) -> object:
    value = _text_at(text, place)
    return "".join(value) if isinstance(value, list) else value


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _end(text: str, at: int) -> int:
    """The end of the JSON value that begins here."""
    end: int = json.JSONDecoder().raw_decode(text, at)[1]
    return end


def _members(text: str, at: int) -> Iterator[tuple[str, JsonSpan]]:
    """Names and values of the object that begins here."""
    at = _skipped(text, at + 1)
    while text[at] != "}":
        name, end = json.JSONDecoder().raw_decode(text, at)
        # Behind the colon.
        start = _skipped(text, _skipped(text, end) + 1)
        stop = _end(text, start)
        yield name, JsonSpan(start, stop)
        at = _skipped(text, stop)
        at = _skipped(text, at + 1) if text[at] == "," else at


def _items(text: str, at: int) -> Iterator[JsonSpan]:
    """Values of the list that begins here."""
    at = _skipped(text, at + 1)
    while text[at] != "]":
        stop = _end(text, at)
        yield JsonSpan(at, stop)
        at = _skipped(text, stop)
        at = _skipped(text, at + 1) if text[at] == "," else at


def _written(text: str, place: JsonSpan, source: str) -> str:
    """The source in the form that the file has: one string, or a list of lines between the same blanks."""
    ascii_only = text.isascii()

    def quoted(part: str) -> str:
        return json.dumps(part, ensure_ascii=ascii_only)

    items = list(_items(text, place.start)) if text[place.start] == "[" else []
    if not items:
        return quoted(source)
    old = [text[item.start : item.end] for item in items]
    lines = source.splitlines(keepends=True)
    new = _lines(old, lines, [quoted(line) for line in lines])
    first = text[place.start : items[0].start]
    between = (
        text[items[0].end : items[1].start]
        if len(items) > 1
        else f",{first[1:]}"
    )
    return f"{first}{between.join(new)}{text[items[-1].end : place.end]}"


def _lines(old: list[str], lines: list[str], quoted: list[str]) -> list[str]:
    """The new lines; those that stay are written as they were, whatever escapes that took."""
    before = [json.loads(line) for line in old]
    kept = list(quoted)
    blocks = SequenceMatcher(None, before, lines, autojunk=False)
    for ours, theirs, size in blocks.get_matching_blocks():
        kept[theirs : theirs + size] = old[ours : ours + size]
    return kept


def _put(path: Path, data: bytes) -> None:
    """Take the place of the file in one step, with its rights; a link stays a link."""
    real = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    part = Path(name)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - it is a handle
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(real.stat().st_mode & 0o7777)
        part.replace(real)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
