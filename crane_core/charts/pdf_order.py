"""A PDF of vl-convert with its objects in one order: the converter numbers fonts in another one each time.

Knows as much of the format as that takes: a classical table of offsets, one trailer, no object in a stream.
"""

import re
from typing import NamedTuple

_REFERENCE = re.compile(rb"\b([0-9]+) 0 R\b")
_REFERENCES = re.compile(
    rb"(?:^ +/[A-Za-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE
)
"""Lines of a dictionary that name objects."""
_OFFSET = re.compile(rb"([0-9]{10}) [0-9]{5} n")
_STREAM = b"stream\n"


class _Object(NamedTuple):
    """An object of the file: its text after `N 0 obj`, and the bytes of its stream, which name no objects."""

    text: bytes
    stream: bytes

    def references(self) -> list[int]:
        """The numbers of the objects that it names, in the order of its text."""
        return [int(one) for one in _REFERENCE.findall(self.text)]


def in_order(pdf: bytes) -> bytes:
    """The same PDF, its objects numbered and written in the order in which a reader meets them from the root on."""
    start, end = _table(pdf)
    objects = _objects(pdf, start)
    trailer = pdf[end : pdf.index(b"startxref", end)]
    numbers = _met(objects, list(map(int, _REFERENCE.findall(trailer))))

    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(
            lambda found: b"%d 0 R" % numbers[int(found[1])], text
        )

    first = min(_offsets(pdf, start))
    written, offsets = [pdf[:first]], []
    place = first
    for old, new in numbers.items():
        one = objects[old]
        whole = b"%d 0 obj" % new + renumbered(one.text) + one.stream
        written.append(whole)
        offsets.append(place)
        place += len(whole)
    table = b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    size = len(offsets) + 1
    trailer = re.sub(rb"/Size [0-9]+", b"/Size %d" % size, renumbered(trailer))
    return b"".join(
        [
            *written,
            b"xref\n0 %d\n0000000000 65535 f\r\n" % size,
            table,
            trailer,
            b"startxref\n%d\n%%%%EOF" % place,
        ]
    )


def _table(pdf: bytes) -> tuple[int, int]:
    """Where the table of offsets begins, and the trailer."""
    start = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    return start, pdf.index(b"trailer", start)


def _offsets(pdf: bytes, start: int) -> list[int]:
    return sorted(int(one) for one in _OFFSET.findall(pdf, start))


def _objects(pdf: bytes, start: int) -> dict[int, _Object]:
    """Every object by its number; each ends where the next one begins."""
    offsets = _offsets(pdf, start)
    found = {}
    for begin, end in zip(offsets, [*offsets[1:], start], strict=True):
        number, mark, body = pdf[begin:end].partition(b" 0 obj")
        if not mark or not number.isdigit():
            raise ValueError(f"no object at byte {begin} of the PDF")
        text, stream, data = body.partition(_STREAM)
        found[int(number)] = _Object(
            _REFERENCES.sub(_sorted, text), stream + data
        )
    return found


def _sorted(lines: re.Match[bytes]) -> bytes:
    return b"".join(sorted(lines[0].splitlines(keepends=True)))


def _met(objects: dict[int, _Object], roots: list[int]) -> dict[int, int]:
    """New numbers by old ones, from 1 on, in the order in which the objects are met."""
    numbers: dict[int, int] = {}
    waiting = roots[::-1]
    while waiting:
        number = waiting.pop()
        if number not in numbers:
            numbers[number] = len(numbers) + 1
            waiting += objects[number].references()[::-1]
    return numbers
