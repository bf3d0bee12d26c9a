"""CSV for spreadsheets: formulas in texts are escaped, numbers stay numbers, and every text can be restored."""

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crane_core.domain import AuditAction, AuditEntry
from crane_core.pipeline.audit import as_csv
from crane_core.pipeline.audit import rows as rows_of_acts
from crane_core.pipeline.sheet_text import csv_of, csv_text, guarded, unguarded

FORMULAS = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    "-",
    "+7.2 pp",
    "--1",
    "-1e",
    "=-1",
)
NUMBERS = ("-1.5", "+8.1", "-3", "1e-5", "-2E+10", "-0.5%", "+.5", "-7.")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_text(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", [*NUMBERS, "gpt-5", "a=b", "", "−1.5"])
def test_numbers_and_words_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text


@given(
    st.lists(
        st.lists(
            st.text(
                alphabet=st.one_of(
                    st.sampled_from("=+-@\t'1.e%"),
                    st.characters(codec="utf-8", exclude_characters="\r\0"),
                )
            ),
            min_size=2,
            max_size=2,
        ),
        max_size=4,
    )
)
def test_what_is_written_comes_back(rows: list[list[str]]) -> None:
    found = cells(csv_text(rows, line_end="\r\n"))
    assert [[unguarded(cell) for cell in row] for row in found] == rows
    assert not [
        cell
        for row in found
        for cell in row
        if cell.startswith(("=", "@", "\t"))
    ]


def test_of_a_table_texts_and_names_of_columns_are_guarded_and_numbers_are_not() -> (
    None
):
    table = pd.DataFrame(
        {
            "=detector": ["@model", "gpt-5"],
            "delta": [-1.5, 0.1],
            "n": [-3, 4],
            "input": pd.Categorical(["-x", "y"]),
            "share": ["-0.5", None],
            "run": pd.array([-1, None], dtype="Int64"),
        }
    )
    assert cells(csv_of(table)) == [
        ["'=detector", "delta", "n", "input", "share", "run"],
        ["'@model", "-1.5", "-3", "'-x", "-0.5", "-1"],
        ["gpt-5", "0.1", "4", "y", "", ""],
    ]
    assert next(iter(table.columns)) == "=detector"


@pytest.mark.parametrize("columns", [["a", "a"], ["a", "b"]])
def test_a_table_is_written_as_pandas_writes_it(columns: list[str]) -> None:
    table = pd.DataFrame([[0.1, "x,y"], [1 / 3, None]], columns=columns)
    assert csv_of(table) == table.to_csv(index=False)


def test_the_audit_log_is_guarded_once() -> None:
    act = AuditEntry(
        "2026-11-25T12:00:00",
        "=HYPERLINK()",
        "'here",
        AuditAction.LOCK,
        "pilot",
        "-x",
    )
    assert [unguarded(cell) for cell in cells(as_csv([act]))[1]] == list(
        rows_of_acts([act])[0]
    )


def test_nothing_else_writes_csv(root: Path) -> None:
    files = [
        *(root / "crane_core").rglob("*.py"),
        *(root / "pages").glob("*.py"),
        root / "app.py",
    ]
    writing = [
        path.name
        for path in files
        if re.search(
            r"csv\.(writer|DictWriter)|\.to_csv\(", path.read_text("utf-8")
        )
    ]
    assert writing == ["sheet_text.py"]
