"""`sql`: one question to the database in SQL, and what it holds."""

import argparse

import pandas as pd

from crane_core import arguments
from crane_core.arguments import add, flag, option
from crane_core.errors import CraneError
from crane_core.pipeline.loading.load import prepare_or_read
from crane_core.pipeline.places import DataFolder
from crane_core.pipeline.rows import as_rows
from crane_core.pipeline.sheet_text import csv_of
from crane_core.storage.ask import TIMEOUT_S, Relation, answer, schema
from crane_core.storage.store import IN_MEMORY, open_store
from crane_core.terminal import give, give_exactly, in_columns, one_line, tell

NAME = "sql"
HELP = "ask the database one question in SQL, or list its views, tables and columns; nothing can be changed"
ONLY_READS = True
EXAMPLE = 'python -m crane_core sql "FROM pairs LIMIT 5"'
SHOWN = 100
"""Rows that are printed for people; CSV and JSON hold all."""
LETTERS = 60
"""Of a cell."""


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Declare the question, its time limit in seconds, and the output form."""
    add(
        verb,
        option(
            "question SQL",
            "a SELECT, DESCRIBE, SHOW or SUMMARIZE; default: list what there is",
            nargs="?",
        ),
        option(
            "--timeout-s S",
            f"stop a question that takes longer (default {TIMEOUT_S:g})",
            arguments.seconds,
            default=TIMEOUT_S,
        ),
    )
    add(
        verb.add_mutually_exclusive_group(),
        flag("--csv", "print all rows as CSV to stdout"),
        flag("--json", "print all rows as JSON to stdout, one object per row"),
        flag(
            "--schema", "print views, tables and columns as Markdown to stdout"
        ),
    )


def run(chosen: argparse.Namespace, folder: DataFolder) -> int:
    """Print the rows of one question, or without a question the views and tables there are; returns 0.

    Raises CraneError if the question is not a reading one, fails, or takes longer than its limit.
    """
    if chosen.question is None:
        if chosen.csv or chosen.json:
            raise CraneError(
                "There is no question.",
                remedy="Put one in quotes behind `sql`.",
            )
        give(schema_page() if chosen.schema else _listed(_schema()))
        return 0
    if chosen.schema:
        raise CraneError(
            "--schema takes no question.", remedy="Leave one of the two out."
        )
    store = prepare_or_read(folder, tell)
    try:
        rows = answer(store, chosen.question, chosen.timeout_s)
    finally:
        store.close()
    if chosen.csv:
        give_exactly(csv_of(rows))
    else:
        give(
            rows.to_json(orient="records", date_format="iso", indent=1)
            if chosen.json
            else _in_words(rows)
        )
    return 0


def _schema() -> list[Relation]:
    """What schema.sql makes: the same for every database of this version."""
    # A database in memory, so that the schema can be listed while the app holds the file.
    store = open_store(IN_MEMORY, with_comments=True)
    try:
        return schema(store)
    finally:
        store.close()


def _listed(relations: list[Relation]) -> str:
    width = max(len(relation.name) for relation in relations)
    groups = [
        ("views", [r for r in relations if r.is_view]),
        ("tables", [r for r in relations if not r.is_view]),
    ]
    lines = [
        line
        for title, those in groups
        for line in (title, *(f"  {r.name:<{width}}  {r.words}" for r in those))
    ]
    return "\n".join(
        [
            *lines,
            "`sql 'DESCRIBE verdicts'` lists the columns of one, `sql --schema` all of them.",
        ]
    )


def schema_page() -> str:
    """Every view and table with its columns, as Markdown."""
    lines = [
        "# The database",
        "",
        "`crane.duckdb` in the data folder is a DuckDB file, rebuilt from sources and ledger: change nothing in it.",
        "While the app runs, no other program can open the file; `sql` answers at the same time.",
        "",
        "Begin with the views. Answers, instances and cases are joined by `benchmark` with `instance_id` or `case_id`.",
        "Which label of a campaign is in force depends on its plan and rounds: see `campaign export`.",
        "",
        "This page is made from the schema: `python -m crane_core sql --schema > docs/reference/schema.md`.",
    ]
    for relation in _schema():
        lines += [
            "",
            f"## {relation.name}{' (view)' if relation.is_view else ''}",
            "",
            f"{relation.words}.",
        ]
        if relation.key:
            lines += ["", f"Key: {', '.join(relation.key)}."]
        lines += ["", "| column | type | holds |", "|---|---|---|"]
        lines += [
            f"| {column.name} | {column.kind} | {column.words} |"
            for column in relation.columns
        ]
    return "\n".join(lines)


def _in_words(rows: pd.DataFrame) -> str:
    cells = [list(rows), *(list(row.values()) for row in as_rows(rows[:SHOWN]))]
    shown = [
        ["" if cell is None else one_line(str(cell), LETTERS) for cell in row]
        for row in cells
    ]
    numeric = [
        number
        for number, kind in enumerate(rows.dtypes)
        if pd.api.types.is_numeric_dtype(kind)
    ]
    lines = in_columns(shown, right=numeric)
    if len(rows) > SHOWN:
        lines.append(
            f"… and {len(rows) - SHOWN:,} more rows: --csv and --json print all"
        )
    return "\n".join(lines)
