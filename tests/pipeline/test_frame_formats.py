"""Tables for a paper: in a column where they fit, else over the page, in several parts where a page is too short."""

from __future__ import annotations

import pytest

from crane_core.pipeline.frame_formats import PaperTable, table_latex


def table(n_columns: int, n_rows: int, cell: str = "63.1%") -> PaperTable:
    return PaperTable(
        head=["Accuracy by case"] * n_columns,
        rows=[[cell] * n_columns] * n_rows,
        columns="r" * n_columns,
        title="Accuracy",
        caption="Accuracy. n: 222.",
        label="accuracy by %case",
    )


@pytest.mark.parametrize(
    ("n_columns", "environment", "size", "n_blocks"),
    [
        (3, "table", "small", 1),
        (8, "table*", "small", 1),
        (11, "table*", "footnotesize", 1),
        (14, "table*", "scriptsize", 1),
        (25, "table*", "scriptsize", 2),
    ],
)
def test_a_table_takes_the_place_that_it_needs(
    n_columns: int, environment: str, size: str, n_blocks: int
) -> None:
    written = table_latex(table(n_columns, 2))
    assert rf"\begin{{{environment}}}" in written
    assert rf"\{size}" in written
    assert written.count(r"\toprule") == n_blocks


def test_each_block_of_columns_names_its_rows() -> None:
    wide = table(25, 30)
    wide = wide._replace(
        columns="ll" + "r" * 23,
        rows=[["GPT-5", "+RT", *row[2:]] for row in wide.rows],
    )
    written = table_latex(wide)
    lines = [line for line in written.splitlines() if line.endswith(r"\\")]
    rows = [line for line in lines if "63.1" in line]
    assert all(row.startswith("GPT-5 & +RT & ") for row in rows)
    n_blocks = len(rows) // 30
    assert n_blocks > 1 and len(rows) % 30 == 0
    # A float holds as many lines as a page.
    assert written.count(r"\begin{table*}") == -(-30 // (40 // n_blocks))
    assert written.count("63.1") == 23 * 30


def test_a_heading_is_no_wider_than_its_column() -> None:
    stacked = r"\begin{tabular}[b]{@{}r@{}}Accuracy\\by case\end{tabular}"
    assert stacked in table_latex(table(3, 2))
    assert stacked not in table_latex(table(1, 1, cell="0.1 to 100 percent"))


def test_a_table_longer_than_a_page_has_parts_with_one_number() -> None:
    written = table_latex(table(3, 85))
    assert written.count(r"\begin{table}") == 3
    assert written.count(r"63.1\% & 63.1\% & 63.1\% \\") == 85
    assert written.count(r"\addtocounter{table}{-1}") == 2
    assert written.count(r"\label{tab:accuracy-by--case}") == 1
    assert r"\caption[{Accuracy}]{Accuracy. n: 222.}" in written
    assert r"\caption[]{Accuracy (continued)}" in written


def test_letters_that_latex_prints_otherwise_are_named() -> None:
    written = table_latex(table(1, 1, cell="p < 0.001 | χ² ≥ 1–2"))
    assert (
        r"p \textless{} 0.001 \textbar{} $\chi$$^2$ $\geq$ 1--2 \\" in written
    )
