"""docs/admin/threats.md and docs/evidence/reliability.md name tests that exist; the table is what its tool writes."""

from __future__ import annotations

import ast
import re
import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tools.reliability import Family, Row, counted, document, families, logged


def test_every_test_that_the_documents_name_exists(root: Path) -> None:
    for name in ("docs/admin/threats.md", "docs/evidence/reliability.md"):
        named = re.findall(
            r"`(tests/[^`]+\.py)`", (root / name).read_text("utf-8")
        )
        assert named
        assert [file for file in named if not (root / file).is_file()] == []


@pytest.mark.parametrize("family", families(), ids=lambda family: family.what)
def test_the_tests_of_a_family_are_there(root: Path, family: Family) -> None:
    module = ast.parse((root / family.file).read_text("utf-8"))
    there = {
        statement.name
        for statement in module.body
        if isinstance(statement, ast.FunctionDef)
    }
    assert set(family.tests) <= there
    assert len(set(family.tests)) == len(family.tests)


def test_the_table_has_the_families_and_500_tries_and_nothing_was_lost(
    root: Path,
) -> None:
    text = (root / "docs" / "evidence" / "reliability.md").read_text("utf-8")
    table = [line for line in text.splitlines() if line.startswith("| ")][1:]
    *rows, others, total = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table
    ]
    found = {row[0]: [int(cell) for cell in row[1:]] for row in rows}
    assert [
        family.what
        for family in families()
        if found.get(family.what, [0])[0] == 0
    ] == []
    meant = [
        f"- **{family.what}**: {family.one}. `{family.file}`"
        for family in families()
    ]
    assert [line for line in meant if line not in text.splitlines()] == []
    assert [int(cell) for cell in total[1:]] == [
        sum(numbers) for numbers in zip(*found.values(), strict=True)
    ]
    assert int(others[1]) >= 500
    assert int(total[3]) == 0


def test_a_family_counts_its_own_tests_and_what_they_say_they_tried() -> None:
    report = ET.fromstring("""<testsuite>
        <testcase name="test_kills"><properties><property name="tried" value="20"/></properties></testcase>
        <testcase name="test_door[a]"/><testcase name="test_door[b]"><failure/></testcase>
        <testcase name="test_door[c]"><skipped/></testcase><testcase name="test_ordinary"/></testsuite>""")
    family = Family(
        "what", "one", "tests/test_threats.py", ["test_kills", "test_door"]
    )
    assert counted(family, list(report)) == Row(
        "what", "one", "`tests/test_threats.py`", 22, 21, 1
    )


def test_a_log_becomes_rows_and_what_was_not_contained_is_shown() -> None:
    [row] = logged(
        "open: median 3 ms\nfork bomb: tried 50, contained 49\n2 cores\n"
    )
    assert (row.what, row.tried, row.contained, row.lost) == (
        "notebook: fork bomb",
        50,
        49,
        1,
    )
    assert "| all | 50 | 49 | 1 |" in document([row])


def test_its_help_runs_no_test(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["reliability", "--help"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("tools.reliability", run_name="__main__")
    assert left.value.code == 0
    assert "REPORTS" in capsys.readouterr().out
