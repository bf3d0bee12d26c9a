"""Where a traceback points: by the text of the line, and nowhere when that is not certain."""

from __future__ import annotations

import pytest

from crane_core.crash_place import crash_line_by_text

CODE = "lanes = read()\ncounts = np.bincount(lanes)\nprint(counts)"
TRACEBACK = """---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[4], line 7
      5 lanes = read()
      6 # a comment that the published input lacks
----> 7 counts = np.bincount(lanes)
      8 print(counts)

File library.py:12, in bincount(x)
---> 12     raise ValueError(x)

ValueError: no negative numbers"""


def test_the_line_is_found_by_its_text_and_not_by_its_number() -> None:
    assert crash_line_by_text(TRACEBACK, CODE) == 2


def test_the_indentation_may_differ() -> None:
    assert crash_line_by_text(TRACEBACK, CODE.replace("counts = ", "    counts = ")) == 2


@pytest.mark.parametrize(
    ("traceback", "code"),
    [
        (None, CODE),
        ("", CODE),
        ("ValueError: no arrow", CODE),
        (TRACEBACK, ""),
        (TRACEBACK, "print(1)"),
        (TRACEBACK, CODE + "\ncounts = np.bincount(lanes)"),
        ("----> 3 ", "\n\n"),
        ("----> 3", "x"),
        ("----> x counts = 1", "counts = 1"),
    ],
)
def test_no_line_where_it_is_not_certain(traceback: str | None, code: str) -> None:
    assert crash_line_by_text(traceback, code) is None
