"""How lines of a ledger file hang together, so that nothing can go or change without a trace.

Each line ends in the sha256 of the line before it. A line that was written without one, by an older version or cut
off by a crash, is covered by the next: that carries the sha256 of everything before it. Knows bytes, no records.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

PREVIOUS = "previous"
_LINK = re.compile(rb', "previous": "([0-9a-f]{64})"\}\r?\n\Z')


class Break(NamedTuple):
    """A place where a line does not follow what is before it; `first` to `last` are the lines in doubt."""

    first: int
    last: int


def whole_lines(content: bytes) -> bytes:
    """What is before an unfinished last line, which another process may be writing."""
    return content[: content.rfind(b"\n") + 1]


def linked(line: bytes, head: str) -> bytes:
    """The JSON line with the digest that ties it to what is before it."""
    return line.removesuffix(b"}\n") + f', "{PREVIOUS}": "{head}"}}\n'.encode()


def head_of(content: bytes) -> str:
    """The digest that the next line carries: of the last line where that is linked, else of all content."""
    last = content[content.rfind(b"\n", 0, -1) + 1 :]
    return digest(last if is_linked(last) else content)


def digest(data: bytes) -> str:
    """SHA-256 of the bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def is_linked(line: bytes) -> bool:
    """Whether the line carries the digest of the line before it."""
    return _LINK.search(line) is not None


def breaks(content: bytes) -> Iterator[Break]:
    """Where the chain of whole lines is broken; lines are counted from 1."""
    whole, head, free = hashlib.sha256(), digest(b""), 0
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        line += b"\n"
        link = _LINK.search(line)
        if link and link[1].decode() != head:
            yield Break(max(number - max(free, 1), 1), max(number - 1, 1))
        whole.update(line)
        head, free = (
            (digest(line), 0) if link else (whole.hexdigest(), free + 1)
        )
