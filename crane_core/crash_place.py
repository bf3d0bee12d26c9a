"""Where in a cell a crash is raised, as its traceback or its ground truth names it. Texts in, a line out."""

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

ALIKE = 0.75
"""Lines that share at least this part of their text (difflib ratio) are one line before and after an edit."""
AROUND = 8
"""Lines before and after a line in which the lines around the traceback's arrow are looked for."""
MOST_LINES = 2_000
MOST_CHARACTERS = 400
"""Bounds of what is compared letter by letter."""

_NUMBERED = re.compile(
    r"^(?P<arrow>-+>)?\s*(?P<number>\d+)(?:\s(?P<code>.*))?$"
)
_LISTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")
_SYNTAX = re.compile(
    r"^ *(?:Cell |Input |File )?(?:In *\[\d+\]|\"?<ipython-input[^>\n]*>\"?|\"?\S*ipykernel_\S*\"?)"
    r", line (?P<number>\d+)"
    r"(?:, in .*)?\n(?P<code>(?! *File|-+>).*)\n *(?:[\^~]+|\w*(?:Syntax|Indentation|Tab)Error)",
    re.M,
)
"""A cell that Python could not read: its line has no arrow, above a caret."""
_NOTEBOOK = re.compile(r"Cell In|Input In|ipykernel|ipython-input")
_COMMENT = re.compile(
    r"""^((?:[^'"#]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")*)#.*$"""
)
_CODE_IN_PROSE = re.compile(
    r"`([^`]{4,200})`|\"((?:[^\"\[\]]|\[[^\]]*\]){4,200})\"|([\w.]+\[[^\]]{1,80}\])|([\w.]*\w\([^()]{0,120}\)?)"
)


class CrashPlace(NamedTuple):
    """A line of the code (from 1), and its number in the traceback; None if the ground truth names it."""

    line: int
    recorded: int | None = None


class _Frame(NamedTuple):
    number: int
    code: str
    around: frozenset[str]


def crash_place(
    traceback: str | None, diagnosis: str | None, code: str
) -> CrashPlace | None:
    """The line of `code` that the notebook's outermost frame of an IPython traceback points at.

    Compared by text, not by number: published cells have had comments removed and lines edited since the traceback was
    recorded. A line that was edited is the most similar one; else it is the only one that holds what the diagnosis
    quotes. None if nothing names one line.
    """
    lines = dict(
        enumerate(
            (_bare(line) for line in code.splitlines()[:MOST_LINES]), start=1
        )
    )
    lines = {number: text for number, text in lines.items() if text}
    frame = _notebook_frame(traceback_text(traceback or ""))
    if frame is not None and frame.code:
        same = _most_alike_around(
            [n for n, text in lines.items() if text == frame.code], lines, frame
        )
        line = same or _edited(lines, frame)
        if line is not None:
            return CrashPlace(line, frame.number)
    quoted = _quoted(diagnosis or "", lines)
    return None if quoted is None else CrashPlace(quoted)


def traceback_text(traceback: str) -> str:
    """The traceback as it was printed; some are recorded as a printed Python list of lines, which may be cut off."""
    if not traceback.startswith("["):
        return traceback
    try:
        lines = ast.literal_eval(traceback)
    except (ValueError, SyntaxError):
        lines = list(_whole_lines(traceback)) or None
    return "\n".join(map(str, lines)) if isinstance(lines, list) else traceback


def _whole_lines(cut: str) -> Iterator[str]:
    """Of a printed list that was cut off, the lines up to there."""
    for found in _LISTED.finditer(cut):
        try:
            yield str(ast.literal_eval(found[0]))
        except (ValueError, SyntaxError):
            return


def _notebook_frame(traceback: str) -> _Frame | None:
    """The first frame that is a cell of the notebook; the first of all where none says so."""
    if unread := _SYNTAX.search(traceback):
        return _Frame(int(unread["number"]), _bare(unread["code"]), frozenset())
    frames = list(_frames(traceback))
    return next(
        (frame for header, frame in frames if _NOTEBOOK.search(header)),
        frames[0][1] if frames else None,
    )


def _frames(traceback: str) -> Iterator[tuple[str, _Frame]]:
    header, block = "", list[re.Match[str]]()
    for line in [*traceback.splitlines(), ""]:
        found = _NUMBERED.match(line)
        if found:
            block.append(found)
            continue
        arrow = next((one for one in block if one["arrow"]), None)
        if arrow:
            around = frozenset(_bare(one["code"] or "") for one in block) - {""}
            yield (
                header,
                _Frame(
                    int(arrow["number"]), _bare(arrow["code"] or ""), around
                ),
            )
        block = []
        header = line or header


def _bare(line: str) -> str:
    """The line without its comment, and without blanks at its ends."""
    found = _COMMENT.match(line)
    return (found[1] if found else line).strip()


def _most_alike_around(
    places: list[int], lines: dict[int, str], frame: _Frame
) -> int | None:
    """The one of several equal lines with the most of what the traceback prints around its arrow."""
    likeness = {
        place: len(
            {lines.get(n) for n in range(place - AROUND, place + AROUND + 1)}
            & frame.around
        )
        for place in places
    }
    best = [
        place for place in places if likeness[place] == max(likeness.values())
    ]
    return best[0] if len(best) == 1 else None


def _edited(lines: dict[int, str], frame: _Frame) -> int | None:
    if frame.code in lines.values():
        return None
    wanted = frame.code[:MOST_CHARACTERS]
    ratios = {
        n: SequenceMatcher(None, text[:MOST_CHARACTERS], wanted).ratio()
        for n, text in lines.items()
    }
    best = [n for n, ratio in ratios.items() if ratio == max(ratios.values())]
    return best[0] if len(best) == 1 and ratios[best[0]] >= ALIKE else None


def _quoted(diagnosis: str, lines: dict[int, str]) -> int | None:
    """The only line that holds a piece of code which the diagnosis names; the longest piece that is in one line."""
    found = {
        group
        for match in _CODE_IN_PROSE.finditer(diagnosis[:4_000])
        for group in match.groups()
        if group
    }
    for piece in sorted(found, key=lambda text: (-len(text), text)):
        wanted = _spaceless(piece).removesuffix("()") + (
            "(" if piece.endswith("()") else ""
        )
        places = [
            number
            for number, text in lines.items()
            if wanted in _spaceless(text)
        ]
        if len(places) == 1:
            return places[0]
    return None


def _spaceless(text: str) -> str:
    return re.sub(r"\s+", "", text)
