"""Run the tests of attacks and faults and write docs/reliability.md. Usage: tools/reliability.py [ISOLATION-LOG].

A family is a test file; each test in it is one attack or fault. ISOLATION-LOG holds what `python -m
benchmarks.isolation` printed. No number is typed: what was skipped counts as not tried.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "reliability.md"
FAMILIES = {
    "tests/test_bad_input.py": "wrong paths, numbers, names and files on the command line; control sequences",
    "tests/pipeline/test_sheet_text.py": "formulas in CSV",
    "tests/test_ledger_chain.py": "altered, removed and inserted ledger lines",
    "tests/pipeline/test_losses.py": "lost and altered ledger files and sources",
}
IN_A_LOG = re.compile(r"^(?P<name>[^:\n]+): tried (?P<tried>\d+), contained (?P<contained>\d+)$", re.MULTILINE)


class Row(NamedTuple):
    """How often a family was tried, and how often that ended as it should."""

    family: str
    shown_by: str
    tried: int
    contained: int


def tested(file: str, family: str) -> Row:
    """The row of one test file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n0", f"--junitxml={report}", file]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        cases = list(ET.parse(report).iter("testcase"))  # noqa: S314 - pytest's own file
    tried = [case for case in cases if case.find("skipped") is None]
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in tried)
    return Row(family, f"`{file}`", len(tried), len(tried) - failed)


def logged(text: str) -> list[Row]:
    """The rows of what the benchmark of isolation printed."""
    found = IN_A_LOG.finditer(text)
    shown_by = "`python -m benchmarks.isolation --attacks 50`"
    return [Row(f"notebook: {one['name']}", shown_by, int(one["tried"]), int(one["contained"])) for one in found]


def table(rows: list[Row]) -> str:
    """The document."""
    total = Row("all", "", sum(row.tried for row in rows), sum(row.contained for row in rows))
    lines = [
        f"| {r.family} | {r.shown_by} | {r.tried} | {r.contained} | {r.tried - r.contained} |" for r in [*rows, total]
    ]
    head = ["| attack or fault | shown by | tried | contained | not contained |", "|---|---|---:|---:|---:|"]
    about = (
        "Written by `tools/reliability.py`. One test is one try, also the few that check ordinary input; "
        "skipped ones are not counted."
    )
    return "\n".join(["# Reliability", "", about, "", *head, *lines, ""])


def main(logs: list[str]) -> int:
    rows = [tested(file, family) for file, family in FAMILIES.items()]
    for log in logs:
        rows += logged(Path(log).read_text("utf-8"))
    OUT.write_text(table(rows), "utf-8")
    return int(any(row.tried > row.contained for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
