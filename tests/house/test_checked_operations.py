"""The page on the live notebook tells what the rules check, written from the rules."""

from __future__ import annotations

import pytest

from tools import checked_operations
from tools.checked_operations import BEGIN, END, PAGE, page_with_tables, tables


def test_the_page_is_current() -> None:
    text = PAGE.read_text("utf-8")
    assert text == page_with_tables(text), (
        "run python -m tools.checked_operations"
    )


def test_a_rule_is_told_with_its_operations_and_exceptions() -> None:
    rows = {
        row.split(" | ")[0].removeprefix("| "): row
        for row in tables().splitlines()
        if row.startswith("| ")
    }
    indices = rows["numpy: indices"]
    assert "`x[...]`: `numpy.ndarray`" in indices and "IndexError" in indices
    assert "NameError" in rows["names"] and "`names`" in rows["names"]
    assert "calls: `pandas.DataFrame`" in rows["pandas: tables"]
    assert int(rows["numpy"].split(" | ")[1]) > 100
    n_families = sum(
        " | " in row and not row.startswith("| library")
        for row in tables().partition("\n\n")[0].splitlines()
    )
    assert n_families == len(list(checked_operations._families()))


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks its marks"):
        page_with_tables(f"# A page\n{BEGIN}")
    assert (
        page_with_tables(f"a{BEGIN}old{END}b")
        == f"a{BEGIN}\n\n{tables()}\n\n{END}b"
    )
