"""Run the tests of attacks and faults and write docs/evidence/reliability.md.

`reliability.toml` names the tests of each family and what one try is. REPORTS is a folder for pytest's reports; a file
of tests whose report is there already is not run again. A LOG holds what `python -m benchmarks.isolation` printed. No
number is typed: what was skipped was not tried.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "evidence" / "reliability.md"
MISTAKES = "`tests/test_bad_input.py`"
"""Shows what people mistype rather than what attackers do; the total is given without it too."""
TRIED = "tried"
"""What a test records (pytest's `record_property`) that tries more than once."""
ATTACKS = re.compile(
    r"^(?P<name>[^:\n]+): tried (?P<tried>\d+), contained (?P<contained>\d+)$",
    re.MULTILINE,
)


class Family(NamedTuple):
    """Tests of one file that try one kind of attack or fault; `one` says what one try is."""

    what: str
    one: str
    file: str
    tests: list[str]


class Row(NamedTuple):
    """How often a family was tried, how often that ended as it should, and what fired or was lost."""

    what: str
    one: str
    shown_by: str
    tried: int
    contained: int
    lost: int


def families() -> list[Family]:
    document = tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text("utf-8")
    )
    return [Family(**entry) for entry in document["family"]]


def cases_of(file: str, reports: Path) -> list[ET.Element]:
    """What pytest reports of a file's tests. Raises FileNotFoundError if it reports nothing."""
    report = reports / f"{file.replace('/', '.')}.xml"
    if not report.exists():
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-n0",
            f"--junitxml={report}",
            file,
        ]
        subprocess.run(
            command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL
        )
    return list(ET.parse(report).iter("testcase"))  # noqa: S314 - pytest's own file


def counted(family: Family, cases: list[ET.Element]) -> Row:
    """The row of one family; of a failed test no try was contained."""
    own = [
        case
        for case in cases
        if case.get("name", "").partition("[")[0] in family.tests
    ]
    tries = [
        (_tries(case), _passed(case))
        for case in own
        if case.find("skipped") is None
    ]
    tried = sum(n for n, _ in tries)
    contained = sum(n for n, passed in tries if passed)
    return Row(
        family.what,
        family.one,
        f"`{family.file}`",
        tried,
        contained,
        tried - contained,
    )


def _tries(case: ET.Element) -> int:
    told = case.find(f"properties/property[@name='{TRIED}']")
    return 1 if told is None else int(told.get("value", "1"))


def _passed(case: ET.Element) -> bool:
    return case.find("failure") is None and case.find("error") is None


def logged(text: str) -> Iterator[Row]:
    """The rows of what a benchmark printed."""
    for one in ATTACKS.finditer(text):
        tried, contained = int(one["tried"]), int(one["contained"])
        shown_by = f"`python -m benchmarks.isolation --attacks {tried}`"
        yield Row(
            f"notebook: {one['name']}",
            "one sealed capture",
            shown_by,
            tried,
            contained,
            tried - contained,
        )


def document(rows: list[Row]) -> str:
    """The table, and below it what a try is and what shows it."""
    total = _sum("all", rows)
    others = _sum(
        "all but the command line",
        [row for row in rows if row.shown_by != MISTAKES],
    )
    head = [
        "| attack or fault | tried | contained | fired or lost |",
        "|---|---:|---:|---:|",
    ]
    table = [
        f"| {row.what} | {row.tried} | {row.contained} | {row.lost} |"
        for row in [*rows, others, total]
    ]
    meant = [f"- **{row.what}**: {row.one}. {row.shown_by}" for row in rows]
    about = (
        "Written by `tools/reliability.py` from the reports of the runs. Only tests of an attack or a fault count, by "
        "name (`tools/reliability.toml`); what was skipped was not tried. `python -m tools.reliability REPORTS` counts "
        "again; `python -m pytest FILE` runs the tests of one row."
    )
    return "\n".join(
        [
            "# Reliability",
            "",
            about,
            "",
            *head,
            *table,
            "",
            "## What one try is",
            "",
            *meant,
            "",
        ]
    )


def _sum(what: str, rows: list[Row]) -> Row:
    return Row(
        what, "", "", *(sum(row[place] for row in rows) for place in (3, 4, 5))
    )


def main(folder: str, *logs: str) -> int:
    wanted = families()
    reports = Path(folder).resolve()
    reports.mkdir(parents=True, exist_ok=True)
    cases = {
        file: cases_of(file, reports)
        for file in dict.fromkeys(family.file for family in wanted)
    }
    rows = [counted(family, cases[family.file]) for family in wanted]
    for log in logs:
        rows += logged(Path(log).read_text("utf-8"))
    OUT.write_text(document(rows), "utf-8")
    return int(any(row.lost or not row.tried for row in rows))


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        prog="python -m tools.reliability",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "reports", metavar="REPORTS", help="folder of the reports"
    )
    options.add_argument(
        "logs", nargs="*", metavar="LOG", help="what a benchmark printed"
    )
    chosen = options.parse_args()
    sys.exit(main(chosen.reports, *chosen.logs))
