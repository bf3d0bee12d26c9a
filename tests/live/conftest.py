"""Prints the table of the corpus at the end of a run of tests, where nobody would see it else."""

from __future__ import annotations

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tables = [
        told
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        for name, told in report.user_properties
        if name == "corpus"
    ]
    for told in tables:
        terminalreporter.section("cells asked about and run in open kernels")
        terminalreporter.write_line(told)
