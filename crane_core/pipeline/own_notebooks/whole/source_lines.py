"""In which lines of an .ipynb file the source of each code cell is: where other tools can point to.

Knows how Jupyter lays the file out, one member of a cell on a line. Of a file with another layout it says nothing.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MEMBER = re.compile(
    r'(?P<indent>[ \t]+)"(?P<name>cell_type|source)": ?(?P<value>.*)'
)


class _SourcePlace(NamedTuple):
    """The line in which a source begins, and whether it is a list with a string for each of its lines."""

    line: int
    is_list: bool


def cell_lines(data: bytes, sources: Sequence[str]) -> tuple[range, ...]:
    """The lines, from 1, of the source of each code cell; () where the file has another layout.

    `sources` are those of the code cells, by which each place that was found is checked. A source that is written as
    one string has one line of the file.
    """
    lines = data.decode("utf-8", "replace").split("\n")
    found = list(_code_sources(lines))
    if len(found) != len(sources):
        return ()
    is_right = all(
        _holds(lines[place.line - 1], source)
        for place, source in zip(found, sources, strict=True)
    )
    if not is_right:
        return ()
    return tuple(
        range(place.line, place.line + 1 + place.is_list * source.count("\n"))
        for place, source in zip(found, sources, strict=True)
    )


def _code_sources(lines: Sequence[str]) -> Iterator[_SourcePlace]:
    """Where the source of each cell begins whose type is code, in whichever order the two members are written."""
    indent, kind, source = None, None, None
    for number, line in enumerate(lines, 1):
        member = _MEMBER.match(line)
        if member is None:
            continue
        # Outputs hold JSON of others, deeper in the file, which may have these members too.
        indent = indent or member["indent"]
        if member["indent"] != indent:
            continue
        if member["name"] == "cell_type":
            kind = member["value"].strip(' ",')
        else:
            is_list = member["value"].rstrip() == "["
            source = _SourcePlace(number + is_list, is_list)
        if kind is not None and source is not None:
            if kind == "code":
                yield source
            kind, source = None, None


def _holds(line: str, source: str) -> bool:
    """Whether this line of the file has the first line of the source, or all of it; an empty source is anywhere."""
    first = source.split("\n", 1)[0]
    texts = (json.dumps(first), json.dumps(first, ensure_ascii=False))
    return not source or any(text[:-1] in line for text in texts)
