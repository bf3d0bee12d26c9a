"""Where in a cell a traceback says that the crash is. Two texts in, a line number out."""

from __future__ import annotations

import re

_ARROW = re.compile(r"^-+>\s*\d+\s(?P<code>.*)$", re.MULTILINE)


def crash_line_by_text(traceback: str | None, code: str) -> int | None:
    """The line of `code` (from 1) that the outermost frame of an IPython traceback points at.

    Compared by text, not by number: published cells have had lines edited since the traceback was recorded. None
    where the line is not there, or not there just once.
    """
    found = _ARROW.search(traceback or "")
    if found is None:
        return None
    wanted = found["code"].strip()
    places = [number for number, line in enumerate(code.splitlines(), start=1) if line.strip() == wanted]
    return places[0] if wanted and len(places) == 1 else None
