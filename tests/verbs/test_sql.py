"""`sql`: what it prints, how it guards what others wrote, and the page of the schema."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from crane_core.cli import main
from crane_core.pipeline.loading.load import prepare
from crane_core.pipeline.places import data_folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("data")
    prepare(data_folder(folder)).close()
    return str(folder)


def test_a_table_for_people(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "--data",
                data,
                "sql",
                "SELECT 'a' AS word, 10 AS n UNION ALL SELECT NULL, 2 ORDER BY n DESC",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == "word   n\na     10\n       2\n"


def test_many_rows_are_cut_for_people_alone(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    question = "SELECT range AS n FROM range(150)"
    assert main(["--data", data, "sql", question]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "… and 50 more rows: --csv and --json print all"
    )
    assert main(["--data", data, "sql", question, "--json"]) == 0
    assert [row["n"] for row in json.loads(capsys.readouterr().out)] == list(
        range(150)
    )


def test_what_others_wrote_neither_steers_nor_computes(
    data: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    question = (
        "SELECT '=1+1' AS a, 'x' || chr(27) || '[31my' || chr(10) || 'z' AS b"
    )
    assert main(["--data", data, "sql", question]) == 0
    assert capsysbinary.readouterr().out == b"a     b\n=1+1  xy z\n"
    assert main(["--data", data, "sql", question, "--csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsysbinary.readouterr().out.decode())))
    assert rows[1][0] == "'=1+1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["DELETE FROM runs"], "nothing can be changed"),
        (["FROM nowhere"], "nowhere does not exist"),
        (["--csv"], "There is no question"),
        (["FROM runs", "--schema"], "--schema takes no question"),
    ],
)
def test_what_is_refused_is_told_in_one_line(
    data: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", data, "sql", *words]) == 1
    told = capsys.readouterr()
    assert told.out == "" and said in told.err and told.err.count("\n") == 1


def test_without_a_question_it_lists_what_there_is(
    data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", data, "sql"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "views" and any(
        line.startswith("  verdicts  ") for line in lines
    )


def test_the_page_of_the_schema_is_that_of_the_migrations(
    data: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", data, "sql", "--schema"]) == 0
    assert capsys.readouterr().out == (
        root / "docs" / "reference" / "schema.md"
    ).read_text("utf-8")
