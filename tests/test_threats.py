"""THREATS.md and docs/reliability.md name tests that exist, and the table is what its tool writes."""

from __future__ import annotations

import re
from pathlib import Path

from tools.reliability import FAMILIES, Row, logged, table


def test_every_test_that_the_documents_name_exists(root: Path) -> None:
    for name in ("THREATS.md", "docs/reliability.md"):
        named = re.findall(r"`(tests/[^`]+\.py)`", (root / name).read_text("utf-8"))
        assert named
        assert [file for file in named if not (root / file).is_file()] == []


def test_the_table_has_the_families_of_the_tests_and_500_tries(root: Path) -> None:
    text = (root / "docs" / "reliability.md").read_text("utf-8")
    assert [file for file in FAMILIES if f"`{file}`" not in text] == []
    *rows, total = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[6:] if line]
    assert [int(cell) for cell in total[2:]] == [sum(int(row[place]) for row in rows) for place in (2, 3, 4)]
    assert int(total[2]) >= 500


def test_a_log_becomes_rows_and_what_was_not_contained_is_shown() -> None:
    [row] = logged("open: median 3 ms\nfork bomb: tried 50, contained 49\n2 cores\n")
    assert row == Row("notebook: fork bomb", "`python -m benchmarks.isolation --attacks 50`", 50, 49)
    assert table([row]).splitlines()[-1] == "| all |  | 50 | 49 | 1 |"
