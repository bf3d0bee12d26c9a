"""Runs and judgements kept as Parquet files beside the database, which reads them where they are.

Each file is a source. Temporary views, under the names of the tables, unite its rows with theirs, so that every
question counts both. A file answers for whole conditions (experiment, detector and setting of a benchmark), of which no
other source has answers: so a key cannot be there twice.
"""

import glob
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb

from crane_core.domain import AnnotatorKind, DetectorKind, Setting
from crane_core.errors import SourceError

RUNS, JUDGEMENTS = "runs-parquet", "judgements-parquet"
"""Kinds of sources that stay in Parquet."""
MOST_INDEX = 1_000_000
LONGEST_NAME = 200
"""Characters of a name."""
_TEXT = ("VARCHAR",)
_INTEGER = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
_CONDITION = ("benchmark", "experiment", "detector", "setting")


class Form(NamedTuple):
    """What a kind of file looks like, and how its rows stand in their table.

    columns: name to DuckDB's types; optional: those of them that may be missing or null. row: the members of a row of
    the table, in SQL. bad: what must not be, in words and as a condition in SQL. key: unique in the file.
    """

    table: str
    file: str
    columns: Mapping[str, tuple[str, ...]]
    optional: frozenset[str]
    row: dict[str, str]
    bad: dict[str, str]
    key: tuple[str, ...]


def _one_of(column: str, values: type) -> dict[str, str]:
    words = [str(value) for value in values]  # type: ignore[attr-defined]
    return {
        f"{column} is none of {', '.join(words)}": f"{column} NOT IN ({', '.join(map(quoted, words))})"
    }


def quoted(text: str) -> str:
    """The text as a literal of SQL, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


_NAMED = dict.fromkeys((*_CONDITION, "instance"), _TEXT)
_BAD = (
    {
        f"{name} is empty or longer than {LONGEST_NAME}": f"length({name}) NOT BETWEEN 1 AND {LONGEST_NAME}"
        for name in _NAMED
    }
    | {
        "instance must end in _reproduced or _fixed": "NOT regexp_matches(instance, '_(reproduced|fixed)$')"
    }
    | {
        f"{name} must be lower-case letters, digits, dots and hyphens": f"NOT regexp_full_match({name}, '[a-z0-9.-]+')"
        for name in ("benchmark", "detector")
    }
    | _one_of("setting", Setting)
)
_KEY = (*_CONDITION, "instance")
_ROW = {name: name for name in _CONDITION} | {"instance_id": "instance"}

FORMS = {
    RUNS: Form(
        "runs",
        "runs.parquet",
        _NAMED
        | {"index": _INTEGER, "crashes": ("BOOLEAN",)}
        | dict.fromkeys(("reasoning", "diagnostics", "title", "kind"), _TEXT),
        frozenset({"reasoning", "diagnostics", "title", "kind"}),
        _ROW
        | {
            "run_index": "index::INTEGER",
            "crashes": "crashes",
            "reasoning": "reasoning",
            "unanswered": "CASE WHEN crashes IS NULL THEN 'no answer was given' END",
            "diagnostics": "diagnostics",
            "prompt_sha256": "NULL::VARCHAR",
            "input_tokens": "NULL::INTEGER",
            "output_tokens": "NULL::INTEGER",
            "seconds": "NULL::DOUBLE",
            "usd": "NULL::DOUBLE",
        },
        _BAD
        | {
            f"index is not between 1 and {MOST_INDEX:,}": f"index NOT BETWEEN 1 AND {MOST_INDEX}"
        }
        | _one_of("kind", DetectorKind),
        (*_KEY, "index"),
    ),
    JUDGEMENTS: Form(
        "judgements",
        "judgements.parquet",
        _NAMED
        | dict.fromkeys(
            ("annotator", "annotator_kind", "label", "presentation", "note"),
            _TEXT,
        )
        | dict.fromkeys(("index", "repetition"), _INTEGER),
        frozenset({"index", "repetition", "presentation", "note"}),
        _ROW
        | {
            "annotator": "annotator",
            "annotator_kind": "annotator_kind",
            "label": "label",
            "run_index": "coalesce(index, 0)::INTEGER",
            "repetition": "coalesce(repetition, 1)::INTEGER",
            "presentation": "coalesce(presentation, 'normal')",
            "note": "note",
        },
        _BAD
        | {
            f"{name} is empty or longer than {LONGEST_NAME}": f"length({name}) NOT BETWEEN 1 AND {LONGEST_NAME}"
            for name in ("annotator", "label")
        }
        | {
            f"index is not between 0 and {MOST_INDEX:,}": f"index NOT BETWEEN 0 AND {MOST_INDEX}"
        }
        | {
            f"repetition is not between 1 and {MOST_INDEX:,}": f"repetition NOT BETWEEN 1 AND {MOST_INDEX}"
        }
        | {
            "presentation is neither normal nor reversed": "presentation NOT IN ('normal', 'reversed')"
        }
        | _one_of("annotator_kind", AnnotatorKind),
        (*_KEY, "annotator", "index", "repetition", "presentation"),
    ),
}

Condition = tuple[str, str, str, str]
"""Benchmark, experiment, detector and setting."""


class PartitionFacts(NamedTuple):
    """What a file holds: `kind` is a key of FORMS, `detectors` are (detector, title, kind) of runs."""

    kind: str
    n_rows: int
    conditions: frozenset[Condition]
    detectors: tuple[tuple[str, str, str], ...]


def facts_of(path: Path, shown: str) -> PartitionFacts:
    """What a Parquet file holds, after every row was checked. Raises SourceError, which names the file as `shown`."""
    if path.is_symlink() or not path.is_file():
        raise SourceError(
            f"{shown} is a link or no file.",
            remedy="Name Parquet files, not links to them.",
        )
    with duckdb.connect() as connection:
        # DuckDB compares the path as it is given, in which brackets and stars are escaped.
        named = {str(path.resolve()), glob.escape(str(path.resolve()))}
        connection.execute(
            f"SET allowed_paths = [{', '.join(map(quoted, sorted(named)))}]"
        )
        connection.execute("SET enable_external_access = false")
        try:
            return _checked(connection, path.resolve(), shown)
        except duckdb.Error as error:
            said = " ".join(str(error).split())[:300]
            raise SourceError(
                f"{shown} cannot be read as Parquet: {said}",
                remedy="Write the file again; nothing was imported.",
            ) from error


def _checked(
    connection: duckdb.DuckDBPyConnection, path: Path, shown: str
) -> PartitionFacts:
    described = connection.execute(f"DESCRIBE FROM {_file(path)}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described}
    # Only judgements have labels, so nobody has to say what a file holds.
    kind = JUDGEMENTS if "label" in types else RUNS
    form = FORMS[kind]
    for name, allowed in form.columns.items():
        if name not in types and name not in form.optional:
            needed = ", ".join(
                column for column in form.columns if column not in form.optional
            )
            raise SourceError(
                f"{shown}: the column {name} is missing.",
                remedy=f"A file of {form.table} needs {needed}.",
            )
        if name in types and types[name] not in allowed:
            raise SourceError(
                f"{shown}: the column {name} has the type {types[name]}.",
                remedy=f"Write it as {allowed[-1]}.",
            )
    connection.execute(
        f"CREATE VIEW given AS SELECT {_all_columns(form, types)}, file_row_number FROM {_file(path)}"
    )
    _refuse_bad_rows(connection, form, shown)
    twice = connection.execute(
        f"SELECT {', '.join(form.key)} FROM given GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 1"
    ).fetchone()
    if twice:
        raise SourceError(
            f"{shown} holds {', '.join(map(repr, twice))} more than once.",
            remedy=f"Keep one row for each {', '.join(form.key)}.",
        )
    counted = connection.execute(
        f"SELECT {', '.join(_CONDITION)}, count(*) FROM given GROUP BY ALL"
    ).fetchall()
    if not counted:
        raise SourceError(f"{shown} has no rows.", remedy="Leave it out.")
    detectors = (
        ()
        if kind == JUDGEMENTS
        else tuple(connection.execute(_DETECTORS).fetchall())
    )
    return PartitionFacts(
        kind,
        sum(row[4] for row in counted),
        frozenset(tuple(row[:4]) for row in counted),
        detectors,
    )


_DETECTORS = f"""
    SELECT detector, coalesce(min(title), detector), coalesce(min(kind), '{DetectorKind.LLM}')
    FROM given GROUP BY detector ORDER BY 1
"""


def _file(path: Path) -> str:
    return f"read_parquet({quoted(glob.escape(str(path)))}, file_row_number = true)"


def _all_columns(form: Form, types: Mapping[str, str]) -> str:
    return ", ".join(
        name if name in types else f"NULL::{kinds[-1]} AS {name}"
        for name, kinds in form.columns.items()
    )


def _refuse_bad_rows(
    connection: duckdb.DuckDBPyConnection, form: Form, shown: str
) -> None:
    needed = [
        name
        for name in form.columns
        if name not in form.optional and name != "crashes"
    ]
    bad = {
        f"{name} is missing": f"{name} IS NULL" for name in needed
    } | form.bad
    firsts = connection.execute(
        f"SELECT {', '.join(f'min(file_row_number) FILTER ({condition})' for condition in bad.values())} FROM given"
    ).fetchall()[0]
    found = [
        (row, what)
        for what, row in zip(bad, firsts, strict=True)
        if row is not None
    ]
    if found:
        # The first bad row of the file, whatever is wrong with it: that is where a user begins to look.
        row, what = min(found)
        raise SourceError(
            f"{shown}, row {row + 1:,}: {what}.",
            remedy="Correct the file; nothing was imported.",
        )


def attached(cursor: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Id and kind of each source that stays in Parquet and counts, in the order of import."""
    kinds = ", ".join(map(quoted, FORMS))
    return cursor.execute(
        f"""
        SELECT s.source_id, s.kind FROM sources s SEMI JOIN source_counts n USING (source_id)
        WHERE s.kind IN ({kinds}) ORDER BY s.imported_at, s.source_id
        """
    ).fetchall()


def views(cursor: duckdb.DuckDBPyConnection, sources: Path) -> list[str]:
    """Statements that make the views of a cursor; none where nothing stays in Parquet."""
    found = attached(cursor)
    if not found:
        return []
    removed = _removed(cursor)
    statements = []
    for kind, form in FORMS.items():
        parts = [
            _part(cursor, sources / name / form.file, name, form, removed)
            for name, of in found
            if of == kind
        ]
        if parts:
            # By name, since files were written by others in their own order of columns.
            united = " UNION ALL BY NAME ".join(
                [f"SELECT * FROM {_main(cursor)}.{form.table}", *parts]
            )
            statements.append(
                f"CREATE OR REPLACE TEMP VIEW {form.table} AS {united}"
            )
    return [*statements, *_again(cursor)]


def _main(cursor: duckdb.DuckDBPyConnection) -> str:
    [(name,)] = cursor.execute("SELECT current_database()").fetchall()
    return '"' + str(name).replace('"', '""') + '".main'


def _part(
    cursor: duckdb.DuckDBPyConnection,
    path: Path,
    source_id: str,
    form: Form,
    removed: Mapping[str, list[str]],
) -> str:
    # Looked up, because a file may lack optional columns.
    names = cursor.execute(
        f"SELECT DISTINCT name FROM parquet_schema({quoted(glob.escape(str(path)))})"
    ).fetchall()
    there = {row[0] for row in names}
    absent = "".join(
        f", NULL::{kinds[-1]} AS {name}"
        for name, kinds in form.columns.items()
        if name not in there
    )
    row = ", ".join(f"{value} AS {name}" for name, value in form.row.items())
    # What was removed is not loaded into the tables; in a file its rows stay and are passed over here.
    left_out = " AND ".join(
        f"{name} NOT IN ({', '.join(map(quoted, values))})"
        for name, values in removed.items()
        if values
    )
    source = f"(SELECT *{absent} FROM read_parquet({quoted(glob.escape(str(path)))}))"
    return f"SELECT {row}, {quoted(source_id)} AS source_id FROM {source} WHERE {left_out or 'TRUE'}"


_ANSWER = "concat_ws('/', benchmark, experiment, detector, setting, instance, coalesce(index, 0))"
"""The id of the answer that a row of a file is about, as `domain.answer_name` makes it."""


def _removed(cursor: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Names of benchmarks, experiments and answers that are removed now, by the column or expression that has them."""
    rows = cursor.execute(
        """
        SELECT kind, name FROM inventory_acts WHERE action IN ('remove', 'restore')
        QUALIFY row_number() OVER (PARTITION BY kind, name ORDER BY acted_at DESC) = 1 AND action = 'remove'
        """
    ).fetchall()
    return {
        column: sorted(name for kind, name in rows if kind == listed)
        for column, listed in (
            ("benchmark", "benchmark"),
            ("experiment", "run"),
            (_ANSWER, "answer"),
        )
    }


def _again(cursor: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """The views of the schema, made once more over the united tables."""
    for (sql,) in cursor.execute(
        "SELECT sql FROM duckdb_views() WHERE NOT internal AND NOT temporary"
    ).fetchall():
        yield str(sql).replace("CREATE VIEW", "CREATE OR REPLACE TEMP VIEW", 1)


def conditions(
    cursor: duckdb.DuckDBPyConnection, kind: str
) -> frozenset[Condition]:
    """What the cursor's sources have rows of already, for a file of this kind."""
    rows = cursor.execute(
        f"SELECT DISTINCT {', '.join(_CONDITION)} FROM {FORMS[kind].table}"
    ).fetchall()
    return frozenset(tuple(row) for row in rows)


def partitioned(
    cursor: duckdb.DuckDBPyConnection, kind: str
) -> frozenset[Condition]:
    """What files of this kind answer for."""
    ids = [name for name, of in attached(cursor) if of == kind]
    if not ids:
        return frozenset()
    rows = cursor.execute(
        f"SELECT DISTINCT {', '.join(_CONDITION)} FROM {FORMS[kind].table} WHERE source_id IN (SELECT unnest(?))",
        [ids],
    ).fetchall()
    return frozenset(tuple(row) for row in rows)
