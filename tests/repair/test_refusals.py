"""What a fix must not be, and that what changes only the crash is none of it."""

from __future__ import annotations

import pytest

from crane_core.repair.fix import Fix
from crane_core.repair.refusals import refusal

BEFORE = """%matplotlib inline
rows = table[table.a > 0]
share = rows['a'] / total
plot(share)"""

HIDES = "it hides the exception"
SKIPS = "the line that crashed may not run"
DROPS = "it drops rows"
REMOVES = "it removes statements"

REFUSED = {
    "try": (
        "share = rows['a'] / total",
        "try:\n    share = rows['a'] / total\nexcept Exception:\n    share = 0",
        HIDES,
    ),
    "suppress": (
        "share = rows['a'] / total",
        "share = 0\nwith suppress(KeyError):\n    share = rows['a'] / total",
        HIDES,
    ),
    "if": (
        "share = rows['a'] / total",
        "share = 0\nif 'a' in rows:\n    share = rows['a'] / total",
        SKIPS,
    ),
    "one line": (
        "rows['a'] / total",
        "rows['a'] / total if total else 0",
        SKIPS,
    ),
    "and": ("plot(share)", "total and plot(share)", SKIPS),
    "empty loop": ("plot(share)", "for _ in []:\n    plot(share)", SKIPS),
    "never called": ("plot(share)", "def later():\n    plot(share)", SKIPS),
    "leaves": ("share =", "exit()\nshare =", SKIPS),
    "rows": ("table[table.a > 0]", "table[table.a > 0].dropna()", DROPS),
    "first rows": ("table[table.a > 0]", "table[table.a > 0][:5]", DROPS),
    "chosen rows": ("rows['a'] /", "rows['a'][rows['a'] < 9] /", DROPS),
    "coerced": (
        "rows['a'] /",
        "to_numeric(rows['a'], errors='coerce') /",
        DROPS,
    ),
    "removed": ("\nplot(share)", "", REMOVES),
    "passed over": ("plot(share)", "pass", REMOVES),
    "other code": (
        "share = rows['a'] / total",
        "share = zeros(3)",
        "it replaces the code that crashed",
    ),
    "a name less": (
        "share = rows['a'] / total",
        "other = rows['a'] / total",
        "it no longer assigns share",
    ),
    "a magic less": (
        "%matplotlib inline",
        "",
        "it changes a magic or shell line",
    ),
    "a shell line": (
        "plot(share)",
        "!pip install plot\nplot(share)",
        "it changes a magic or shell line",
    ),
    "no Python": (
        "plot(share)",
        "plot(share",
        "the fixed cell cannot be parsed",
    ),
    "nothing": (BEFORE, "# done", "it empties the cell"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    old, new, why = REFUSED[what]
    after = BEFORE.replace(old, new)
    assert after != BEFORE
    assert refusal(BEFORE, Fix(after, "")) == why


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows['a']", "rows['a '] "),
        ("plot(share)", "plot(share.to_numpy())"),
        ("share = rows", "import numpy as np\nshare = rows"),
        ("/ total", "/ total[0]"),
        ("rows['a']", "rows.reset_index(drop=True)['a']"),
    ],
)
def test_what_may_be_tried(old: str, new: str) -> None:
    assert refusal(BEFORE, Fix(BEFORE.replace(old, new), "")) == ""


def test_of_a_cell_that_could_not_be_parsed_every_line_stays() -> None:
    before = "print 'a'\nplot(b)"
    assert refusal(before, Fix("print('a')\nplot(b)", "")) == ""
    assert refusal(before, Fix("print('a')", "")) == "it removes or adds lines"
