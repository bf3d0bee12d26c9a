"""A date as people state it: a day, or a month of which the day is not known.

Knows ISO 8601, "2024-09-30" and "2024-09". Refuses to guess a day: a month is all of its days.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import NamedTuple

_FORM = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?", re.ASCII)
FORM = "YYYY-MM-DD or YYYY-MM"


class StatedDate(NamedTuple):
    """The first and the last day that are meant, and how they were written."""

    first: date
    last: date
    text: str

    def is_after(self, other: StatedDate) -> bool:
        """Whether every day that is meant comes after every day of the other."""
        return self.first > other.last


def stated_date(text: str) -> StatedDate:
    """Read a day or a month. Raises ValueError if it is neither, or does not exist."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a date: {FORM}")
    year, month = int(found[1]), int(found[2])
    try:
        if found[3] is None:
            last = date(year, month, monthrange(year, month)[1])
            return StatedDate(last.replace(day=1), last, found[0])
        day = date(year, month, int(found[3]))
    except ValueError as error:
        raise ValueError(f"{found[0]!r} is not a date: {error}") from error
    return StatedDate(day, day, found[0])
